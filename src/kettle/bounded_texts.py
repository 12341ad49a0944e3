"""How much of a text of others a reason, a log or a table repeats: of a long one a part.

What somebody else wrote is bounded where it comes in: a job's own words where the policy reads
them, a fault's text where a starter or a shadow tells of it, and whatever becomes a job's reason in
the machine of the queue. Whoever hands such a text on does not bound it again.
"""

from __future__ import annotations

from typing import Final

# Limit: how much of a text of a user's, such as a list of files, a reason or a log's line repeats.
MOST_QUOTED: Final = 1000
# Limit: how long a reason is whatever it is made of. It is in the ad, in logs and in all tables.
MOST_OF_A_REASON: Final = 4000


def bounded(text: str, most: int = MOST_QUOTED) -> str:
    """Return a text of a user's as a reason or a log shows it: of a long one the beginning.

    How long it is follows, so that nobody takes the beginning for the whole.
    """
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({len(text)} characters in all)"


def bounded_reason(reason: str) -> str:
    """Return a reason as ads, logs and tables have it: of a long one both ends and how long it was.

    What is wrong stands at the end of many, such as the errno behind a path. What is returned
    is no longer than a reason may be, so whoever bounds it once more changes nothing.
    """
    if len(reason) <= MOST_OF_A_REASON:
        return reason
    gap = f"... ({len(reason)} characters in all) ..."
    kept = MOST_OF_A_REASON - len(gap)
    return f"{reason[: kept - kept // 4]}{gap}{reason[-(kept // 4) :]}"
