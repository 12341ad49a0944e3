"""Shadow hosts as processes: begun on demand, ended when idle, replaced when they die or hang."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from kettle.attributes.codes import HoldReasonCode, ShadowExit, VacateReasonCode
from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, KettleError, NotForked
from kettle.policy.attribute_protection import ProtectedNames
from kettle.policy.lease import RUN_LEASE
from kettle.records import queue_log
from kettle.records.event_kinds import ShadowExceptionEvent
from kettle.records.unwritten_events import SHADOW_EVENTS
from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.runtime.process.privileges import Account
from kettle.runtime.sockets.stream import Stream
from kettle.schedd.beside import NotStarted
from kettle.schedd.claims import Claim
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job
from kettle.schedd.services import shadows as service_shadows
from kettle.schedd.services.shadows import HOST_ENTRY, IDLE_SECONDS, ShadowHosts
from kettle.testing.processes import FakeChild, FakeProcesses
from kettle.testing.world import World, run_in_world
from kettle.wire.messages.shadow_host import (
    HostReady,
    HostTrouble,
    JobMessage,
    SetAttributes,
    ShadowExited,
    SignalShadow,
    StartShadow,
    StopHost,
    TransferRecord,
    UpdateJob,
    UpdateKept,
    read_host_message,
)


class Stage:
    """A schedd that only keeps hosts, and what the hosts were told."""

    def __init__(self, world: World, text: str) -> None:
        self.runtime: Runtime
        self.processes: FakeProcesses
        self.runtime, _, self.processes = world.runtime("SCHEDD", text)
        self.runtime.processes.zygote.entries[HOST_ENTRY] = self.host  # type: ignore[attr-defined]
        self.accounts = SimpleNamespace(to_start=lambda _: self.runtime.privileges.daemon)
        self.hosts = ShadowHosts(self, self)  # type: ignore[arg-type]
        self.story: list[str] = []
        self.addresses: set[str] = set()
        self.streams: list[Stream] = []
        # What a host does after it is ready: read, or nothing at all.
        self.reads = True
        self.refuse_forks = 0
        self.says_ready = True
        self.raises = False
        # Whether something goes wrong as the jobs of a dead host are taken over.
        self.stumbles = False
        self.waiting: list[Callable[[], None]] = []
        self.jobs: dict[JobId, Job] = {}
        self.updates: list[tuple[int, dict[str, str]]] = []
        self.recorded: list[int] = []
        self.written: list[ShadowExceptionEvent] = []
        self.events = SimpleNamespace(write=lambda _job, event: self.written.append(event))
        self.queue_settings = ProtectedNames(
            frozenset({"owner", "jobuniverse"}), frozenset(), frozenset()
        )

    @property
    def scheduler(self) -> Stage:
        """It is told the reports itself."""
        return self

    @property
    def queue(self) -> Stage:
        """It has the jobs itself."""
        return self

    def transferred(self, job_id: JobId, kind: str, record: ClassAd) -> None:
        """Note whose transfer was recorded."""
        self.recorded.append(job_id.cluster)

    @property
    def on_disk(self) -> Stage:
        """Everything is on disk when a test says so."""
        return self

    def then(self, action: Callable[[], None]) -> None:
        """Note what waits for the disk."""
        self.waiting.append(action)

    def on_events_left(self, jobs: Iterable[JobId]) -> None:
        """Note whose events a dead host has left."""
        self.story += [f"events of {job_id}" for job_id in jobs]
        if self.stumbles:
            raise ValueError("an odd job")

    def on_job_update(self, job_id: JobId, attributes: Mapping[str, str]) -> None:
        """Note what a host changes."""
        self.updates.append((job_id.cluster, dict(attributes)))

    def on_shadow_exited(
        self, job_id: JobId, reason: int, attributes: Mapping[str, str], *, reusable: bool
    ) -> None:
        """Note the end of a run."""
        if self.raises:
            raise ValueError("a bug")
        self.story.append(f"ended {job_id}")
        self.addresses.add(attributes.get("ShadowIpAddr", "none"))

    def on_host_lost(self, jobs: Iterable[JobId]) -> None:
        """Note it and have them taken over, as the scheduler does."""
        for job_id in jobs:
            self.story.append(f"lost {job_id}")
            self.start(job_id.cluster, reconnect=True)
        if self.stumbles:
            raise ValueError("an odd job")

    async def host(self, child: FakeChild) -> int:
        """Be a host: note each word."""
        stream = Stream.over(child.fds[0])
        self.streams.append(stream)
        if self.says_ready:
            stream.post(HostReady("<1.2.3.4:6>"))
        try:
            while True:
                if not self.reads:
                    await asyncio.sleep(1_000_000)
                message = read_host_message(await stream.receive_forever())
                number = message.cluster if isinstance(message, JobMessage) else 0
                if isinstance(message, StartShadow):
                    again = message.reconnect
                    self.story.append(f"{'take over' if again else 'start'} {number}.0")
                elif isinstance(message, SignalShadow):
                    self.story.append(f"{message.signal} {number}.0")
                elif isinstance(message, SetAttributes):
                    texts = [f"{name}={text}" for name, text in message.attributes.items()]
                    self.story.append(f"{' '.join(texts)} {number}.0")
                elif isinstance(message, UpdateKept):
                    self.story.append(f"kept {number}.0")
                elif isinstance(message, StopHost):
                    self.story.append("stop")
                    return 0
        except ConnectionLost:
            return 1
        finally:
            stream.close()

    def job(self, number: int, user: str = "u@here") -> Job:
        """Make a job; its ad is large, so that many of them fill a socket."""
        ad = ClassAd({"ClusterId": number, "ProcId": 0, "Environment": "x" * 1000})
        return Job(JobId(number, 0), ad, owner=user.partition("@")[0], user=user)

    def start(
        self, number: int, *, reconnect: bool = False, user: str = "u@here", lease: int = 0
    ) -> None:
        """Start a job's shadow."""
        claim = Claim("<1.2.3.4:5>#1#1#x", "<1.2.3.4:5>", ClassAd(), user, 0, None, 0.0)
        job = self.jobs[JobId(number, 0)] = self.job(number, user)
        job.ad[RUN_LEASE] = lease
        self.hosts.start_shadow(job, claim, reconnect=reconnect)

    def end(self, number: int, host: int = -1) -> None:
        """Let a host report a job's end."""
        self.streams[host].post(ShadowExited(number, 0, 100))


Scenario = Callable[[Stage], Awaitable[None]]


def play(folder: Path, scenario: Scenario, text: str = "") -> None:
    async def main(world: World) -> None:
        stage = Stage(world, text)
        await scenario(stage)
        await stage.hosts.stop("fast")
        assert stage.hosts.count == 0
        assert not stage.processes.children()

    run_in_world(folder, main)


def test_a_host_without_work_ends_and_the_next_job_has_a_new_one(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        await asyncio.sleep(1)
        stage.end(1)
        await asyncio.sleep(IDLE_SECONDS - 1)
        assert stage.hosts.count == 1
        await asyncio.sleep(2)
        assert stage.hosts.count == 0
        assert stage.story == ["start 1.0", "ended 1.0", "stop"]
        assert stage.addresses == {'"<1.2.3.4:6>"'}
        stage.start(2)
        await asyncio.sleep(1)
        assert stage.story[3:] == ["start 2.0"]
        assert len(stage.processes.started) == 2

    play(tmp_path, scenario)


def test_an_end_that_comes_before_its_host_says_where_it_is_names_no_address(
    tmp_path: Path,
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.says_ready = False
        stage.start(1)
        await asyncio.sleep(1)
        stage.end(1)
        await asyncio.sleep(1)
        assert stage.addresses == {"none"}
        stage.streams[0].post(HostReady("<1.2.3.4:6>"))

    play(tmp_path, scenario)


def test_a_job_that_comes_in_time_keeps_the_host(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        for number in range(1, 5):
            stage.start(number)
            await asyncio.sleep(1)
            stage.end(number)
            await asyncio.sleep(IDLE_SECONDS - 10)
        assert len(stage.processes.started) == 1

    play(tmp_path, scenario)


def test_an_old_host_gets_no_further_jobs_and_ends_with_its_last(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        await asyncio.sleep(101)
        stage.start(2)
        await asyncio.sleep(1)
        assert len(stage.processes.started) == 2
        stage.hosts.signal_shadow(stage.job(1), "Hold", "", 0, 0)
        await asyncio.sleep(1)
        assert stage.story == ["start 1.0", "start 2.0", "Hold 1.0"]
        stage.end(1, host=0)
        await asyncio.sleep(1)
        assert stage.story[3:] == ["ended 1.0", "stop"]
        assert (stage.hosts.count, stage.hosts.running) == (1, 1)

    play(tmp_path, scenario, "SHADOW_WORKLIFE = 100\n")


def test_a_lifetime_that_is_none_stops_no_job(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        await asyncio.sleep(1)
        assert stage.story == ["start 1.0"]

    play(tmp_path, scenario, "SHADOW_WORKLIFE = 1 hour\n")


def test_a_new_configuration_means_new_hosts(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        stage.start(2, user="v@here")
        await asyncio.sleep(1)
        stage.end(2)
        await asyncio.sleep(1)
        stage.hosts.renew()
        await asyncio.sleep(1)
        assert stage.hosts.count == 1
        stage.start(3)
        await asyncio.sleep(1)
        assert (stage.hosts.count, stage.hosts.running) == (2, 2)

    play(tmp_path, scenario)


def test_a_host_that_dies_is_replaced_and_its_jobs_are_taken_over(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        stage.start(2)
        await asyncio.sleep(1)
        stage.processes.started[0].signal(9)
        await asyncio.sleep(1)
        assert stage.story[2:4] == ["lost 1.0", "lost 2.0"]
        assert sorted(stage.story[4:]) == ["take over 1.0", "take over 2.0"]

    play(tmp_path, scenario)


def test_a_host_is_replaced_though_something_of_a_job_s_takeover_fails(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        said: list[str] = []
        tasks.set_reporter(said.append)
        stage.stumbles = True
        for number in (1, 2):
            stage.start(number)
        await asyncio.sleep(1)
        line = stage.streams[0]
        line.post(UpdateJob(2, 0, {SHADOW_EVENTS: '"/l|1"'}))
        line.post(ShadowExited(2, 0, 100))
        await asyncio.sleep(1)
        stage.processes.started[0].signal(9)
        await asyncio.sleep(1)
        assert stage.story[-3:] == ["events of 2.0", "lost 1.0", "take over 1.0"]
        stage.start(3)
        await asyncio.sleep(1)
        assert stage.story[-1] == "start 3.0"
        assert len(said) == 2

    try:
        play(tmp_path, scenario)
    finally:
        tasks.set_reporter(None)


def test_a_start_that_no_host_ever_got_is_still_a_start(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        for _ in range(3):
            await asyncio.sleep(1)
            stage.processes.started[-1].signal(9)
        # A host that dies all the time is replaced after a pause, and this is in it.
        await asyncio.sleep(0.2)
        stage.start(3)
        stage.hosts.signal_shadow(stage.job(3), "Hold", "", 0, 0)
        await asyncio.sleep(5)
        assert [word for word in stage.story if word.endswith("3.0")] == ["start 3.0", "Hold 3.0"]
        assert stage.story.count("take over 1.0") == 3

    play(tmp_path, scenario)


def test_a_job_whose_owner_can_be_nobody_here_is_held_at_once_and_has_no_host(
    tmp_path: Path,
) -> None:
    async def scenario(stage: Stage) -> None:
        held: list[object] = []

        def refuse(user: str) -> Account:
            if user == "u@here":
                raise NotStarted(f"nobody is {user}", HoldReasonCode.FailedToAccessUserAccount)
            return stage.runtime.privileges.daemon

        def end(job: JobId, reason: int, said: Mapping[str, str], *, reusable: bool) -> None:
            held.append((str(job), reason, dict(said), reusable))

        stage.accounts.to_start = refuse
        stage.on_shadow_exited = end  # type: ignore[method-assign]
        for number, user in enumerate(("u@here", "v@here", "u@here")):
            stage.start(number, user=user)
        await asyncio.sleep(600)
        assert (len(stage.processes.started), stage.hosts.running) == (1, 1)
        said = {
            "HoldReason": '"nobody is u@here"',
            "HoldReasonCode": "23",
            "HoldReasonSubCode": "0",
        }
        exits = int(ShadowExit.SHOULD_HOLD)
        assert held == [("0.0", exits, said, False), ("2.0", exits, said, False)]
        assert stage.story == ["events of 0.0", "events of 2.0", "start 1.0"]

    play(tmp_path, scenario)


class Nobody:
    """Accounts of users who are not found, for as long as `why` says that; and the ends told."""

    def __init__(self, stage: Stage, why: Exception) -> None:
        self.why: Exception | None = why
        self._stage = stage
        self.ends: list[tuple[str, int, dict[str, str], bool]] = []
        stage.accounts.to_start = self.to_start
        stage.on_shadow_exited = self.on_end  # type: ignore[method-assign]

    def to_start(self, _: str) -> Account:
        """Say who that is."""
        if self.why is not None:
            raise self.why
        return self._stage.runtime.privileges.daemon

    def on_end(self, job: JobId, reason: int, said: Mapping[str, str], *, reusable: bool) -> None:
        """Note the end of a run."""
        self.ends.append((str(job), reason, dict(said), reusable))


SILENCE = NotForked("there is no account 'u' just now")
NONE = NotStarted("nobody is u@here", HoldReasonCode.FailedToAccessUserAccount)


@pytest.mark.parametrize("why", [SILENCE, NONE, ValueError("a bug")])
def test_a_running_job_whose_owner_is_not_found_keeps_its_claim_and_is_looked_for_later(
    tmp_path: Path, why: Exception
) -> None:
    async def scenario(stage: Stage) -> None:
        nobody = Nobody(stage, why)
        stage.start(1, reconnect=True, lease=600)
        stage.start(2, reconnect=True, lease=600)
        await asyncio.sleep(590)
        stage.hosts.signal_shadow(stage.job(2), "Hold", "", 0, 0)
        assert (nobody.ends, stage.story, stage.hosts.running) == ([], [], 2)
        nobody.why = None
        await asyncio.sleep(10)
        assert stage.story == ["take over 1.0", "take over 2.0", "Hold 2.0"]
        await asyncio.sleep(3600)
        assert nobody.ends == []

    play(tmp_path, scenario)


@pytest.mark.parametrize("why", [SILENCE, NONE])
def test_a_running_job_that_nobody_could_look_for_has_ended_when_its_lease_is_over(
    tmp_path: Path, why: KettleError
) -> None:
    async def scenario(stage: Stage) -> None:
        nobody = Nobody(stage, why)
        stage.start(1, reconnect=True, lease=600)
        # Without a lease a silence ends as well.
        stage.start(2, reconnect=True, lease=0)
        await asyncio.sleep(599)
        assert nobody.ends == []
        await asyncio.sleep(10)
        ((job, reason, said, reusable),) = nobody.ends
        assert (job, reusable) == ("1.0", False)
        if why is NONE:
            assert reason == ShadowExit.SHOULD_HOLD
            assert said["HoldReason"] == '"nobody is u@here"'
        else:
            assert reason == ShadowExit.RECONNECT_FAILED
            code = str(int(VacateReasonCode.ReconnectFailed))
            assert (said["VacateReason"], said["VacateReasonCode"]) == (f'"{SILENCE}"', code)
        assert (stage.hosts.running, stage.hosts.count) == (1, 1)
        await asyncio.sleep(1200)
        assert [end[0] for end in nobody.ends] == ["1.0", "2.0"]
        assert (stage.hosts.running, stage.hosts.count) == (0, 0)
        nobody.why = None
        stage.start(3)
        await asyncio.sleep(1)
        assert stage.story == ["events of 1.0", "events of 2.0", "start 3.0"]

    play(tmp_path, scenario)


def test_a_job_that_was_to_start_waits_again_while_its_owner_is_not_found(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        nobody = Nobody(stage, SILENCE)
        stage.start(1)
        stage.start(2, reconnect=True, lease=600)
        await asyncio.sleep(1)
        stage.start(3)
        await asyncio.sleep(1)
        assert [(end[0], end[1], end[3]) for end in nobody.ends] == [
            ("1.0", int(ShadowExit.NOT_STARTED), False),
            ("3.0", int(ShadowExit.NOT_STARTED), False),
        ]
        code = str(int(VacateReasonCode.JobNotStarted))
        assert {end[2]["VacateReasonCode"] for end in nobody.ends} == {code}
        # Who finds him for one that starts has found him for all.
        nobody.why = None
        stage.start(4)
        await asyncio.sleep(10)
        assert len(nobody.ends) == 2
        assert stage.story[2:] == ["take over 2.0", "start 4.0"]
        assert len(stage.processes.started) == 1

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("lent", "reconnect", "said", "kept"),
    [
        (True, False, "if_needed", "YES"),
        (True, False, "NO", "NO"),
        (True, True, "IF_NEEDED", "IF_NEEDED"),
        (False, False, "IF_NEEDED", "IF_NEEDED"),
    ],
)
def test_files_of_a_guest_s_job_travel_wherever_it_runs(
    tmp_path: Path, *, lent: bool, reconnect: bool, said: str, kept: str
) -> None:
    async def scenario(stage: Stage) -> None:
        account = Account("u", os.getuid(), os.getgid(), (), lent=lent)
        stage.accounts.to_start = lambda _: account
        job = stage.job(1)
        job.ad["ShouldTransferFiles"] = said

        def update(job_id: JobId, changes: Mapping[str, str]) -> None:
            for name, text in changes.items():
                job.ad.insert_text(name, text)

        stage.update = update  # type: ignore[attr-defined]
        claim = Claim("<1.2.3.4:5>#1#1#x", "<1.2.3.4:5>", ClassAd(), "u", 0, None, 0.0)
        stage.hosts.start_shadow(job, claim, reconnect=reconnect)
        await asyncio.sleep(1)
        assert job.ad.string("ShouldTransferFiles") == kept

    play(tmp_path, scenario)


def test_hosts_that_die_at_once_follow_each_other_ever_more_slowly(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        async def die(child: FakeChild) -> int:
            Stream.over(child.fds[0]).close()
            return 1

        # As in the schedd, where what is taken over is started only when it is on disk.
        def later(jobs: Iterable[JobId]) -> None:
            for job in list(jobs):
                start = partial(stage.start, job.cluster, reconnect=True)
                asyncio.get_running_loop().call_later(0.01, start)

        stage.on_host_lost = later  # type: ignore[method-assign]
        stage.processes.zygote.entries[HOST_ENTRY] = die
        stage.start(1, reconnect=True)
        await asyncio.sleep(600)
        assert 8 <= len(stage.processes.started) <= 25
        stage.processes.zygote.entries[HOST_ENTRY] = stage.host
        await asyncio.sleep(100)

    play(tmp_path, scenario)


def test_jobs_whose_host_cannot_begin_are_told_why_and_rest(tmp_path: Path) -> None:
    """What may be running somewhere is looked for, however long that takes."""

    async def scenario(stage: Stage) -> None:
        async def die(child: FakeChild) -> int:
            stream = Stream.over(child.fds[0])
            await stream.send(HostTrouble("it cannot go on: no room"))
            stream.close()
            return 1

        stage.processes.zygote.entries[HOST_ENTRY] = die
        stage.start(1)
        stage.start(2, reconnect=True)
        await asyncio.sleep(30)
        assert stage.story == ["ended 1.0"]
        (event,) = stage.written
        assert event.message == "The job has no shadow: it cannot go on: no room"
        assert stage.hosts.running == 1
        stage.processes.zygote.entries[HOST_ENTRY] = stage.host
        await asyncio.sleep(100)
        assert stage.story == ["ended 1.0", "take over 2.0"]

    play(tmp_path, scenario)


class Slow(FakeChild):
    """A process that takes a while to go when it is killed."""

    def signal(self, number: int) -> bool:
        """Note it; the end comes later."""
        if self.running and not self.signals:
            asyncio.get_running_loop().call_later(3, self.end_by, number)
        self.signals.append(number)
        return self.running


def test_a_host_that_does_not_end_is_killed_and_gone_before_another_begins(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        stage, host = Stage(world, ""), Slow(7, "host")
        await stage.hosts._await_end(host, patient=False)
        assert (host.signals[0], host.running) == (9, False)

    run_in_world(tmp_path, scenario)


def test_an_idle_host_that_dies_is_not_replaced(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        await asyncio.sleep(1)
        stage.end(1)
        await asyncio.sleep(1)
        stage.processes.started[0].signal(9)
        await asyncio.sleep(1)
        assert stage.hosts.count == 0
        assert len(stage.processes.started) == 1

    play(tmp_path, scenario)


def test_words_for_a_host_that_does_not_read_wait_here_and_a_stuck_one_is_replaced(
    tmp_path: Path,
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.reads = False
        for number in range(1, 3001):
            stage.start(number)
            if number == 1:
                await asyncio.sleep(1)
        await asyncio.sleep(1)
        host = stage.hosts._current["u@here"]
        assert isinstance(host.begun, StartShadow)
        assert host.begun is host.waiting[0]
        number = host.begun.cluster
        stage.reads = True
        await asyncio.sleep(service_shadows.STUCK_SECONDS + 60)
        assert len(stage.processes.started) == 2
        told = {line.split()[-1] for line in stage.story if not line.startswith("lost")}
        assert len(told) == 3000
        assert stage.hosts.running == 3000
        # It may have come to the end of what it was being sent; the next one it never got.
        assert f"take over {number}.0" in stage.story
        assert f"start {number + 1}.0" in stage.story

    play(tmp_path, scenario)


def test_a_slow_host_gets_every_word_in_order(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        for number in range(1, 3001):
            stage.start(number)
        stage.hosts.signal_shadow(stage.job(7), "Remove", "", 0, 0)
        await asyncio.sleep(10)
        assert len(stage.processes.started) == 1
        assert stage.story == [*(f"start {n}.0" for n in range(1, 3001)), "Remove 7.0"]

    play(tmp_path, scenario)


def test_a_bug_met_with_one_jobs_report_is_no_other_jobs_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        stage.start(2)
        await asyncio.sleep(1)
        stage.raises = True
        stage.end(1)
        await asyncio.sleep(1)
        stage.raises = False
        stage.end(2)
        await asyncio.sleep(1)
        # Not even the other jobs of its host.
        assert stage.story[2:] == ["ended 2.0"]
        (report,) = said
        assert "ShadowExited of a shadow host failed" in report

    said: list[str] = []
    monkeypatch.setattr(tasks, "report", said.append)
    play(tmp_path, scenario)


def test_a_host_that_cannot_be_forked_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(stage: Stage) -> None:
        zygote = stage.runtime.processes.zygote
        fork, left = zygote.fork, [3]

        async def refuse(*words: object, **named: object) -> object:
            if left[0] > 0:
                left[0] -= 1
                raise KettleError("no zygote")
            return await fork(*words, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(zygote, "fork", refuse)
        stage.start(1)
        await asyncio.sleep(10)
        assert stage.story == ["start 1.0"]

    play(tmp_path, scenario)


def test_the_shadow_of_a_running_job_is_told_what_its_user_changes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        stage.start(2)
        stage.hosts.tell_edits(
            [
                (queue_log.SET_ATTRIBUTE, "1.0", "PeriodicHold", "true"),
                (queue_log.DELETE_ATTRIBUTE, "1.0", "Own", ""),
                (queue_log.SET_ATTRIBUTE, "02.-1", "JobPrio", "5"),
                (queue_log.SET_ATTRIBUTE, "3.0", "NotRunning", "1"),
                (queue_log.DESTROY_AD, "2.0", "", ""),
            ]
        )
        await asyncio.sleep(1)
        assert stage.story[2:] == ["PeriodicHold=true Own=undefined 1.0", "JobPrio=5 2.0"]

    play(tmp_path, scenario)


def test_an_update_that_wants_an_answer_gets_it_when_it_is_on_disk(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        await asyncio.sleep(1)
        stage.streams[0].post(UpdateJob(1, 0, {"A": "1"}))
        stage.streams[0].post(UpdateJob(1, 0, {"A": "2"}, answered=True))
        await asyncio.sleep(1)
        [answer] = stage.waiting
        assert stage.story == ["start 1.0"]
        answer()
        await asyncio.sleep(1)
        assert stage.story == ["start 1.0", "kept 1.0"]

    play(tmp_path, scenario)


def test_a_host_is_believed_of_the_jobs_that_it_was_given_alone(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1, user="mallory@here")
        await asyncio.sleep(1)
        stage.start(2, user="alice@here")
        await asyncio.sleep(1)
        mallorys = stage.streams[0]
        mallorys.post(UpdateJob(2, 0, {"ExitCode": "0", SHADOW_EVENTS: '"/l|1"'}))
        mallorys.post(TransferRecord(2, 0, "INPUT", ClassAd()))
        mallorys.post(ShadowExited(2, 0, 100, attributes={"ExitCode": "0"}))
        mallorys.post(UpdateJob(1, 0, {"ExitCode": "3"}))
        await asyncio.sleep(1)
        assert stage.updates == [(1, {"ExitCode": "3"})]
        assert stage.recorded == []
        assert stage.hosts.running == 2
        assert "ended 2.0" not in stage.story
        mallorys.post(TransferRecord(1, 0, "INPUT", ClassAd()))
        await asyncio.sleep(1)
        assert stage.recorded == [1]

    play(tmp_path, scenario)


def test_a_host_reports_what_belongs_to_a_run_and_nothing_of_the_owners(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start(1)
        await asyncio.sleep(1)
        words = {
            "Cmd": '"/home/mallory/x"', "JobUniverse": "7", "Owner": '"alice"', "Iwd": '"/etc"',
            "NotifyUser": '"-x"', "bad name": "1", "MyProgress": "5", "JobStatus": "2",
        }  # fmt: skip
        stage.streams[0].post(UpdateJob(1, 0, words))
        await asyncio.sleep(1)
        assert stage.updates == [(1, {"MyProgress": "5", "JobStatus": "2"})]
        # The scheduler looks at the value.
        stage.streams[0].post(UpdateJob(1, 0, {"StartdIpAddr": '"<1.2.3.4:5>"'}))
        await asyncio.sleep(1)
        assert stage.updates.pop() == (1, {"StartdIpAddr": '"<1.2.3.4:5>"'})
        # Of a job that has ended it says only which events it has yet to write.
        stage.end(1)
        late = {"ExitCode": "0", SHADOW_EVENTS: "undefined"}
        stage.streams[0].post(UpdateJob(1, 0, late))
        await asyncio.sleep(1)
        assert stage.updates[1:] == [(1, {SHADOW_EVENTS: "undefined"})]

    play(tmp_path, scenario)


def test_the_events_that_a_host_leaves_are_taken_over_with_its_jobs(tmp_path: Path) -> None:
    """A running job's by its new shadow, which has them in its ad; the schedd has the others."""

    async def scenario(stage: Stage) -> None:
        for number in (1, 2, 3):
            stage.start(number)
        await asyncio.sleep(1)
        line = stage.streams[0]
        for number in (1, 2, 3):
            line.post(UpdateJob(number, 0, {SHADOW_EVENTS: '"/l|1"'}))
        line.post(ShadowExited(2, 0, 100))
        line.post(ShadowExited(3, 0, 100))
        line.post(UpdateJob(3, 0, {SHADOW_EVENTS: "undefined"}))
        await asyncio.sleep(1)
        stage.processes.started[0].signal(9)
        await asyncio.sleep(1)
        assert "events of 2.0" in stage.story
        assert "events of 1.0" not in stage.story
        assert "events of 3.0" not in stage.story

    play(tmp_path, scenario)
