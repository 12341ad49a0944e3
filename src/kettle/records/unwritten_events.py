"""Events that a log could not take yet, as the text that the job queue keeps of them.

An event that waits for room would be lost with the process in which it waits. So the queue has it
too, beside what it tells, until the log does; whoever takes the job over writes it, unless the log
has it by then. Pure: paths and bytes in, the value of an attribute out, and back. The attributes
are ours alone; one is the schedd's, one the shadow host's, so that neither writes over the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from kettle.records.event_heads import read_moment

SCHEDD_EVENTS = "KettleScheddEvents"
SHADOW_EVENTS = "KettleShadowEvents"

# The file that is to have it, and the bytes of an event.
Unwritten = tuple[str, bytes]

_SEPARATOR = "|"
# What stands for itself in an old ClassAd's string, in one line: all printable ASCII but these.
_ESCAPED = re.compile(rb'[^ -~]|[%"\\|]')


def encode(events: Iterable[Unwritten]) -> str:
    """Return the attribute's value for these events, in their order."""
    words = (word for path, data in events for word in (path.encode("utf-8", _AS_IS), data))
    return _SEPARATOR.join(_ESCAPED.sub(_escape, word).decode("ascii") for word in words)


_AS_IS = "surrogateescape"


def _escape(found: re.Match[bytes]) -> bytes:
    return b"%%%02X" % found[0][0]


def decode(text: str | None) -> list[Unwritten]:
    """Return the events of an attribute's value; none for what is no such value."""
    given = (text or "").split(_SEPARATOR)
    words = [unquote_to_bytes(word.encode("utf-8", _AS_IS)) for word in given]
    if len(words) % 2:
        return []
    return [
        (path.decode("utf-8", _AS_IS), data)
        for path, data in zip(words[::2], words[1::2], strict=True)
    ]


def in_order(*left: Iterable[Unwritten]) -> list[Unwritten]:
    """Return what several processes have left, in the order in which it happened.

    What two of them have is one event; what one has twice is two, such as the ends of two runs
    within a second.
    """
    every: Counter[Unwritten] = Counter()
    merged: list[Unwritten] = []
    for events in left:
        own: Counter[Unwritten] = Counter()
        for event in events:
            own[event] += 1
            if own[event] > every[event]:
                every[event] += 1
                merged.append(event)
    return sorted(merged, key=lambda event: read_moment(event[1]))
