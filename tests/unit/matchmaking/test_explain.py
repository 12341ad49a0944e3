"""What stands between a job and the slots of a pool."""

from __future__ import annotations

from kettle.classad import ClassAd, parse_expression, unparse
from kettle.matchmaking.explain import expand_conditions, explain, split_conditions


def job(requirements: str, **more: object) -> ClassAd:
    ad = ClassAd({"RequestMemory": 100, "RequestCpus": 1, **more})
    ad.insert_text("Requirements", requirements)
    return ad


def slot(name: str, memory: int = 1000, start: str = "true", **more: object) -> ClassAd:
    ad = ClassAd({"Name": name, "Memory": memory, "State": "Unclaimed", "Arch": "X86_64", **more})
    ad.insert_text("START", start)
    ad.insert_text("WithinResourceLimits", "TARGET.RequestMemory <= MY.Memory")
    ad.insert_text("Requirements", "START && WithinResourceLimits")
    return ad


def test_conditions_are_what_and_joins() -> None:
    parts = split_conditions(parse_expression("(a && (b || c)) && d"))
    assert [unparse(part) for part in parts] == ["a", "b || c", "d"]


def test_the_attributes_of_a_slot_are_followed_into_their_definitions() -> None:
    ad = slot("s", start="TARGET.Good && TARGET.Small")
    requirements = ad.lookup("Requirements")
    assert requirements is not None
    texts = [unparse(part) for part in expand_conditions(ad, requirements)]
    assert texts == ["TARGET.Good", "TARGET.Small", "TARGET.RequestMemory <= MY.Memory"]


def test_every_condition_is_counted_over_all_slots() -> None:
    pool = [slot("a", 50), slot("b", 500), slot("c", 5000, Arch="aarch64")]
    found = explain(job('TARGET.Memory >= RequestMemory && TARGET.Arch == "X86_64"'), pool)
    assert [(each.text, each.met) for each in found.job_conditions] == [
        ("TARGET.Memory >= RequestMemory", 2),
        ('TARGET.Arch == "X86_64"', 2),
    ]
    assert found.slots == 3
    assert found.refused_by_job == 2
    assert found.refusing_job == 1
    assert found.matching == found.free == 1
    assert all(each.met for each in found.job_conditions)


def test_a_condition_that_no_slot_meets_comes_with_what_would_do() -> None:
    pool = [slot("a", 50), slot("b", 500)]
    found = explain(job("TARGET.Memory >= RequestMemory", RequestMemory=9999), pool)
    assert found.job_conditions[0].suggestion == "RequestMemory <= 500"
    found = explain(job('"ARM" == TARGET.Arch'), pool)
    assert found.job_conditions[0].suggestion == 'Arch is "X86_64"'
    found = explain(job("TARGET.Memory < 10"), pool)
    assert found.job_conditions[0].suggestion == "10 > 50"


def test_slots_that_do_not_start_the_job_say_which_condition() -> None:
    pool = [slot("a", start="TARGET.Owner =?= Friend", Friend="bob"), slot("b")]
    found = explain(job("true", Owner="ann"), pool)
    assert [(each.text, each.asked, each.met) for each in found.slot_conditions] == [
        ("TARGET.Owner =?= Friend", 1, 0),
        ("TARGET.RequestMemory <= MY.Memory", 2, 2),
        ("START", 1, 1),
    ]
    assert found.refusing_job == 1
    assert found.matching == 1


def test_matching_slots_are_told_apart_by_who_has_them() -> None:
    pool = [
        slot("free"),
        slot("divided", PartitionableSlot=True),
        slot("mine", RemoteUser="u@d", State="Claimed"),
        slot("theirs", RemoteUser="v@d", State="Claimed"),
        slot("draining", State="Drained"),
    ]
    found = explain(job("true"), pool, user="u@d")
    assert (found.free, found.held_by_user, found.held_by_others, found.unavailable) == (2, 1, 1, 1)


def test_a_pool_without_slots_and_a_job_without_requirements_are_explained() -> None:
    found = explain(ClassAd(), [slot("a")])
    assert found.refused_by_job == 1
    assert explain(job("true"), []).slots == 0
