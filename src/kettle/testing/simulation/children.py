"""Calls in forked children: what a simulation leaves behind, its dead above all, goes with them.

The parent does the imports once (`warm`), so a child begins with everything loaded.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import re
import selectors
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kettle.patterns import LatePattern

_DONE, _FAILED = b"+", b"-"
_PIECE = 1 << 20
# Limit: processor seconds of one call; a child that hangs is ended by the kernel.
_MOST_SECONDS = 900.0

Key = TypeVar("Key")


class ChildFailed(AssertionError):  # noqa: N818 - it says what happened
    """The call raised, or the child died; the message is its traceback."""


@dataclass
class _Child:
    """A running child and what it has said so far."""

    pid: int
    reading: int
    pieces: list[bytes] = field(default_factory=list)

    def hear(self) -> bool:
        """Read more of what it says; False when it has closed its pipe."""
        piece = os.read(self.reading, _PIECE)
        self.pieces.append(piece)
        return bool(piece)

    def end(self) -> None:
        """End it, if it runs."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self.outcome()

    def outcome(self) -> bytes | ChildFailed:
        """Return what the child, which has closed its pipe, has said; wait for its end."""
        os.close(self.reading)
        _, status = os.waitpid(self.pid, 0)
        said = b"".join(self.pieces)
        if said.startswith(_DONE):
            return said[1:]
        problem = said[1:].decode("utf-8", "replace")
        return ChildFailed(problem or f"the child died with wait status {status}")


def run_in_child(call: Callable[[], bytes]) -> bytes:
    """Return what `call` returns in a child of its own; ChildFailed if it raises or dies."""
    for _, outcome in run_in_children([("", call)], at_once=1):
        if isinstance(outcome, ChildFailed):
            raise outcome
        return outcome
    raise AssertionError("a child without an outcome")


def run_in_children(
    calls: Iterable[tuple[Key, Callable[[], bytes]]], at_once: int
) -> Iterator[tuple[Key, bytes | ChildFailed]]:
    """Run each call in a child of its own, so many at once; yield them as they end, with keys.

    Who stops iterating ends the children that still run.
    """
    waiting = iter(calls)
    with selectors.DefaultSelector() as running:
        try:
            while _fill(running, waiting, at_once):
                for key, child in _hear(running):
                    yield key, child.outcome()
        finally:
            for chosen in list(running.get_map().values()):
                _, child = chosen.data
                child.end()


def _hear(running: selectors.BaseSelector) -> list[tuple[Any, _Child]]:
    """Read what children say now; return those that have said everything, with their keys."""
    said_all = [chosen.data for chosen, _ in running.select() if not chosen.data[1].hear()]
    for _, child in said_all:
        running.unregister(child.reading)
    return said_all


def _fill(
    running: selectors.BaseSelector,
    waiting: Iterator[tuple[Key, Callable[[], bytes]]],
    at_once: int,
) -> bool:
    """Start calls until enough run; False if there is nothing more to wait for."""
    while len(running.get_map()) < at_once and (one := next(waiting, None)):
        key, call = one
        child = _start(call)
        running.register(child.reading, selectors.EVENT_READ, (key, child))
    return bool(running.get_map())


def _start(call: Callable[[], bytes]) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _speak(call, writing)
    os.close(writing)
    return _Child(pid, reading)


def _speak(call: Callable[[], bytes], writing: int) -> None:
    try:
        # The default action of SIGPROF ends the process.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS)
        said = _DONE + call()
    except BaseException:  # noqa: BLE001 - the last frame of the child
        said = _FAILED + traceback.format_exc().encode("utf-8", "replace")
    view = memoryview(said)
    while view:
        view = view[os.write(writing, view) :]
    os._exit(0)


def warm(call: Callable[[], object]) -> None:
    """Load here what a call loads in a child, and compile its patterns: no later child has to."""

    def learn() -> bytes:
        patterns = _note_patterns()
        call()
        return pickle.dumps((list(sys.modules), patterns))

    # Our own child's bytes.
    modules, patterns = pickle.loads(run_in_child(learn))  # noqa: S301
    for name in modules:
        if name.startswith("kettle.") or name in sys.stdlib_module_names:
            importlib.import_module(name)
    compile_patterns()
    for source, flags in patterns:
        re.compile(source, flags)
    gc.collect()
    gc.freeze()


def _note_patterns() -> list[tuple[str | bytes, int]]:
    """Note every pattern that is compiled from now on in this process, which ends soon."""
    noted: list[tuple[str | bytes, int]] = []
    compile_one = re.compile

    def compile_and_note(source: Any, flags: Any = 0) -> Any:
        if isinstance(source, str | bytes):
            noted.append((source, int(flags)))
        return compile_one(source, flags)

    re.compile = compile_and_note  # type: ignore[assignment]
    return noted


def compile_patterns() -> None:
    """Compile every pattern of the modules that are loaded here, which each child would do anew."""
    for name in [name for name in sys.modules if name.startswith("kettle.")]:
        for value in list(vars(sys.modules[name]).values()):
            if isinstance(value, LatePattern):
                _ = value.pattern
