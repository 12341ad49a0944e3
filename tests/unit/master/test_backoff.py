"""The arithmetic of waiting before a restart."""

from __future__ import annotations

from kettle.master.backoff import Backoff


def test_the_wait_is_the_constant_plus_a_power_of_the_factor() -> None:
    assert [Backoff().delay(n) for n in range(5)] == [10.0, 11.0, 13.0, 17.0, 25.0]


def test_the_wait_never_exceeds_the_ceiling_however_often_it_failed() -> None:
    assert Backoff().delay(12) == 3600.0
    assert Backoff().delay(10_000) == 3600.0
