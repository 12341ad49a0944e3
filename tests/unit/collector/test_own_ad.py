"""What the collector says of its own work."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.collector.ad_kinds import COLLECTOR, SLOT
from kettle.collector.ad_store import AdStore
from kettle.collector.ccb import Broker
from kettle.collector.own_ad import OwnAd, name_asker
from kettle.wire.security.session import Peer

NOW = 1_000_000
BROKER = Broker("", lambda: "secret")


@pytest.mark.parametrize(
    ("peer", "word"),
    [
        (Peer(session_id="1", subsystem="TOOL"), "TOOL"),
        (Peer(session_id="1", subsystem="NEGOTIATOR"), "NEGOTIATOR"),
        (Peer(session_id="family"), "COLLECTOR"),
        (Peer(session_id="1", subsystem="WHATEVER it says"), "UNKNOWN"),
        (Peer(), "UNKNOWN"),
    ],
)
def test_queries_are_counted_by_who_asks(peer: Peer, word: str) -> None:
    assert name_asker(peer) == word
    own = OwnAd(NOW - 5, window_seconds=1200, quantum_seconds=240)
    own.on_answered(peer, forked=False)
    own.on_answered(peer, forked=True)
    own.on_answered(peer, forked=True)
    ad = own.make(AdStore(), BROKER, NOW)
    assert ad.integer(f"InProcQueriesFrom{word}") == 1
    assert ad.integer(f"ForkQueriesFrom{word}") == ad.integer(f"RecentForkQueriesFrom{word}") == 2
    # Who never asked is not spoken of.
    assert len([name for name in ad.own_names() if "QueriesFrom" in name]) == 4


def test_the_updates_of_all_ads_are_not_taken_for_those_of_our_own() -> None:
    store = AdStore()
    own = OwnAd(NOW - 5, window_seconds=1200, quantum_seconds=240)
    for name in ("a", "b", "c"):
        store.update(SLOT, ClassAd({"MyType": "Machine", "Name": name}), now=NOW)
    for _ in range(2):
        ad = own.make(store, BROKER, NOW)
        ad["Name"] = "pool"
        entry = store.update(COLLECTOR, ad, now=NOW)
    assert entry is not None
    # Its own first ad is among those that came.
    assert entry.ad.integer("UpdatesTotal") == 4
    assert "UpdatesHistory" not in entry.ad
