"""The negotiator's `Accountantnew.log`: who used how much, kept over restarts.

The records are those of `queue_log`; what is particular are the keys and the types. Decided here:
key texts and the table a log is replayed into. What usage is charged and how priorities decay is
the matchmaking room's fair share.

Format: wire notes, on-disk formats, ClassAd logs (R072).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kettle.records import queue_log

CUSTOMER = "Customer."
RESOURCE = "Resource."
# The one ad of the accountant itself (LastUpdateTime).
ACCOUNTANT = "Accountant."

# What stands for both types in this log's NEW_AD records.
ANY_TYPE = "*"


def customer_key(submitter: str) -> str:
    """Return the key of a submitter or group."""
    return CUSTOMER + submitter


def resource_key(slot: str) -> str:
    """Return the key of a slot in use; `slot` is `name@address`."""
    return RESOURCE + slot


def is_name(text: str) -> bool:
    """Tell whether the log can have a submitter, group or slot of this name."""
    keys = (customer_key(text), resource_key(text))
    return bool(text) and all(map(queue_log.is_key, keys))


@dataclass(slots=True)
class AccountingTable:
    """The ads of an accounting log as texts: key → attribute → expression."""

    ads: dict[str, dict[str, str]] = field(default_factory=dict)

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:  # noqa: ARG002
        """Make an empty ad."""
        self.ads[key] = {}

    def destroy_ad(self, key: str) -> None:
        """Forget an ad."""
        self.ads.pop(key, None)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute an expression; the ad is made if a log lacks its beginning."""
        self.ads.setdefault(key, {})[name] = text

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute."""
        self.ads.get(key, {}).pop(name, None)

    def customers(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield submitter names with their attributes."""
        return self._with_prefix(CUSTOMER)

    def resources(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield slot names with their attributes."""
        return self._with_prefix(RESOURCE)

    def _with_prefix(self, prefix: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        for key, attributes in self.ads.items():
            if key.startswith(prefix):
                yield key[len(prefix) :], attributes


def replay(data: bytes) -> tuple[AccountingTable, queue_log.Replay]:
    """Return the table a log describes and how much of the log counts."""
    table = AccountingTable()
    return table, queue_log.replay(data, table)


def encode_changes(before: AccountingTable, after: AccountingTable) -> str:
    """Return the transaction that leads from one table to the other; empty if they are equal."""
    records: list[str] = [
        queue_log.encode_destroy_ad(key) for key in before.ads if key not in after.ads
    ]
    for key, attributes in after.ads.items():
        records += _encode_ad_changes(key, before.ads.get(key), attributes)
    return queue_log.encode_transaction(records) if records else ""


def _encode_ad_changes(
    key: str, before: Mapping[str, str] | None, after: Mapping[str, str]
) -> Iterable[str]:
    if before is None:
        yield queue_log.encode_new_ad(key, ANY_TYPE, ANY_TYPE)
    known = before or {}
    for name in known:
        if name not in after:
            yield queue_log.encode_delete_attribute(key, name)
    for name, text in after.items():
        if known.get(name) != text:
            yield queue_log.encode_set_attribute(key, name, text)


def encode_snapshot(sequence: int, created: int, table: AccountingTable) -> Iterator[str]:
    """Yield the pieces of a compacted log."""
    return queue_log.encode_snapshot(
        sequence,
        created,
        ((key, ANY_TYPE, ANY_TYPE, ad.items()) for key, ad in table.ads.items()),
    )
