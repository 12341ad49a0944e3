"""What the logs of a pool that does not come up say of the reason, in a sentence each.

Pure: text of logs in, sentences out. Which logs are read, and when, is decided in `readiness.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

# A line of a daemon's own: moment (with parts of a second, or as a number), perhaps the process and
# the category, ERROR.
_HEAD = r"^(?:(?:\d\d/\d\d/\d\d )?\d[\d:.]* )?(?:\((?:pid:|cid:|D_)[^)]*\) )*"
_OWN = re.compile(_HEAD + "ERROR:? (.*)")
# What keeps nobody from running, but others from being heard.
_REFUSED = re.compile(
    _HEAD + "((?:No tokens can be signed|PERMISSION DENIED|Failed to send update to collector).*)"
)
# In the head of what a process writes.
_BEGINNING = " STARTING UP"
# What a master says of a daemon that came to an end, whose own log may say nothing.
_ENDED = re.compile(
    _HEAD + r"The (\w+) \(pid \d+\) ((?:exited with status [1-9]|died due to signal )\d*)"
)
# The end of a traceback: the exception's name, and what it says.
_RAISED = re.compile(r"^(?:\S+ \S+ )?[\w.]*(?:Error|Exception|Lost)(?:\[\w+\])?: (.*)")


def find_complaints(logs: Mapping[str, str]) -> Counter[str]:
    """Return what is complained of in the logs, by name of the log, and how often."""
    return _find(logs, (_OWN, _RAISED))


def last_life(log: str) -> str:
    """Return the part of a daemon's log that its last process wrote."""
    return log[log.rfind(_BEGINNING) + len(_BEGINNING) :] if _BEGINNING in log else log


def find_refusals(logs: Mapping[str, str]) -> Counter[str]:
    """Return what the logs say of those who were not heard, by name of the log, and how often."""
    return _find(logs, (_REFUSED,))


def find_endings(logs: Mapping[str, str]) -> Counter[str]:
    """Return which daemons came to a bad end, as the master says it, and how often."""
    found: Counter[str] = Counter()
    for name, text in logs.items():
        for line in text.splitlines():
            match = _ENDED.match(line)
            if match is not None:
                found[f"{name}: {match[1]} {match[2]}"] += 1
    return found


def _find(logs: Mapping[str, str], patterns: tuple[re.Pattern[str], ...]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, text in logs.items():
        for line in map(str.strip, text.splitlines()):
            match = next(filter(None, (pattern.match(line) for pattern in patterns)), None)
            if match is not None:
                found[f"{name}: {match[1].strip()}"] += 1
    return found


def is_hopeless(complaints: Counter[str]) -> bool:
    """Tell whether the same went wrong again after a daemon was started anew."""
    return any(times > 1 for times in complaints.values())


def end_again_and_again(endings: Counter[str]) -> bool:
    """Tell whether a daemon refuses to be: it ended by itself as often as it was begun.

    Who is killed is no such one, whoever does it.
    """
    return any(times > 2 and "exited" in text for text, times in endings.items())


def render_complaints(complaints: Counter[str], most: int = 2) -> str:
    """Return the complaints that came last and most often, empty if there are none."""
    ranked = sorted(complaints.items(), key=lambda item: -item[1])
    return "; ".join(text for text, _ in ranked[:most])
