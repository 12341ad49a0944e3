"""Which slot ads outlive the collector itself, and the text in which they are kept.

Ads of machines that sleep (Offline) or are gone but remembered (Absent) stay in
COLLECTOR_PERSISTENT_AD_LOG (J013, J014), in the log format of the other ClassAd logs. They are few
and change seldom: a change writes the file whole, and one that only goes is said at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.classad.text import without_line_ends
from kettle.collector.ad_kinds import SLOT
from kettle.records import queue_log
from kettle.wire.codec import MAXIMUM_STRING


@dataclass(slots=True)
class AdTable:
    """A log replayed: the ads by key."""

    ads: dict[str, ClassAd] = field(default_factory=dict)

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Make an empty ad of a type."""
        del target_type
        self.ads[key] = ClassAd({"MyType": my_type})

    def destroy_ad(self, key: str) -> None:
        """Forget an ad."""
        self.ads.pop(key, None)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute an expression."""
        self.ads.setdefault(key, ClassAd()).insert_text(name, text)

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute."""
        ad = self.ads.get(key)
        if ad is not None and name in ad:
            del ad[name]


def is_persistent(ad: ClassAd) -> bool:
    """Tell whether an ad must survive a restart of the collector."""
    return bool(ad.boolean("Absent")) or bool(ad.boolean("Offline"))


def decode_ads(data: bytes) -> list[ClassAd]:
    """Return the ads in a log."""
    table = AdTable()
    queue_log.replay(data, table)
    return list(table.ads.values())


def encode_ads(ads: Iterable[ClassAd], *, created: int) -> bytes:
    """Return a log that holds exactly these ads, as far as a log can.

    They come from peers: a line end in a string becomes a blank, and an attribute or name that no
    log can have is left out. What one machine says never keeps the others from being remembered.
    """
    named = ((_key(_name_of(ad)), ad) for ad in ads)
    pieces = queue_log.encode_snapshot(
        1,
        created,
        ((key, "Machine", "Job", _attributes(ad)) for key, ad in named if queue_log.is_key(key)),
    )
    return "".join(pieces).encode("utf-8", "surrogateescape")


def _attributes(ad: ClassAd) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of an ad that one line of a log can each hold."""
    for name in ad:
        if name.lower() == "mytype" or not queue_log.is_key(name):
            continue
        text = ad.text(name) or "undefined"
        if len(text) <= MAXIMUM_STRING:
            yield name, without_line_ends(text)


def _name_of(ad: ClassAd) -> str:
    """Return what the collector knows a slot by; the ad need not have a Name."""
    key = SLOT.key(ad)
    return key[0] if key else ""


def encode_departures(names: Iterable[str]) -> bytes:
    """Return what is added to a log when the ads of these names are gone."""
    keys = [key for name in names if queue_log.is_key(key := _key(name))]
    records = "".join(map(queue_log.encode_destroy_ad, keys))
    return records.encode("utf-8", "surrogateescape")


def _key(name: str) -> str:
    # As the reference has it, which also takes all blanks out.
    return f"<{''.join(name.split())}>"
