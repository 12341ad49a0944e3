"""The zygote itself: the process that a daemon's children are forked from, and their first steps.

It imports what they will need and then waits: for each request it forks a process whose parent is
the daemon (the kernel's CLONE_PARENT, so nothing is orphaned and the pid is known at once), answers
the pid and waits on. It has one thread, opens nothing, and ends when its daemon does. Each child
says by itself that it is there, before anything else. Who asks, the daemon's half, is `zygote.py`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import marshal
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

import setproctitle

from kettle.runtime.process import kernel, late

# Limit: one request is one datagram; larger arguments travel in a memory file.
INLINE_ARGUMENTS = 48 * 1024
_DATAGRAM = 96 * 1024
# Limit: descriptors in one request; the kernel's own bound is 253.
DESCRIPTORS = 32
# A collection touches, and so copies, pages that are shared with the zygote: few of them.
_COLLECTION = (10_000, 20, 50)
_PREPARED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)

# The mark of an entry that takes its signals when it has handlers for them.
_WAITS = "waits_for_handlers"
_Entry = TypeVar("_Entry", bound=Callable[..., object])


def waits_for_handlers(entry: _Entry) -> _Entry:
    """Mark an entry for `Zygote.fork`: signals wait until it calls `hear_signals`.

    A daemon that is told to stop while it starts is then stopped as it would be later; without
    the mark a signal's default action ends the process, SIGQUIT with a core.
    """
    setattr(entry, _WAITS, True)
    return entry


def prove(_: bytes, __: list[int]) -> int:
    """Be a process that does nothing: whoever asks for one learns whether there can be any."""
    return 0


def hear_signals() -> None:
    """Let the signals through that a zygote's child is born without; harmless elsewhere."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PREPARED)


def serve(
    sock: socket.socket, preload: Sequence[str], title: str, stderr: int | None = None
) -> NoReturn:
    """Be the zygote: import, then fork on request until the daemon is gone. Never returns.

    `stderr` becomes descriptor 2 when nothing can be missing any more.
    """
    code = 1
    try:
        _prepare(sock, title, {2 if stderr is None else stderr})
        for module in preload:
            importlib.import_module(module)
        if stderr is not None:
            os.dup2(stderr, 2)
            os.close(stderr)
        # What exists now is shared with every child; counting references would unshare it.
        gc.collect()
        gc.freeze()
        # A daemon that dies may leave its last request unanswered.
        with contextlib.suppress(ConnectionError):
            _serve_requests(sock)
        code = 0
    except BaseException:  # noqa: BLE001 - nothing may escape into the daemon's code
        traceback.print_exc()
    finally:
        os._exit(code)


def _prepare(sock: socket.socket, title: str, keep: set[int]) -> None:
    parent = os.getppid()
    kernel.die_with_parent()
    if os.getppid() != parent:
        os._exit(0)
    for number in _PREPARED:
        # The terminal's or the service manager's signals are for the daemon, not for us.
        signal.signal(number, signal.SIG_IGN)
    # Blocked as well, and so in each child: what is sent to a child before it can hear it waits.
    signal.pthread_sigmask(signal.SIG_BLOCK, _PREPARED)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    _close_all_but({0, 1, 2, sock.fileno(), *keep})
    setproctitle.setproctitle(title)
    gc.disable()


def _close_all_but(keep: set[int]) -> None:
    for fd in [int(name) for name in os.listdir("/proc/self/fd")]:
        if fd not in keep:
            with contextlib.suppress(OSError):  # the listing's own descriptor is gone already
                os.close(fd)


def _serve_requests(sock: socket.socket) -> None:
    complete = False
    while True:
        if not complete and not select.select([sock], [], [], late.QUIET_SECONDS)[0]:
            complete = True
            late.import_all()
            gc.collect()
            gc.freeze()
        data, fds, _, _ = socket.recv_fds(sock, _DATAGRAM, DESCRIPTORS + 1)
        if not data:
            return
        number, _, request = data.partition(b" ")
        try:
            pid = kernel.fork_sibling()
        except OSError as error:
            pid = -(error.errno or 1)
        if pid == 0:
            _run(sock, number, request, fds)
        sock.send(b"%b %d" % (number, pid))
        for fd in fds:
            os.close(fd)


def _run(sock: socket.socket, asked: bytes, data: bytes, fds: list[int]) -> NoReturn:
    """Be the child: dress the process as the request says and call the entry."""
    code = 70
    try:
        try:
            # The zygote says it too; should one of us two die now, the other has.
            sock.send(b"%b %d" % (asked, os.getpid()))
        except OSError:
            # The daemon is gone: nobody would know of us.
            os._exit(code)
        sock.close()
        for number in _PREPARED:
            signal.signal(number, signal.SIG_DFL)
        entry, title, rest = marshal.loads(data)  # noqa: S302 - the daemon's own bytes
        if not rest:
            with open(fds.pop(), "rb") as memory:
                rest = memory.read()
        arguments, environment = marshal.loads(rest)  # noqa: S302
        if environment is not None:
            os.environ.clear()
            os.environ.update(environment)
        if title:
            setproctitle.setproctitle(title)
        gc.enable()
        gc.set_threshold(*_COLLECTION)
        module, _, name = entry.partition(":")
        function = getattr(importlib.import_module(module), name)
        if not getattr(function, _WAITS, False):
            hear_signals()
        result = function(arguments, fds)
        code = result if isinstance(result, int) else 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - the last frame of a process
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        # Without the interpreter's own farewell: it costs more than the whole fork.
        os._exit(code & 0xFF)


if __name__ == "__main__":
    serve(
        socket.socket(fileno=3),
        sys.argv[2:],
        sys.argv[1],
        stderr=4,
    )
