"""The first steps of a daemon that was forked from its master's zygote instead of executed.

`python -m kettle.schedd` and a fork that runs `main` here come to the same thing; the fork only
finds the interpreter warm. Each daemon's `__main__` has `main(argv) -> exit code` for both.
"""

from __future__ import annotations

import importlib
import marshal
import os
import sys
from collections.abc import Sequence

from kettle.runtime.inheritance import PIPE_VARIABLE


def encode_call(module: str, argv: Sequence[str]) -> bytes:
    """Return the arguments with which a zygote runs `main` for a daemon's package."""
    return marshal.dumps((module, list(argv)))


def main(arguments: bytes, fds: list[int]) -> int:
    """Be the daemon; the first descriptor, if any, is the pipe that ends with the master."""
    module, argv = marshal.loads(arguments)  # noqa: S302 - our own master's bytes
    if fds:
        os.environ[PIPE_VARIABLE] = str(fds[0])
    sys.argv = list(argv)
    code: int = importlib.import_module(f"{module}.__main__").main(argv)
    return code
