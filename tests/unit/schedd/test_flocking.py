"""Which other pools a submitter's jobs are offered to."""

from __future__ import annotations

from kettle.schedd.flocking import FlockLevels


def test_a_further_pool_is_asked_when_the_last_one_has_nothing() -> None:
    levels = FlockLevels(("b", "c"))
    assert levels.pools_of("u") == ()
    assert levels.on_rejected("u", "")
    assert levels.pools_of("u") == ("b",)
    # The own pool rejects at each cycle; only the last one asked counts.
    assert not levels.on_rejected("u", "")
    assert levels.on_rejected("u", "b")
    assert levels.pools_of("u") == ("b", "c")
    assert not levels.on_rejected("u", "c")
    assert levels.pools_of("other") == ()


def test_who_has_nothing_waiting_begins_at_home_again() -> None:
    levels = FlockLevels(("b",))
    levels.on_rejected("u", "")
    levels.on_satisfied(["u"])
    assert levels.level("u") == 0


def test_several_pools_at_a_time_and_some_from_the_start() -> None:
    levels = FlockLevels(("b", "c", "d", "e"), increment=2, least=1)
    assert levels.pools_of("u") == ("b",)
    assert levels.on_rejected("u", "b")
    assert levels.pools_of("u") == ("b", "c", "d")
    assert levels.on_rejected("u", "d")
    assert levels.pools_of("u") == ("b", "c", "d", "e")


def test_without_other_pools_nothing_changes() -> None:
    levels = FlockLevels(())
    assert not levels.on_rejected("u", "")
    assert levels.level("u") == 0
