"""How large or old a log may get before it is renamed: the texts of MAX_<SUBSYS>_LOG.

A number, and behind it a unit of size or of time of which only the first letters count, as
HTCondor's daemons read them: `10 Mb`, `1 GiB`, `30 min`, `2 days`. `m` alone is minutes, `M` alone
mebibytes.
"""

from __future__ import annotations

from kettle.patterns import late_pattern

_SIZE = late_pattern(r"\s*([+-]?\d{1,18})\s*([^\s\d+.-]?)([A-Za-z]*)\s*")
_BYTES = {"b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_SECONDS = {"s": 1, "h": 3600, "d": 86400, "w": 604800}
# What people write; of other words the first letters count, too, and they are hardly meant.
# fmt: off
_UNITS = frozenset((
    "b", "byte", "bytes", "k", "kb", "kib", "m", "mb", "mib", "g", "gb", "gib", "t", "tb", "tib",
    "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "h", "hr", "hrs",
    "hour", "hours", "d", "day", "days", "w", "week", "weeks",
))
# fmt: on


def read_log_size(text: str) -> tuple[int, int] | None:
    """Return (bytes, 0) or (0, seconds); None for what daemons cannot read."""
    match = _SIZE.fullmatch(text)
    if match is None or int(match[1]) < 0:
        return None
    number, first, rest = int(match[1]), match[2].lower(), match[3].lower()
    if first in _SECONDS:
        return 0, number * _SECONDS[first]
    if first == "m" and not rest:
        return (0, number * 60) if match[2] == "m" else (number * _BYTES["m"], 0)
    if first == "m":
        if rest[0] == "b" or rest[:2] == "ib":
            return number * _BYTES["m"], 0
        return (0, number * 60) if rest[0] == "i" else None
    return number * _BYTES.get(first, 1), 0


def odd_unit(text: str) -> str:
    """Return what a text with a unit that nobody writes is read as, empty if it has none."""
    match = _SIZE.fullmatch(text)
    unit = f"{match[2]}{match[3]}" if match else ""
    read = read_log_size(text)
    if match is None or read is None or not unit or unit.lower() in _UNITS:
        return ""
    if match[2].lower() not in {*_BYTES, *_SECONDS}:
        return f"{match[1]} bytes"
    if match[2].lower() in _SECONDS or read[1]:
        return f"{read[1]} seconds"
    return f"{match[1]} {match[2].upper()}{'' if match[2] in 'bB' else 'b'}"
