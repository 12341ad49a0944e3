"""What a slot was matched on, which follows it to the jobs that it is given later."""

from __future__ import annotations

from dataclasses import dataclass, field

from kettle.attributes.match_words import KEPT_WITH_A_SLOT, MATCH_EXPRESSION
from kettle.classad import ClassAd, symmetric_match
from kettle.matchmaking.requests import concurrency_limits, limits_text
from kettle.schedd.queue.jobs import Job

# How long a match may be used after it was made: the negotiator keeps its limits aside for longer
# (negotiator.recent_matches.DIVIDED_SECONDS).
ALLOWED_SECONDS = 5


def fits(job: Job, slot: ClassAd) -> bool:
    """Tell whether a job may use a slot that was matched for another one.

    It has to count against the same concurrency limits: only the negotiator knows what is left of
    others.
    """
    if not symmetric_match(job.ad, slot):
        return False
    matched = slot.string("MatchedConcurrencyLimits") or ""
    return _counts_against(job, slot) == sorted(concurrency_limits(matched))


def _counts_against(job: Job, slot: ClassAd) -> list[tuple[str, float]]:
    return sorted(concurrency_limits(limits_text(job.ad, slot)))


@dataclass(slots=True)
class Allowances:
    """The limits that jobs may count against which get what is left of a slot, each list once.

    Compat: the reference's negotiator gives one match of a partitionable slot in a cycle, and its
    schedd no job with limits what is left of one: of a burst, one starts in a cycle and slot. Ours
    gives a match for every job, and each further one is an allowance here
    (test_a_burst_of_jobs_with_limits_starts_in_one_cycle).
    """

    # Lists of limits, and when each was allowed.
    _lists: list[tuple[str, float]] = field(default_factory=list)

    def add(self, limits: str, now: float) -> None:
        """Note a match for one more job that counts against a list of limits."""
        self._lists = [each for each in self._lists if _in_time(each[1], now)]
        if limits:
            self._lists.append((limits, now))

    def cover(self, job: Job, slot: ClassAd, now: float) -> bool:
        """Tell whether a job may use a slot that is left of a matched one."""
        if not symmetric_match(job.ad, slot):
            return False
        wanted = _counts_against(job, slot)
        return not wanted or self._find(wanted, now) is not None

    def take(self, job: Job, slot: ClassAd, now: float) -> str:
        """Use up and return the list of limits of a job that is covered."""
        found = self._find(_counts_against(job, slot), now)
        return "" if found is None else self._lists.pop(found)[0]

    def _find(self, wanted: list[tuple[str, float]], now: float) -> int | None:
        for place, (limits, allowed_at) in enumerate(self._lists):
            if _in_time(allowed_at, now) and sorted(concurrency_limits(limits)) == wanted:
                return place
        return None


def _in_time(allowed_at: float, now: float) -> bool:
    return 0 <= now - allowed_at < ALLOWED_SECONDS


def keep_group(slot: ClassAd, matched: ClassAd) -> ClassAd:
    """Give a slot that was granted what the negotiator said of the one that was matched.

    Its startd has no say in that.
    """
    expressions = (
        name for ad in (slot, matched) for name in ad.names() if name.startswith(MATCH_EXPRESSION)
    )
    for name in (*KEPT_WITH_A_SLOT, *expressions):
        text = matched.text(name)
        if text is None:
            slot.discard(name)
        else:
            slot.insert_text(name, text)
    return slot
