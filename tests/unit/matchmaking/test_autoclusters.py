"""Which jobs are alike to matchmaking."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kettle.classad import ClassAd, Expr, parse_old_ad, references
from kettle.matchmaking.autoclusters import AutoClusters, closure, significant_for_slots


def job(requirements: str = "true", **more: object) -> ClassAd:
    ad = ClassAd({"RequestCpus": 1, "RequestMemory": 10, **more})
    ad.insert_text("Requirements", requirements)
    return ad


def test_jobs_that_differ_only_in_what_does_not_matter_are_alike() -> None:
    clusters = AutoClusters()
    assert clusters.assign(job(ProcId=1)) == clusters.assign(job(ProcId=2))
    assert clusters.assign(job(RequestMemory=11)) != clusters.assign(job())


def test_what_requirements_look_at_in_the_job_matters() -> None:
    clusters = AutoClusters()
    first = clusters.assign(job("TARGET.X == Wanted", Wanted=1))
    second = clusters.assign(job("TARGET.X == Wanted", Wanted=2))
    assert first != second
    assert "Wanted" in clusters.attributes


def test_ids_stay_while_the_significant_attributes_do() -> None:
    clusters = AutoClusters()
    first = clusters.assign(job())
    generation = clusters.generation
    clusters.assign(job(RequestCpus=2))
    assert clusters.assign(job()) == first
    assert clusters.generation == generation


def test_a_negotiator_that_asks_for_more_voids_the_ids() -> None:
    clusters = AutoClusters()
    clusters.assign(job())
    generation = clusters.generation
    assert clusters.request(["RequestCpus", "requestmemory"]) is False
    assert clusters.generation == generation
    assert clusters.request(["Flavour"]) is True
    assert clusters.generation > generation
    assert clusters.assign(job(Flavour="a")) != clusters.assign(job(Flavour="b"))


def test_the_published_list_begins_with_what_negotiators_want() -> None:
    clusters = AutoClusters(("B", "A"))
    assert clusters.attributes_text == "B,A,ConcurrencyLimits,FlockTo,Rank,Requirements"


def test_what_slots_look_at_in_jobs_is_significant() -> None:
    slot = ClassAd({"Memory": 1})
    slot.insert_text("START", "TARGET.Flavour =?= Kind && WithinLimits")
    slot.insert_text("WithinLimits", "TARGET.RequestMemory <= MY.Memory")
    slot["Kind"] = "x"
    slot.insert_text("Requirements", "START")
    assert significant_for_slots([slot, slot], ["Requirements", "Rank"]) == (
        "Flavour",
        "RequestCpus",
        "RequestDisk",
        "RequestGPUs",
        "RequestMemory",
    )


def test_a_long_chain_of_attributes_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_into = 0
    walk = references.children

    def count(node: Expr) -> Iterable[Expr]:
        nonlocal looked_into
        looked_into += 1
        return walk(node)

    monkeypatch.setattr(references, "children", count)
    chain = "".join(f"E{number} = !E{number + 1}\n" for number in range(5000))
    ad = parse_old_ad(f"{chain}E5000 = Elsewhere\nRank = E7 + 1\nRequirements = E0 && TARGET.X\n")
    inside, outside = closure(ad, ["Rank", "Requirements"])
    # So many as are followed at most, of 5,000; each of them was looked into for the first only.
    assert (len(inside), outside) == (1000, ["Elsewhere", "X"])
    assert looked_into < 6100


@pytest.mark.parametrize("scope", [".LEFT", "LEFT", "TOPLEVEL.LEFT", "AD", "lCtx.my"])
def test_what_a_job_finds_of_itself_by_way_of_the_match_parts_no_jobs(scope: str) -> None:
    """The wheel tells of no internal reference in any of them; MY is what is meant for it."""

    def numbers(scope: str) -> list[int]:
        groups = AutoClusters()
        jobs = [ClassAd({"Wish": wish}) for wish in (1, 2)]
        for job in jobs:
            job.insert_text("Requirements", f"{scope}.Wish > 1")
            groups.assign(job)
        return [groups.assign(job) for job in jobs]

    first, second = numbers(scope)
    assert first == second
    first, second = numbers("MY")
    assert first != second
