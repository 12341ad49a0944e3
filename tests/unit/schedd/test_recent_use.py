"""What users' jobs did lately, in units and days: the numbers are a real schedd's."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import ShadowExit
from kettle.classad import ClassAd
from kettle.schedd.recent_use import UNIT_SECONDS, RecentUse

ALICE, BOB = "alice@vm", "bob@vm"
# A moment in the fourth unit of a day.
START = 1795878224


def shown(use: RecentUse, now: int, user: str = ALICE) -> dict[str, str]:
    ad = ClassAd()
    use.publish(user, ad, now)
    names = (name for name in ad if not name.startswith("HourlyStats"))
    return {name: ad.text(name) or "" for name in names}


def at(unit: int) -> int:
    return START + unit * UNIT_SECONDS


def test_a_record_has_units_newest_first_and_days_that_are_over() -> None:
    use = RecentUse(START)
    assert shown(use, START) == {}
    for unit, launched in enumerate((2, 2, 3, 2, 0, 2, 2, 2, 2)):
        for _ in range(launched):
            use.on_launched(ALICE, at(unit))
        if unit == 2:
            assert shown(use, at(2)) == {
                "HourlyJobsLaunched": "{ 3,2,2 }",
                "DailyJobsLaunched": "{  }",
            }
    assert shown(use, at(8)) == {
        "HourlyJobsLaunched": "{ 2,2,2,2,0,2 }",
        "DailyJobsLaunched": "{ 7 }",
    }
    use.on_launched(BOB, at(8))
    # What comes first much later has as many units and days as the others.
    assert shown(use, at(13), BOB) == {
        "HourlyJobsLaunched": "{ 0,0,0,0,0,1 }",
        "DailyJobsLaunched": "{ 1,0 }",
    }
    assert shown(use, at(13))["DailyJobsLaunched"] == "{ 10,7 }"
    assert shown(use, at(13 + 8 * 6))["DailyJobsLaunched"] == "{ 0,0,0,0,0,0,0,0,10,7 }"
    assert shown(use, at(13 + 9 * 6))["DailyJobsLaunched"] == "{ 0,0,0,0,0,0,0,0,0,10 }"


def test_a_clock_that_leaps_or_goes_back_costs_nothing_and_keeps_what_there_was() -> None:
    use = RecentUse(START)
    use.on_launched(ALICE, START)
    use.on_launched(ALICE, START - 10 * UNIT_SECONDS)
    assert shown(use, START)["HourlyJobsLaunched"] == "{ 2 }"
    assert set(shown(use, 2**62)["DailyJobsLaunched"]) == set("{ 0,}")


def test_jobs_wait_and_run_for_as_long_as_they_weigh_what_they_did() -> None:
    use = RecentUse(START)
    assert not use.is_due(START)
    use.observe(START, {ALICE: 4.0}, {})
    assert use.is_due(START + 5)
    use.observe(START + 5, {}, {ALICE: 2.5})
    use.observe(START + 7, {ALICE: 1.0}, {})
    use.observe(START + 13, {}, {BOB: 0.0})
    use.observe(START + 20, {}, {})
    assert shown(use, START + 20) == {
        "HourlyJobsWeightedIdle": "{ 0.001806 }",
        "DailyJobsWeightedIdle": "{  }",
        "HourlyJobsSlotTime": "{ 5 }",
        "DailyJobsSlotTime": "{  }",
    }
    assert shown(use, START + 20, BOB) == {}
    ad = ClassAd()
    use.publish(BOB, ad, START + 20)
    assert ad.integer("HourlyStatsUnitPhase") == 11044
    assert ad.integer("HourlyStatsStartTime") == START


@pytest.mark.parametrize(
    ("reason", "held", "name"),
    [
        (ShadowExit.NOT_STARTED, False, "HourlyJobsFailedToStart"),
        (ShadowExit.SHOULD_REQUEUE, False, "HourlyJobsRequeued"),
        (ShadowExit.SHOULD_REQUEUE, True, "HourlyJobsHeld"),
        (ShadowExit.SHOULD_HOLD, True, "HourlyJobsHeld"),
        (ShadowExit.EXITED, False, ""),
        (ShadowExit.KILLED, True, ""),
    ],
)
def test_an_end_counts_by_how_it_came(reason: ShadowExit, name: str, *, held: bool) -> None:
    use = RecentUse(START)
    use.on_ended(ALICE, int(reason), START, held=held)
    assert list(shown(use, START)) == ([name, name.replace("Hourly", "Daily")] if name else [])
