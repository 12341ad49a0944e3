"""The schedd from submission to history, with scripted neighbours, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.attributes.codes import JobAction, JobStatus
from kettle.classad import ClassAd, parse_old_ad
from kettle.collector.service import CollectorService
from kettle.errors import StorageError
from kettle.records.event_log import read_events
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.user_records import records
from kettle.testing.world import World, run_in_world
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.messages.queue_queries import QueryUserRecords, QueryUserRecordsReply
from scenario.access_point import AccessPoint
from scenario.stage import connect

Scenario = Callable[[AccessPoint], Awaitable[None]]


def play(folder: Path, scenario: Scenario, text: str = "", slots: int = 2) -> None:
    async def main(world: World) -> None:
        here = AccessPoint(world, text, slots)
        await here.start()
        await scenario(here)
        await here.daemon.stop("fast")

    run_in_world(folder, main)


def numbers(log: Path) -> list[str]:
    return [f"{event.number:03}" for event in read_events(log.read_bytes())]


def test_jobs_are_negotiated_claimed_run_one_after_the_other_and_recorded(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        await here.submit(4, tmp_path / "events")
        (request,) = await here.negotiate()
        assert request.integer("_condor_RESOURCE_COUNT") == 4
        await asyncio.sleep(30)
        assert here.story == [
            "claim", "claim", "start 1.0", "start 1.1", "start 1.2", "start 1.3",
            "release", "release",
        ]  # fmt: skip
        assert sorted(job["ProcId"] for job in here.history()) == ["0", "1", "2", "3"]
        assert not here.schedd.queue.jobs
        assert numbers(tmp_path / "events") == ["000"] * 4

    play(tmp_path, scenario)


def test_every_status_has_its_number_and_its_letter(tmp_path: Path) -> None:
    """R064: 1 I, 2 R, 5 H, 7 S in the queue; 3 X and 4 C in the history."""

    async def scenario(here: AccessPoint) -> None:
        here.run_seconds = None
        cluster = await here.submit(3)
        seen = [here.job(cluster).status]
        await here.negotiate()
        seen.append(here.job(cluster).status)
        await here.act(8, f"{cluster}.0")
        seen.append(here.job(cluster).status)
        await here.act(9, f"{cluster}.0")
        await here.act(1, f"{cluster}.2")
        seen.append(here.job(cluster, 2).status)
        letters = [next(each.letter for each in JobStatus if each == one) for one in seen]
        assert (seen, letters) == ([1, 2, 7, 5], ["I", "R", "S", "H"])
        await here.act(3, f"{cluster}.0")
        await asyncio.sleep(1)
        assert [job["JobStatus"] for job in here.history()] == ["3"]

    play(tmp_path, scenario)


def test_ids_are_consecutive_and_never_reused_after_a_restart(tmp_path: Path) -> None:
    """R065."""

    async def scenario(here: AccessPoint) -> None:
        assert [await here.submit() for _ in range(3)] == [1, 2, 3]
        await here.act(3, "3")
        await here.crash_schedd()
        await here.start_schedd()
        assert sorted(here.schedd.queue.clusters) == [1, 2]
        assert await here.submit() == 4

    play(tmp_path, scenario)


def test_a_new_queue_s_job_has_nothing_of_an_older_one_s_of_its_number(tmp_path: Path) -> None:
    """A damaged queue log is moved away; the spool, the history and the event logs stay."""

    async def scenario(here: AccessPoint) -> None:
        log = tmp_path / "events"
        await here.submit(1, log)
        await here.act(3, "1")
        await asyncio.sleep(2)
        await here.submit(1, log)
        spool = here.schedd.spool
        folders = [Path(spool.job_folder(JobId(cluster, 0))) for cluster in (1, 2)]
        for folder in folders:
            folder.mkdir(parents=True)
            (folder / "input").write_text("the old job's")
        await here.crash_schedd()
        (Path(spool.path) / "job_queue.log").rename(tmp_path / "damaged")
        await here.start_schedd()
        assert await here.submit(1, log) == 1
        assert not any(folder.exists() for folder in folders)
        # Killed before it has told of the new job's end and recorded it.
        here.schedd.queue.update(JobId(1, 0), {"JobStatus": "3"})
        await here.schedd.journal.flush()
        await here.crash_schedd()
        await here.start_schedd()
        await asyncio.sleep(2)
        assert not here.schedd.queue.jobs
        assert [job["ClusterId"] for job in here.history()] == ["1", "1"]
        assert numbers(log) == ["000", "009", "000", "000", "009"]

    play(tmp_path, scenario)


def test_hold_and_release_are_events_and_the_job_waits_again(tmp_path: Path) -> None:
    """R067."""

    async def scenario(here: AccessPoint) -> None:
        cluster = await here.submit(1, tmp_path / "events")
        await here.act(1, f"{cluster}.0", HoldReason="via condor_hold")
        assert here.job(cluster).status == JobStatus.HELD
        assert await here.negotiate() == []
        await here.act(2, f"{cluster}.0", ReleaseReason="via condor_release")
        assert len(await here.negotiate()) == 1
        await here.act(3, f"{cluster}.0", RemoveReason="via condor_rm")
        await asyncio.sleep(1)
        assert numbers(tmp_path / "events") == ["000", "012", "013", "009"]

    play(tmp_path, scenario)


def test_suspend_and_continue_reach_the_shadow(tmp_path: Path) -> None:
    """R068."""

    async def scenario(here: AccessPoint) -> None:
        here.run_seconds = None
        cluster = await here.submit()
        await here.negotiate()
        assert (await here.act(8, f"{cluster}.0")).integer(f"job_{cluster}_0") == 1
        assert here.job(cluster).status == JobStatus.SUSPENDED
        await here.act(9, f"{cluster}.0")
        assert here.job(cluster).status == JobStatus.RUNNING
        assert here.story[-2:] == ["Suspend 1.0", "Continue 1.0"]

    play(tmp_path, scenario)


def test_history_rotates_and_the_oldest_file_goes(tmp_path: Path) -> None:
    """R070."""

    async def scenario(here: AccessPoint) -> None:
        for _ in range(12):
            cluster = await here.submit()
            await here.act(3, str(cluster))
            await asyncio.sleep(2)
        names = sorted(path.name for path in (tmp_path / "spool").glob("history*"))
        assert len(names) == 3
        assert all(name.startswith("history") for name in names)
        kept = [int(job["ClusterId"]) for job in here.history()]
        assert kept == list(range(kept[0], 13))
        assert kept[0] > 1

    play(tmp_path, scenario, "MAX_HISTORY_LOG = 2000\nMAX_HISTORY_ROTATIONS = 2\n")


def test_a_killed_schedd_comes_back_and_starts_nothing_twice(tmp_path: Path) -> None:
    """R081."""

    async def scenario(here: AccessPoint) -> None:
        here.run_seconds = None
        await here.submit(3)
        await here.negotiate()
        await here.crash_schedd()
        here.story.clear()
        await here.start_schedd()
        here.run_seconds = 5
        await asyncio.sleep(1)
        assert sorted(here.story) == ["reconnect 1.0", "reconnect 1.1"]
        await asyncio.sleep(20)
        assert [job["JobStatus"] for job in here.history()] == ["4"] * 3
        assert [job["JobRunCount"] for job in here.history()] == ["1"] * 3

    play(tmp_path, scenario)


def test_what_a_schedd_killed_too_early_did_not_say_of_a_submission_the_next_one_says(
    tmp_path: Path,
) -> None:
    """It was in the queue's log, and in no event log yet."""

    async def scenario(here: AccessPoint) -> None:
        log = tmp_path / "events"
        await here.submit(2, log)
        told = log.read_bytes()
        await here.submit(2, log)
        later = await here.submit(1, tmp_path / "others")
        await here.crash_schedd()
        # The crash came before the last two submissions were told of.
        log.write_bytes(told)
        (tmp_path / "others").unlink()
        await here.start_schedd()
        assert numbers(log) == ["000"] * 4
        assert log.read_bytes().startswith(told)
        assert numbers(tmp_path / "others") == ["000"]
        assert here.job(later).status == JobStatus.IDLE
        # What is said is not said again.
        await here.crash_schedd()
        await here.start_schedd()
        assert numbers(log) == ["000"] * 4

    play(tmp_path, scenario)


def test_a_dead_shadow_host_is_replaced_and_takes_over(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        here.run_seconds = None
        await here.submit(2)
        await here.negotiate()
        here.run_seconds = 5
        here.daemon.processes.started[0].signal(9)
        await asyncio.sleep(10)
        assert here.hosts == 2
        assert [each for each in here.story if "1.0" in each] == ["start 1.0", "reconnect 1.0"]
        assert len(here.history()) == 2

    play(tmp_path, scenario)


def test_only_one_schedd_uses_a_spool(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        first = here.daemon
        with pytest.raises(StorageError, match="another schedd uses"):
            await here.start_schedd()
        here.daemon = first

    play(tmp_path, scenario)


def test_a_schedd_waits_for_the_one_before_it_to_leave_the_spool(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        first = here.daemon
        asyncio.get_running_loop().call_later(5, first.service.journal.close)
        await here.start_schedd()
        await first.crash()

    play(tmp_path, scenario)


def test_its_ad_lies_in_the_spool_for_tools_while_it_lives(tmp_path: Path) -> None:
    def left() -> list[str]:
        return [path.read_text() for path in tmp_path.rglob(".schedd_classad")]

    async def scenario(here: AccessPoint) -> None:
        await asyncio.sleep(1)
        (text,) = left()
        ad = parse_old_ad(text)
        assert ad.string("MyAddress") == str(here.schedd.runtime.network.address)
        assert ad.string("MyType") == "Scheduler"

    play(tmp_path, scenario)
    assert not left()


def test_its_ad_shows_as_much_of_its_statistics_as_is_configured_and_asked_for(
    tmp_path: Path,
) -> None:
    async def scenario(here: AccessPoint) -> None:
        async def ask(more: str = "") -> ClassAd:
            query = ClassAd({"MyType": "Query", "TargetType": "Scheduler"})
            query.insert_text("Requirements", "true")
            if more:
                query["STATISTICS_TO_PUBLISH"] = more
            address = str(here.schedd.runtime.network.address)
            stream = await connect(here.client, address, Command.QUERY_SCHEDD_ADS)
            await stream.send(Query(query))
            (ad,) = QueryReply.read(await stream.receive()).ads
            return ad

        ad = await ask()
        assert "JobsSubmitted" in ad
        assert "TotalIdleJobs" in ad
        for name in ("RecentJobsSubmitted", "TransferQueueMaxUploading", "RecentWindowMax"):
            assert name not in ad
        more = await ask("TRANSFER:1,SCHEDD:2")
        assert more.integer("RecentWindowMax") == 1200
        assert (more.integer("StatsLastUpdateTime") or 0) > 0
        assert "RecentJobsSubmitted" in more
        assert "TransferQueueMaxUploading" in more

    play(tmp_path, scenario, "STATISTICS_TO_PUBLISH = SCHEDD:1!R\n")


def test_its_ad_tells_of_new_counts_at_once_and_then_by_its_interval(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        collector = await here.world.start("COLLECTOR", CollectorService, port=9618)

        def told() -> list[int | None]:
            entries = collector.service.store.entries()
            ads = [entry.ad for entry in entries if entry.ad.string("MyType") == "Scheduler"]
            return [ad.integer("TotalIdleJobs") for ad in ads]

        here.schedd.ads.on_moved()
        await asyncio.sleep(1)
        assert told() == [0]
        await here.submit()
        await asyncio.sleep(0.5)
        assert told() == [1]
        await here.submit()
        await asyncio.sleep(6)
        assert told() == [1]
        await asyncio.sleep(1)
        assert told() == [2]
        await collector.stop("fast")

    play(tmp_path, scenario, "SCHEDD_MIN_INTERVAL = 7\n")


@pytest.mark.parametrize(("seconds", "status"), [(60, JobStatus.HELD), (0, JobStatus.IDLE)])
def test_periodic_expressions_are_looked_at_by_the_interval_and_with_0_never(
    tmp_path: Path, seconds: int, status: JobStatus
) -> None:
    async def scenario(here: AccessPoint) -> None:
        cluster = await here.submit(PeriodicHold="true")
        await asyncio.sleep(3600)
        assert here.job(cluster).status == status

    play(tmp_path, scenario, f"PERIODIC_EXPR_INTERVAL = {seconds}\n")


@pytest.mark.parametrize(("status", "events"), [(4, ["000"]), (3, ["000", "009"])])
def test_a_job_that_an_edit_ends_leaves_when_jobs_are_looked_at_next(
    tmp_path: Path, status: int, events: list[str]
) -> None:
    async def scenario(here: AccessPoint) -> None:
        cluster = await here.submit(log=tmp_path / "events")
        began = here.schedd.now()
        await here.edit((cluster, 0), JobStatus=str(status))
        await asyncio.sleep(500)
        assert here.job(cluster).status == status
        assert (await here.act(1, f"{cluster}.0")).integer("ActionResult") == 0
        await asyncio.sleep(200)
        (record,) = here.history()
        assert record["JobStatus"] == str(status)
        # Nobody saw it end: it ended when it left.
        ended = int(record.get("CompletionDate", "0"))
        assert (ended - began > 500) is (status == 4)
        assert numbers(tmp_path / "events") == events

    play(tmp_path, scenario, "PERIODIC_EXPR_INTERVAL = 600\n")


def test_a_job_that_an_edit_ended_may_still_be_removed_and_its_log_says_so(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        cluster = await here.submit(log=tmp_path / "events")
        await here.edit((cluster, 0), JobStatus="4")
        await here.act(3, f"{cluster}.0")
        assert [record["JobStatus"] for record in here.history()] == ["3"]
        assert numbers(tmp_path / "events") == ["000", "009"]

    play(tmp_path, scenario)


def test_jobs_that_left_are_counted_in_their_users_record_by_the_next_schedd_too(
    tmp_path: Path,
) -> None:
    async def scenario(here: AccessPoint) -> None:
        await here.submit(2)
        await here.negotiate()
        await asyncio.sleep(30)
        await here.submit(1)
        await here.act(3, "2.0")
        await here.crash_schedd()
        await here.start_schedd()
        ((_, ad),) = records(here.schedd.queue)
        names = ("TotalCompletedJobs", "CompletedJobsSlotTime", "TotalRemovedJobs")
        assert [ad.integer(name) for name in names] == [2, 20, 1]

    play(tmp_path, scenario)


async def user_record(here: AccessPoint) -> ClassAd:
    """Return the record of the one user there is."""
    address = here.daemon.network.address
    stream = await here.client.network.connect(address, Command.QUERY_USERREC_ADS)
    await stream.send(QueryUserRecords(ClassAd()))
    ad, _ = QueryUserRecordsReply.read(await stream.receive()).ads
    stream.close()
    return ad


def test_a_users_record_is_of_the_moment_in_which_somebody_asks(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        await here.submit(1)
        # Nothing happens meanwhile that the schedd would tell of.
        await asyncio.sleep(200)
        waited = (await user_record(here)).evaluate("HourlyJobsWeightedIdle")
        assert isinstance(waited, list)
        assert 198 <= round(waited[0] * 14400) <= 201

    play(tmp_path, scenario)


def test_a_users_record_tells_what_the_jobs_did_lately(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        await here.submit(2, RequestCpus="3")
        await asyncio.sleep(24)
        await here.negotiate()
        await asyncio.sleep(30)
        here.run_seconds = None
        await here.submit(1)
        await here.negotiate()
        await asyncio.sleep(5)
        await here.act(int(JobAction.VACATE), "2.0")
        ad = await user_record(here)
        assert ad.text("HourlyJobsLaunched") == "{ 3 }"
        assert ad.text("HourlyJobsRequeued") == "{ 1 }"
        # Two jobs of three cores have waited for 24 s, and run for 10; what is looked at once a
        # second may miss one of each.
        waited, ran = ad.evaluate("HourlyJobsWeightedIdle"), ad.evaluate("HourlyJobsSlotTime")
        assert isinstance(waited, list)
        assert isinstance(ran, list)
        assert 138 <= round(waited[0] * 14400) <= 156
        assert 24 <= ran[0] <= 27

    play(tmp_path, scenario)


def test_waiting_jobs_count_for_the_cores_that_they_ask_for(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        for cores in (1, 1, 5):
            await here.submit(RequestCpus=str(cores))
        (ad,) = here.schedd.ads.submitter_ads()
        assert (ad.integer("IdleJobs"), ad.integer("WeightedIdleJobs")) == (3, 7)
        assert ad.real("WeightedRunningJobs") == 0.0

    play(tmp_path, scenario)
