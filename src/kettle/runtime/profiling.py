"""Where a daemon's time goes: samples of its call stack, if KETTLE_PROFILE names a folder.

A timer of the process's own CPU time interrupts it; each interruption notes who was calling whom.
At the end the stacks are written as `folder/NAME.PID`, one line a stack with its count, outermost
first, the form that flame graph programs read (`bench/job_cost.py --profile` prints sums).
Without the variable nothing is imported and nothing runs.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from types import FrameType

from kettle.octets import AS_IS

VARIABLE = "KETTLE_PROFILE"
# The kernel's clock tick bounds it below; a shorter interval would measure itself.
_INTERVAL_SECONDS = 0.002
# Limit: frames of one sample.
_DEEPEST = 60

_stacks: Counter[str] = Counter()
_name = ""


def start(name: str) -> None:
    """Begin to sample this process, if it is wanted; what a parent sampled is not ours."""
    global _name
    if not os.environ.get(VARIABLE):
        return
    _name = name
    _stacks.clear()
    signal.signal(signal.SIGPROF, _note)
    signal.setitimer(signal.ITIMER_PROF, _INTERVAL_SECONDS, _INTERVAL_SECONDS)


def stop() -> None:
    """Write what was seen, if anything was."""
    if not _name:
        return
    signal.setitimer(signal.ITIMER_PROF, 0)
    path = os.path.join(os.environ[VARIABLE], f"{_name}.{os.getpid()}")
    with open(path, "w", encoding="utf-8", errors=AS_IS) as file:
        file.writelines(f"{stack} {count}\n" for stack, count in _stacks.items())


def _note(_number: int, frame: FrameType | None) -> None:
    places: list[str] = []
    while frame is not None and len(places) < _DEEPEST:
        code = frame.f_code
        module = code.co_filename.rpartition("/kettle/")[2] or code.co_filename
        places.append(f"{module}:{code.co_qualname}:{frame.f_lineno}")
        frame = frame.f_back
    _stacks[";".join(reversed(places))] += 1
