"""The first steps of a daemon that was forked from its master's zygote instead of executed.

`python -m kettle.schedd` and a fork that runs `main` here come to the same thing; the fork only
finds the interpreter warm.
"""

from __future__ import annotations

import marshal
import os
import runpy
import sys
from collections.abc import Sequence

from kettle.runtime.process.inheritance import PIPE_VARIABLE
from kettle.runtime.process.zygote_process import waits_for_handlers


def encode_call(module: str, argv: Sequence[str]) -> bytes:
    """Return the arguments with which a zygote makes `main` run a daemon's package."""
    return marshal.dumps((module, list(argv)))


@waits_for_handlers
def main(arguments: bytes, fds: list[int]) -> None:
    """Be the daemon; the first descriptor, if any, is the pipe that ends with the master.

    Leaves by SystemExit, as the package's `__main__` does.
    """
    module, argv = marshal.loads(arguments)  # noqa: S302 - our own master's bytes
    if fds:
        os.environ[PIPE_VARIABLE] = str(fds[0])
    sys.argv = list(argv)
    runpy.run_module(module, run_name="__main__", alter_sys=False)
