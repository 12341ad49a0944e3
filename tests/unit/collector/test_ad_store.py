"""What the collector keeps, replaces, drops and counts."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.collector.ad_kinds import (
    ACCOUNTING,
    NEGOTIATOR,
    SCHEDD,
    SLOT,
    START,
    kind_of_type,
    kind_of_update,
)
from kettle.collector.ad_store import MOST_ATTRIBUTES, AdStore, Sender, StoreSettings
from kettle.errors import RefusedError


def slot(name: str = "slot1@a", **more: object) -> ClassAd:
    return ClassAd(
        {"MyType": "Machine", "Name": name, "Machine": "a", "HasStartDaemonAd": True, **more}
    )


def test_an_update_replaces_the_ad_of_the_same_name_and_signs_it() -> None:
    store = AdStore()
    store.update(SLOT, slot(Memory=1), now=10.0)
    entry = store.update(SLOT, slot(Memory=2), now=20.5, sender=Sender("u@d", "FS"))
    assert entry is not None
    assert len(store.table(SLOT)) == 1
    assert entry.ad.integer("Memory") == 2
    assert entry.ad.integer("LastHeardFrom") == 20
    assert entry.ad.string("AuthenticatedIdentity") == "u@d"
    assert entry.ad.string("AuthenticationMethod") == "FS"
    assert entry.ad.integer("UpdatesTotal") == 2


def test_updates_are_told_of_what_names_a_daemon_and_of_nothing_else() -> None:
    store = AdStore()
    ad = ClassAd({"MyType": "Accounting", "Name": "alice@vm", "NegotiatorName": "vm"})
    entry = store.update(ACCOUNTING, ad, now=10.0)
    assert entry is not None
    assert not [name for name in entry.ad if name.startswith("Updates")]
    store.update(ACCOUNTING, ClassAd({"MyAddress": "<1.2.3.4:5>"}, parent=ad).flattened(), now=11.0)
    (again,) = store.table(ACCOUNTING).values()
    assert again.ad.integer("UpdatesTotal") == 2


def test_a_sender_cannot_claim_an_identity_in_its_ad() -> None:
    store = AdStore()
    entry = store.update(
        SLOT, slot(AuthenticatedIdentity="root@x", AuthenticationMethod="SSL"), now=1.0
    )
    assert entry is not None
    assert entry.ad.string("AuthenticatedIdentity") == "unauthenticated@unmapped"
    assert "AuthenticationMethod" not in entry.ad


def test_names_are_compared_with_case() -> None:
    store = AdStore()
    store.update(SLOT, slot("A"), now=1.0)
    store.update(SLOT, slot("a"), now=1.0)
    assert len(store.table(SLOT)) == 2


def test_a_slot_without_a_name_is_known_by_machine_and_number() -> None:
    assert SLOT.key(ClassAd({"Machine": "m", "SlotID": 2})) == ("m:2",)
    assert SLOT.key(ClassAd({"Machine": "m"})) == ("m",)
    assert SLOT.key(ClassAd({"SlotID": 2})) is None


def test_a_schedd_needs_an_address_and_a_submitter_its_schedd() -> None:
    assert SCHEDD.key(ClassAd({"Name": "s"})) is None
    assert SCHEDD.key(ClassAd({"Name": "s", "MyAddress": "<1>"})) == ("s", "")
    submitter = ClassAd({"Name": "u@d", "ScheddName": "s", "ScheddIpAddr": "<1>"})
    assert kind_of_type("Submitter").key(submitter) == ("u@d", "s")


def test_accounting_ads_of_two_negotiators_stand_side_by_side() -> None:
    assert ACCOUNTING.key(ClassAd({"Name": "u", "NegotiatorName": "n"})) == ("u", "n")


def test_the_type_of_the_ad_tells_a_startd_from_its_slots() -> None:
    assert kind_of_update(0, slot()) is SLOT
    assert kind_of_update(60, ClassAd({"MyType": "StartD", "Name": "a"})) is START
    generic = kind_of_update(58, ClassAd({"MyType": "Defrag", "Name": "d"}))
    assert generic is not None
    assert generic.my_type == "Defrag"
    assert kind_of_update(58, ClassAd({"Name": "d"})) is None


def test_secrets_in_a_public_ad_move_to_the_private_one() -> None:
    store = AdStore()
    entry = store.update(SLOT, slot(ClaimId="<1>#2#3", _condor_priv_x=1), now=1.0)
    assert entry is not None
    assert entry.private is not None
    assert "ClaimId" not in entry.ad
    assert "_condor_priv_x" not in entry.ad
    assert entry.private.string("ClaimId") == "<1>#2#3"
    assert entry.private.string("Name") == "slot1@a"


def test_claim_ids_stay_when_the_next_update_brings_none() -> None:
    store = AdStore()
    store.update(SLOT, slot(), now=1.0, private=ClassAd({"ClaimId": "x"}))
    entry = store.update(SLOT, slot(), now=2.0)
    assert entry is not None
    assert entry.private is not None
    assert entry.private.string("ClaimId") == "x"


def test_a_gap_in_the_sequence_is_counted_as_lost_updates() -> None:
    store = AdStore()
    for number in (1, 2, 5):
        entry = store.update(SLOT, slot(DaemonStartTime=7, UpdateSequenceNumber=number), now=1.0)
    assert entry is not None
    assert entry.ad.integer("UpdatesLost") == 2
    assert entry.ad.integer("UpdatesSequenced") == 2
    assert (entry.ad.string("UpdatesHistory") or "")[-1] == "6"  # 0b110: two lost before this one
    assert store.counts["Slot"].lost == 2


def test_a_restarted_daemon_loses_nothing() -> None:
    store = AdStore()
    store.update(SLOT, slot(DaemonStartTime=7, UpdateSequenceNumber=9), now=1.0)
    entry = store.update(SLOT, slot(DaemonStartTime=8, UpdateSequenceNumber=1), now=2.0)
    assert entry is not None
    assert entry.ad.integer("UpdatesLost") == 0


def test_an_ad_goes_when_its_own_lifetime_or_the_default_is_over() -> None:
    store = AdStore(StoreSettings(lifetime_seconds=100))
    store.update(SLOT, slot("long", ClassAdLifetime=1000), now=0.0)
    store.update(SLOT, slot("short"), now=0.0)
    assert store.expire(99.9) == []
    assert [entry.key for entry in store.expire(100.0)] == [("short",)]
    assert [entry.key for entry in store.expire(1000.0)] == [("long",)]


def test_an_expiring_slot_that_should_be_kept_is_marked_absent() -> None:
    settings = StoreSettings(
        lifetime_seconds=10,
        absent_requirements=parse_expression('Name == "keep"'),
        absent_lifetime_seconds=1000,
    )
    store = AdStore(settings)
    store.update(SLOT, slot("keep"), now=0.0)
    store.update(SLOT, slot("drop"), now=0.0)
    store.expire(10.0)
    assert list(store.table(SLOT)) == [("keep",)]
    assert store.table(SLOT)["keep",].ad.boolean("Absent")
    assert [entry.key for entry in store.expire(1010.0)] == [("keep",)]


def test_the_last_word_of_a_sleeping_machine_makes_an_offline_ad() -> None:
    store = AdStore(StoreSettings(lifetime_seconds=10, offline_lifetime_seconds=500))
    store.update(SLOT, slot(State="Owner", Activity="Busy", LoadAvg=2.5), now=0.0, asleep=True)
    ad = store.table(SLOT)["slot1@a",].ad
    assert ad.boolean("Offline")
    assert ad.string("State") == "Unclaimed"
    assert ad.real("LoadAvg") == 0.0
    assert store.expire(499.0) == []
    store.update(SLOT, slot(State="Owner"), now=499.0)
    assert "Offline" not in store.table(SLOT)["slot1@a",].ad


def test_invalidation_by_name_takes_exactly_that_ad() -> None:
    store = AdStore()
    store.update(SLOT, slot("a"), now=0.0)
    store.update(SLOT, slot("b"), now=0.0)
    query = ClassAd({"MyType": "Query", "TargetType": "Machine", "Name": "a"})
    query.insert_text("Requirements", "true")
    assert store.invalidate(SLOT, query, now=1.0) == 1
    assert list(store.table(SLOT)) == [("b",)]


def test_invalidation_without_a_name_takes_all_that_satisfy_it() -> None:
    store = AdStore()
    store.update(SLOT, slot("a", Memory=1), now=0.0)
    store.update(SLOT, slot("b", Memory=9), now=0.0)
    query = ClassAd({"TargetType": "Machine"})
    assert store.invalidate(SLOT, query, now=1.0) == 0
    query.insert_text("Requirements", "Memory > 5 && TARGET.Memory < 10")
    assert store.invalidate(SLOT, query, now=1.0) == 1
    assert list(store.table(SLOT)) == [("a",)]


def test_merging_changes_an_ad_but_makes_none() -> None:
    store = AdStore()
    assert store.merge(SLOT, slot("a", Extra=1)) is None
    store.update(SLOT, slot("a", Memory=5), now=0.0)
    store.merge(SLOT, ClassAd({"Name": "a", "Extra": 1, "LastHeardFrom": 0}))
    ad = store.table(SLOT)["a",].ad
    assert ad.integer("Extra") == 1
    assert ad.integer("Memory") == 5
    assert ad.integer("LastHeardFrom") == 0  # as stored at 0.0, not touched by the merge


def test_only_one_negotiator_if_so_configured() -> None:
    store = AdStore(StoreSettings(one_negotiator=True))
    store.update(NEGOTIATOR, ClassAd({"Name": "first"}), now=0.0)
    store.update(NEGOTIATOR, ClassAd({"Name": "second"}), now=0.0)
    assert list(store.table(NEGOTIATOR)) == [("second",)]


def test_a_negotiators_ad_that_is_refused_removes_no_other() -> None:
    store = AdStore(StoreSettings(one_negotiator=True))
    store.update(NEGOTIATOR, ClassAd({"Name": "first"}), now=0.0, sender=Sender("condor@d", "SSL"))
    with pytest.raises(RefusedError, match="may not replace"):
        store.update(NEGOTIATOR, ClassAd({"Name": "x"}), now=0.0, sender=Sender("u@d", "SSL"))
    wide = ClassAd({"Name": "y", **{f"A{number}": 1 for number in range(MOST_ATTRIBUTES)}})
    with pytest.raises(RefusedError, match="attributes"):
        store.update(NEGOTIATOR, wide, now=0.0, sender=Sender("condor@d", "SSL"))
    assert list(store.table(NEGOTIATOR)) == [("first",)]


def test_ads_that_the_site_does_not_want_are_not_taken() -> None:
    store = AdStore(StoreSettings(requirements=parse_expression("Memory > 5")))
    assert store.update(SLOT, slot(Memory=1), now=0.0) is None
    assert store.update(SLOT, slot(Memory=6), now=0.0) is not None


def test_an_old_startd_gets_a_daemon_ad_made_from_its_first_slot() -> None:
    store = AdStore()
    ad = ClassAd({"Name": "slot1@a", "Machine": "a", "SlotID": 1, "MyAddress": "<1>"})
    store.update(SLOT, ad, now=0.0)
    assert list(store.table(START)) == [("a",)]
    store.invalidate(SLOT, ClassAd({"Name": "slot1@a"}), now=1.0)
    assert not store.table(START)


def test_a_slot_s_ad_is_taken_where_another_sender_s_stands_for_its_startd() -> None:
    """Two startds of one machine that are too old to speak for themselves."""
    store = AdStore()
    one, other = Sender("one@a", "SSL", host="10.0.0.1"), Sender("other@a", "SSL", host="10.0.0.2")
    for sender, name in ((one, "slot1@a"), (other, "slot1@b@a")):
        ad = ClassAd({"Name": name, "Machine": "a", "SlotID": 1, "MyAddress": f"<{sender.host}:1>"})
        assert store.update(SLOT, ad, now=0.0, sender=sender) is not None
    assert len(store.table(SLOT)) == 2
    assert [entry.sender for entry in store.table(START).values()] == [one]
    store.invalidate(SLOT, ClassAd({"Name": "slot1@b@a"}), now=1.0, sender=other)
    assert [entry.sender for entry in store.table(START).values()] == [one]
    store.invalidate(SLOT, ClassAd({"Name": "slot1@a"}), now=1.0, sender=one)
    assert not store.table(START)


def test_an_ad_of_a_proven_sender_is_not_replaced_by_a_stranger() -> None:
    store = AdStore()
    owner = Sender("condor@a", "IDTOKENS", host="10.0.0.1")
    store.update(SLOT, slot(Memory=1), now=1.0, sender=owner)
    for stranger in (
        Sender(),
        Sender("alice@a", "FS", host="10.0.0.2"),
        Sender("condor@b", "SSL", host="10.0.0.2"),
    ):
        with pytest.raises(RefusedError, match="may not replace the ad of condor@a"):
            store.update(SLOT, slot(Memory=2), now=2.0, sender=stranger)
    for number, allowed in enumerate(
        (
            Sender("condor@a", "IDTOKENS", host="10.0.0.9"),
            Sender("root@a", "FS", host="10.0.0.9"),
            Sender("admin@a", "FS", host="10.0.0.2", administrator=True),
        )
    ):
        entry = store.update(SLOT, slot(Memory=number), now=3.0, sender=allowed)
        assert entry is not None
        assert entry.ad.integer("Memory") == number


def test_an_ad_of_which_anybody_could_be_the_sender_is_anybodys() -> None:
    store = AdStore()
    store.update(SLOT, slot(Memory=1), now=1.0, sender=Sender("x@y", "CLAIMTOBE", host="10.0.0.1"))
    assert store.update(SLOT, slot(Memory=2), now=2.0, sender=Sender("z@y", "", host="10.0.0.2"))


def test_ads_too_large_and_one_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    store = AdStore()
    monkeypatch.setattr("kettle.collector.ad_store.MOST_ADS", 2)
    monkeypatch.setattr("kettle.collector.ad_store.MOST_ATTRIBUTES", 30)
    for name in ("a", "b"):
        assert store.update(SLOT, slot(Name=name), now=1.0)
    with pytest.raises(RefusedError, match="2 ads of its type already"):
        store.update(SLOT, slot(Name="c"), now=1.0)
    assert store.update(SLOT, slot(Name="b"), now=2.0)
    with pytest.raises(RefusedError, match="attributes, more than 30"):
        store.update(SLOT, slot(Name="b", **{f"A{n}": n for n in range(31)}), now=2.0)


_OWNER = Sender("condor@a", "IDTOKENS", host="10.0.0.1")
_STRANGER = Sender("condor@b", "SSL", host="10.0.0.2")


def test_an_ad_of_a_proven_sender_is_not_withdrawn_by_a_stranger() -> None:
    store = AdStore()
    store.update(SLOT, slot("a"), now=0.0, sender=_OWNER)
    store.update(SLOT, slot("b"), now=0.0, sender=_STRANGER)
    with pytest.raises(RefusedError, match="may not withdraw the ad of condor@a: a"):
        store.invalidate(SLOT, ClassAd({"Name": "a"}), now=1.0, sender=_STRANGER)
    everything = ClassAd()
    everything.insert_text("Requirements", "true")
    assert store.invalidate(SLOT, everything, now=1.0, sender=_STRANGER) == 1
    assert list(store.table(SLOT)) == [("a",)]
    assert store.invalidate(SLOT, everything, now=1.0, sender=_OWNER) == 1


def test_who_has_proven_nothing_adds_nothing_to_the_ad_of_a_proven_sender() -> None:
    store = AdStore()
    store.update(SLOT, slot("a"), now=0.0, sender=_OWNER)
    for stranger in (Sender(), Sender("condor@b", "CLAIMTOBE", host="10.0.0.2")):
        with pytest.raises(RefusedError, match="may not add to the ad of condor@a"):
            store.merge(SLOT, slot("a", Extra=1), sender=stranger)
    # The command is for negotiators only, so a proven one elsewhere may.
    assert store.merge(SLOT, slot("a", Extra=1), sender=_STRANGER) is not None
    many = ClassAd({"Name": "a", **{f"A{number}": number for number in range(MOST_ATTRIBUTES)}})
    with pytest.raises(RefusedError, match="more than"):
        store.merge(SLOT, many, sender=_OWNER)
