"""A terminal that a user names as a file does not become that of the daemon which opens it.

Who leads a session and has a terminal is hung up when the other end of it closes.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from typing import Any

import pytest

from kettle.errors import KettleError
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage.event_log_tail import read_tail
from kettle.runtime.storage.event_logs import append_once
from kettle.runtime.storage.fences import Fence
from kettle.runtime.storage.files import Files
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.shadow.services.files import FILE_CALLS, RemoteFiles
from kettle.starter.launch import LaunchPlan, StandardFile
from kettle.starter.sandbox import OF_A_STARTER
from kettle.starter.services.job import JobProcesses
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call

FENCED = LocalFiles(fence=Fence(("/nowhere",), "/nowhere/dir_1", OF_A_STARTER))


def call(one: Call) -> object:
    return FILE_CALLS[type(one)](RemoteFiles("/"), one)


def launch(path: str) -> None:
    me = account_of(os.getuid())
    processes: Any = None
    file = StandardFile(path)
    plan = LaunchPlan(("/bin/true",), {}, "/", file, file, file)
    JobProcesses(processes, Privileges(me, can_switch=False), me).open_files(plan)


@pytest.mark.parametrize(
    "opens",
    [
        LocalFiles().open_source,
        lambda path: LocalFiles().open_target(path, 0),
        FENCED.open_source,
        lambda path: FENCED.open_target(path, 0),
        lambda path: call(calls.Open(2, 0, path)),
        lambda path: call(calls.GetFile(path)),
        lambda path: call(calls.PutFile(path, 0o600, 1)),
        lambda path: append_once(path, b"text"),
        lambda path: Files().read(path),
        read_tail,
        launch,
    ],
)
def test_a_terminal_that_is_named_as_a_file_stays_nobodys(opens: Callable[[str], object]) -> None:
    other_end, terminal = os.openpty()
    path = os.ttyname(terminal)
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setsid()
            with contextlib.suppress(OSError, KettleError):
                opens(path)
            code = has_terminal()
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    os.close(terminal)
    os.close(other_end)
    assert os.waitstatus_to_exitcode(status) == 0


def has_terminal() -> int:
    try:
        os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError as error:
        return 0 if error.errno == errno.ENXIO else 98
    return 1


def test_who_leads_a_session_gets_the_terminal_that_it_opens_otherwise() -> None:
    """Without this, what is above would show nothing."""
    other_end, terminal = os.openpty()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setsid()
            os.open(os.ttyname(terminal), os.O_RDWR)
            code = has_terminal()
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    os.close(terminal)
    os.close(other_end)
    assert os.waitstatus_to_exitcode(status) == 1
