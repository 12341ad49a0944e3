"""How a machine is divided into slots, and how dynamic slots are cut out of partitionable ones.

Arithmetic only: shares of types (manual, Dividing System Resources), rounding of requests
(MODIFY_REQUEST_EXPR_*), carving and giving back. What a slot *does* is `slot_machine.py`;
what the machine *has* is gathered by `services/facts.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from kettle.errors import ConfigError
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern

BUILT_IN = ("Cpus", "Memory", "Disk", "Swap")
"""The resources every machine has: cores, MiB, KiB, KiB."""

# Only a fraction of these makes sense: their totals change while the machine runs.
_FLUID = frozenset({"Disk", "Swap"})
_FIRST_LETTERS = {"c": "Cpus", "r": "Memory", "m": "Memory", "d": "Disk", "s": "Swap", "v": "Swap"}
# How people write them besides; of each its beginning is enough.
_SPELT = {
    "Cpus": ("cores",),
    "Memory": ("ram",),
    "Swap": ("virtualmemory", "virtual_memory", "vm"),
}


@dataclass(frozen=True)
class Bundle:
    """Amounts of resources by name, and for those that come as identifiers, which ones.

    Cpus may be a fraction; Memory is MiB, Disk and Swap KiB, custom resources as counted.
    """

    amounts: Mapping[str, float] = field(default_factory=dict)
    assigned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def amount(self, name: str) -> float:
        """Return how much there is of one resource, 0 if it is unknown."""
        return self.amounts.get(name, 0)

    def fits(self, wanted: Bundle) -> bool:
        """Whether all of `wanted` could be taken out of this."""
        return not self.missing(wanted)

    def missing(self, wanted: Bundle) -> list[str]:
        """Return the names of the resources of which there is too little."""
        return [n for n, amount in wanted.amounts.items() if amount > self.amount(n)]

    def take(self, wanted: Bundle) -> tuple[Bundle, Bundle]:
        """Cut `wanted` out; return what was cut, with identifiers, and what is left.

        The caller has checked that it fits.
        """
        assert self.fits(wanted), f"{wanted} out of {self}"
        cut_ids: dict[str, tuple[str, ...]] = {}
        left_ids: dict[str, tuple[str, ...]] = {}
        for name, ids in self.assigned.items():
            count = int(wanted.amount(name))
            cut_ids[name], left_ids[name] = ids[:count], ids[count:]
        cut = {name: wanted.amount(name) for name in self.amounts}
        left = {name: whole(amount - cut[name]) for name, amount in self.amounts.items()}
        return Bundle(cut, cut_ids), Bundle(left, left_ids)

    def give_back(self, returned: Bundle) -> Bundle:
        """Return the sum; identifiers come back in their original order as far as known."""
        amounts = {n: whole(a + returned.amount(n)) for n, a in self.amounts.items()}
        assigned = {
            n: tuple(sorted({*ids, *returned.assigned.get(n, ())}, key=_natural))
            for n, ids in self.assigned.items()
        }
        return Bundle(amounts, assigned)


def whole(amount: float) -> float:
    """Return an integer where the amount is one: 7, not 7.0."""
    return int(amount) if float(amount).is_integer() else amount


def _natural(text: str) -> tuple[str, int, str]:
    digits = text.lstrip("".join(c for c in text if not c.isdecimal()))
    return (text.rstrip("0123456789"), int(digits) if digits.isdecimal() else -1, text)


@dataclass(frozen=True)
class SlotType:
    """One SLOT_TYPE_<n>: its text, how many of it, and whether they can be divided further."""

    number: int
    text: str
    count: int
    partitionable: bool


TOO_LITTLE, NO_FOLDER = 1, 3
"""Why a slot takes no job, as SlotBrokenCode says it."""


class Flaw(NamedTuple):
    """Why a slot takes no job for as long as the startd runs: a code from above, and words."""

    code: int
    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class SlotSpec:
    """A slot as configured; fixed until the startd restarts (A016)."""

    slot_id: int
    type_id: int
    partitionable: bool
    total: Bundle
    flaw: Flaw | None = None


@dataclass(frozen=True)
class Share:
    """What a slot type says about one resource: auto, a part of the whole, or a number."""

    part: Fraction | None = None
    number: float | None = None

    @property
    def is_auto(self) -> bool:
        """Whether the slot takes its even part of what the others leave."""
        return self.part is None and self.number is None


AUTO = Share()
# Limit: characters of a share, and digits of an exponent: fractions are exact, however large.
_LONGEST_SHARE = 100
_GREAT_EXPONENT = late_pattern(r"[eE][+-]?[\d_]{3}")


def parse_share(text: str, where: str) -> Share:
    """Parse `auto`, `25%`, `1/4` or a number; ConfigError names `where` otherwise."""
    text = text.strip()
    if text.lower() == "auto":
        return AUTO
    # What is endless is no number either.
    bounded = len(text) <= _LONGEST_SHARE and _GREAT_EXPONENT.search(text) is None
    number = text if bounded else ""
    try:
        if text.endswith("%"):
            return Share(part=Fraction(number[:-1].strip()) / 100)
        if "/" in text:
            return Share(part=Fraction(number.replace(" ", "")))
        return Share(number=float(number))
    except (ValueError, ZeroDivisionError):
        raise ConfigError(
            f"{where}: {text!r} is not a share of a resource",
            hint="write auto, a percentage, a fraction or a number",
        ) from None


def resource_name(text: str, custom: Iterable[str], where: str) -> str:
    """Return the resource a word in a slot type means.

    Custom resources are known by their full name, the built-in ones by their first letter.
    """
    word = text.strip()
    for name in custom:
        if name.lower() == word.lower():
            return name
    known = _FIRST_LETTERS.get(word[:1].lower())
    if known is None:
        names = ", ".join([*BUILT_IN, *custom])
        raise ConfigError(f"{where}: unknown resource {word!r}", hint=f"known are {names}")
    return known


def find_odd_resources(text: str, custom: Sequence[str], where: str) -> Iterator[tuple[str, str]]:
    """Yield words of a slot type that count by their first letter alone, and what they count as."""
    for item in _items(text):
        word, equals, _ = item.replace(":", "=", 1).partition("=")
        name = resource_name(word, custom, where) if equals else ""
        spelt = word.strip().lower()
        if name and not any(
            full.startswith(spelt) for full in (name.lower(), *_SPELT.get(name, ()))
        ):
            yield word.strip(), name


def parse_slot_type(text: str, custom: Sequence[str], where: str) -> dict[str, Share]:
    """Return the share of every resource a SLOT_TYPE_<n> text gives.

    One bare value is the default for what the list does not name; without it that is `auto`.
    """
    shares: dict[str, Share] = {}
    blanket = AUTO
    for item in _items(text):
        if "=" not in item and ":" not in item:
            blanket = parse_share(item, where)
            continue
        word, _, value = item.replace(":", "=", 1).partition("=")
        shares[resource_name(word, custom, where)] = parse_share(value, where)
    for name in (*BUILT_IN, *custom):
        share = shares.setdefault(name, blanket)
        if name in _FLUID and share.number is not None and name not in custom:
            raise ConfigError(
                f"{where}: {name} cannot be a number", hint="write auto, a percentage or a fraction"
            )
    return shares


def _items(text: str) -> list[str]:
    """Return what a slot type lists: between commas or lines, or blanks where there are neither."""
    items = [part for part in text.replace("\n", ",").split(",") if part.strip()]
    if len(items) == 1:
        # Blanks around an = part nothing.
        pieces = text.strip().split("=")
        words = "=".join([pieces[0].rstrip(), *(piece.strip() for piece in pieces[1:])]).split()
        return words if all("=" in word for word in words) else items
    return items


class SlotFailure(StrEnum):
    """What becomes of slots that need more than there is (SLOT_CONFIG_FAILURE_MODE)."""

    ABORT = "abort"
    CLEAR = "clear"
    CONTINUE = "continue"


class SlotDisk(NamedTuple):
    """The disk of a slot whose sandboxes are not in EXECUTE.

    `volume` says which: slots share what is on the same one; empty for EXECUTE's. With `trouble` no
    job can be started there.
    """

    volume: str
    kib: float
    trouble: str = ""


def plan_slots(
    machine: Bundle,
    types: Sequence[SlotType],
    failure: SlotFailure = SlotFailure.ABORT,
    disks: Mapping[int, SlotDisk] = MappingProxyType({}),
) -> Layout:
    """Divide a machine among the slots of all types, in order of type and count.

    Of a type none of whose slots fits the first is made of what is left, and takes no job; others
    that do not fit are not made. That is so with CONTINUE alone: with CLEAR there is no slot at all
    then, and with ABORT a ConfigError that names the resource that is over-subscribed (A037).
    `disks` has those of slots that have one of their own, by their numbers.
    """
    custom = [name for name in machine.amounts if name not in BUILT_IN]
    wishes = [(t, parse_slot_type(t.text, custom, f"SLOT_TYPE_{t.number}")) for t in types]
    stock = _Stock(machine, disks)
    if failure is SlotFailure.ABORT:
        _refuse_too_much(stock, wishes)
    drafts, short_types = _deal_out(stock, wishes)
    _share_rest(stock, drafts)
    flaws = [draft for draft in drafts if draft.flaw is not None]
    if flaws and failure is SlotFailure.ABORT:
        raise ConfigError(f"a slot of type {flaws[0].kind.number}: {flaws[0].flaw}")
    short_types += [draft.kind.number for draft in flaws if failure is SlotFailure.CLEAR]
    if failure is SlotFailure.CLEAR and short_types:
        return Layout((), (min(short_types),))
    return Layout(tuple(_with_pieces(machine, drafts)), tuple(short_types))


@dataclass(frozen=True)
class Layout:
    """The slots of a machine, and the types of which there are fewer than configured."""

    slots: tuple[SlotSpec, ...]
    short_types: tuple[int, ...] = ()


_Wish = tuple[SlotType, Mapping[str, Share]]
# A resource, and which disk it is; empty for what there is only one of.
_Key = tuple[str, str]


@dataclass
class _Draft:
    """A slot in the making."""

    kind: SlotType
    keys: Mapping[str, _Key]
    amounts: dict[str, float]
    flaw: Flaw | None = None


class _Stock:
    """What there is to be dealt out, and what is left of it."""

    def __init__(self, machine: Bundle, disks: Mapping[int, SlotDisk]) -> None:
        self._names, self._disks = tuple(machine.amounts), disks
        self.totals: dict[_Key, float] = {(n, ""): amount for n, amount in machine.amounts.items()}
        for disk in disks.values():
            self.totals.setdefault(("Disk", disk.volume), disk.kib)
        self.left = dict(self.totals)

    def draft(self, kind: SlotType, shares: Mapping[str, Share], slot_id: int) -> _Draft:
        """Return what a slot asks for, without what is auto."""
        disk = self._disks.get(slot_id)
        volume = disk.volume if disk is not None else ""
        keys = {name: (name, volume if name == "Disk" else "") for name in self._names}
        amounts = {
            name: self._amount(key, share)
            for name, key in keys.items()
            if not (share := shares[name]).is_auto
        }
        no_folder = Flaw(NO_FOLDER, disk.trouble) if disk is not None and disk.trouble else None
        return _Draft(kind, keys, amounts, no_folder)

    def _amount(self, key: _Key, share: Share) -> float:
        if share.part is None:
            return whole(share.number or 0)
        return _part(key[0], self.totals[key], share.part)

    def exceeds(self, amount: float, there: float, key: _Key) -> bool:
        """Whether it is more than there is, but for what thirds of a total do not add up to."""
        return amount > there + self.totals[key] * 1e-6 + 1e-6


def _refuse_too_much(stock: _Stock, wishes: Sequence[_Wish]) -> None:
    used = dict.fromkeys(stock.totals, 0.0)
    slot_id = 0
    for kind, shares in wishes:
        for _ in range(kind.count):
            slot_id += 1
            draft = stock.draft(kind, shares, slot_id)
            for name, amount in draft.amounts.items():
                used[draft.keys[name]] += amount
    for key, total in stock.totals.items():
        if stock.exceeds(used[key], total, key):
            raise ConfigError(
                f"the slot types ask for {used[key]:g} {key[0]}, the machine has {total:g}",
                hint=f"lower the {key[0]} of a SLOT_TYPE or its NUM_SLOTS_TYPE",
            )


def _deal_out(stock: _Stock, wishes: Sequence[_Wish]) -> tuple[list[_Draft], list[int]]:
    """Give the slots what they ask for, in their order, as long as there is enough."""
    drafts: list[_Draft] = []
    short_types: list[int] = []
    left = stock.left
    for kind, shares in wishes:
        for nth in range(kind.count):
            draft = stock.draft(kind, shares, len(drafts) + 1)
            asked = {name: (draft.keys[name], amount) for name, amount in draft.amounts.items()}
            lacking = [
                f"{name} ({amount - left[key]:g} short)"
                for name, (key, amount) in asked.items()
                if stock.exceeds(amount, left[key], key)
            ]
            if lacking and nth:
                # Nor will any further of its type fit.
                short_types.append(kind.number)
                break
            if lacking:
                draft.flaw = Flaw(TOO_LITTLE, f"there is not enough {', '.join(lacking)}")
            for name, (key, amount) in asked.items():
                draft.amounts[name] = min(amount, left[key])
                left[key] -= draft.amounts[name]
            drafts.append(draft)
    return drafts, short_types


def _share_rest(stock: _Stock, drafts: Sequence[_Draft]) -> None:
    """Split what is left of each resource evenly among the slots with auto."""
    for key, left in stock.left.items():
        name = key[0]
        autos = [one for one in drafts if name not in one.amounts and one.keys[name] == key]
        each = _part(name, max(0, left), Fraction(1, len(autos))) if autos else 0
        for draft in autos:
            draft.amounts[name] = each
            if name == "Cpus" and each <= 0 and draft.flaw is None:
                draft.flaw = Flaw(TOO_LITTLE, "no Cpus are left for it")


def _with_pieces(machine: Bundle, drafts: Sequence[_Draft]) -> Iterator[SlotSpec]:
    """Deal out what comes as identifiers, in order."""
    ids = dict(machine.assigned)
    for slot_id, draft in enumerate(drafts, start=1):
        amounts = {name: draft.amounts[name] for name in machine.amounts}
        assigned = {}
        for name, left in ids.items():
            count = int(amounts[name])
            assigned[name], ids[name] = left[:count], left[count:]
        kind, total = draft.kind, Bundle(amounts, assigned)
        yield SlotSpec(slot_id, kind.number, kind.partitionable, total, draft.flaw)


def _part(name: str, total: float, part: Fraction) -> float:
    exact = Fraction(total).limit_denominator(10**6) * part
    # Less than one core stays a fraction, so that a slot with some cpu is never one with none.
    if name == "Cpus" and 0 < exact < 1:
        return float(exact)
    return math.floor(exact)


# ---- requests and carving ---------------------------------------------------------------------

Evaluate = Callable[[str], float | None]
"""Evaluates one MODIFY_REQUEST_EXPR_* or Request* by name of the resource; None if no number."""


def plan_request(names: Iterable[str], evaluate: Evaluate) -> Bundle:
    """Return what a job asks for of each resource; no request is nothing, but one core."""
    amounts: dict[str, float] = {}
    for name in names:
        value = evaluate(name)
        if value is None or math.isnan(value):
            amounts[name] = 1 if name == "Cpus" else 0
        else:
            # Never smaller than asked: fractions only of cores, the rest is rounded up (A052).
            # Infinitely much is more than any machine has.
            fraction = name == "Cpus" or math.isinf(value)
            amounts[name] = whole(value) if fraction else math.ceil(value)
            amounts[name] = max(0, amounts[name])
    return Bundle(amounts)


def choose_request(free: Bundle, asked: Bundle, rounded: Bundle, *, must_round: bool) -> Bundle:
    """Return the size of the dynamic slot: rounded up where that still fits (A076, A077).

    With MUST_MODIFY_REQUEST_EXPRS (`must_round`) the rounded size is the only choice.
    """
    larger = {n: max(amount, asked.amount(n)) for n, amount in rounded.amounts.items()}
    if must_round or free.fits(Bundle(larger)):
        return Bundle(larger)
    # Resource by resource, so that one that does not fit does not cost the others.
    amounts = {n: a if a <= free.amount(n) else asked.amount(n) for n, a in larger.items()}
    return Bundle(amounts)


@dataclass(frozen=True)
class Pool:
    """A partitionable slot's resources: what it has, what is free, what its children hold."""

    total: Bundle
    free: Bundle
    children: Mapping[int, Bundle] = field(default_factory=dict)

    @classmethod
    def of(cls, total: Bundle) -> Pool:
        """Return an undivided pool."""
        return cls(total, total)

    def next_child(self) -> int:
        """Return the lowest number that no dynamic slot has."""
        number = 1
        while number in self.children:
            number += 1
        return number

    def carve(self, wanted: Bundle) -> tuple[Pool, int]:
        """Cut out a dynamic slot; return the pool after it and the child's number."""
        cut, left = self.free.take(wanted)
        number = self.next_child()
        return replace(self, free=left, children={**self.children, number: cut}), number

    def join(self, number: int) -> Pool:
        """Take a dynamic slot's resources back."""
        children = dict(self.children)
        back = children.pop(number)
        return replace(self, free=self.free.give_back(back), children=children)

    def resize(self, name: str, total: float) -> Pool:
        """Follow a change of a total that moves by itself, such as Disk."""
        used = sum(child.amount(name) for child in self.children.values())
        amounts = {**self.free.amounts, name: max(0, whole(total - used))}
        totals = {**self.total.amounts, name: max(whole(total), whole(used))}
        return replace(
            self,
            total=replace(self.total, amounts=totals),
            free=replace(self.free, amounts=amounts),
        )

    def check(self) -> None:
        """Restate: what is handed out and what is free is what there is."""
        for name, total in self.total.amounts.items():
            held = sum(child.amount(name) for child in self.children.values())
            assert abs(held + self.free.amount(name) - total) < 1e-6, f"{name}: {self}"
            assert self.free.amount(name) >= 0, f"{name}: {self}"
        for name, ids in self.total.assigned.items():
            parts = [self.free.assigned[name], *(c.assigned[name] for c in self.children.values())]
            held_ids = [i for part in parts for i in part]
            assert sorted(held_ids) == sorted(ids), f"{name}: {held_ids} of {ids}"
