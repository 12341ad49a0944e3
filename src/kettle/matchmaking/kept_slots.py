"""The slots of a pool from one cycle to the next: only what has changed is read anew.

An ad is known by its identity, so whoever fetches ads hands in the same object as long as nothing
in it has changed; an ad is never changed in place. What is kept is the rows and one column for each
attribute that the last cycle looked at; verdicts are not, as an expression may look at the clock.
A table of kept rows gives the matches that one of rows just read gives (a property test).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from sys import getsizeof
from typing import TYPE_CHECKING, Final, cast

from kettle.classad import ClassAd
from kettle.matchmaking.slot_classes import is_plain
from kettle.matchmaking.slots import Slot, SlotTable, read_slot, read_text, slot_key
from kettle.remembered import Answers

if TYPE_CHECKING:
    # Loaded with the arrays, which a small pool does without.
    from kettle.matchmaking.columns import Columns

# Where a greater part of the slots has changed, columns are filled anew more quickly.
_MOST_CHANGED = 0.25

# What a row takes from its ad, beside names and the weight.
_READ_ONCE = ("cpus", "currentrank", "partitionableslot", "state", "remoteuser", "remoteowner")
# What tells slots apart, as startds write it; and what many of them have in common.
_OWN = ("name", "myaddress", "claimid")
_COMMON = (*_READ_ONCE, "slotweight", "accountinggroup", "claimids")
# Limit: different texts of what slots have in common; what more there are is read slot by slot.
_MOST_COMMON = 1000

_TEXTS = frozenset((str, type(None)))

_Key = tuple[str, str]
_Texts = tuple[str | None, ...]


@dataclass(slots=True, eq=False)
class _Kept:
    """A slot as it came; cycles take from its row, which is then put back."""

    key: _Key
    ad: ClassAd
    row: Slot
    claim_ids: tuple[str, ...]
    weight: float
    # Reading the ad again would give the same.
    lasting: bool

    @classmethod
    def read(cls, key: _Key, ad: ClassAd, *, use_weights: bool) -> _Kept:
        row = read_slot(key, ad, use_weights=use_weights)
        return cls(key, ad, row, tuple(row.claim_ids), row.weight, _is_lasting(ad))

    def put_back(self) -> frozenset[str]:
        """Undo what a cycle made of the row; return the attributes that it had hidden."""
        row = self.row
        row.claim_ids = list(self.claim_ids)
        row.taken, row.divided_by = False, None
        if row.ad is self.ad:
            return _NOTHING
        names = hidden_names(row.ad, self.ad)
        row.ad, row.weight, row.version = self.ad, self.weight, 0
        return names


_NOTHING: frozenset[str] = frozenset()


def hidden_names(ad: ClassAd, below: ClassAd) -> frozenset[str]:
    """Return the attributes, in lower case, that stand before an ad which another is chained to."""
    found: set[str] = set()
    above: ClassAd | None = ad
    while above is not None and above is not below:
        found.update(above.table)
        above = above.parent
    return frozenset(found)


class KeptSlots:
    """Owns the rows of the last cycle, and their columns once arrays were asked for."""

    def __init__(self) -> None:
        # In the order of their keys.
        self._kept: dict[_Key, _Kept] = {}
        # By the identity of ads that are kept.
        self._of_ads: dict[int, _Kept] = {}
        self._columns: Columns | None = None
        self._use_weights = True
        # What was wrong with ads that the last table left out because of that.
        self.faults: list[Exception] = []
        # Rows of ads that say nothing but this, None where it is no values; from one table alone.
        self._alike: dict[_Texts, Slot | None] = {}

    def table(self, ads: Iterable[ClassAd], *, use_weights: bool = True) -> SlotTable:
        """Return the table of these ads; the one returned before must not be used any more.

        Slots without a name, second ads of one name, and `faults` are left out.
        """
        if use_weights != self._use_weights:
            self.forget()
            self._use_weights = use_weights
        found = self._find(ads)
        before, self._kept = self._kept, found
        if before.keys() != found.keys():
            self._kept = dict(sorted(found.items()))
            self._move(before)
        else:
            self._kept = {key: found[key] for key in before}
            self._enter_changes(before)
        self._of_ads = {id(each.ad): each for each in self._kept.values() if each.lasting}
        rows = [each.row for each in self._kept.values()]
        return SlotTable(rows, sum(row.weight for row in rows))

    def columns(self, rows: list[Slot]) -> Columns:
        """Return the columns of the table returned last, which has these rows, as they are now."""
        if self._columns is None:
            from kettle.matchmaking.columns import Columns

            self._columns = Columns(rows)
            return self._columns
        for kept in self._kept.values():
            if kept.row.ad is not kept.ad:
                self._columns.enter(kept.row.index, hidden_names(kept.row.ad, kept.ad))
        return self._columns

    def forget(self) -> None:
        """Start over: all ads are read at the next table."""
        self._kept, self._of_ads, self._columns = {}, {}, None

    def _find(self, ads: Iterable[ClassAd]) -> dict[_Key, _Kept]:
        found: dict[_Key, _Kept] = {}
        known = self._of_ads
        self.faults = []
        for ad in ads:
            try:
                kept = known.get(id(ad)) or self._read_plain(ad)
                key = slot_key(ad) if kept is None else kept.key
                if not key[0] or key in found:
                    continue
                found[key] = kept or _Kept.read(key, ad, use_weights=self._use_weights)
            except Exception as error:  # noqa: BLE001 - one slot's ad costs no other its place
                self.faults.append(error)
        self._alike.clear()
        return found

    def _read_plain(self, ad: ClassAd) -> _Kept | None:
        """Read an ad as startds write them, all at once; None if it has to be looked at closely."""
        get = ad.table.get
        name, address, claim = (_unquote(get(key)) for key in _OWN)
        if not name or not address or not claim or ad.parent is not None:
            return None
        found = tuple(map(get, _COMMON))
        # Expressions that were parsed before are in none of the rows kept.
        texts = cast("_Texts", found)
        if texts not in self._alike:
            if len(self._alike) >= _MOST_COMMON or not _TEXTS.issuperset(map(type, found)):
                return None
            self._alike[texts] = _read_common(texts, use_weights=self._use_weights)
        alike = self._alike[texts]
        if alike is None:
            return None
        row = Slot(
            -1, name, ad, address, alike.remote_user, [claim], alike.partitionable, alike.free,
            alike.weight, alike.current_rank,
        )  # fmt: skip
        return _Kept((name, address), ad, row, (claim,), row.weight, lasting=True)

    def _enter_changes(self, before: dict[_Key, _Kept]) -> None:
        """Put rows in the places of those they stand for; there are as many as before."""
        changed: dict[int, frozenset[str] | None] = {}
        rows = []
        for index, (key, kept) in enumerate(self._kept.items()):
            rows.append(kept.row)
            if kept is not before[key]:
                kept.row.index = index
                changed[index] = None
            elif names := kept.put_back():
                changed[index] = names
        self._update_columns(rows, changed)

    def _move(self, before: dict[_Key, _Kept]) -> None:
        """Give all rows the places that they have now."""
        old_places: list[int] = []
        changed: dict[int, frozenset[str] | None] = {}
        rows = []
        for index, (key, kept) in enumerate(self._kept.items()):
            rows.append(kept.row)
            other = before.get(key)
            old_places.append(other.row.index if other is not None else 0)
            if kept is not other:
                changed[index] = None
            elif names := kept.put_back():
                changed[index] = names
        for index, row in enumerate(rows):
            row.index = index
        if self._columns is not None:
            self._columns.move(rows, old_places)
        self._update_columns(rows, changed)

    def _update_columns(self, rows: list[Slot], changed: dict[int, frozenset[str] | None]) -> None:
        """Take over changed rows, None standing for all attributes of one."""
        if self._columns is None:
            return
        if len(changed) >= _MOST_CHANGED * len(rows):
            self._columns = None
            return
        self._columns.renew(rows, changed)


def _is_lasting(ad: ClassAd) -> bool:
    """Tell whether what a row says of an ad is the same whenever it is read."""
    if ad.parent is not None:
        return False
    weight = read_text(ad, "slotweight")
    if weight is not None and weight.lower() != "cpus" and not is_plain(weight):
        return False
    texts = tuple(map(ad.table.get, _READ_ONCE))
    if not _TEXTS.issuperset(map(type, texts)):
        texts = tuple(read_text(ad, name) for name in _READ_ONCE)
    return _are_values[cast("_Texts", texts)]


def _unquote(text: object) -> str:
    """Return what a plain string says, nothing for all else."""
    if type(text) is str and text[:1] == '"' and text.find('"', 1) == len(text) - 1:
        return "" if "\\" in text else text[1:-1]
    return ""


def _read_common(texts: _Texts, *, use_weights: bool) -> Slot | None:
    """Return a row that only says what slots with these texts have in common."""
    said = dict(zip(_COMMON, texts, strict=True))
    if said.pop("claimids") is not None:
        # They are each slot's own.
        return None
    ad = ClassAd()
    for name, text in said.items():
        if text is None:
            continue
        if not is_plain(text) and (name != "slotweight" or text.lower() != "cpus"):
            return None
        ad.insert_text(name, text)
    return read_slot(("", ""), ad, use_weights=use_weights)


def _all_are_values(texts: _Texts) -> bool:
    return all(map(is_plain, texts))


# Slots differ little in these.
# Limit: the bytes of the texts that are remembered.
_are_values: Final = Answers(
    _all_are_values, 1024 * 1024, cost=lambda texts: getsizeof(texts) + sum(map(getsizeof, texts))
)
