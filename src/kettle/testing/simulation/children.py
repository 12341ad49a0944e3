"""Calls in a forked child: what a simulation leaves behind, its dead above all, goes with it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable

_DONE, _FAILED = b"+", b"-"


class ChildFailed(AssertionError):  # noqa: N818 - it says what happened
    """The call raised, or the child died; the message is its traceback."""


def run_in_child(call: Callable[[], bytes]) -> bytes:
    """Return what `call` returns in a child of its own; ChildFailed if it raises or dies."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _speak(call, writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    if not said.startswith(_DONE):
        problem = said[1:].decode("utf-8", "replace")
        raise ChildFailed(problem or f"the child died with wait status {status}")
    return said[1:]


def _speak(call: Callable[[], bytes], writing: int) -> None:
    try:
        said = _DONE + call()
    except BaseException:  # noqa: BLE001 - the last frame of the child
        said = _FAILED + traceback.format_exc().encode("utf-8", "replace")
    view = memoryview(said)
    while view:
        view = view[os.write(writing, view) :]
    os._exit(0)
