"""What the tests let their zygotes run."""

from __future__ import annotations

import os
import signal

import setproctitle

from kettle.runtime.process.zygote_process import hear_signals, waits_for_handlers


def tell(arguments: bytes, fds: list[int]) -> int:
    words = [
        str(os.getppid()),
        arguments.decode(),
        os.environ["WORD"],
        setproctitle.getproctitle(),
    ]
    os.write(fds[0], "|".join(words).encode())
    return 5


def measure(arguments: bytes, fds: list[int]) -> int:
    return len(arguments) // 1_000_000


def leave(arguments: bytes, fds: list[int]) -> int:
    return int(arguments)


def take_note(arguments: bytes, fds: list[int]) -> int:
    """Write down that this one was begun."""
    number, _, path = arguments.decode().partition(" ")
    with open(path, "a") as file:
        file.write(f"{number}\n")
    return 0


def fail(arguments: bytes, fds: list[int]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise RuntimeError("told to fail")


@waits_for_handlers
def leave_when_told(arguments: bytes, fds: list[int]) -> None:
    """Take the first signal that came, as soon as the other end of a pipe is closed."""
    del arguments
    os.read(fds[0], 1)
    signal.signal(signal.SIGQUIT, lambda *_: os._exit(7))
    hear_signals()
    signal.pause()
