"""Which kinds of ad the collector keeps, by which commands they come and go, and what names one.

A table and the key functions it names; nothing here stores anything. The store is `ad_store.py`,
the meaning of a query is `ad_query.py`, the dialog on the wire is `commands.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.patterns import late_pattern

# The names that tell one ad from another of its kind. Compared as written: case counts.
AdKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AdKind:
    """One table of the collector (wire notes, ad types, tables and keys)."""

    # What the ad says in MyType, and a query in TargetType.
    my_type: str
    # The word in the collector's own statistics, UpdatesTotal_<label>.
    label: str
    # Numbers of the commands that insert an ad, and the one that merges into an existing one.
    update: tuple[int, ...]
    invalidate: int
    query: int
    # Names an ad, or returns None when the ad lacks what names it and has to be ignored.
    key: Callable[[ClassAd], AdKey | None]


def _text(ad: ClassAd, name: str) -> str | None:
    return ad.string(name) or None


def _name_or_machine(ad: ClassAd) -> AdKey | None:
    name = _text(ad, "Name") or _text(ad, "Machine")
    return (name,) if name else None


def _slot_key(ad: ClassAd) -> AdKey | None:
    name = _text(ad, "Name")
    if name:
        return (name,)
    machine = _text(ad, "Machine")
    if not machine:
        return None
    slot = ad.integer("SlotID")
    return (machine if slot is None else f"{machine}:{slot}",)


def _schedd_key(ad: ClassAd) -> AdKey | None:
    name = _text(ad, "Name") or _text(ad, "Machine")
    if not name or not (_text(ad, "MyAddress") or _text(ad, "ScheddIpAddr")):
        return None
    return (name, _text(ad, "ScheddName") or "")


def _machine_key(ad: ClassAd) -> AdKey | None:
    machine = _text(ad, "Machine")
    return (machine,) if machine else None


def _name_key(ad: ClassAd) -> AdKey | None:
    name = _text(ad, "Name")
    return (name,) if name else None


def _license_key(ad: ClassAd) -> AdKey | None:
    name, address = _text(ad, "Name"), _text(ad, "MyAddress")
    return (name, address) if name and address else None


def _grid_key(ad: ClassAd) -> AdKey | None:
    name, owner = _text(ad, "HashName"), _text(ad, "Owner")
    schedd = _text(ad, "ScheddName") or _text(ad, "ScheddIpAddr")
    if not name or not owner or not schedd:
        return None
    return (name, owner, schedd, _text(ad, "GridManagerSelectionValue") or "")


def _accounting_key(ad: ClassAd) -> AdKey | None:
    name = _text(ad, "Name")
    return (name, _text(ad, "NegotiatorName") or "") if name else None


# fmt: off
#                    MyType          label         update    invalidate query key
SLOT       = AdKind("Machine",      "Slot",       (0, 60),       13,  5, _slot_key)
START      = AdKind("StartD",       "StartD",     (0, 60),       13,  5, _name_or_machine)
SCHEDD     = AdKind("Scheduler",    "Schedd",     (1,),          14,  6, _schedd_key)
SUBMITTER  = AdKind("Submitter",    "Submittor",  (11, 80),      18, 12, _schedd_key)
MASTER     = AdKind("DaemonMaster", "Master",     (2,),          15,  7, _name_or_machine)
CKPT       = AdKind("CkptServer",   "CkptServer", (4,),          17,  9, _machine_key)
COLLECTOR  = AdKind("Collector",    "Collector",  (19,),         21, 20, _name_or_machine)
LICENSE    = AdKind("License",      "License",    (42,),         44, 43, _license_key)
STORAGE    = AdKind("Storage",      "Storage",    (45,),         47, 46, _name_key)
NEGOTIATOR = AdKind("Negotiator",   "Negotiator", (49,),         51, 50, _name_key)
HAD        = AdKind("HAD",          "HAD",        (55,),         57, 56, _name_key)
GRID       = AdKind("Grid",         "Grid",       (70,),         72, 71, _grid_key)
ACCOUNTING = AdKind("Accounting",   "Accounting", (77,),         79, 78, _accounting_key)
# fmt: on

KINDS = (
    SLOT,
    START,
    SCHEDD,
    SUBMITTER,
    MASTER,
    CKPT,
    COLLECTOR,
    LICENSE,
    STORAGE,
    NEGOTIATOR,
    HAD,
    GRID,
    ACCOUNTING,
)

# Any other type has a table of its own, filled and asked with these.
UPDATE_GENERIC, INVALIDATE_GENERIC, QUERY_GENERIC = 58, 59, 74
UPDATE_WITH_ACK = 60
MERGE_SLOT = 73
QUERY_PRIVATE_SLOTS = 10
QUERY_ANY = 48
QUERY_MULTIPLE = 53
QUERY_MULTIPLE_PRIVATE = 54
UPDATE_OWN_SUBMITTER = 80

_BY_TYPE = {kind.my_type.lower(): kind for kind in KINDS}
_BY_UPDATE = {number: kind for kind in KINDS for number in kind.update if kind is not START}
_BY_INVALIDATE = {kind.invalidate: kind for kind in KINDS if kind is not START}
_BY_QUERY = {kind.query: kind for kind in KINDS if kind is not START}

UPDATE_COMMANDS = (*_BY_UPDATE, UPDATE_GENERIC, MERGE_SLOT)
INVALIDATE_COMMANDS = (*_BY_INVALIDATE, INVALIDATE_GENERIC)
QUERY_COMMANDS = (
    *_BY_QUERY,
    QUERY_GENERIC,
    QUERY_PRIVATE_SLOTS,
    QUERY_ANY,
    QUERY_MULTIPLE,
    QUERY_MULTIPLE_PRIVATE,
)

# The word in statistics of all types that no attribute's name can tell of.
GENERIC_LABEL = "Generic"
_OUR_LABELS = frozenset(kind.label.lower() for kind in KINDS) | {GENERIC_LABEL.lower()}
_LABEL = late_pattern(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
# Limit: letters of a type's name.
_LONGEST_TYPE = 256

# Other spellings under which clients ask for a table.
_ALIASES = {"machineprivate": SLOT, "startdaemon": START, "slot": SLOT, "startd": START}


def kind_of_type(my_type: str) -> AdKind:
    """Return the table for a type name; an unknown name has a table of its own."""
    known = _BY_TYPE.get(my_type.lower()) or _ALIASES.get(my_type.lower())
    if known is not None:
        return known
    label = _label_of(my_type)
    return AdKind(my_type, label, (UPDATE_GENERIC,), INVALIDATE_GENERIC, QUERY_GENERIC, _name_key)


def _label_of(my_type: str) -> str:
    """Return the word in the statistics for a type that a peer has thought of.

    Compat: the reference makes every MyType part of attributes' names, whatever is in it; here what
    can be none, or would be counted as a daemon's, is counted with others
    (test_a_type_that_is_no_name_is_counted_with_others).
    """
    ours = my_type.lower() in _OUR_LABELS
    return GENERIC_LABEL if ours or _LABEL.fullmatch(my_type) is None else my_type


def is_type_name(text: str) -> bool:
    """Tell whether there can be a type of this name: some letters, all of which can be shown."""
    return 0 < len(text) <= _LONGEST_TYPE and text.isprintable()


def kind_of_update(command: int, ad: ClassAd) -> AdKind | None:
    """Return the table that an update belongs to, or None when none can be meant.

    A startd sends its slots and itself with the same command: MyType tells them apart.
    """
    if command == UPDATE_GENERIC:
        my_type = _text(ad, "MyType") or ""
        return kind_of_type(my_type) if is_type_name(my_type) else None
    if command == MERGE_SLOT:
        return SLOT
    kind = _BY_UPDATE.get(command)
    if kind is SLOT and (_text(ad, "MyType") or "").lower() == "startd":
        return START
    return kind


def kind_of_invalidation(command: int, ad: ClassAd) -> AdKind | None:
    """Return the table that an invalidation clears; the generic one has to name its type."""
    target = _text(ad, "TargetType")
    if command == INVALIDATE_GENERIC:
        return kind_of_type(target) if target else None
    kind = _BY_INVALIDATE.get(command)
    if kind is SLOT and (target or "").lower() == "startd":
        return START
    return kind


def kind_of_query(command: int, target_type: str) -> AdKind | None:
    """Return the one table that a plain query reads; None for the commands that read several."""
    if command == QUERY_GENERIC:
        return kind_of_type(target_type or "Generic")
    if command == QUERY_PRIVATE_SLOTS:
        return SLOT
    kind = _BY_QUERY.get(command)
    if kind is SLOT and target_type.lower() == "startd":
        return START
    return kind
