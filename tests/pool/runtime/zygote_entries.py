"""What the tests let their zygotes run."""

from __future__ import annotations

import os

import setproctitle


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


def fail(arguments: bytes, fds: list[int]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise RuntimeError("told to fail")
