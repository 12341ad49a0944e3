"""The slots of a pool as one negotiation cycle sees them, and what is left of each.

A `Slot` is a row: the ad as the startd sent it, what the cycle reads of it once, and what earlier
matches of the same cycle have already taken. Rows are in the order of their names, so that no
decision depends on the order in which ads arrived; `version` says when a row's values have changed.
Rows that outlive their cycle are kept by `kept_slots.py`, with a column for each attribute.

Which slot a request gets is decided in `slot_choice.py`, how good it would be in `rank.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr
from kettle.patterns import late_pattern

# What a partitionable slot divides when its ad does not say.
DEFAULT_RESOURCES = ("Cpus", "Memory", "Disk")

_REAL = late_pattern(r"-?[0-9]{1,15}\.[0-9]{1,15}")

# States in which a slot takes a new match without anybody being sent away.
_FREE_STATES = frozenset(("unclaimed", "backfill", "owner", "drained", "matched", ""))
_FREE_TEXTS = frozenset(('"Unclaimed"', '"Backfill"', '"Owner"', '"Drained"', '"Matched"'))

# Who is said to have a slot, first what counts most.
_HOLDERS = ("accountinggroup", "remoteuser", "remoteowner")

# Limit: what a slot may weigh. Beyond it sums of weights forget a core, and one absurd slot would
# be the whole pie; a weight that is heavier counts as one that is no number.
HEAVIEST = 1e15
# Limit: parts that are cut off one slot in a cycle, should its ad say that it has no end.
MOST_PARTS = 10_000

# Numbers below this are integers to an ad, and none is lost between a real and an integer.
_EXACT = 2.0**53

# What a request without the attribute takes: a job always occupies a core.
_LEAST = {"cpus": 1.0}


@dataclass(slots=True, eq=False)
class Slot:
    """One slot on offer, or claimed and perhaps to be taken from its user."""

    index: int
    name: str
    # What is left of it: the ad as it came, until the cycle puts something before it.
    ad: ClassAd
    # Where its startd is, and who holds the claim now; empty when unclaimed.
    address: str = ""
    remote_user: str = ""
    # Secrets that let a schedd claim it; each match uses one up, the last stays.
    claim_ids: list[str] = field(default_factory=list)
    partitionable: bool = False
    # A match would send nobody away.
    free: bool = False
    weight: float = 1.0
    # What its current job is worth to it, for slots that may be preempted.
    current_rank: float = 0.0
    # No more matches in this cycle.
    taken: bool = False
    # Who has the single claim id of a partitionable slot that is being divided in this cycle.
    divided_by: str | None = None
    # Grows with each part that is cut off; an older evaluation of this slot is then worthless.
    version: int = 0


@dataclass(slots=True)
class SlotTable:
    """All slots of a cycle; `total_weight` is the pie that fair share divides."""

    rows: list[Slot]
    total_weight: float

    def __iter__(self) -> Iterator[Slot]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def slot_weight(ad: ClassAd, *, use_weights: bool = True) -> float:
    """Return what a slot counts in fair share, from 0 to HEAVIEST.

    SlotWeight is an expression in the slot ad; without it, or when it is no number, its cores
    count. A partitionable slot weighs what is left of it.

    Compat: the reference takes any weight, and one of 1e200 is all of its pool; here it counts 1,
    as there one that it cannot read (test_an_absurd_weight_does_not_take_the_whole_pool).
    """
    if not use_weights:
        return 1.0
    text = read_text(ad, "slotweight")
    weight = None if text is None or text.lower() == "cpus" else ad.real("SlotWeight")
    if weight is None:
        weight = _read_number(ad, "cpus")
    if weight is None or not weight <= HEAVIEST:
        return 1.0
    return max(0.0, weight)


def claim_ids(private: ClassAd) -> list[str]:
    """Return the claim ids of a private ad, first the one to use first."""
    listed = _read_string(private, "claimids")
    if listed:
        return [word for word in listed.replace(",", " ").split() if word]
    single = _read_string(private, "claimid") or _read_string(private, "capability")
    return [single] if single else []


def read_text(ad: ClassAd, key: str) -> str | None:
    """Return an attribute's text, given its name in lower case; quick where nobody parsed it."""
    found = ad.table.get(key)
    if type(found) is str:
        return found
    return None if found is None and ad.parent is None else ad.text(key)


def _read_string(ad: ClassAd, key: str) -> str | None:
    """Return a string, given the attribute's name in lower case."""
    text = read_text(ad, key)
    if text is None:
        return None
    if text[:1] == '"' and text.find('"', 1) == len(text) - 1 and "\\" not in text:
        return text[1:-1]
    return ad.string(key)


def _read_number(ad: ClassAd, key: str) -> float | None:
    """Return a number, given the attribute's name in lower case."""
    text = read_text(ad, key)
    if text is None:
        return None
    if text.isdecimal() or _REAL.fullmatch(text) is not None:
        return float(text)
    return ad.real(key)


def holder_of(ad: ClassAd) -> str:
    """Return the submitter on whose account a slot is held; empty if it is not."""
    if ad.parent is None and ad.table.keys().isdisjoint(_HOLDERS):
        return ""
    for key in _HOLDERS:
        holder = _read_string(ad, key)
        if holder:
            return holder
    return ""


def slot_key(ad: ClassAd) -> tuple[str, str]:
    """Return what names a slot in one pool: its name and its startd's address."""
    address = _read_string(ad, "myaddress") or _read_string(ad, "startdipaddr") or ""
    return (_read_string(ad, "name") or "", address)


def _is_partitionable(ad: ClassAd) -> bool:
    text = read_text(ad, "partitionableslot")
    if text is None or text in ("true", "false"):
        return text == "true"
    return bool(ad.boolean("PartitionableSlot"))


def read_slot(key: tuple[str, str], ad: ClassAd, *, use_weights: bool = True) -> Slot:
    """Return the row of a slot with this name and address, its place in the table yet unknown.

    The claim ids are those in the slot's ad (QUERY_MULTIPLE_PVT_ADS).
    """
    remote_user, partitionable = holder_of(ad), _is_partitionable(ad)
    return Slot(
        index=-1,
        name=key[0],
        ad=ad,
        address=key[1],
        remote_user=remote_user,
        claim_ids=claim_ids(ad),
        partitionable=partitionable,
        # Parts of a partitionable slot are slots of their own.
        free=partitionable or (not remote_user and _waits_for_a_match(ad)),
        weight=slot_weight(ad, use_weights=use_weights),
        current_rank=_read_number(ad, "currentrank") or 0.0,
    )


def _waits_for_a_match(ad: ClassAd) -> bool:
    # As startds write it; all other spellings the evaluator reads.
    if read_text(ad, "state") in _FREE_TEXTS:
        return True
    return (ad.string("State") or "").lower() in _FREE_STATES


def resource_names(ad: ClassAd) -> tuple[str, ...]:
    """Return what a partitionable slot divides, as its MachineResources says."""
    text = ad.string("MachineResources")
    names = tuple(text.replace(",", " ").split()) if text else DEFAULT_RESOURCES
    # Disk is always divided; Swap is measured, not handed out.
    if not any(name.lower() == "disk" for name in names):
        names = (*names, "Disk")
    return tuple(name for name in names if name.lower() != "swap")


def requested_resources(
    slot: ClassAd, request: ClassAd, rounding: Mapping[str, Expr]
) -> dict[str, float]:
    """Return how much of each of a slot's resources a request would take.

    `rounding` maps resource names in lower case to the expressions with which startds round what
    is requested (MODIFY_REQUEST_EXPR_*), so that a cycle does not give away what rounding eats.
    """
    amounts = {}
    for name in resource_names(slot):
        lower = name.lower()
        modifier = rounding.get(lower)
        if modifier is not None:
            value = request.evaluate_expression(modifier, slot)
        else:
            value = request.evaluate(f"Request{name}", slot)
        if isinstance(value, (int, float)) and 0 <= value < float("inf"):
            amounts[name] = float(value)
        else:
            amounts[name] = _LEAST.get(lower, 0.0)
    return amounts


def carve(slot: Slot, amounts: Mapping[str, float], *, use_weights: bool = True) -> float:
    """Take a part out of a partitionable slot; return the weight that went with it.

    The row gets a new ad that shows what is left; the startd's own ad stays as it is.
    """
    left = ClassAd(parent=slot.ad)
    for name, amount in amounts.items():
        have = slot.ad.real(name)
        if have is None:
            continue
        rest = max(0.0, have - amount)
        left[name] = int(rest) if rest.is_integer() and rest < _EXACT else rest
    before = slot.weight
    slot.ad = left
    slot.version += 1
    slot.weight = slot_weight(left, use_weights=use_weights) if use_weights else before
    if not use_weights:
        return 1.0
    return max(0.0, before - slot.weight)


def part_weight(slot: Slot, amounts: Mapping[str, float], *, use_weights: bool = True) -> float:
    """Return what `carve` would take away, without doing it."""
    if not use_weights:
        return 1.0
    if (read_text(slot.ad, "slotweight") or "").lower() == "cpus":
        # As startds have it, whatever else is taken.
        have = _read_number(slot.ad, "cpus")
        wanted = sum(amount for name, amount in amounts.items() if name.lower() == "cpus")
        if have is not None and have == slot.weight:
            return min(have, wanted)
    trial = Slot(slot.index, slot.name, slot.ad, weight=slot.weight, partitionable=True)
    return carve(trial, amounts, use_weights=True)
