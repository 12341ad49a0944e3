"""What a query sees of the collector's tables."""

from __future__ import annotations

from functools import partial

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.collector.ad_kinds import SCHEDD, SLOT, START, kind_of_type
from kettle.collector.ad_query import Secrets, answer, parse_query
from kettle.collector.ad_store import AdStore, StoredAd, StoreSettings
from kettle.collector.commands import find
from kettle.wire.codec import Reader
from kettle.wire.messages.fields import read_flagged_ads
from kettle.wire.security.claim_id import ADMIN_CAPABILITY


@pytest.fixture
def store() -> AdStore:
    store = AdStore()
    for number in range(3):
        ad = ClassAd({"MyType": "Machine", "Name": f"slot{number}", "HasStartDaemonAd": True})
        ad["Memory"] = number * 100
        store.update(SLOT, ad, now=0.0, private=ClassAd({"ClaimId": f"c{number}"}))
    store.update(START, ClassAd({"MyType": "StartD", "Name": "m"}), now=0.0)
    schedd = ClassAd({"MyType": "Scheduler", "Name": "s", "MyAddress": "<1>", "NumUsers": 0})
    store.update(SCHEDD, schedd, now=0.0)
    return store


def ask(store: AdStore, command: int, *, may: bool = False, **texts: str) -> list[str]:
    query = ClassAd()
    for name, text in texts.items():
        query.insert_text(name, text)
    questions = parse_query(command, query, store, most=Secrets.ALL if may else Secrets.NONE)
    return [found.ad.string("Name") or "" for found in filter(None, answer(store, questions))]


def test_a_key_of_administrators_is_not_for_all_who_may_see_claims(store: AdStore) -> None:
    query = ClassAd({"TargetType": "Machine", "SendPrivateAttributes": True})
    for most in (Secrets.NONE, Secrets.CLAIMS, Secrets.ALL):
        assert parse_query(5, query, store, most=most)[0].private is most


def test_an_empty_query_returns_all_ads_of_the_command(store: AdStore) -> None:
    assert ask(store, 5) == ["slot0", "slot1", "slot2"]


def test_the_constraint_is_evaluated_in_the_ad(store: AdStore) -> None:
    assert ask(store, 5, Requirements="Memory >= 100") == ["slot1", "slot2"]
    assert ask(store, 5, Requirements="NoSuchName > 1") == []


def test_a_limit_cuts_and_a_limit_of_nothing_does_not(store: AdStore) -> None:
    assert ask(store, 5, LimitResults="2") == ["slot0", "slot1"]
    assert ask(store, 5, LimitResults="0") == ["slot0", "slot1", "slot2"]


def test_command_5_for_the_startd_type_reads_the_daemons(store: AdStore) -> None:
    assert ask(store, 5, TargetType='"StartD"') == ["m"]


def test_one_query_reads_several_tables_each_with_its_own_terms(store: AdStore) -> None:
    found = ask(
        store,
        53,
        TargetType='"Scheduler,Machine"',
        Requirements="true",
        MachineRequirements="Memory > 0",
        MachineLimitResults="1",
    )
    assert found == ["s", "slot1"]


def test_any_reads_every_table(store: AdStore) -> None:
    assert sorted(ask(store, 48)) == ["m", "s", "slot0", "slot1", "slot2"]


def test_private_ads_are_answered_to_command_10(store: AdStore) -> None:
    questions = parse_query(10, ClassAd(), store, most=Secrets.ALL)
    found = list(filter(None, answer(store, questions)))
    assert [each.ad.string("ClaimId") for each in found] == ["c0", "c1", "c2"]
    assert all(each.secret for each in found)


def test_secrets_come_along_only_for_those_who_may(store: AdStore) -> None:
    query = ClassAd({"TargetType": "Machine", "SendPrivateAttributes": True})
    for may, expected in ((True, "c0"), (False, None)):
        questions = parse_query(54, query, store, most=Secrets.ALL if may else Secrets.NONE)
        first = next(filter(None, answer(store, questions)))
        assert first is not None
        secrets = first.entry.private if first.private else None
        assert (secrets.string("ClaimId") if secrets is not None else None) == expected


def none_is(entry: StoredAd, error: Exception) -> None:
    """Take no ad that cannot be sent."""
    raise AssertionError(entry.key) from error


def lines_of(store: AdStore, command: int, *, may: bool) -> str:
    """Return all that is answered to a question for machines, with their secrets where one may."""
    query = ClassAd({"TargetType": "Machine", "Projection": "Name", "SendPrivateAttributes": True})
    _, parts = find(
        store, command, query, most=Secrets.ALL if may else Secrets.NONE, unsent=none_is
    )
    body = b"".join(part for part, _ in parts(True))
    return "\n".join(line for ad in read_flagged_ads(Reader(body, True)) for line in ad.lines())


def test_the_key_of_administrators_goes_to_those_who_may_and_ask() -> None:
    store = AdStore()
    ad = ClassAd({"MyType": "Machine", "Name": "slot1", ADMIN_CAPABILITY: "admin_<1>#2#3#[]4"})
    entry = store.update(SLOT, ad, now=0.0)
    assert entry is not None
    assert ADMIN_CAPABILITY not in entry.ad
    assert f'{ADMIN_CAPABILITY} = "admin_<1>#2#3#[]4"' in lines_of(store, 5, may=True)
    assert ADMIN_CAPABILITY not in lines_of(store, 5, may=False)


def test_a_negotiator_s_question_brings_no_keys_of_administrators(store: AdStore) -> None:
    ad = ClassAd({"MyType": "Machine", "Name": "slot0", ADMIN_CAPABILITY: "key"})
    store.update(SLOT, ad, now=0.0, private=ClassAd({"ClaimId": "c0"}))
    for command in (54, 10):
        answered = lines_of(store, command, may=True)
        assert "slot0" in answered
        assert ADMIN_CAPABILITY not in answered
    assert 'ClaimId = "c0"' in lines_of(store, 54, may=True)


def replied(store: AdStore, projection: str, *, encrypted: bool = True) -> list[list[str]]:
    """Return the lines of the ads of a reply about all slots."""
    query = ClassAd({"TargetType": "Machine", "Projection": projection})
    _, parts = find(store, 5, query, most=Secrets.NONE, unsent=none_is)
    body = b"".join(part for part, _ in parts(encrypted))
    return [list(ad.lines()) for ad in read_flagged_ads(Reader(body, encrypted))]


@pytest.mark.parametrize("encrypted", [True, False])
def test_an_answer_that_is_remembered_is_the_same_until_the_ad_changes(
    store: AdStore, encrypted: bool
) -> None:
    first = replied(store, "Name Memory", encrypted=encrypted)
    assert first == [[f'Name = "slot{n}"', f"Memory = {n * 100}"] for n in range(3)]
    assert replied(store, "Name Memory", encrypted=encrypted) == first
    assert replied(store, "Memory", encrypted=encrypted) == [each[1:] for each in first]
    store.merge(SLOT, ClassAd({"MyType": "Machine", "Name": "slot1", "Memory": 7}))
    assert replied(store, "Name Memory", encrypted=encrypted)[1][1] == "Memory = 7"
    newer = ClassAd({"MyType": "Machine", "Name": "slot2", "Memory": 8, "HasStartDaemonAd": True})
    store.update(SLOT, newer, now=1.0)
    assert replied(store, "Name Memory", encrypted=encrypted)[2][1] == "Memory = 8"


def test_what_was_remembered_of_a_machine_goes_when_it_is_absent() -> None:
    store = AdStore(StoreSettings(absent_requirements=parse_expression("true")))
    store.update(SLOT, ClassAd({"MyType": "Machine", "Name": "a"}), now=0.0)
    assert replied(store, "Name Absent") == [['Name = "a"']]
    store.expire(10_000.0)
    query = ClassAd({"TargetType": "Machine", "Projection": "Name Absent"})
    query.insert_text("Requirements", "Absent")
    _, parts = find(store, 5, query, most=Secrets.NONE, unsent=none_is)
    reader = Reader(b"".join(part for part, _ in parts(True)), encrypted=True)
    [ad] = read_flagged_ads(reader)
    assert list(ad.lines()) == ['Name = "a"', "Absent = true"]


def test_many_projections_of_one_ad_are_all_answered(store: AdStore) -> None:
    for number in range(30):
        assert replied(store, f"Memory Nothing{number}")[2] == ["Memory = 200"]


def test_a_projection_brings_what_its_attributes_refer_to() -> None:
    store = AdStore()
    ad = ClassAd({"Name": "x", "MyAddress": "<1>", "Base": 1, "Other": 2})
    ad.insert_text("START", "Base > 0")
    ad.insert_text("Requirements", "START")
    store.update(SLOT, ad, now=0.0)
    query = ClassAd({"Projection": "Name, Requirements Memory/1024.0"})
    _, parts = find(store, 5, query, most=Secrets.NONE, unsent=none_is)
    reply = b"".join(part for part, _ in parts(True))
    (found,) = read_flagged_ads(Reader(reply, encrypted=True))
    names = {name.lower() for name in found.names()}
    assert {"name", "requirements", "start", "base"} <= names
    assert "other" not in names


def test_a_projection_may_be_an_expression(store: AdStore) -> None:
    query = ClassAd()
    query.insert_text("Projection", 'Memory > 0 ? "Name Memory" : "Name"')
    found = list(filter(None, answer(store, parse_query(5, query, store, most=Secrets.NONE))))
    assert [sorted(each.names or ()) for each in found] == [
        ["Name"],
        ["Memory", "Name"],
        ["Memory", "Name"],
    ]


def test_absent_ads_show_only_to_those_who_ask_for_them() -> None:
    store = AdStore()
    store.update(SLOT, ClassAd({"Name": "gone", "Absent": True}), now=0.0)
    assert ask(store, 5, Requirements="true") == []
    assert ask(store, 5, Requirements="Absent") == ["gone"]


def test_a_generic_query_names_its_type() -> None:
    store = AdStore()
    store.update(kind_of_type("Defrag"), ClassAd({"MyType": "Defrag", "Name": "d"}), now=0.0)
    assert ask(store, 74, TargetType='"Defrag"') == ["d"]
    assert ask(store, 74, TargetType='"Other"') == []


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("projection", ["", "Name Odd", "Name"])
def test_an_ad_that_cannot_be_sent_costs_nobody_the_others(
    projection: str, encrypted: bool
) -> None:
    store = AdStore()
    for name, text in (("a", "1"), ("b", '"\0"'), ("c", '"\ud800"'), ("d", "2")):
        ad = ClassAd({"MyType": "Machine", "Name": name})
        ad.insert_text("Odd", text)
        store.update(SLOT, ad, now=0.0, private=ClassAd({"ClaimId": name}))
    for secrets in (Secrets.NONE, Secrets.ALL):
        left_out: list[StoredAd] = []
        query = ClassAd({"TargetType": "Machine", "SendPrivateAttributes": True})
        if projection:
            query["Projection"] = projection
        note = partial(_note, left_out)
        _, parts = find(store, 5, query, most=secrets, unsent=note)
        body = b"".join(part for part, _ in parts(encrypted))
        names = [ad.string("Name") for ad in read_flagged_ads(Reader(body, encrypted))]
        if projection == "Name":
            assert names == ["a", "b", "c", "d"]
            assert not left_out
        else:
            assert names == ["a", "d"]
            assert [entry.key for entry in left_out] == [("b",), ("c",)]


def _note(left_out: list[StoredAd], entry: StoredAd, _: Exception) -> None:
    left_out.append(entry)
