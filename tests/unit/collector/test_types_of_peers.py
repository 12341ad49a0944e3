"""Types of ads that no daemon has: peers think of their names, and of as many as they like."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.collector import commands
from kettle.collector.ad_kinds import (
    COLLECTOR,
    SCHEDD,
    SLOT,
    UPDATE_GENERIC,
    is_type_name,
    kind_of_type,
)
from kettle.collector.ad_store import AdStore, Sender
from kettle.collector.ccb import Broker
from kettle.collector.own_ad import OwnAd
from kettle.errors import RefusedError
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages.collector import Update

NOW = 1_000_000
BROKER = Broker("", lambda: "secret")


def advertise(store: AdStore, my_type: str, name: str = "x", *, now: float = NOW) -> None:
    ad = ClassAd({"Name": name, "MyAddress": "<192.0.2.1:1>"})
    ad.insert_text("MyType", my_type if "(" in my_type else f'"{my_type}"')
    commands.update(store, UPDATE_GENERIC, Update(ad), now=now, sender=Sender())


def own_ad(store: AdStore) -> ClassAd:
    return OwnAd(NOW - 5, window_seconds=1200, quantum_seconds=240).make(store, BROKER, NOW)


@pytest.mark.parametrize(
    "my_type", ["my-type", "a b", "1st", "Ünd", "x" * 65, "Schedd", "submittor"]
)
def test_a_type_that_is_no_name_is_counted_with_others(my_type: str) -> None:
    store = AdStore()
    advertise(store, my_type)
    advertise(store, "Other.Type")
    assert len(store.table(kind_of_type(my_type))) == 1
    ad = own_ad(store)
    assert ad.integer("UpdatesTotal") == ad.integer("UpdatesTotal_Generic") == 2
    assert ad.integer("RecentUpdatesInitial_Generic") == 2
    assert [name for name in ad.own_names() if name.startswith("UpdatesTotal_")] == [
        "UpdatesTotal_Generic"
    ]
    store.update(COLLECTOR, ClassAd({**{n: ad.integer(n) for n in ad}, "Name": "pool"}), now=NOW)


def test_our_own_ad_is_read_whatever_types_peers_have_thought_of() -> None:
    store = AdStore()
    for my_type in ("a = 1", "a b = 1", "Job%s", "[x]", '\\"'):
        advertise(store, my_type)
    ad = own_ad(store)
    read = Reader(Writer().ad(ad).getvalue()).ad()
    assert all(name.replace("_", "a").isalnum() for name in read)
    assert set(read) == set(ad)


@pytest.mark.parametrize(
    "my_type", ['formatTime(0, "a%nEvil = 1%nb")', "strcat()", "x" * 257, 'formatTime(0, "a%tb")']
)
def test_an_ad_of_a_type_that_cannot_be_shown_is_refused(my_type: str) -> None:
    store = AdStore()
    with pytest.raises(RefusedError, match="MyType"):
        advertise(store, my_type)
    assert not store.kinds()
    assert not store.counts


def test_a_type_is_counted_as_it_was_spelled_first() -> None:
    store = AdStore()
    for my_type in ("Thing", "THING", "thing"):
        advertise(store, my_type)
    assert list(store.counts) == ["Thing"]
    assert store.counts["Thing"].total == 3
    assert [kind.my_type for kind in store.kinds()] == ["Thing"]


def test_there_are_only_so_many_types_and_those_of_daemons_have_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kettle.collector.ad_store.MOST_OTHER_TYPES", 3)
    store = AdStore()
    for number in range(3):
        advertise(store, f"T{number}")
    with pytest.raises(RefusedError, match="3 types"):
        advertise(store, "T3")
    advertise(store, "T2", "y")
    store.update(SLOT, ClassAd({"Name": "s"}), now=NOW)
    assert len(store.kinds()) == 4


def test_all_ads_of_other_types_together_are_as_many_as_those_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kettle.collector.ad_store.MOST_ADS", 2)
    store = AdStore()
    advertise(store, "T1")
    advertise(store, "T2")
    with pytest.raises(RefusedError, match="2 ads of types of no daemon"):
        advertise(store, "T1", "y")
    advertise(store, "T2")
    store.update(SLOT, ClassAd({"Name": "s"}), now=NOW)


def test_a_type_of_which_no_ad_is_left_is_forgotten_with_its_counts() -> None:
    store = AdStore()
    store.update(SCHEDD, ClassAd({"Name": "s", "MyAddress": "<1>"}), now=NOW)
    for number in range(300):
        advertise(store, f"T{number}")
        advertise(store, f"a-{number}")
        for name in (f"T{number}", f"a-{number}"):
            ad = ClassAd({"Name": "x"})
            assert store.invalidate(kind_of_type(name), ad, now=NOW)
    advertise(store, "Late")
    store.expire(NOW + 10_000)
    assert store.kinds() == [SCHEDD]
    assert list(store.counts) == ["Schedd"]
    ad = own_ad(store)
    # What came in all, that came; and that a schedd was here once costs nothing.
    assert ad.integer("UpdatesTotal") == ad.integer("UpdatesInitial") == 602
    assert [name for name in ad.own_names() if name.startswith("UpdatesTotal_")] == [
        "UpdatesTotal_Schedd"
    ]
    advertise(store, "Late")
    assert own_ad(store).integer("RecentUpdatesTotal_Late") == 1


def test_what_is_counted_with_others_stays_as_long_as_one_of_them() -> None:
    store = AdStore()
    advertise(store, "a-b")
    advertise(store, "c-d")
    store.invalidate(kind_of_type("a-b"), ClassAd({"Name": "x"}), now=NOW)
    assert own_ad(store).integer("UpdatesTotal_Generic") == 2


def test_a_refused_ad_leaves_no_table() -> None:
    store = AdStore()
    ad = ClassAd({f"A{number}": number for number in range(20_001)} | {"Name": "x"})
    with pytest.raises(RefusedError):
        store.update(kind_of_type("New"), ad, now=NOW)
    assert not store.kinds()


def test_names_of_types_are_few_letters_that_can_be_shown() -> None:
    assert is_type_name("Job Ad: ü")
    assert not any(map(is_type_name, ("", "a\nb", "a\x7f", "\udc80", "x" * 300)))
