"""Asking a program of the machine something: run it, bounded in time and size, read its answer."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from kettle.octets import to_text
from kettle.runtime.process.inheritance import without_inheritance
from kettle.runtime.process.processes import Child

# `Processes.spawn`, or the same as somebody else.
Spawn = Callable[..., Child]
# Limit: what is read of an answer.
MAX_ANSWER = 1024 * 1024


async def ask_program(
    spawn: Spawn,
    argv: Sequence[str],
    *,
    seconds: float,
    name: str,
    stderr: bool = False,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Return what a program prints, with `stderr` also what it says there.

    Raises OSError or ValueError, whose sentence says why, if it did not work; one that takes longer
    than `seconds` is killed.
    """
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as complaint:
        said_at = answer if stderr else complaint
        fds = {1: answer.fileno(), 2: said_at.fileno()}
        child = spawn(
            argv,
            environment={**without_inheritance(os.environ), **(environment or {})},
            cwd="/",
            fds=fds,
            name=name,
        )
        try:
            async with asyncio.timeout(seconds):
                status = await child.wait()
        except asyncio.CancelledError:
            # Nobody waits for the answer any more: a newer question, or the end.
            child.signal(9)
            raise
        except TimeoutError:
            child.signal(9)
            await child.wait()
            raise ValueError(f"it took longer than {seconds:.0f} s") from None
        if status != 0:
            last = _read(said_at).strip().rpartition("\n")[2][:200]
            raise ValueError(f"it ended with wait status {status}" + (f": {last}" if last else ""))
        return _read(answer)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return to_text(file.read(MAX_ANSWER))
