"""Numbers that are none (infinity, NaN, the year 3 million) end nobody who reads an ad."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.master.metrics import attributes, render
from kettle.matchmaking.explain import explain
from kettle.matchmaking.slots import carve, read_slot
from kettle.policy.kill_signals import wished_seconds
from kettle.records.event_usage import CpuTimes
from kettle.schedd.run_counts import measure_run
from kettle.shadow.job_events import image_size_event
from kettle.startd.slots import Bundle, plan_request
from kettle.starter.launch import share_of
from kettle.starter.limits import LimitRules, allow_disk, allow_memory, plan_limits
from kettle.tools.printing import times
from kettle.transfer.plan import size_limit

ODD = [
    'real("INF")', '-real("INF")', 'real("NaN")', "1e300", "-1", "9223372036854775807",
    '"seven"', "undefined", "error", "true",
]  # fmt: skip


def ad_of(text: str, *names: str) -> ClassAd:
    ad = ClassAd()
    for name in names:
        ad.insert_text(name, text)
    return ad


@pytest.mark.parametrize("text", ODD)
def test_a_job_that_says_so_of_itself_can_be_counted_told_of_and_ended(text: str) -> None:
    job = ad_of(
        text, "LastRemoteWallClockTime", "JobMaxVacateTime", "ResidentSetSize", "MemoryUsage"
    )
    assert measure_run(job, 1_700_000_000).total >= 0
    wish = wished_seconds(job)
    assert wish is not None
    assert 0 <= wish <= 1e9
    image_size_event(job)


@pytest.mark.parametrize(
    ("text", "limit"),
    [('real("INF")', -1), ('-real("INF")', -1), ('real("NaN")', 3 << 20), ("2", 2 << 20)],
)
def test_a_limit_of_infinitely_much_is_none_and_nan_is_not_set(text: str, limit: int) -> None:
    job = ad_of(text, "MaxTransferInputMB")
    assert size_limit(job, None, "MaxTransferInputMB", 3) == limit


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), -5.0, 1e300])
def test_cpu_times_that_are_none_are_no_time(seconds: float) -> None:
    assert str(CpuTimes(seconds, 61.0)) == "Usr 0 00:00:00, Sys 0 00:01:01"


@pytest.mark.parametrize("text", ODD)
def test_a_slot_that_says_so_of_itself_has_a_job_started_in_it(text: str) -> None:
    slot = ad_of(text, "Cpus", "Memory", "TotalMemory", "VirtualMemory", "Disk", "TotalDisk")
    assert int(share_of(slot).cores) >= 1
    rules = LimitRules()
    allow_memory(rules, slot, None)
    allow_disk(rules, slot)
    for policy in ("hard", "soft"):
        plan_limits(LimitRules(memory_policy=policy), slot, ClassAd(), 0)


def test_infinitely_much_is_more_than_there_is_and_nan_is_no_request() -> None:
    have = Bundle({"Cpus": 4, "Memory": 100})
    infinite = plan_request(["Cpus", "Memory"], lambda _: float("inf"))
    assert have.missing(infinite) == ["Cpus", "Memory"]
    odd = plan_request(["Cpus", "Memory"], lambda _: float("nan"))
    assert odd.amounts == {"Cpus": 1, "Memory": 0}


@pytest.mark.parametrize("text", ODD)
def test_a_slot_that_has_so_much_can_be_given_away_in_parts(text: str) -> None:
    ad = ad_of(text, "Cpus", "Memory", "Disk")
    ad["PartitionableSlot"] = True
    carve(read_slot(("slot1", "<>"), ad), {"Cpus": 1, "Memory": 1})


@pytest.mark.parametrize("moment", [float("inf"), float("nan"), -1e30, 1e17, 1e300])
def test_tables_show_a_time_that_is_none_as_unknown(moment: float) -> None:
    assert times.format_moment(moment) == "    ???    "
    assert "???" in times.format_moment_with_year(moment)
    assert times.format_long_moment(moment) == "???"
    assert times.format_span(float("inf")) == times.format_span(float("nan")) == "[?????]"


@pytest.mark.parametrize("text", ODD)
def test_what_explains_and_what_measures_show_it_as_it_is(text: str) -> None:
    job = ClassAd()
    job.insert_text("Requirements", "TARGET.Memory > 10 && TARGET.Cpus >= 3")
    explain(job, [ad_of(text, "Memory", "Cpus")])
    daemon = ad_of(text, *attributes())
    daemon["MyType"], daemon["Name"] = "Scheduler", "here"
    render([daemon], {}, reachable=True)
