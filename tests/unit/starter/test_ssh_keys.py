"""Keys for condor_ssh_to_job, and the log of its sshd, which lies where the job can lay things."""

from __future__ import annotations

import base64
import contextlib
import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.runtime.process.privileges import Privileges, account_of
from kettle.starter.sandbox import Sandbox
from kettle.starter.services.sandbox import SandboxKeeper
from kettle.starter.services.ssh import ShellServer, _encode


def test_a_key_is_sent_in_lines_of_64_characters() -> None:
    """As the reference's decoder wants them."""
    key = bytes(range(256)) * 3
    lines = _encode(key).splitlines(keepends=True)
    assert all(len(line) <= 65 and line.endswith("\n") for line in lines)
    assert base64.b64decode("".join(lines)) == key


class Beside:
    """As much of a starter as a server of shells needs, and what it starts and says."""

    def __init__(self, folder: Path) -> None:
        me = account_of(os.getuid())
        self.sandbox = Sandbox(str(folder / "dir_1"))
        self.keeper = SandboxKeeper(self.sandbox, Privileges(me, can_switch=False), me)
        self.keeper.make()
        self.settings = SimpleNamespace(sshd="sshd")
        self.jobs = SimpleNamespace(inside_with_shell=lambda _: contextlib.nullcontext())
        self.world = SimpleNamespace(processes=self)
        self.said: list[str] = []
        self.log = self.said.append
        self.started: list[bool] = []

    def spawn(self, _argv: list[str], *, fds: dict[int, int], **_how: object) -> None:
        self.started.append(os.get_blocking(fds[2]))


def serve(starter: Any, folder: str) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ShellServer(starter).serve(folder, ours.detach())
        assert theirs.recv(1) == b""


def test_a_server_of_shells_writes_its_log_as_it_likes(tmp_path: Path) -> None:
    starter = Beside(tmp_path)
    serve(starter, starter.sandbox.user)
    assert (starter.started, starter.said) == ([True], [])


@pytest.mark.timeout(30)
def test_a_pipe_in_the_place_of_its_log_keeps_nobody_waiting(tmp_path: Path) -> None:
    starter = Beside(tmp_path)
    os.mkfifo(f"{starter.sandbox.user}/sshd.log")
    serve(starter, starter.sandbox.user)
    assert starter.started == []
    assert starter.said == [
        f"cannot start sshd: [Errno 6] No such device or address: '{starter.sandbox.user}/sshd.log'"
    ]
