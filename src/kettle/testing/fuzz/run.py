"""Tries inputs on one decoder and says what went wrong: a crash, a hang, growth.

A crash is any exception that is not of the error tree; a hang takes more of the processor's time
than one input may; growth is memory that stays after many inputs.
"""

from __future__ import annotations

import gc
import os
import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from kettle.errors import KettleError
from kettle.runtime import pattern_limit
from kettle.testing.fuzz.decoder import Decoder
from kettle.testing.fuzz.inputs import make_input

# Limit: processor seconds of one input, of at most 64 KiB. An ad is read and printed in all forms,
# some seventeen passes in all: 20,000 terms take two seconds, and more beside other work.
SLOWEST_SECONDS = 10.0
# Growth of more bytes than this, after the first inputs, is told.
MOST_GROWTH = 64 << 20
_WARMED_AFTER = 2_000
_LOOK_EVERY = 500
# Limit: findings of one decoder that are kept; one fault is found again and again.
_MOST_FINDINGS = 20


class TooSlowError(BaseException):
    """One input took too long; not an Exception, so that nothing on its way swallows it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one input did; `where` is the innermost line of ours."""

    decoder: str
    seed: int
    number: int
    what: str
    where: str
    data: bytes

    def __str__(self) -> str:
        again = f"--decoder {self.decoder} --seed {self.seed} --only {self.number}"
        return f"{self.what} at {self.where} (again: {again})\n    {self.data[:300]!r}"


def run(
    decoder: Decoder,
    seed: int,
    numbers: range,
    *,
    on_progress: Callable[[int], None] = lambda done: None,  # noqa: ARG005
) -> list[Finding]:
    """Try inputs; return what was found, each fault (kind and place) once."""
    previous = signal.signal(signal.SIGPROF, _on_timer)
    pattern_limit.install()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return _run(decoder, seed, numbers, on_progress)
    finally:
        signal.signal(signal.SIGPROF, previous)


def _run(
    decoder: Decoder, seed: int, numbers: range, on_progress: Callable[[int], None]
) -> list[Finding]:
    found: dict[tuple[str, str], Finding] = {}
    begin = 0
    for done, number in enumerate(numbers, 1):
        data = make_input(decoder.samples, decoder.name, seed, number, decoder.grammars)
        fault = try_one(decoder, data)
        if fault is not None and len(found) < _MOST_FINDINGS:
            what, where = fault
            finding = Finding(decoder.name, seed, number, what, where, data)
            found.setdefault((what.partition(":")[0], where), finding)
        if done % _LOOK_EVERY == 0:
            on_progress(done)
        if done == _WARMED_AFTER:
            begin = resident_bytes()
    grown = resident_bytes() - begin if len(numbers) >= 2 * _WARMED_AFTER else 0
    if grown > MOST_GROWTH:
        what = f"memory grew by {grown >> 20} MiB"
        growth = Finding(decoder.name, seed, numbers[-1], what, "its inputs together", b"")
        found["growth", ""] = growth
    return list(found.values())


def try_one(decoder: Decoder, data: bytes) -> tuple[str, str] | None:
    """Try one input; return what went wrong and where, None if nothing did."""
    signal.setitimer(signal.ITIMER_PROF, SLOWEST_SECONDS)
    try:
        decoder.read(data)
    except KettleError:
        return None
    except TooSlowError as error:
        return f"more than {SLOWEST_SECONDS:g} s", _place(error)
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"{type(error).__name__}: {str(error)[:100]}", _place(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def _on_timer(_number: int, _frame: FrameType | None) -> None:
    raise TooSlowError


def _place(error: BaseException) -> str:
    """Return the innermost line of ours that an exception passed."""
    place = "?"
    trace = error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if "kettle" in path and "testing" not in path:
            place = f"{path.rpartition('kettle/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def resident_bytes() -> int:
    """Return how much memory this process has."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
