"""Why a job does not match: each condition of both sides, and how many slots meet it.

The conditions of the job are the parts of its Requirements that `&&` joins; those of the slots are
the parts of theirs, attributes such as START followed into their definitions, gathered by text.
Counts only, and the nearest value that would do; words and layout are the tools' (`kettle why`,
`condor_q -better-analyze`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr, unparse
from kettle.classad.nodes import AttributeReference, Binary, Parentheses, Selection
from kettle.classad.text import quote_old

# Limit: how deep attributes of a slot are followed into their definitions.
_MOST_LEVELS = 10

# A request that can be made smaller, and by how much; none is made of nothing.
_REMEDY = re.compile(r"(Request\w+) <= ([1-9]\d*)")

# A comparison read from the slot's side: the slot's value stands to the left.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "=?=": "=?="}


@dataclass(frozen=True, slots=True)
class Condition:
    """One part of an expression, and how many slots meet it."""

    text: str
    # Slots that have this condition: all, for one of the job's.
    asked: int
    met: int
    # Slots that would meet it if no other job had a part of them; None: as many as meet it now.
    met_when_empty: int | None = None
    # What would have to be asked for instead so that any slot meets it: "RequestMemory <= 16384".
    suggestion: str = ""
    # The same as attribute and number, where that is all there is to change.
    remedy: tuple[str, int] | None = None

    @property
    def is_hopeless(self) -> bool:
        """Whether no slot ever meets it."""
        return not (self.met if self.met_when_empty is None else self.met_when_empty)


@dataclass(slots=True)
class Explanation:
    """What stands between a job and the slots of a pool."""

    slots: int = 0
    job_conditions: list[Condition] = field(default_factory=list)
    slot_conditions: list[Condition] = field(default_factory=list)
    # Slots that the job refuses, that refuse the job, and where both agree.
    refused_by_job: int = 0
    refusing_job: int = 0
    matching: int = 0
    # Of the matching ones: free now, held by the job's own user, held by others, out of service.
    free: int = 0
    held_by_user: int = 0
    held_by_others: int = 0
    unavailable: int = 0
    # Slots where both would agree if no other job had a part of the slot now.
    matching_when_empty: int = 0
    # Whether some of them would be that if the job asked for what `remedy` of its conditions says.
    is_mendable: bool = False


def split_conditions(expression: Expr) -> Iterator[Expr]:
    """Yield the parts of an expression that `&&` joins, in order; parentheses do not hide any."""
    if isinstance(expression, Parentheses):
        yield from split_conditions(expression.inner)
    elif isinstance(expression, Binary) and expression.operator == "&&":
        yield from split_conditions(expression.left)
        yield from split_conditions(expression.right)
    else:
        yield expression


def expand_conditions(ad: ClassAd, expression: Expr, level: int = 0) -> Iterator[Expr]:
    """Yield the parts of an expression with attributes of its own ad followed into theirs.

    `Requirements = START && WithinResourceLimits` gives the parts of those two.
    """
    for part in split_conditions(expression):
        inner = _definition(ad, part) if level < _MOST_LEVELS else None
        if inner is None:
            yield part
        else:
            yield from expand_conditions(ad, inner, level + 1)


def _definition(ad: ClassAd, part: Expr) -> Expr | None:
    """Return what a bare attribute of the ad stands for, None if it is a plain value."""
    if _scope(part) not in ("", "my"):
        return None
    assert isinstance(part, (AttributeReference, Selection))
    found = ad.lookup(part.name)
    return None if found is None or found.is_literal else found


def _scope(expression: Expr) -> str | None:
    """Return `my`, `target` or nothing for an attribute, None for any other expression."""
    if isinstance(expression, AttributeReference):
        return ""
    if isinstance(expression, Selection) and isinstance(expression.base, AttributeReference):
        return expression.base.key
    return None


def explain(job: ClassAd, slots: Iterable[ClassAd], *, user: str = "") -> Explanation:
    """Count, for each condition of a job and of the slots, how many slots meet it.

    `user` is the job's submitter, to tell its own slots from those of others.
    """
    everything = list(slots)
    found = Explanation(slots=len(everything))
    requirements = job.lookup("Requirements")
    parts = list(split_conditions(requirements)) if requirements is not None else []
    empty = [emptied(slot) for slot in everything]
    for part in parts:
        found.job_conditions.append(_judge(job, part, everything, empty))
    found.slot_conditions = _slot_conditions(job, everything)
    for slot in everything:
        wanted = requirements is not None and job.satisfies(requirements, slot)
        own = slot.lookup("Requirements")
        welcome = own is not None and slot.satisfies(own, job)
        found.refused_by_job += not wanted
        found.refusing_job += not welcome
        if wanted and welcome:
            found.matching += 1
            _count_use(found, slot, user)
    found.matching_when_empty = sum(
        _agree(job, slot) or _agree(job, whole)
        for slot, whole in zip(everything, empty, strict=True)
    )
    remedies = dict(one.remedy for one in found.job_conditions if one.remedy is not None)
    smaller = ClassAd(remedies, parent=job)
    found.is_mendable = bool(remedies) and any(_agree(smaller, whole) for whole in empty)
    return found


def _judge(job: ClassAd, part: Expr, slots: list[ClassAd], empty: list[ClassAd]) -> Condition:
    """Count the slots that meet a condition of the job, as they are and without other jobs."""
    met = sum(1 for slot in slots if job.satisfies(part, slot))
    whole = sum(1 for slot in empty if job.satisfies(part, slot))
    text = unparse(part, old=True)
    if met or whole:
        return Condition(text, len(slots), met, whole)
    suggestion = suggest(job, part, empty)
    found = _REMEDY.fullmatch(suggestion)
    remedy = (found[1], int(found[2])) if found is not None and job.lookup(found[1]) else None
    return Condition(text, len(slots), met, whole, suggestion, remedy)


def emptied(slot: ClassAd) -> ClassAd:
    """Return a partitionable slot as it is while no job has a part of it; any other as it is."""
    if not slot.boolean("PartitionableSlot"):
        return slot
    whole = slot.copy()
    for name in re.split(r"[,\s]+", slot.string("MachineResources") or "Cpus Memory Disk"):
        total = slot.integer(f"TotalSlot{name}")
        if total is not None:
            whole[name] = total
    return whole


def _agree(job: ClassAd, slot: ClassAd) -> bool:
    return all(
        (wish := ad.lookup("Requirements")) is not None and ad.satisfies(wish, other)
        for ad, other in ((job, slot), (slot, job))
    )


def _slot_conditions(job: ClassAd, slots: list[ClassAd]) -> list[Condition]:
    """Gather the slots' conditions by their text, in the order in which they are met first."""
    asked: dict[str, int] = {}
    met: dict[str, int] = {}
    for slot in slots:
        requirements = slot.lookup("Requirements")
        if requirements is None:
            continue
        seen = set()
        for part in expand_conditions(slot, requirements):
            text = unparse(part, old=True)
            if text in seen:
                continue
            seen.add(text)
            asked[text] = asked.get(text, 0) + 1
            met[text] = met.get(text, 0) + slot.satisfies(part, job)
    return [Condition(text, count, met[text]) for text, count in asked.items()]


def _count_use(found: Explanation, slot: ClassAd, user: str) -> None:
    if slot.boolean("Offline") or (slot.string("State") or "") in ("Drained", "Preempting"):
        found.unavailable += 1
        return
    holder = slot.string("RemoteUser") or slot.string("RemoteOwner")
    if not holder or slot.boolean("PartitionableSlot"):
        found.free += 1
    elif user and holder == user:
        found.held_by_user += 1
    else:
        found.held_by_others += 1


def suggest(job: ClassAd, part: Expr, slots: list[ClassAd]) -> str:
    """Return what to ask for instead where a comparison with the slots' values fails everywhere.

    For `TARGET.Memory >= RequestMemory` the greatest Memory there is; for an equality the values
    that occur, if they are few. Empty where there is nothing to suggest.
    """
    comparison = _read_comparison(part)
    if comparison is None:
        return ""
    attribute, operator, wanted = comparison
    values = [slot.evaluate(attribute, job) for slot in slots]
    name = unparse(wanted, old=True)
    numbers = [
        value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)
    ]
    if operator in (">", ">=") and numbers:
        return f"{name} {operator.replace('>', '<')} {_shown(max(numbers))}"
    if operator in ("<", "<=") and numbers:
        return f"{name} {operator.replace('<', '>')} {_shown(min(numbers))}"
    if operator in ("==", "=?="):
        texts = sorted({value for value in values if isinstance(value, str)})
        if 0 < len(texts) <= 5:
            listed = " or ".join(quote_old(text) for text in texts)
            return f"{attribute} is {listed}"
    return ""


def _shown(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _read_comparison(part: Expr) -> tuple[str, str, Expr] | None:
    """Return slot attribute, operator and the job's side of `TARGET.X op Y`, or of `Y op' X`."""
    while isinstance(part, Parentheses):
        part = part.inner
    if not isinstance(part, Binary) or part.operator not in _MIRRORED:
        return None
    left, right = _slot_attribute(part.left), _slot_attribute(part.right)
    if left is not None:
        return (left, part.operator, part.right)
    if right is not None:
        return (right, _MIRRORED[part.operator], part.left)
    return None


def _slot_attribute(expression: Expr) -> str | None:
    while isinstance(expression, Parentheses):
        expression = expression.inner
    if isinstance(expression, Selection) and _scope(expression) == "target":
        return expression.name
    return None
