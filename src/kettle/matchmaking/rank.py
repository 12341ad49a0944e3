"""How good a slot would be for a request, and whether its present user may be sent away.

Pure evaluation of two ads and the negotiator's five expressions. The best candidate has the
greatest `Candidate.quality`; the order of its parts is the reference's: NEGOTIATOR_PRE_JOB_RANK,
the job's own Rank, NEGOTIATOR_POST_JOB_RANK, then rather a free slot than one whose startd prefers
the job, rather that than one taken because of priority, then PREEMPTION_RANK.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from kettle.classad import ClassAd, Expr
from kettle.matchmaking.autoclusters import referred_names
from kettle.matchmaking.slot_classes import is_plain
from kettle.matchmaking.slots import Slot


class Eviction(IntEnum):
    """Why nobody, or somebody, has to go for a match; better reasons are greater."""

    PRIORITY = 0
    STARTD_RANK = 1
    NOBODY = 2


@dataclass(frozen=True, slots=True)
class RankSettings:
    """The negotiator's own expressions; MY is the slot, TARGET the request."""

    pre_job_rank: Expr | None = None
    post_job_rank: Expr | None = None
    preemption_requirements: Expr | None = None
    preemption_rank: Expr | None = None
    consider_preemption: bool = True
    consider_early_preemption: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A slot that would do, and how well."""

    slot: Slot
    version: int
    # Pre-job rank, job rank, post-job rank, reason, preemption rank: greater is better.
    quality: tuple[float, float, float, int, float]
    eviction: Eviction


class NoMatch(IntEnum):
    """Why a slot is not for a request; the greatest one met is what the user is told."""

    REQUIREMENTS = 0
    RETIREMENT = 1
    PRIORITY = 2
    PREEMPTION_REQUIREMENTS = 3

    @property
    def reason(self) -> str:
        """The words that LastRejMatchReason shows."""
        return _REASONS[self]


_REASONS = {
    NoMatch.REQUIREMENTS: "no match found",
    NoMatch.RETIREMENT: "no match found",
    NoMatch.PRIORITY: "insufficient priority",
    NoMatch.PREEMPTION_REQUIREMENTS: "PREEMPTION_REQUIREMENTS == False",
}


def number(ad: ClassAd, expression: Expr | None, target: ClassAd) -> float:
    """Evaluate a rank; what is not a number is worth 0."""
    if expression is None:
        return 0.0
    value = ad.evaluate_expression(expression, target)
    if isinstance(value, (bool, int, float)) and value == value:
        return float(value)
    return 0.0


def may_be_preempted(slot: Slot, settings: RankSettings) -> bool:
    """Tell whether any request at all could get a claimed slot; if not, it can be left out."""
    if slot.free:
        return True
    if not settings.consider_preemption:
        return False
    state = (slot.ad.string("State") or "").lower()
    if state == "preempting":
        return False
    if slot.ad.lookup("PreemptingUser") is not None:
        # Somebody is already waiting for it.
        return False
    if not settings.consider_early_preemption:
        left = slot.ad.real("RetirementTimeRemaining")
        if left is not None and left > 0:
            return False
    return _may_rank_higher(slot) or _may_be_true(settings.preemption_requirements)


def _may_rank_higher(slot: Slot) -> bool:
    rank = slot.ad.lookup("Rank")
    return rank is not None and not rank.is_literal


def _may_be_true(expression: Expr | None) -> bool:
    if expression is None:
        return False
    if not expression.is_literal:
        return True
    return ClassAd().satisfies(expression, ClassAd())


def judge_eviction(
    slot: Slot,
    request: ClassAd,
    settings: RankSettings,
    outranks: Callable[[str], bool],
) -> Eviction | NoMatch:
    """Decide whether a slot whose ads match may really be had, given who has it now.

    `outranks(user)` tells whether the requesting submitter's priority is better than a user's.
    """
    if slot.free:
        return Eviction.NOBODY
    if not settings.consider_preemption:
        return NoMatch.PRIORITY
    offered = number(slot.ad, slot.ad.lookup("Rank"), request)
    if offered > slot.current_rank:
        return Eviction.STARTD_RANK
    if not outranks(slot.remote_user):
        return NoMatch.PRIORITY
    wanted = settings.preemption_requirements
    if wanted is None or not slot.ad.satisfies(wanted, request):
        return NoMatch.PREEMPTION_REQUIREMENTS
    return NoMatch.PRIORITY if offered < slot.current_rank else Eviction.PRIORITY


class Appraisals:
    """Computes how good matches would be; what does not depend on the request only once a slot."""

    def __init__(self, settings: RankSettings) -> None:
        self._settings = settings
        self._pre = _Alone(settings.pre_job_rank)
        self._post = _Alone(settings.post_job_rank)
        # By slot and version: pre-job and post-job rank, None where the request matters.
        self._of_slots: dict[tuple[int, int], tuple[float | None, float | None]] = {}

    def appraise(
        self, slot: Slot, request: ClassAd, eviction: Eviction, job_rank: float | None = None
    ) -> Candidate:
        """Return a candidate; ads and priorities have been judged before.

        `job_rank` is the request's Rank of this slot if it is known already.
        """
        settings = self._settings
        key = (slot.index, slot.version)
        found = self._of_slots.get(key)
        if found is None:
            found = self._of_slots[key] = (
                self._pre.value(slot.ad),
                self._post.value(slot.ad),
            )
        pre, post = found
        if pre is None:
            pre = number(slot.ad, settings.pre_job_rank, request)
        if post is None:
            post = number(slot.ad, settings.post_job_rank, request)
        if job_rank is None:
            job_rank = number(request, request.lookup("Rank"), slot.ad)
        preemption_rank = 0.0
        if eviction is not Eviction.NOBODY:
            preemption_rank = number(slot.ad, settings.preemption_rank, request)
        quality = (pre, job_rank, post, int(eviction), preemption_rank)
        return Candidate(slot, slot.version, quality, eviction)


_NOBODY = ClassAd()


class _Alone:
    """A rank expression that may look at nothing but the slot, and then has one value for it."""

    def __init__(self, expression: Expr | None) -> None:
        self._expression = expression
        self._names: tuple[str, ...] = ()
        if expression is not None:
            inside, outside = referred_names(expression, _NOBODY)
            self._names = tuple({name.lower() for name in (*inside, *outside)})

    def value(self, ad: ClassAd) -> float | None:
        """Return the rank of a slot; None if a request has to be asked."""
        expression = self._expression
        if expression is None:
            return 0.0
        for name in self._names:
            text = ad.text(name)
            # A name that the slot lacks, or defines by something else, may need the request.
            if not is_plain(text) or (text is None and name not in _SLOT_ONLY):
                return None
        return number(ad, expression, _NOBODY)


# Attributes of slots that no request has: an absent one is absent.
_SLOT_ONLY = frozenset(("remoteowner", "kflops", "offline", "slotid", "totaljobruntime"))
