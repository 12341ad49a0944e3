"""What one job says of itself, in numbers that are none, is no other job's trouble."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.attributes.codes import JobStatus, ShadowExit
from kettle.config.origin import Origin
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.schedd.claims import Phase
from kettle.schedd.weights import MOST_WEIGHT
from kettle.wire.messages.shadow_host import ShadowExited
from scenario.access_point import AccessPoint
from scenario.test_schedd import play

MAILED = {"JobNotification": "1", "NotifyUser": '"a@b"'}
ODD_DATES = [
    {"QDate": "100000000000000000"},
    {"QDate": "-99999999999999"},
    {"CompletionDate": "9223372036854775807"},
    {"RemoteWallClockTime": 'real("INF")'},
    {"RemoteWallClockTime": 'real("NaN")'},
]
MAIL = "MAIL = /bin/true\n"


@pytest.mark.parametrize("odd", ODD_DATES)
def test_a_job_with_an_odd_date_is_held_by_policy_and_so_are_others(
    tmp_path: Path, odd: dict[str, str]
) -> None:
    async def scenario(here: AccessPoint) -> None:
        first = await here.submit(PeriodicHold="true", **MAILED, **odd)
        await asyncio.sleep(70)
        other = await here.submit(PeriodicHold="true")
        await asyncio.sleep(130)
        assert here.job(first).status == JobStatus.HELD
        assert here.job(other).status == JobStatus.HELD

    play(tmp_path, scenario, MAIL)


@pytest.mark.parametrize("odd", ODD_DATES)
def test_jobs_that_end_beside_one_with_an_odd_date_leave_with_one_record_each(
    tmp_path: Path, odd: dict[str, str]
) -> None:
    async def scenario(here: AccessPoint) -> None:
        await here.submit(**MAILED, **odd)
        await here.submit(3)
        await here.negotiate()
        await asyncio.sleep(600)
        assert not here.schedd.queue.jobs
        left = sorted((job["ClusterId"], job["ProcId"]) for job in here.history())
        assert left == [("1", "0"), ("2", "0"), ("2", "1"), ("2", "2")]

    play(tmp_path, scenario, MAIL)


def test_the_claim_of_a_job_with_an_odd_date_that_its_shadow_holds_runs_the_next_one(
    tmp_path: Path,
) -> None:
    async def scenario(here: AccessPoint) -> None:
        async def run(stream: Stream, job: tuple[int, int]) -> None:
            await asyncio.sleep(5)
            held = {"HoldReason": '"x"', "HoldReasonCode": "13", "HoldReasonSubCode": "2"}
            ended = {"ExitCode": "0", "ExitBySignal": "false"}
            reason = ShadowExit.SHOULD_HOLD if job[0] == 1 else ShadowExit.EXITED
            said = held if job[0] == 1 else ended
            stream.post(ShadowExited(*job, int(reason), reusable=True, attributes=said))

        here._run = run  # type: ignore[method-assign]
        first = await here.submit(QDate="100000000000000000", **MAILED)
        await here.submit(3)
        await here.negotiate()
        await asyncio.sleep(300)
        assert here.job(first).status == JobStatus.HELD
        assert list(here.schedd.queue.jobs) == [here.job(first).id]
        claims = here.schedd.scheduler.claims.by_id.values()
        assert not [claim for claim in claims if claim.phase is Phase.RUNNING]

    play(tmp_path, scenario, MAIL, slots=1)


def test_a_mail_that_cannot_be_made_keeps_no_job_from_leaving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("a fault of ours")

    monkeypatch.setattr("kettle.schedd.notices.compose", fail)

    async def scenario(here: AccessPoint) -> None:
        await here.submit(2, **MAILED)
        await here.negotiate()
        await asyncio.sleep(600)
        assert not here.schedd.queue.jobs
        assert len(here.history()) == 2
        assert [report for report in here.world.failures if "Mail about a job failed" in report]
        here.world.failures.clear()

    play(tmp_path, scenario, MAIL)


def test_one_job_whose_policy_fails_keeps_no_other_from_being_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kettle.schedd import waiting_policy

    decide = waiting_policy.decide_periodic

    def fail(ad: object, *rest: object) -> object:
        if ad.integer("ClusterId") == 1:  # type: ignore[attr-defined]
            raise ValueError("a fault of ours")
        return decide(ad, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(waiting_policy, "decide_periodic", fail)

    async def scenario(here: AccessPoint) -> None:
        await here.submit()
        second = await here.submit(PeriodicHold="true")
        await asyncio.sleep(200)
        third = await here.submit(PeriodicHold="true")
        await asyncio.sleep(200)
        assert here.job(second).status == here.job(third).status == JobStatus.HELD
        (report,) = here.world.failures
        assert "The policy of a job failed" in report
        here.world.failures.clear()

    play(tmp_path, scenario)


def set_knob(here: AccessPoint, name: str, text: str) -> None:
    here.schedd.runtime.config.assign(name, text, Origin("<test>"))


async def reconfigure(here: AccessPoint) -> None:
    await here.schedd.reconfigure(here.schedd.runtime.config)


def test_a_job_that_asks_for_infinitely_much_keeps_no_others_from_being_told_of(
    tmp_path: Path,
) -> None:
    async def scenario(here: AccessPoint) -> None:
        await here.submit(RequestMemory='real("INF")')
        await asyncio.sleep(10)
        assert here.schedd.ads.submitter_ads()[0].integer("WeightedIdleJobs") == MOST_WEIGHT
        assert "ads of the schedd" in [task.get_name() for task in tasks.running()]

    play(tmp_path, scenario, "SCHEDD_SLOT_WEIGHT = RequestMemory\n")


def test_a_typo_in_a_start_expression_ends_no_policy_and_is_mended_by_the_next_one(
    tmp_path: Path,
) -> None:
    async def scenario(here: AccessPoint) -> None:
        set_knob(here, "START_LOCAL_UNIVERSE", "TotalLocalJobsRunning < (")
        await reconfigure(here)
        said = [line for line in here.world.log if "START_LOCAL_UNIVERSE: expected" in line]
        assert [line.endswith("false is used, which allows least") for line in said] == [True]
        await here.submit(JobUniverse="12", Requirements="false")
        await asyncio.sleep(200)
        set_knob(here, "START_LOCAL_UNIVERSE", "false")
        await reconfigure(here)
        await asyncio.sleep(200)
        names = [task.get_name() for task in tasks.running()]
        assert "policy of jobs beside the schedd" in names

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    "knob", ["SCHEDD_COLLECT_STATS_BY_X", "SYSTEM_PERIODIC_REMOVE", "START_SCHEDULER_UNIVERSE"]
)
def test_a_typo_in_one_expression_keeps_no_other_setting_from_being_taken_over(
    tmp_path: Path, knob: str
) -> None:
    async def scenario(here: AccessPoint) -> None:
        assert [line for line in here.world.log if knob in line], "told at the start"
        set_knob(here, "SCHEDD_SLOT_WEIGHT", "RequestCpus * 7")
        set_knob(here, "SYSTEM_PERIODIC_HOLD", "RequestCpus == 2")
        await reconfigure(here)
        await here.submit(RequestCpus="1")
        held = await here.submit(RequestCpus="2")
        assert here.schedd.ads.submitter_ads()[0].integer("WeightedIdleJobs") == 21
        await asyncio.sleep(130)
        assert here.job(held).status == JobStatus.HELD

    play(tmp_path, scenario, f"{knob} = ((\n")


def test_a_value_that_is_none_leaves_the_old_configuration_as_a_whole(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        set_knob(here, "MAX_JOBS_RUNNING", "many")
        set_knob(here, "SCHEDD_SLOT_WEIGHT", "RequestCpus * 7")
        await reconfigure(here)
        assert [line for line in here.world.log if "is not used: " in line]
        assert here.schedd.scheduler.most_running == 1000
        await here.submit(RequestCpus="1")
        assert here.schedd.ads.submitter_ads()[0].integer("WeightedIdleJobs") == 1

    play(tmp_path, scenario)
