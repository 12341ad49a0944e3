"""Who takes part in a cycle, and how much of a pie is whose.

The arithmetic of shares is `fair_share.py`'s, that of groups `groups.py`'s; here it is asked for
the submitters of one cycle as they stand now. Who is served when is decided in `cycle.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kettle.matchmaking import fair_share
from kettle.matchmaking.fair_share import Bounds
from kettle.matchmaking.groups import ROOT
from kettle.matchmaking.requests import Request

# A holder's effective priority must be worse by this much before somebody may take its slot, so
# that two users who stand alike do not drive each other out.
PRIORITY_DELTA = 0.5


@dataclass(slots=True)
class Submitter:
    """Who wants slots or holds some, with everything that decides how many."""

    name: str
    # Effective priority: smaller is better.
    priority: float
    # Slot weight in use now, matches of this cycle included as they are given.
    usage: float = 0.0
    bounds: Bounds | None = None
    group: str = ROOT
    # In the order of the jobs' priorities, schedd after schedd.
    requests: list[Request] = field(default_factory=list)

    def pending(self) -> list[Request]:
        """Return the requests that still want matches."""
        return [request for request in self.requests if request.left > 0]


class Pies:
    """What the submitters of a cycle hold, and what is left of a pie for each."""

    def __init__(self, submitters: Mapping[str, Submitter], *, ignore_shares: bool) -> None:
        """Take the submitters, whose usage grows as they are served.

        With `ignore_shares` nobody's part is bounded.
        """
        self._submitters = submitters
        self._ignore_shares = ignore_shares
        self.priorities = {name: each.priority for name, each in submitters.items()}
        # What each submitter may hold in all before it can take slots from others.
        self.fair: dict[str, float] = {}

    def waiting(self, names: Iterable[str]) -> list[str]:
        """Return those who still want matches, in the order in which they choose."""
        wanting = [name for name in names if self._submitters[name].pending()]
        return fair_share.order(wanting, self.priorities)

    def usage_of_groups(self) -> dict[str, float]:
        """Return what each group's members hold together."""
        usage: dict[str, float] = {}
        for each in self._submitters.values():
            usage[each.group] = usage.get(each.group, 0.0) + each.usage
        return usage

    def note_fair_shares(self, active: set[str], members: list[str], pie: float) -> None:
        """Note the part of the pie up to which each may take from others (PREEMPTION_REQUIREMENTS).

        Whoever holds slots counts, also if it wants no more.
        """
        taking_part = [name for name in members if name in active or self._submitters[name].usage]
        if self._ignore_shares:
            self.fair.update(dict.fromkeys(taking_part, float("inf")))
            return
        shares = fair_share.shares({name: self.priorities[name] for name in taking_part})
        self.fair.update({name: share * pie for name, share in shares.items()})

    def limits(self, active: Iterable[str], pie: float) -> dict[str, float]:
        """Return how much more each may have in this turn."""
        if self._ignore_shares:
            return dict.fromkeys(active, float("inf"))
        priorities = {name: self.priorities[name] for name in active}
        usage = {name: self._submitters[name].usage for name in priorities}
        return fair_share.limits(priorities, usage, pie)

    def left(self, members: list[str], pie: float) -> float:
        """Return what of a pie its members have not taken yet."""
        return max(0.0, pie - sum(self._submitters[name].usage for name in members))

    def outranks(self, submitter: str, user: str) -> bool:
        """Tell whether a submitter stands so much better than a user that it may take its slots."""
        other = self.priorities.get(user)
        return other is not None and other >= self.priorities[submitter] + PRIORITY_DELTA
