"""Which idle jobs are alike as far as matchmaking can see.

Jobs with the same values of the significant attributes get the same autocluster, so that one
answer of the negotiator holds for all of them. Values are compared as text: two spellings of one
value only cost a second autocluster. What a request then says about such a group is
`requests.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr
from kettle.classad.references import References, find_references
from kettle.errors import ClassAdSyntaxError

# What matters for every job, whatever the machines' expressions look at (daemon reference,
# NEGOTIATE, autocluster). The order is the one the reference publishes.
ALWAYS_SIGNIFICANT = ("ConcurrencyLimits", "FlockTo", "Rank", "Requirements")

# What the negotiator asks for even in a pool without a single machine.
REQUESTED_RESOURCES = ("RequestCpus", "RequestDisk", "RequestGPUs", "RequestMemory")

# The expressions of a job whose own references decide what it matches.
_MATCHING_EXPRESSIONS = ("Requirements", "Rank")

# Limit: a chain of attributes that refer to each other is followed this far.
_MAX_REFERENCES = 1000


def bare_name(reference: str) -> str:
    """Return the attribute of a reference without its scope."""
    return reference.rpartition(".")[2]


def referred_names(expression: Expr, ad: ClassAd) -> tuple[list[str], list[str]]:
    """Return what an expression refers to inside and outside an ad, sorted, without scopes."""
    internal, external = find_references(expression, ad)
    return _without_scopes(internal), _without_scopes(external)


def _without_scopes(references: Iterable[str]) -> list[str]:
    return sorted({bare_name(name) for name in references})


def closure(ad: ClassAd, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Follow references from attributes of an ad to all they depend on.

    Returns the attributes of this ad that take part (the starting ones included) and the names
    looked up in the other ad, both in order of first appearance.
    """
    inside: dict[str, str] = {}
    outside: dict[str, str] = {}
    references = References(ad)
    todo = deque(names)
    while todo and len(inside) < _MAX_REFERENCES:
        name = todo.popleft()
        if name.lower() in inside:
            continue
        expression = ad.lookup(name)
        if expression is None:
            continue
        inside[name.lower()] = name
        if expression.is_literal:
            continue
        internal, external = references.follow(expression)
        todo.extend(_without_scopes(internal))
        for other in _without_scopes(external):
            outside.setdefault(other.lower(), other)
    return list(inside.values()), list(outside.values())


@dataclass(slots=True)
class AutoClusters:
    """Gives jobs their autocluster ids; owned by whoever keeps the queue.

    An id stays what it is while the list of significant attributes is the same.
    """

    # What the negotiators asked for, in their order.
    requested: tuple[str, ...] = REQUESTED_RESOURCES
    _attributes: dict[str, str] = field(default_factory=dict)
    _ids: dict[tuple[str | None, ...], int] = field(default_factory=dict)
    _by_expression: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _next: int = 1
    # Grows by one whenever every job has to be looked at anew.
    generation: int = 0

    def __post_init__(self) -> None:
        self._start_over()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The significant attributes, first the negotiators', then the jobs' own."""
        return tuple(self._attributes.values())

    @property
    def attributes_text(self) -> str:
        """What AutoClusterAttrs says in a job ad."""
        return ",".join(self._attributes.values())

    def request(self, names: Iterable[str]) -> bool:
        """Take over the list a negotiator sent; True if ids given so far are void.

        Lists only grow: with several negotiators the union of what they want is significant.
        """
        known = {name.lower() for name in self.requested}
        new = [name for name in names if name.lower() not in known]
        if not new:
            return False
        self.requested = (*self.requested, *new)
        self._start_over()
        return True

    def learn(self, name: str) -> None:
        """Make an attribute significant that jobs' expressions look at before they have it."""
        if name.lower() not in self._attributes:
            self._attributes[name.lower()] = name
            self._void()

    def assign(self, job: ClassAd) -> int:
        """Return the id of the group that a job belongs to."""
        for name in _MATCHING_EXPRESSIONS:
            text = job.text(name)
            if text is not None:
                self._learn(text, job, name)
        signature = tuple(job.text(name) for name in self._attributes.values())
        known = self._ids.get(signature)
        if known is not None:
            return known
        number = self._next
        self._next += 1
        self._ids[signature] = number
        return number

    def __len__(self) -> int:
        return len(self._ids)

    def _start_over(self) -> None:
        self._attributes = {name.lower(): name for name in (*self.requested, *ALWAYS_SIGNIFICANT)}
        self._by_expression.clear()
        self._void()

    def _void(self) -> None:
        self._ids.clear()
        self.generation += 1

    def _learn(self, text: str, job: ClassAd, name: str) -> None:
        """Make what a job's expression looks at significant; void all ids if that is new."""
        names = self._by_expression.get(text)
        if names is None:
            expression = job.lookup(name)
            if expression is None or expression.is_literal:
                names = ()
            else:
                # What is looked up in the slot is not the job's, whatever the job has itself: the
                # reference does not count TARGET.CondorVersion (query_autoclusters vector).
                # Compat: nor does it what a job finds of itself by way of the match, as LEFT.Wish
                # (test_what_a_job_finds_of_itself_by_way_of_the_match_parts_no_jobs).
                inside, _ = closure(job, [name])
                names = tuple(inside)
            self._by_expression[text] = names
        new = [each for each in names if each.lower() not in self._attributes]
        if new:
            self._attributes.update({each.lower(): each for each in sorted(new, key=str.lower)})
            self._void()


def significant_for_slots(slots: Iterable[ClassAd], expressions: Iterable[str]) -> tuple[str, ...]:
    """Return the job attributes that the slots' expressions look at, sorted without case.

    This is what a negotiator sends as AutoClusterAttrs. Slots with the same text in all the
    named expressions are looked at once.
    """
    wanted = tuple(expressions)
    found = {name.lower(): name for name in REQUESTED_RESOURCES}
    seen: set[tuple[str | None, ...]] = set()
    for slot in slots:
        texts = tuple(slot.text(name) for name in wanted)
        if texts in seen:
            continue
        seen.add(texts)
        try:
            inside, outside = closure(slot, wanted)
        except ClassAdSyntaxError:
            # A slot ad that does not parse matches nothing and wants nothing.
            continue
        for name in outside:
            found.setdefault(name.lower(), name)
        # What the slot has itself may be looked up in the job all the same (MY. left out).
        del inside
    return tuple(sorted(found.values(), key=str.lower))
