"""A startd behind a broker that gave it another number: what the schedd believes of it."""

from __future__ import annotations

import pytest

from kettle.schedd.claims import Phase
from kettle.schedd.moved_startds import moved_address
from unit.schedd.scheduler_fixture import World

KNOWN = "<10.0.0.2:9600?CCBID=10.0.0.1:9618%3faddrs%3d10.0.0.1-9618#71&alias=ep&sock=startd>"
MOVED = KNOWN.replace("#71", "#171")


def test_a_startd_with_another_number_at_its_broker_is_the_same_one() -> None:
    found = moved_address(KNOWN, f'"{MOVED}"')
    assert found is not None
    assert "#171" in found
    assert "alias=ep" in found
    # What else its ad says of where it is changes nothing.
    assert (
        moved_address(KNOWN, f'"{MOVED.replace("alias=ep", "PrivNet=x&addrs=6.6.6.6-1")}"') == found
    )


@pytest.mark.parametrize(
    "told",
    [
        MOVED.replace("<10.0.0.2", "<10.0.0.3"),
        MOVED.replace(":9600", ":22"),
        MOVED.replace("sock=startd", "sock=schedd"),
        MOVED.replace("10.0.0.1:9618", "6.6.6.6:9618"),
        MOVED.replace("addrs%3d10.0.0.1", "addrs%3d6.6.6.6"),
        MOVED.replace("#171", "#171 6.6.6.6:1#1"),
        MOVED.replace("#171", "#171 more"),
        MOVED.replace("#171", "#evil"),
        "<10.0.0.2:9600?sock=startd>",
        "undefined",
        "<",
        "",
        "<" + "x" * 100_000 + ">",
    ],
)
def test_no_word_of_a_user_sends_the_schedd_elsewhere(told: str) -> None:
    assert moved_address(KNOWN, f'"{told}"') is None


@pytest.mark.parametrize("text", [MOVED, f'strcat("{MOVED}")', f'"{MOVED}', "", "7"])
def test_what_is_no_literal_says_nothing(text: str) -> None:
    assert moved_address(KNOWN, text) is None


def test_a_claim_is_released_and_its_next_job_begun_where_its_startd_was_found() -> None:
    world = World()
    first, second = world.submit(2)
    claim = world.match(first, MyAddress=KNOWN)
    world.grant(claim)
    world.scheduler.on_job_update(first.id, {"StartdIpAddr": f'"{MOVED}"'})
    where = claim.startd_address
    assert "#171" in where
    assert first.ad.string("StartdIpAddr") == where
    world.exit(first)
    assert claim.job == second.id
    assert second.ad.string("StartdIpAddr") == where
    world.exit(second)
    assert claim.phase is Phase.GONE
    assert world.hands.released_at == [where]


def test_where_a_startd_was_found_counts_also_if_it_is_told_with_the_end() -> None:
    world = World()
    (job,) = world.submit()
    claim = world.match(job, MyAddress=KNOWN)
    world.grant(claim)
    world.exit(job, StartdIpAddr=MOVED)
    assert "#171" in world.hands.released_at[0]
    assert "StartdIpAddr" not in job.ad


def test_a_shadow_s_other_word_of_its_startd_changes_neither_job_nor_claim() -> None:
    world = World()
    (job,) = world.submit()
    claim = world.match(job, MyAddress=KNOWN)
    world.grant(claim)
    for told in ('"<10.0.0.3:9600>"', "undefined", f'"{KNOWN}"', "7"):
        world.scheduler.on_job_update(job.id, {"StartdIpAddr": told})
        assert job.ad.string("StartdIpAddr") == claim.startd_address == KNOWN
