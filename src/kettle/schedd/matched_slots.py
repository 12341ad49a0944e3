"""What a slot was matched on, which follows it to the jobs that it is given later."""

from __future__ import annotations

from kettle.classad import ClassAd, symmetric_match
from kettle.matchmaking.requests import concurrency_limits, limits_text
from kettle.schedd.negotiation import REMOTE_POOL
from kettle.schedd.queue.job_queue import Job

# What a negotiator says about a match, kept with the slots that come of it.
_GROUP_ATTRIBUTES = (
    "RemoteNegotiatingGroup",
    "RemoteGroup",
    "RemoteAutoregroup",
    "MatchedConcurrencyLimits",
    REMOTE_POOL,
)


def fits(job: Job, slot: ClassAd) -> bool:
    """Tell whether a job may use a slot that was matched for another one.

    It has to count against the same concurrency limits: only the negotiator knows what is left of
    others.
    """
    if not symmetric_match(job.ad, slot):
        return False
    wanted = sorted(concurrency_limits(limits_text(job.ad, slot)))
    return wanted == sorted(concurrency_limits(slot.string("MatchedConcurrencyLimits") or ""))


def keep_group(slot: ClassAd, matched: ClassAd) -> ClassAd:
    """Give a slot that was granted what the negotiator said of the one that was matched."""
    for name in _GROUP_ATTRIBUTES:
        text = matched.text(name)
        if text is not None and name not in slot:
            slot.insert_text(name, text)
    return slot
