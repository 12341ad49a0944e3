"""Troubles that seeds found, told one by one in a simulated pool."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.policy.lease import UNLEASED_SECONDS
from kettle.runtime.sockets.stream import DEFAULT_TIMEOUT
from kettle.runtime.sockets.transport import HIGH_WATER
from kettle.schedd import beside
from kettle.starter.service import Starter
from kettle.starter.services.control import StartdControl
from kettle.starter.services.shadow import LeaseOver
from kettle.starter.syscalls import get_job_info, invoke
from kettle.testing.simulation import checks
from kettle.testing.simulation.administrators import drain, end_drain
from kettle.testing.simulation.children import run_in_child
from kettle.testing.simulation.disk import PLENTY
from kettle.testing.simulation.jobs import Execution, hides, ignores_signals
from kettle.testing.simulation.pool import SimulatedPool
from kettle.testing.simulation.processes import (
    MortalLoop,
    SimulatedProcess,
    watch_connections,
)
from kettle.testing.simulation.run import Verdict, wait_for_the_end
from kettle.testing.simulation.shapes import Shape
from kettle.testing.simulation.users import RELEASE, REMOVE, Wish
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.claims import DrainCompletion, DrainHowFast

Story = Callable[[SimulatedPool], Awaitable[None]]


def events_of(pool: SimulatedPool, name: str) -> list[str]:
    """Return the numbers of the events in a job's log, but for those that tell its size."""
    log = pool.access_points[0].folder / f"{name}.log"
    numbers = re.findall(r"^(\d{3}) \(", log.read_text() if log.exists() else "", re.MULTILINE)
    return [number for number in numbers if number != "006"]


def kill(pool: SimulatedPool, *titles: str) -> None:
    """Kill processes of the access point by how their names begin."""
    for process in pool.table.living("ap1"):
        if process.name.startswith(titles):
            process.kill()


def tell(folder: Path, story: Story, shape: Shape | None = None) -> None:
    """Tell a story in a pool of its own, in a child, which the dead leave behind."""

    async def whole(loop: MortalLoop) -> None:
        pool = SimulatedPool(loop, folder, 1, shape or Shape())
        pool.start()
        await asyncio.sleep(5)
        try:
            await story(pool)
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *pool.log])) from error
        assert not pool.failures
        assert not pool.witness.violations

    def call() -> bytes:
        watch_connections()
        loop = MortalLoop()
        asyncio.set_event_loop(loop)
        loop.run_until_complete(whole(loop))
        return b""

    run_in_child(call)


def test_a_program_ends_with_the_lease_of_a_shadow_that_is_silent(tmp_path: Path) -> None:
    """Its schedd will start it anew: the starter may not wait until it notices the loss."""

    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("long", seconds=4000.0, code=0, lease="60"))
        await asyncio.sleep(30)
        [run] = pool.witness.executions
        pool.access_points[0].lose_power()
        lost_at = asyncio.get_running_loop().time()
        await asyncio.sleep(120)
        assert run.ended is not None
        assert run.ended - lost_at <= 61
        pool.access_points[0].regain_power()
        await asyncio.sleep(1000)
        assert len(pool.witness.executions) == 2

    tell(tmp_path, story)


@pytest.mark.parametrize("lease", ["", "0", "undefined"])
def test_a_job_without_a_lease_ends_with_its_schedd_before_it_runs_again(
    lease: str, tmp_path: Path
) -> None:
    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("long", seconds=4000.0, code=0, lease=lease))
        await asyncio.sleep(30)
        [run] = pool.witness.executions
        kill(pool, "SCHEDD", "condor_shadow")
        await asyncio.sleep(120)
        assert run.ended is not None
        _, again = pool.witness.executions
        assert again.began > run.ended
        assert events_of(pool, "long") == ["000", "001", "022", "024", "004", "001"]

    tell(tmp_path, story, Shape(execution_points=2))


def test_a_job_without_a_lease_whose_network_is_cut_runs_again_when_both_sides_gave_it_up(
    tmp_path: Path,
) -> None:
    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("long", seconds=9000.0, code=0, lease="0"))
        await asyncio.sleep(30)
        [run] = pool.witness.executions
        here, there = pool.access_points[0].address, pool.machine(run.machine).address
        pool.hub.weather.lost |= {(here, there), (there, here)}
        await asyncio.sleep(UNLEASED_SECONDS + 600)
        assert run.ended is not None
        _, again = pool.witness.executions
        assert again.began > run.ended
        assert again.machine != run.machine

    tell(tmp_path, story, Shape(execution_points=2))


def test_a_lease_that_was_edited_ends_no_run_that_began_with_a_longer_one(tmp_path: Path) -> None:
    """The schedd that knew dies, and its next one cannot reach the machine."""

    async def story(pool: SimulatedPool) -> None:
        user = pool.users[0]
        wish = Wish("long", seconds=9000.0, code=0, lease="2400")
        user.submit(wish)
        await asyncio.sleep(30)
        [run] = pool.witness.executions
        user.edit(wish, "JobLeaseDuration", "20")
        await asyncio.sleep(10)
        here, there = pool.access_points[0].address, pool.machine(run.machine).address
        pool.hub.weather.lost |= {(here, there), (there, here)}
        kill(pool, "SCHEDD", "condor_shadow")
        await asyncio.sleep(3600)
        assert run.ended is not None
        _, again = pool.witness.executions
        assert again.began > run.ended

    tell(tmp_path, story, Shape(execution_points=2))


@pytest.fixture(name="starters")
def starters_that_begin(monkeypatch: pytest.MonkeyPatch) -> list[Starter]:
    """Return the list that takes every starter whose program has begun."""
    starters: list[Starter] = []
    began = Starter.on_job_started

    def note(starter: Starter, pid: int) -> None:
        starters.append(starter)
        began(starter, pid)

    monkeypatch.setattr(Starter, "on_job_started", note)
    return starters


async def happens(fact: Callable[[], bool]) -> None:
    """Wait, but not for ever, until it is so."""
    for _ in range(6000):
        if fact():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it never happens")


async def come_back_to(starter: Starter, pool: SimulatedPool) -> None:
    """Have the job's shadow die, and another come."""
    kill(pool, "condor_shadow")
    await happens(lambda: starter.shadow.returns > 0)


@pytest.mark.parametrize(("returns", "lease"), [(0, 25), (1, 20), (1, 60)])
def test_a_program_ends_with_the_lease_whatever_call_to_the_silent_shadow_is_in_flight(
    returns: int, lease: int, tmp_path: Path, starters: list[Starter]
) -> None:
    """What the job asks, or writes to a stream, waits for an answer; its lease does not wait."""

    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("long", seconds=4000.0, code=0, lease=str(lease)))
        await asyncio.sleep(30)
        [run], [starter] = pool.witness.executions, starters
        if returns:
            await come_back_to(starter, pool)
        # Soon after an update, so that the job's question comes before the next.
        heard_at = starter.shadow.heard_at
        await happens(lambda: starter.shadow.heard_at > heard_at)
        assert run.ended is None
        pool.access_points[0].lose_power()
        lost_at = asyncio.get_running_loop().time()
        question = asyncio.ensure_future(starter.call(get_job_info))
        await asyncio.sleep(lease + 1.5)
        assert run.ended is not None
        assert run.ended - lost_at <= lease + 1
        assert isinstance(question.exception(), LeaseOver)

    tell(tmp_path, story)


def test_a_shadow_that_came_back_and_takes_nothing_any_more_is_lost_as_the_first_one_is(
    tmp_path: Path, starters: list[Starter]
) -> None:
    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("long", seconds=4000.0, code=0, lease="2400"))
        await asyncio.sleep(30)
        [run], [starter] = pool.witness.executions, starters
        await come_back_to(starter, pool)
        await asyncio.sleep(1)
        pool.access_points[0].lose_power()
        much = b"x" * 8 * HIGH_WATER
        writing = asyncio.ensure_future(starter.call(lambda: invoke(calls.Write(3, much))))
        await asyncio.sleep(DEFAULT_TIMEOUT + 5)
        assert not starter.shadow.connected
        # The next shadow may still come.
        assert (run.ended, writing.done()) == (None, False)
        writing.cancel()

    tell(tmp_path, story)


@pytest.mark.parametrize("name", ["h2", "plain"])
def test_a_job_whose_machine_lost_all_daemons_is_not_started_elsewhere(
    name: str, tmp_path: Path
) -> None:
    """That nobody answers there any more proves nothing; the machine's next startd does."""

    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish(name, seconds=4000.0, code=0))
        await asyncio.sleep(30)
        [run] = pool.witness.executions
        assert hides(run.job) is (name == "h2")
        [machine] = [each for each in pool.machines if each.name == run.machine]
        machine.lose_daemons(and_programs=False)
        await asyncio.sleep(600)
        assert pool.witness.executions == [run]
        assert (run.ended is None) is (name == "h2")
        machine.regain_power()
        await asyncio.sleep(400)
        assert run.ended is not None
        assert len(pool.witness.executions) == 2

    tell(tmp_path, story, Shape(execution_points=2))


def test_a_clock_that_is_set_while_the_schedd_is_away_starts_nothing_twice(tmp_path: Path) -> None:
    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("long", seconds=400.0, code=3))
        await asyncio.sleep(30)
        pool.access_points[0].daemons["SCHEDD"].kill()
        pool.access_points[0].clock.set_forward += 7200.0
        await asyncio.sleep(600)
        [run] = pool.witness.executions
        assert run.code == 3

    tell(tmp_path, story)


def test_the_end_of_a_story_is_not_before_what_its_users_were_late_with(tmp_path: Path) -> None:
    """Seeds 20587, 21012: long jobs that came last of all looked like a pool that stood still."""

    async def story(pool: SimulatedPool) -> None:
        late = Wish("late", seconds=400.0, code=0, procs=6)
        pool.later(200.0, lambda: pool.users[0].submit(late))
        verdict = Verdict(1)
        await wait_for_the_end(pool, verdict)
        assert not verdict.violations
        assert [pool.witness.runs_of(job)[0].code for job in late.jobs] == [0] * 6

    tell(tmp_path, story)


def test_late_jobs_that_a_power_cut_takes_back_are_told_of_once(tmp_path: Path) -> None:
    """Seed 111334: a schedd that makes them anew finds that their log has them."""

    async def story(pool: SimulatedPool) -> None:
        late = Wish("late", seconds=40.0, code=0, procs=6)
        machine = pool.access_points[0]
        pool.users[0].submit(late)
        for _ in range(10_000):
            await asyncio.sleep(0.0001)
            if events_of(pool, "late").count("000") == 2:
                break
        # Nothing of the queue that was not synced comes to the disk.
        queue = machine.folder / "spool" / "job_queue.log"
        kept = machine.disk.kept_bytes(str(queue))
        assert kept < queue.stat().st_size
        machine.lose_power()
        os.truncate(queue, kept)
        machine.regain_power()
        await asyncio.sleep(600)
        assert events_of(pool, "late").count("000") == 6
        assert events_of(pool, "late").count("005") == 6

    tell(tmp_path, story)


@pytest.mark.parametrize("killed", [("condor_shadow",), ("SCHEDD",), ("SCHEDD", "condor_shadow")])
def test_an_end_for_which_its_log_has_no_room_outlives_every_process(
    killed: tuple[str, ...], tmp_path: Path
) -> None:
    async def story(pool: SimulatedPool) -> None:
        [ap] = pool.access_points
        pool.users[0].submit(Wish("j", seconds=30.0, code=3))
        await asyncio.sleep(20)
        assert events_of(pool, "j") == ["000", "001"]
        ap.home.room = 100
        await asyncio.sleep(30)
        [run] = pool.witness.executions
        assert run.code == 3
        # It has ended, and stays until its log says so.
        assert ap.service("SCHEDD").queue.job(1, 0).status == JobStatus.COMPLETED
        kill(pool, *killed)
        await asyncio.sleep(60)
        assert ap.service("SCHEDD").queue.job(1, 0).status == JobStatus.COMPLETED
        assert events_of(pool, "j") == ["000", "001"]
        ap.home.room = PLENTY
        await asyncio.sleep(30)
        assert events_of(pool, "j") == ["000", "001", "005"]
        assert len(checks.history_of(ap.folder / "spool")) == 1
        assert not ap.service("SCHEDD").queue.jobs
        assert pool.witness.executions == [run]

    tell(tmp_path, story)


_HELD_AFTER_A_WHILE = {"PeriodicHold": "time() > QDate + 30"}


@pytest.mark.parametrize("more", [{"Requirements": "false"}, {}], ids=["idle", "running"])
@pytest.mark.parametrize("killed", [(), ("SCHEDD",), ("SCHEDD", "condor_shadow")])
def test_a_hold_that_the_queue_has_no_room_for_is_in_both_or_in_neither(
    killed: tuple[str, ...], more: dict[str, str], tmp_path: Path
) -> None:
    async def story(pool: SimulatedPool) -> None:
        [ap] = pool.access_points
        wish = Wish("j", seconds=3000.0, code=0, more=more | _HELD_AFTER_A_WHILE)
        pool.users[0].submit(wish)
        await asyncio.sleep(25)
        before = events_of(pool, "j")
        ap.disk.room = 0
        await asyncio.sleep(120)
        assert ap.service("SCHEDD").queue.job(1, 0).status == JobStatus.HELD
        if more:
            # Of what runs its shadow tells first, and the next one of that run reads it.
            assert events_of(pool, "j") == before
        kill(pool, *killed)
        await asyncio.sleep(0)
        ap.disk.room = PLENTY
        await asyncio.sleep(300)
        assert ap.service("SCHEDD").queue.job(1, 0).status == JobStatus.HELD
        assert events_of(pool, "j").count("012") == 1
        assert events_of(pool, "j")[: len(before)] == before

    tell(tmp_path, story)


@pytest.mark.parametrize("killed", ["condor_shadow", "SCHEDD"])
def test_a_job_whose_log_is_full_from_the_first_has_all_its_events(
    killed: str, tmp_path: Path
) -> None:
    async def story(pool: SimulatedPool) -> None:
        [ap] = pool.access_points
        ap.home.room = 0
        pool.users[0].submit(Wish("j", seconds=300.0, code=0))
        await asyncio.sleep(60)
        [run] = pool.witness.executions
        kill(pool, killed)
        await asyncio.sleep(60)
        assert events_of(pool, "j") == []
        ap.home.room = PLENTY
        await asyncio.sleep(300)
        numbers = events_of(pool, "j")
        assert sorted(numbers) == ["000", "001", "005", "022", "023"]
        assert numbers.index("001") < numbers.index("022") < numbers.index("005")
        assert pool.witness.executions == [run]

    tell(tmp_path, story)


def test_a_start_that_no_log_tells_of_is_counted_before_the_program_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever dies in the moment in which the program begins: its start is in the queue on disk."""

    async def story(pool: SimulatedPool) -> None:
        [ap], [ep] = pool.access_points, pool.execution_points
        pool.users[0].submit(Wish("j", seconds=30.0, code=0, more={"UserLog": "undefined"}))
        begun, begin = asyncio.Event(), pool.witness.begin

        def note(job: str, machine: str, now: float) -> Execution:
            begun.set()
            return begin(job, machine, now)

        monkeypatch.setattr(pool.witness, "begin", note)
        await begun.wait()
        ap.lose_power()
        ep.lose_power()
        await asyncio.sleep(60)
        ap.regain_power()
        ep.regain_power()
        await asyncio.sleep(1000)
        assert len(pool.witness.executions) == 2
        [record] = checks.history_of(ap.folder / "spool")
        assert record["NumJobStarts"] == "2"

    tell(tmp_path, story)


def test_a_job_is_known_from_the_moment_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its shadow dies before the startd has heard from its starter: it is found, and runs once."""

    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("j", seconds=100.0, code=0))
        begun, begin = asyncio.Event(), pool.witness.begin

        def note(job: str, machine: str, now: float) -> Execution:
            begun.set()
            return begin(job, machine, now)

        monkeypatch.setattr(pool.witness, "begin", note)
        await begun.wait()
        kill(pool, "condor_shadow")
        await asyncio.sleep(300)
        assert len(pool.witness.executions) == 1
        assert events_of(pool, "j") == ["000", "001", "022", "023", "005"]

    tell(tmp_path, story)


def test_a_job_removed_while_its_end_waits_for_room_ends_once_in_its_log(tmp_path: Path) -> None:
    async def story(pool: SimulatedPool) -> None:
        [ap], [alice] = pool.access_points, pool.users
        alice.submit(Wish("j", seconds=10.0, code=0))
        await asyncio.sleep(8)
        ap.home.room = 0
        await asyncio.sleep(20)
        assert ap.service("SCHEDD").queue.job(1, 0).status == JobStatus.COMPLETED
        alice.act(REMOVE, alice.wishes[0])
        await asyncio.sleep(5)
        assert ap.service("SCHEDD").queue.job(1, 0).status == JobStatus.REMOVED
        ap.home.room = PLENTY
        await asyncio.sleep(30)
        assert events_of(pool, "j") == ["000", "001", "005"]
        assert not ap.service("SCHEDD").queue.jobs

    tell(tmp_path, story)


@pytest.mark.parametrize("how_fast", list(DrainHowFast))
def test_a_drained_machine_runs_nothing_until_somebody_ends_the_drain(
    how_fast: DrainHowFast, tmp_path: Path
) -> None:
    """Whatever happens to its job, it is told and counted; a graceful drain lets it end."""

    async def story(pool: SimulatedPool) -> None:
        [ap], [ep] = pool.access_points, pool.execution_points
        # Otherwise nobody has time to end what is asked to leave.
        pool.users[0].submit(Wish("j", seconds=300.0, code=0))
        await asyncio.sleep(20)
        drain(ep, how_fast, DrainCompletion.NOTHING)
        await asyncio.sleep(100)
        [run] = pool.witness.executions
        assert run.ended is not None
        assert ep.service("STARTD").machine.is_drained()
        end_drain(pool, ep)
        await asyncio.sleep(500)
        assert [run.code for run in pool.witness.executions] == [None, 0]
        assert events_of(pool, "j") == ["000", "001", "004", "001", "005"]
        assert not ap.service("SCHEDD").queue.jobs

    tell(tmp_path, story)


@pytest.mark.parametrize("completion", [DrainCompletion.RESUME, DrainCompletion.RECONFIG])
def test_a_machine_is_reconfigured_at_the_end_of_its_drain_where_that_is_asked_for(
    completion: DrainCompletion, tmp_path: Path
) -> None:
    async def story(pool: SimulatedPool) -> None:
        [ep] = pool.execution_points
        await asyncio.sleep(20)
        startd = ep.service("STARTD")
        generation = startd.starters.generation
        drain(ep, DrainHowFast.GRACEFUL, completion)
        await asyncio.sleep(20)
        assert startd.machine.drain is None
        asked = completion is DrainCompletion.RECONFIG
        assert startd.starters.generation - generation == asked

    tell(tmp_path, story)


def test_jobs_that_find_no_machine_at_home_run_in_the_other_pool(tmp_path: Path) -> None:
    async def story(pool: SimulatedPool) -> None:
        for number in range(4):
            pool.users[0].submit(Wish(f"j{number}", seconds=200.0, code=0))
        await asyncio.sleep(190)
        where = sorted(run.machine for run in pool.witness.executions)
        assert where == ["ep1", "ep1", "fp1", "fp1"]

    tell(tmp_path, story, Shape(flocks=True))


@pytest.mark.parametrize("acts", range(6))
def test_a_job_beside_a_schedd_that_dies_at_its_end_ends_once(acts: int, tmp_path: Path) -> None:
    async def story(pool: SimulatedPool) -> None:
        [ap] = pool.access_points
        universe = {"JobUniverse": str(int(JobUniverse.SCHEDULER))}
        pool.users[0].submit(Wish("j", seconds=30.0, code=3, more=universe))
        await asyncio.sleep(30)
        schedd = ap.daemons["SCHEDD"]
        schedd.doom(acts, SimulatedProcess.kill)
        await asyncio.sleep(200)
        assert not schedd.alive
        numbers = events_of(pool, "j")
        assert numbers in (["000", "001", "005"], ["000", "001", "001", "005"])
        assert len(pool.witness.executions) == numbers.count("001")
        [record] = checks.history_of(ap.folder / "spool")
        assert record["ExitCode"] == "3"
        assert record["NumJobStarts"] == str(numbers.count("001"))

    tell(tmp_path, story)


def test_a_job_beside_a_schedd_whose_end_cannot_be_judged_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, seen = beside.decide_end, []

    def once(*arguments: object) -> object:
        seen.append(arguments)
        if len(seen) == 1:
            raise OverflowError("nobody thought of it")
        return judge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(beside, "decide_end", once)

    async def story(pool: SimulatedPool) -> None:
        universe = {"JobUniverse": str(int(JobUniverse.SCHEDULER))}
        pool.users[0].submit(Wish("j", seconds=30.0, code=0, more=universe))
        await asyncio.sleep(400)
        assert events_of(pool, "j") == ["000", "001", "004", "001", "005"]
        assert len(pool.witness.executions) == 2
        assert "The end of job 1.0 failed" in pool.failures[0]
        pool.failures.clear()

    tell(tmp_path, story)


# What asks for the time is not the clock of the story: a time that is known must do.
EVERY_MINUTE = {
    "CronMinute": '"*"',
    "DeferralWindow": "0",
    "DeferralPrepTime": "300",
    "Requirements": "TARGET.Memory >= RequestMemory && DeferralTime > 0",
}


def test_a_job_of_every_minute_runs_once_if_nothing_keeps_it_in_the_queue(tmp_path: Path) -> None:
    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("j", seconds=3.0, code=0, more=EVERY_MINUTE))
        await asyncio.sleep(300)
        assert len(pool.witness.executions) == 1
        assert events_of(pool, "j") == ["000", "001", "005"]

    tell(tmp_path, story)


@pytest.mark.shows("R065")
@pytest.mark.parametrize(("seconds", "apart"), [(3.0, 60), (70.0, 120)])
def test_a_job_of_every_minute_starts_with_its_minutes_under_one_id(
    seconds: float, apart: int, tmp_path: Path
) -> None:
    """A minute in which it still runs is left out."""

    async def story(pool: SimulatedPool) -> None:
        wish = Wish("j", seconds=seconds, code=0, more={**EVERY_MINUTE, "OnExitRemove": "false"})
        pool.users[0].submit(wish)
        await asyncio.sleep(610)
        runs = pool.witness.executions
        assert {run.job for run in runs} == {runs[0].job}
        pauses = [round(later.began - earlier.began) for earlier, later in pairwise(runs)]
        assert pauses == [apart] * (590 // apart), pauses

    tell(tmp_path, story)


_HOLDS = """\
POLLING_INTERVAL = 1
WANT_VACATE = true
MACHINEMAXVACATETIME = 200
PREEMPT = time() - EnteredCurrentActivity > 10 && NumJobStarts =!= 1
WANT_HOLD = true
WANT_HOLD_REASON = "too greedy"
"""


@pytest.mark.parametrize("dies", ["", "condor_shadow", "SCHEDD"])
def test_a_job_that_its_machine_wants_held_is_started_again_when_it_has_left(
    dies: str, tmp_path: Path
) -> None:
    """It is held at once and stays for its vacate time; who releases it gets no second one then."""

    async def story(pool: SimulatedPool) -> None:
        [ap] = pool.access_points
        wish = Wish("mule", seconds=300.0, code=0)
        assert ignores_signals(wish.name)
        assert not hides(wish.name)
        pool.users[0].submit(wish)
        await asyncio.sleep(30)
        [job] = ap.service("SCHEDD").queue.jobs.values()
        [run] = pool.witness.executions
        assert (job.status, run.ended) == (JobStatus.HELD, None)
        told = ["000", "001", "021", "004", "012"]
        assert events_of(pool, "mule") == told
        pool.users[0].act(RELEASE, wish)
        if dies:
            await asyncio.sleep(20)
            kill(pool, dies)
        await asyncio.sleep(100)
        # Who takes over what was released has it leave at once.
        assert (run.ended is None) is not bool(dies)
        await asyncio.sleep(900)
        assert [run.code for run in pool.witness.executions] == [None, 0]
        assert events_of(pool, "mule") == [*told, "013", "001", "005"]
        assert not ap.service("SCHEDD").queue.jobs

    tell(tmp_path, story, Shape(text=_HOLDS))


def test_a_starter_that_was_killed_is_not_kept(tmp_path: Path) -> None:
    async def story(pool: SimulatedPool) -> None:
        [ap], [ep] = pool.access_points, pool.execution_points
        pool.users[0].submit(Wish("j", seconds=500.0, code=0))
        await happens(lambda: len(pool.witness.executions) == 1)
        [claim] = ap.service("SCHEDD").scheduler.claims.by_id
        startd = ep.service("STARTD")
        [starter] = [each for each in pool.table.living("ep1") if "starter" in each.name]
        starter.kill()
        await happens(lambda: len(pool.witness.executions) == 2)
        assert len(startd.starters) == 1
        assert startd.starters.finished(claim) is None

    tell(tmp_path, story)


def test_a_job_that_ended_is_not_made_to_leave_when_its_claim_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sandbox is still being taken away then."""
    done = StartdControl.tell_done

    def tell_done_late(control: StartdControl, *given: Any, **more: Any) -> None:
        asyncio.get_running_loop().call_later(1, lambda: done(control, *given, **more))

    async def story(pool: SimulatedPool) -> None:
        monkeypatch.setattr(StartdControl, "tell_done", tell_done_late)
        pool.users[0].submit(Wish("j", seconds=5.0, code=0))
        await happens(lambda: events_of(pool, "j")[-1:] == ["005"])
        await asyncio.sleep(3)
        assert [line for line in pool.log if "Claimed/Busy -> Preempting" in line] == []
        assert [line for line in pool.log if "Busy -> Cleaning" in line] != []

    tell(tmp_path, story)


@pytest.mark.parametrize("acts", [1, 4, 8, 12, 16, 20, 24])
def test_a_spooled_job_s_output_comes_home_whenever_the_power_goes_as_its_run_ends(
    acts: int, tmp_path: Path
) -> None:
    async def story(pool: SimulatedPool) -> None:
        [user], [machine] = pool.users, pool.access_points
        wish = Wish("far", seconds=20.0, code=0, transfers=True, spools=True)
        user.submit(wish)
        await asyncio.sleep(15)
        [run] = pool.witness.executions
        [host] = [each for each in pool.table.living() if each.name.startswith("condor_shadow")]
        await asyncio.sleep(run.began + 19.5 - asyncio.get_running_loop().time())

        def end(_: SimulatedProcess) -> None:
            machine.lose_power()
            pool.later(5.0, machine.regain_power)

        host.doom(acts, end)
        await asyncio.sleep(60)
        assert not host.alive
        verdict = Verdict(1)
        await wait_for_the_end(pool, verdict)
        assert verdict.violations == []
        assert checks.find_violations(pool) == []
        assert (machine.folder / "far.out").read_text() in {
            each.output for each in pool.witness.executions if each.code is not None
        }
        assert not list((machine.folder / "spool").glob("*/*/cluster*"))

    tell(tmp_path, story)
