"""What the master's word on its daemons means for whoever waits for the pool."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import KettleError, NotFoundError
from kettle.pool import watched_daemons
from kettle.pool.watched_daemons import WatchedDaemons


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which tests set."""
    now = [1000.0]
    monkeypatch.setattr(watched_daemons.time, "monotonic", lambda: now[0])
    return now


def stand(word: str | None, says: str = "") -> WatchedDaemons:
    states = None if word is None else ClassAd({"SCHEDD": word, "STARTD": "Alive"})
    return WatchedDaemons(["STARTD", "SCHEDD", "SHARED_PORT"], lambda: states, lambda _name: says)


@pytest.mark.parametrize("word", ["Alive", "Hold", "Shutdown,Fast", None])
def test_who_works_is_off_or_is_not_known_is_not_missed(clock: list[float], word: str) -> None:
    assert stand(word).look()


def test_a_daemon_that_said_why_it_ended_is_told_of_soon(clock: list[float]) -> None:
    one = stand("Dead", "SchedLog: SCHEDD_INTERVAL = abc")
    assert not one.look()
    one.check()
    clock[0] += 3.5
    assert not one.look()
    with pytest.raises(KettleError, match="its schedd is dead: SchedLog: SCHEDD_INTERVAL"):
        one.check()


@pytest.mark.parametrize(
    ("word", "said"), [("Dead", "dead"), ("Startup", "not up"), ("Hung", "hung")]
)
def test_one_that_may_come_back_is_waited_for_to_the_end(
    clock: list[float], word: str, said: str
) -> None:
    one = stand(word)
    assert not one.look()
    clock[0] += 20
    one.check()
    with pytest.raises(KettleError, match=f"its schedd is {said}"):
        one.check_at_last()


def test_one_that_is_there_again_is_forgotten(clock: list[float]) -> None:
    states = ClassAd({"SCHEDD": "Dead"})
    one = WatchedDaemons(["SCHEDD"], lambda: states, lambda _name: "why")
    assert not one.look()
    states["SCHEDD"] = "Alive"
    # Not asked at each look.
    assert not one.look()
    clock[0] += 5
    assert one.look()
    one.check()
    one.check_at_last()


def test_one_that_somebody_turned_off_is_named_to_who_waits_for_it(clock: list[float]) -> None:
    one = stand("Hold")
    assert one.look()
    one.check_none_is_off(["STARTD"])
    with pytest.raises(NotFoundError, match="its schedd is turned off"):
        one.check_none_is_off(["STARTD", "SCHEDD"])
