"""Which signal asks a job's program to leave, and how long the job wants to have after it."""

from __future__ import annotations

import signal

from kettle.classad import ClassAd

# Linux's numbers, those of real time included, which `kill` takes and Python has no names for.
_GREATEST = 64
# Limit: a wish for more than thirty years is for as long as it takes.
_LONGEST_WISH = 1e9


def kill_signal(ad: ClassAd, *names: str) -> int:
    """Return the signal of the first of the attributes that says one, else SIGTERM.

    An attribute says one with a number of 1 to 64, or with a name in any case, with or without
    SIG; anything else counts as nothing said, so that what is returned can always be sent.
    """
    for name in names:
        number = ad.integer(name)
        if number is None:
            number = _number_of((ad.string(name) or "").strip().upper())
        if 1 <= number <= _GREATEST:
            return number
    return int(signal.SIGTERM)


def signal_death(number: int) -> str:
    """Return what ExitReason says of a program that a signal ended."""
    return f"died on signal {number} ({signal.strsignal(number)})"


def _number_of(text: str) -> int:
    """Return the number of a signal, 0 if the text is none."""
    if text.isdecimal():
        return int(text) if len(text) <= len(str(_GREATEST)) else 0
    name = text if text.startswith("SIG") else f"SIG{text}"
    return int(signal.Signals.__members__.get(name, 0))


def _seconds(value: float) -> float:
    """Return a wish as seconds that a timer can be set to; 0 for NaN, which is no number."""
    return min(max(0.0, float(value)), _LONGEST_WISH) if value == value else 0.0


def wished_seconds(job: ClassAd, slot: ClassAd | None = None) -> float | None:
    """Return how long a job wants to have between its signal and SIGKILL; None if it says nothing.

    JobMaxVacateTime, an expression that may look at the `slot`, or, without one, KillSigTimeout.
    As in HTCondor what is there and is no number is 0, by which the job goes at once.
    """
    for name in ("JobMaxVacateTime", "KillSigTimeout"):
        if job.lookup(name) is not None:
            value = job.evaluate(name, slot)
            return _seconds(value) if isinstance(value, (bool, int, float)) else 0.0
    return None
