"""Sending a signal: the one place where it is decided with whose rights, and what a refusal means.

A daemon that root started works as its own account, and that account may not signal a job's
processes, which are their owner's alone. Whoever can be root is root for that moment, so that no
caller has to think of it; a signal that still cannot be sent is told, never swallowed: what was to
be ended lives on, and somebody has to know.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from kettle.runtime import tasks
from kettle.runtime.process import kernel

# Limit: refusals that are remembered, so that one that is tried again and again is told once.
_MOST_REFUSALS = 1000
_refused: set[tuple[int, int]] = set()


def send_signal(pid: int, number: int) -> bool:
    """Send a signal to a process; False if it is gone, or refused even to root, which is told."""
    try:
        try:
            os.kill(pid, number)
        except PermissionError:
            with _as_root():
                os.kill(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError as error:
        _tell(pid, number, error)
        return False
    return True


@contextlib.contextmanager
def _as_root() -> Iterator[None]:
    """Be root, if we have kept the way back to it; only this thread, as others may touch files."""
    before = os.geteuid()
    if before == 0 or 0 not in os.getresuid():
        yield
        return
    switch = kernel.set_thread_euid if kernel.can_switch_threads() else os.seteuid
    switch(0)
    try:
        yield
    finally:
        switch(before)


def _tell(pid: int, number: int, error: OSError) -> None:
    if (pid, number) in _refused:
        return
    if len(_refused) >= _MOST_REFUSALS:
        _refused.clear()
    _refused.add((pid, number))
    tasks.report(f"Signal {number} could not be sent to process {pid}: {error.strerror}")
