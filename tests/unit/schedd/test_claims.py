"""A claim in the schedd's book: what happens to one, and how claims and jobs find each other."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import ImpossibleTransition
from kettle.schedd.claims import (
    TRANSITIONS,
    Accepted,
    Claim,
    ClaimEvent,
    Claims,
    Effect,
    GivenUp,
    JobGiven,
    NoJob,
    Phase,
    Refused,
    Row,
    ShadowEnded,
    ShadowEndedForGood,
    step,
)
from kettle.schedd.queue.job_ids import JobId

E = Effect
# What happens, one after the other from REQUESTING on; where it leads; what follows of the last.
LIVES: list[tuple[tuple[ClaimEvent, ...], Phase, tuple[Effect, ...]]] = [
    ((Accepted,), Phase.IDLE, (E.CHOOSE_JOB,)),
    ((Refused,), Phase.GONE, (E.FORGET_JOB, E.FORGET)),
    ((GivenUp,), Phase.GONE, (E.FORGET_JOB, E.FORGET)),
    ((Accepted, JobGiven), Phase.RUNNING, (E.START_SHADOW,)),
    ((Accepted, NoJob), Phase.GONE, (E.RELEASE,)),
    ((Accepted, GivenUp), Phase.GONE, (E.FORGET_JOB, E.FORGET)),
    ((Accepted, JobGiven, ShadowEnded), Phase.IDLE, (E.CHOOSE_JOB,)),
    ((Accepted, JobGiven, ShadowEndedForGood), Phase.GONE, (E.RELEASE,)),
    ((Accepted, JobGiven, GivenUp), Phase.LOST, ()),
    ((Accepted, JobGiven, GivenUp, GivenUp), Phase.LOST, ()),
    ((Accepted, JobGiven, GivenUp, ShadowEnded), Phase.GONE, (E.FORGET,)),
    ((Accepted, JobGiven, GivenUp, ShadowEndedForGood), Phase.GONE, (E.FORGET,)),
]


def claim(claim_id: str = "<a>#1#1#secret", job: JobId | None = None) -> Claim:
    return Claim(claim_id, "<a>", ClassAd(), "me", 1, job, since=0.0)


@pytest.mark.parametrize(("events", "phase", "effects"), LIVES)
def test_a_claim_s_life(
    events: tuple[ClaimEvent, ...], phase: Phase, effects: tuple[Effect, ...]
) -> None:
    one = claim()
    said: tuple[Effect, ...] = ()
    for at, event in enumerate(events, 1):
        said = step(one, event, float(at))
    assert (one.phase, said, one.since) == (phase, effects, float(len(events)))


def test_an_impossible_event_is_explained_by_the_last_that_happened() -> None:
    one = claim()
    step(one, Accepted, 0.0)
    for _ in range(30):
        step(one, JobGiven, 1.0)
        step(one, ShadowEnded, 2.0)
    step(one, GivenUp, 3.0)
    assert len(one.story) == 20
    with pytest.raises(ImpossibleTransition, match=r"after ShadowEnded -> .*, GivenUp -> Gone$"):
        step(one, JobGiven, 4.0)


def test_the_lives_above_are_all_there_are() -> None:
    assert len(LIVES) == len(TRANSITIONS)


@pytest.mark.parametrize("row", TRANSITIONS, ids=str)
def test_every_way_out_ends_the_claim_s_session(row: Row) -> None:
    ends = {E.RELEASE, E.FORGET} & set(row.effects)
    assert len(ends) == (row.target is Phase.GONE)


@pytest.mark.parametrize("event", [JobGiven, NoJob, ShadowEnded, ShadowEndedForGood])
def test_what_cannot_happen_is_told_without_the_secret(event: ClaimEvent) -> None:
    with pytest.raises(ImpossibleTransition) as caught:
        step(claim(), event, 0.0)
    assert event.__name__ in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_book_finds_claims_by_id_and_by_job() -> None:
    book = Claims()
    one = claim(job=JobId(1, 0))
    book.add(one)
    book.add(claim("<b>#1#1#other"))
    assert len(book) == 2
    assert book.by_job[JobId(1, 0)] is one
    book.assign(one, JobId(1, 1))
    assert set(book.by_job) == {JobId(1, 1)}
    book.rename(one, "<a>#1#2#new")
    assert book.by_id["<a>#1#2#new"] is one
    assert book.count(Phase.REQUESTING) == 2
    assert book.count(Phase.REQUESTING, lambda each: each.job is None) == 1
    book.remove(one)
    assert not book.by_job
    assert len(book) == 1


def test_removing_a_claim_leaves_one_that_took_its_id() -> None:
    book = Claims()
    old, new = claim(), claim()
    book.add(old)
    book.add(new)
    book.remove(old)
    assert book.by_id[new.id] is new


def test_a_slot_s_ad_says_the_same_when_it_keeps_only_what_its_neighbour_does_not_say() -> None:
    claims = Claims()
    machine = {"Machine": "ep", "Arch": "X86_64", "Cpus": 1, "SlotWeight": "Cpus"}
    ads = [ClassAd({**machine, "Name": f"slot1_{number}@ep"}) for number in (1, 2)]
    ads.append(ClassAd({"Machine": "ep", "Name": "slot1_3@ep", "GPUs": 1}))
    ads.append(ClassAd({**machine, "Name": "slot1_4@ep", "GPUs": 2}))
    kept = [claims.shared("<1.2.3.4:5>", ad) for ad in ads]
    assert kept == ads
    assert kept[1].own_names() == ["Name"]
    assert "Arch" not in kept[2]
