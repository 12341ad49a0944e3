"""The scheduler: what follows from matches, grants, exits, actions, policy and restarts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kettle.attributes.codes import HoldReasonCode, JobStatus, ShadowExit
from kettle.classad import ClassAd
from kettle.errors import StorageError
from kettle.matchmaking.autoclusters import AutoClusters
from kettle.policy.lease import lease_of_run
from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.schedd.claims import Phase
from kettle.schedd.idle_jobs import IdleJobs
from kettle.schedd.queue import actions
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue, TakenError
from kettle.schedd.queue.jobs import Job
from kettle.schedd.recovery import Recovery
from kettle.schedd.start_pause import AGAIN_SECONDS
from kettle.wire.messages.claims import RequestClaimReply
from unit.schedd.queue_fixture import ALICE, BOB, ROOT, MemoryJournal, plan_action
from unit.schedd.scheduler_fixture import World, restart


def act(world: World, action: int, ids: str, actor: object = ALICE, **more: object) -> ClassAd:
    request = actions.parse(
        ClassAd({"JobAction": action, "ActionResultType": 1, "ActionIds": ids, **more})
    )
    survey, plan = plan_action(world.queue, request, actor, world.now)  # type: ignore[arg-type]
    if survey.succeeded:
        world.queue.commit(plan.transaction)
        world.scheduler.orders.on_action(plan)
    return survey.answer


def status_of(job: Job) -> JobStatus:
    return next(each for each in JobStatus if each == job.ad.integer("JobStatus"))


def test_a_match_is_requested_granted_and_started() -> None:
    world = World()
    (job,) = world.submit()
    claim = world.match(job)
    assert world.hands.take() == [("request", "<c>#1#1#key", "1.0")]
    assert not world.idle.is_waiting(job.id)
    world.grant(claim)
    assert world.hands.take() == [("start", "<c>#1#1#key", "1.0")]
    assert status_of(job) is JobStatus.RUNNING
    assert job.ad.string("RemoteHost") == "slot1@vm"
    assert job.ad.string("PublicClaimId") == "<c>#1#1#..."
    assert claim.phase is Phase.RUNNING


def test_a_slot_and_a_starter_cannot_write_records_of_other_jobs() -> None:
    world = World()
    first, second = world.submit(2)
    evil = f'"x\n103 {second.id} Owner \\"root\\""'
    claim = world.match(first)
    claim.slot.insert_text("RemotePool", evil)
    world.grant(claim)
    world.scheduler.on_job_update(first.id, {"AssignedX": evil})
    assert first.ad.text("AssignedX") == evil.replace("\n", " ")
    with pytest.raises(StorageError):
        world.scheduler.on_job_update(first.id, {"Assigned\nX": "1", "ImageSize": "7"})
    assert first.ad.text("ImageSize") is None
    again = JobQueue(MemoryJournal(), uid_domain="vm")
    again.restore(bytes(world.journal.data))
    assert again.jobs[second.id].ad.string("Owner") == second.ad.string("Owner")
    assert "\n" not in (again.jobs[first.id].ad.text("RemotePool") or "\n")


def test_the_start_of_a_job_is_one_transaction() -> None:
    world = World()
    (job,) = world.submit()
    claim = world.match(job)
    before = bytes(world.journal.data)
    world.grant(claim)
    assert bytes(world.journal.data[len(before) :]).count(b"105 \n") == 1


def test_an_end_a_departure_and_the_next_start_are_a_transaction_each() -> None:
    world = World()
    first, _ = world.submit(2)
    world.run(first)
    before = bytes(world.journal.data)
    world.exit(first, ExitCode=0)
    assert bytes(world.journal.data[len(before) :]).count(b"105 \n") == 3
    assert world.hands.take() == [("history", "1.0", "4"), ("start", "<c>#1#1#key", "1.1")]


def test_a_job_that_cannot_be_taken_out_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    (job,) = world.submit()
    cleaned: list[str] = []
    monkeypatch.setattr(world.hands, "clean_up", lambda job: cleaned.append(str(job.id)))
    append = world.journal.append

    def full(data: bytes, *, refusable: bool = False) -> None:
        raise StorageError("no room")

    monkeypatch.setattr(world.journal, "append", full)
    with pytest.raises(StorageError):
        world.scheduler.departures.take_out([job])
    assert cleaned == []
    monkeypatch.setattr(world.journal, "append", append)
    world.scheduler.departures.take_out([job])
    world.scheduler.departures.take_out([job])
    assert cleaned == ["1.0"]


class Full:
    """A journal without room, for as long as it lasts."""

    def __init__(
        self, world: World, monkeypatch: pytest.MonkeyPatch, *, refuses: bool = False
    ) -> None:
        # Whether it takes what has happened, as one on a full disk does.
        self._refuses = refuses
        self._append = world.journal.append
        self.lasts = True
        monkeypatch.setattr(world.journal, "append", self.append)

    def append(self, data: bytes, *, refusable: bool = False) -> None:
        if self.lasts and (refusable or not self._refuses):
            raise StorageError("no room")
        self._append(data)


@pytest.mark.shows("M021", "M024", "M028", "M032")
def test_an_end_that_the_queue_does_not_take_is_taken_later_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    (job,) = world.submit()
    claim = world.run(job)
    full = Full(world, monkeypatch)
    with pytest.raises(StorageError):
        world.exit(job, ExitCode=3, BytesSent=100)
    # The claim is free, the job is not: perhaps it has ended.
    assert world.hands.take() == [("release", claim.id)]
    ended_at = world.now
    seconds = []
    for _ in range(8):
        ((after, again),) = world.hands.again
        world.hands.again.clear()
        seconds.append(after)
        world.now += after
        with pytest.raises(StorageError):
            again()
    assert seconds == [5, 10, 20, 40, 80, 160, 300, 300]
    assert status_of(job) is JobStatus.RUNNING
    full.lasts = False
    ((_, again),) = world.hands.again
    world.hands.again.clear()
    again()
    assert world.hands.take() == [("history", "1.0", "4")]
    assert job.ad.integer("ExitCode") == 3
    assert job.ad.integer("CompletionDate") == ended_at
    assert world.hands.runs == ["1.0"]
    assert world.hands.again == []
    moved = world.scheduler.statistics.counters
    assert moved.value("FileTransferDownloadBytes") == 100.0
    # Whoever is asked once more has nothing to do.
    again()
    assert world.hands.take() == []
    assert world.hands.runs == ["1.0"]


class Odd:
    """An observer that fails behind the next commit."""

    def __init__(self, world: World) -> None:
        self.fails = False
        world.queue.observe(self.look)

    def look(self, changes: Changes) -> None:
        del changes
        if self.fails:
            self.fails = False
            raise ValueError("an odd job")


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (ShadowExit.SHOULD_HOLD, [("mail", "1.0")]),
        (ShadowExit.EXITED, [("history", "1.0", "4")]),
    ],
)
def test_an_end_that_the_queue_took_is_told_once_where_who_follows_it_fails(
    reason: ShadowExit, told: list[tuple[str, ...]]
) -> None:
    world = World()
    odd = Odd(world)
    (job,) = world.submit()
    claim = world.run(job)
    odd.fails = True
    with pytest.raises(TakenError, match="an odd job"):
        world.exit(job, int(reason), BytesSent=100, HoldReasonCode=12)
    for _, again in world.hands.again:
        again()
    assert world.hands.take() == [*told, ("release", claim.id)]
    assert world.hands.runs == ["1.0"]
    assert world.scheduler.statistics.counters.value("FileTransferDownloadBytes") == 100.0
    assert (job.ad.integer("NumHolds") or 0) == (reason == ShadowExit.SHOULD_HOLD)
    assert not world.scheduler.orders.has_run(job)


def test_a_run_that_the_queue_took_begins_where_who_follows_it_fails() -> None:
    world = World()
    odd = Odd(world)
    (job,) = world.submit()
    claim = world.match(job)
    odd.fails = True
    with pytest.raises(TakenError, match="an odd job"):
        world.grant(claim)
    assert status_of(job) is JobStatus.RUNNING
    assert world.hands.take()[-1] == ("start", claim.id, "1.0")
    assert claim.phase is Phase.RUNNING


def test_a_run_that_the_queue_does_not_take_leaves_its_job_and_its_claim_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    (job,) = world.submit()
    claim = world.match(job)
    full = Full(world, monkeypatch, refuses=True)
    world.grant(claim)
    assert world.hands.troubles == ["job 1.0 is not started: no room"]
    full.lasts = False
    assert status_of(job) is JobStatus.IDLE
    assert world.hands.take()[-1] == ("release", claim.id)
    assert not world.scheduler.knows_claim(claim.id)
    assert not world.scheduler.orders.has_run(job)
    assert world.idle.is_waiting(job.id)
    assert job.ad.string("LastRejMatchReason") == "its schedd starts no job: no room"
    # For a while no other is tried, and then matches are asked for.
    offer = ClassAd({"MyAddress": "<10.0.0.2:5>", "Memory": 1024})
    assert not world.scheduler.on_match(job.submitter, "<d>#1#1#key", offer)
    ((seconds, again),) = world.hands.again
    assert seconds == AGAIN_SECONDS
    pause = world.scheduler.pause
    pause.note_rejected(job, "no match found", 5)
    assert job.ad.string("LastRejMatchReason") == "its schedd starts no job: no room"
    asked = world.hands.wanted
    again()
    assert world.hands.wanted == asked + 1
    # What keeps a job once there may be room is told.
    pause.note_rejected(job, "no match found", 6)
    assert job.ad.string("LastRejMatchReason") == "no match found"
    world.run(job)
    assert status_of(job) is JobStatus.RUNNING


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("PeriodicHold", "012"),
        ("PeriodicRelease", "013"),
        ("PeriodicRemove", "009"),
    ],
)
def test_what_policy_wants_is_told_once_where_who_follows_the_commit_fails(
    policy: str, told: str
) -> None:
    world = World()
    odd = Odd(world)
    held = {"JobStatus": "5"} if policy == "PeriodicRelease" else {}
    (job,) = world.submit()
    world.queue.update(job.id, {policy: "true", **held})
    odd.fails = True
    with pytest.raises(TakenError, match="an odd job"):
        world.scheduler.policy.apply([job])
    assert [done[0] for done in world.hands.take() if done[0] in {"009", "012", "013"}] == [told]


def test_a_job_that_fails_keeps_no_other_from_what_an_action_wants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The jobs behind it in its slice were held in the queue, and ran on."""
    world = World()
    jobs = world.submit(3)
    orders = world.scheduler.orders
    whole = orders._held

    def fail(job: Job, reason: str, code: int, subcode: int) -> None:
        if job is not jobs[2]:
            raise ValueError("an odd job")
        whole(job, reason, code, subcode)

    monkeypatch.setattr(orders, "_held", fail)
    request = actions.parse(ClassAd({"JobAction": 1, "ActionIds": "1"}))
    _, plan = plan_action(world.queue, request, ALICE, world.now)
    world.queue.commit(plan.transaction)
    with pytest.raises(ValueError, match="an odd job") as caught:
        orders.on_action(plan)
    assert "an odd job" in caught.value.__notes__[0]
    assert [done[:2] for done in world.hands.take()] == [("012", "1.2")]


def test_an_observer_that_fails_keeps_no_other_from_being_told() -> None:
    world = World()
    odd = Odd(world)
    seen: list[Changes] = []
    world.queue.observe(seen.append)
    (job,) = world.submit()
    odd.fails = True
    with pytest.raises(TakenError, match="an odd job"):
        world.queue.update(job.id, {"JobPrio": "7"})
    assert job.id in seen[-1].changed


def test_a_job_whose_end_is_not_taken_yet_is_started_by_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    full = Full(world, monkeypatch)
    with pytest.raises(StorageError):
        world.exit(job, int(ShadowExit.SHOULD_REQUEUE), reusable=False)
    full.lasts = False
    world.hands.take()
    act(world, 1, "1.0")
    act(world, 2, "1.0")
    assert status_of(job) is JobStatus.IDLE
    assert not world.idle.is_waiting(job.id)
    ((_, again),) = world.hands.again
    again()
    assert world.idle.is_waiting(job.id)


@pytest.mark.parametrize("before", [True, False])
def test_a_hold_that_no_shadow_can_tell_of_is_told_when_the_end_is_taken(
    before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    if before:
        # Its shadow hears of that, and tells the log before it ends.
        act(world, 1, "1.0")
    full = Full(world, monkeypatch)
    with pytest.raises(StorageError):
        world.exit(job, int(ShadowExit.SHOULD_REQUEUE), reusable=False)
    full.lasts = False
    if not before:
        act(world, 1, "1.0")
    world.hands.take()
    ((_, again),) = world.hands.again
    again()
    assert status_of(job) is JobStatus.HELD
    told = [done[:2] for done in world.hands.take() if done[0] == "012"]
    assert told == ([] if before else [("012", "1.0")])


def test_a_job_that_had_ended_before_it_was_removed_leaves_when_its_end_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    full = Full(world, monkeypatch)
    with pytest.raises(StorageError):
        world.exit(job, ExitCode=0)
    full.lasts = False
    world.hands.take()
    act(world, 3, "1.0")
    world.scheduler.policy.see_out([job])
    assert not [done for done in world.hands.take() if done[0] in {"009", "history"}]
    ((_, again),) = world.hands.again
    again()
    # Its log has the end of a run: it is told of none a second time.
    assert not [done for done in world.hands.take() if done[0] == "009"]
    assert job.id not in world.queue.jobs


def test_a_refused_claim_lets_its_job_wait_again() -> None:
    world = World()
    (job,) = world.submit()
    claim = world.match(job)
    world.scheduler.on_claim_reply(claim, RequestClaimReply(False, [], None))
    assert world.idle.is_waiting(job.id)
    assert not world.scheduler.knows_claim(claim.id)
    assert world.hands.forgotten == [claim.id]


def test_a_claim_is_not_handed_to_another_user_of_the_same_accounting_group() -> None:
    world = World()
    (first,) = world.submit(AccountingGroup='"g.shared"')
    (other,) = world.submit(actor=BOB, AccountingGroup='"g.shared"')
    assert first.submitter == other.submitter
    claim = world.run(first)
    world.exit(first)
    assert world.hands.take() == [("history", "1.0", "4"), ("release", claim.id)]
    assert world.idle.is_waiting(other.id)


def test_a_claim_without_a_job_is_released() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    world.exit(job)
    assert world.hands.take() == [("history", "1.0", "4"), ("release", "<c>#1#1#key")]
    assert len(world.scheduler.claims) == 0
    assert not world.queue.jobs
    assert not world.queue.clusters


def test_leftovers_are_claimed_at_once_for_the_next_jobs() -> None:
    world = World()
    first, _, _ = world.submit(3, Requirements="TARGET.Memory >= 100")
    claim = world.match(first)
    rest = ClassAd({"Name": "slot1@vm", "Memory": 500, "Requirements": True})
    world.grant(claim, ("<c>#1#2#key", rest))
    assert [each for each in world.hands.take() if each[0] == "request"] == [
        ("request", "<c>#1#1#key", "1.0"),
        ("request", "<c>#1#2#key", "1.1"),
    ]
    too_small = ClassAd({"Name": "slot1@vm", "Memory": 50, "Requirements": True})
    world.grant(world.hands.requested[-1], ("<c>#1#3#key", too_small))
    assert [each for each in world.hands.take() if each[0] == "request"] == []


def test_slots_that_nobody_asked_for_are_given_back() -> None:
    world = World()
    first, second, third = world.submit(3)
    claim = world.match(first)
    slots = [(f"<c>#1#{each}#key", claim.slot.copy()) for each in (1, 2, 3, 1)]
    world.hands.take()
    world.scheduler.on_claim_reply(claim, RequestClaimReply(True, slots, None))
    assert world.hands.take() == [
        ("release", "<c>#1#2#key"),
        ("release", "<c>#1#3#key"),
        ("start", "<c>#1#1#key", "1.0"),
    ]
    assert world.scheduler.running == 1
    assert status_of(second) is status_of(third) is JobStatus.IDLE
    assert len(world.scheduler.claims) == 1


def test_a_job_held_while_its_claim_is_requested_gives_the_claim_to_the_next() -> None:
    world = World()
    first, second = world.submit(2)
    claim = world.match(first)
    act(world, 1, "1.0")
    world.hands.take()
    world.grant(claim)
    assert world.hands.take() == [("start", claim.id, "1.1")]
    assert status_of(first) is JobStatus.HELD
    assert status_of(second) is JobStatus.RUNNING
    assert second.ad.integer("AutoClusterId") == second.autocluster


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        (ShadowExit.SHOULD_REQUEUE, JobStatus.IDLE),
        (ShadowExit.NOT_STARTED, JobStatus.IDLE),
        (ShadowExit.EXCEPTION, JobStatus.IDLE),
        (ShadowExit.SHOULD_HOLD, JobStatus.HELD),
        (ShadowExit.MISSED_DEFERRAL, JobStatus.HELD),
    ],
)
def test_an_exit_reason_decides_the_next_status(reason: ShadowExit, status: JobStatus) -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    world.exit(job, int(reason), reusable=False, HoldReason="because", HoldReasonCode=13)
    assert status_of(job) is status
    assert "ClaimId" not in job.ad
    assert job.ad.string("LastRemoteHost") == "slot1@vm"


def test_a_claim_that_its_shadow_cannot_use_is_given_back() -> None:
    world = World()
    (job, _) = world.submit(2)
    claim = world.run(job)
    world.exit(job, int(ShadowExit.NOT_STARTED), reusable=False)
    assert world.hands.take() == [("release", claim.id)]
    assert status_of(job) is JobStatus.IDLE
    assert claim.id not in world.scheduler.claims.by_id


def test_a_completed_job_is_recorded_once_and_complete() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    world.now += 7
    world.exit(job, ExitCode=3, ExitBySignal=False)
    (lines,) = world.hands.recorded
    for line in ("JobStatus = 4", "ExitCode = 3", f"CompletionDate = {world.now}"):
        assert line in lines
    assert "RemoteWallClockTime = 7.000000" in lines
    assert not any("ClaimId" in line and "Public" not in line for line in lines)


def test_what_a_last_report_says_of_the_run_alone_goes_with_the_run() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    world.exit(job, ExitCode=0, TransferringInput=False, NumJobStarts=1)
    (lines,) = world.hands.recorded
    assert "NumJobStarts = 1" in lines
    assert not any("TransferringInput" in line for line in lines)


def test_a_job_that_stays_in_the_queue_leaves_when_its_owner_says_so() -> None:
    world = World()
    (job,) = world.submit(LeaveJobInQueue="JobStatus == 4 && Fetched =!= true")
    world.run(job)
    world.exit(job)
    assert status_of(job) is JobStatus.COMPLETED
    world.queue.update(job.id, {"Fetched": "true"})
    world.scheduler.policy.see_out([job])
    assert ("history", "1.0", "4") in world.hands.take()
    assert not world.queue.jobs


@pytest.mark.parametrize("runs", [False, True])
def test_the_log_of_a_removed_job_that_stays_in_the_queue_has_its_end_at_once_and_once(
    *, runs: bool
) -> None:
    world = World()
    (job,) = world.submit(LeaveJobInQueue="Fetched =!= true")
    if runs:
        world.run(job)
    act(world, 3, "1.0", RemoveReason="via condor_rm")
    if runs:
        assert ("009", "1.0") not in world.hands.take()
        world.exit(job, int(ShadowExit.KILLED))
    assert world.hands.take().count(("009", "1.0")) == 1
    assert job.ad.integer("JobAbortEventLogged") == 1
    world.scheduler.policy.see_out([job])
    assert world.queue.jobs
    assert world.hands.take() == []
    world.queue.update(job.id, {"Fetched": "true"})
    world.scheduler.policy.see_out([job])
    assert world.hands.take() == [("history", "1.0", "3")]
    assert not world.queue.jobs


def test_removing_a_running_job_waits_for_its_shadow() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 3, "1.0", RemoveReason="via condor_rm")
    assert world.hands.take() == [("signal", "Remove", "1.0", "1023")]
    assert status_of(job) is JobStatus.REMOVED
    world.exit(job, int(ShadowExit.KILLED))
    assert world.hands.take() == [
        ("009", "1.0"),
        ("history", "1.0", "3"),
        ("release", "<c>#1#1#key"),
    ]
    assert job.ad.string("RemoveReason") == "via condor_rm (by user alice)"


def test_removing_an_idle_job_is_done_at_once() -> None:
    world = World()
    world.submit(2)
    answer = act(world, 3, "1")
    assert answer.integer("job_1_0") == 1
    assert world.hands.take() == [
        ("009", "1.0"), ("history", "1.0", "3"), ("009", "1.1"), ("history", "1.1", "3"),
    ]  # fmt: skip
    assert not world.queue.jobs
    assert not world.queue.clusters


def test_holding_a_running_job_is_its_shadows_to_log() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 1, "1.0", HoldReason="x", HoldReasonSubCode=7)
    assert world.hands.take() == [("signal", "Hold", "1.0", "1")]
    world.exit(job, int(ShadowExit.SHOULD_HOLD), reusable=False)
    assert status_of(job) is JobStatus.HELD
    assert job.ad.integer("HoldReasonSubCode") == 7
    assert job.ad.integer("NumHolds") == 1


def test_every_run_that_ended_early_is_counted_in_the_job() -> None:
    world = World()
    (job,) = world.submit()
    for number, code in enumerate((1022, 1010, 1022)):
        world.run(job, f"<c>#1#{number}#key")
        world.exit(job, int(ShadowExit.SHOULD_REQUEUE), reusable=False, VacateReasonCode=code)
    assert job.ad.integer("NumVacates") == 3
    assert job.ad.text("NumVacatesByReason") == "[ ScheddVacate = 2; StartdVacateCommand = 1 ]"
    assert job.ad.integer("LastVacateTime") is not None


def test_a_hold_that_came_after_the_last_event_changes_nothing() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 1, "1.0", HoldReason="x")
    world.hands.take()
    world.exit(job, int(ShadowExit.EXITED), ExitCode=3)
    assert ("history", "1.0", "4") in world.hands.take()
    assert not world.queue.jobs


def test_a_removal_that_came_after_the_last_event_adds_none() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 3, "1.0")
    world.hands.take()
    world.exit(job, int(ShadowExit.EXITED), ExitCode=3)
    done = world.hands.take()
    assert ("history", "1.0", "3") in done
    assert ("009", "1.0") not in done


def test_a_job_that_a_claim_took_up_next_gets_no_second_one_when_it_is_released() -> None:
    world = World()
    first, second = world.submit(2)
    world.run(first)
    world.exit(first)
    assert world.hands.take()[-1] == ("start", "<c>#1#1#key", "1.1")
    act(world, 1, "1.1", HoldReason="x")
    act(world, 2, "1.1")
    assert status_of(second) is JobStatus.IDLE
    assert not world.idle.is_waiting(second.id)
    world.exit(second, int(ShadowExit.SHOULD_REQUEUE), reusable=False)
    assert world.idle.is_waiting(second.id)


def test_a_job_that_is_released_while_it_leaves_its_machine_waits_for_the_end_of_its_run() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 1, "1.0", HoldReason="x")
    act(world, 2, "1.0")
    assert status_of(job) is JobStatus.IDLE
    assert not world.idle.is_waiting(job.id)
    world.exit(job, int(ShadowExit.SHOULD_HOLD), reusable=False)
    assert status_of(job) is JobStatus.IDLE
    assert world.idle.is_waiting(job.id)


def test_a_shadow_that_is_carrying_out_a_hold_hears_of_the_release_before_the_log_does() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 1, "1.0", HoldReason="x")
    world.hands.take()
    act(world, 2, "1.0")
    assert world.hands.take()[:2] == [("signal", "Release", "1.0", "0"), ("013", "1.0")]


def test_a_job_that_was_released_too_late_to_be_stopped_has_ended() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 1, "1.0", HoldReason="x")
    act(world, 2, "1.0")
    world.hands.take()
    world.exit(job, int(ShadowExit.EXITED), ExitCode=3)
    assert ("history", "1.0", "4") in world.hands.take()
    assert not world.queue.jobs


def test_hold_release_and_hold_again() -> None:
    world = World()
    (job,) = world.submit()
    assert act(world, 1, "1.0", HoldReason="x").integer("job_1_0") == 1
    assert act(world, 1, "1.0", HoldReason="x").integer("job_1_0") == 4
    assert act(world, 2, "1.0").integer("job_1_0") == 1
    assert job.ad.string("LastHoldReason") == "x (by user alice)"
    assert "HoldReason" not in job.ad
    assert act(world, 2, "1.0").integer("job_1_0") == 3
    assert [each[0] for each in world.hands.take()] == ["012", "013"]


def test_a_release_takes_away_a_hold_reason_that_the_whole_cluster_had() -> None:
    world = World()
    (job,) = world.submit(HoldReason='"submitted on hold"', HoldReasonCode="15")
    world.queue.update(job.id, {"JobStatus": "5"})
    act(world, 2, "1.0")
    assert job.ad.string("HoldReason") is None
    assert job.ad.integer("LastHoldReasonCode") == 15


def test_strangers_are_refused_and_super_users_are_not() -> None:
    world = World()
    world.submit()
    answer = act(world, 1, "1.0", BOB)
    assert (answer.integer("job_1_0"), answer.integer("ActionResult")) == (5, 0)
    assert act(world, 1, "1.0", ROOT).integer("job_1_0") == 1
    assert act(world, 3, "7.0 9", ALICE).integer("job_7_0") == 2


def test_vacate_suspend_and_continue_are_for_running_jobs() -> None:
    world = World()
    job, _ = world.submit(2)
    world.run(job)
    assert act(world, 5, "1.1").integer("job_1_1") == 3
    for action, signal in ((5, "Vacate"), (6, "VacateFast"), (8, "Suspend")):
        act(world, action, "1.0")
        assert world.hands.take()[-1][1] == signal
    assert act(world, 9, "1.0").integer("job_1_0") == 3
    world.scheduler.on_job_update(job.id, {"JobStatus": "7"})
    assert status_of(job) is JobStatus.SUSPENDED
    assert act(world, 9, "1.0").integer("job_1_0") == 1
    world.now += 5
    world.scheduler.on_job_update(job.id, {"JobStatus": "2"})
    assert job.ad.integer("CumulativeSuspensionTime") == 5


def test_a_removed_job_can_be_forgotten_by_force() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    assert act(world, 4, "1.0").integer("job_1_0") == 3
    act(world, 3, "1.0")
    world.hands.take()
    assert act(world, 4, "1.0").integer("job_1_0") == 1
    assert ("history", "1.0", "3") in world.hands.take()
    assert not world.queue.jobs
    # Its shadow's last words are about nobody.
    world.exit(job, int(ShadowExit.KILLED))
    assert len(world.scheduler.claims) == 0


def test_a_status_report_of_a_held_job_changes_nothing() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 1, "1.0")
    world.scheduler.on_job_update(job.id, {"JobStatus": "7", "ImageSize": "5"})
    assert status_of(job) is JobStatus.HELD
    assert job.ad.integer("ImageSize") == 5


def test_periodic_policy_holds_and_removes_idle_jobs() -> None:
    world = World()
    (held,) = world.submit(PeriodicHold="true")
    (gone,) = world.submit(PeriodicRemove="true")
    world.scheduler.policy.apply(list(world.queue.jobs.values()))
    assert status_of(held) is JobStatus.HELD
    assert held.ad.integer("HoldReasonCode") == HoldReasonCode.JobPolicy
    assert gone.id not in world.queue.jobs


def test_a_restart_within_the_lease_reconnects_and_starts_nothing_twice() -> None:
    world = World()
    (job,) = world.submit(JobLeaseDuration="2400")
    world.run(job)
    world.now += 60
    again = restart(world)
    assert again.hands.take() == [("reconnect", "<c>#1#1#key", "1.0")]
    found = again.queue.jobs[JobId(1, 0)]
    assert found.ad.integer("NumShadowStarts") == 2
    assert found.ad.integer("JobRunCount") == 1
    again.exit(found, ExitCode=0)
    assert ("history", "1.0", "4") in again.hands.take()


def test_a_restart_after_the_lease_asks_the_execution_point_too() -> None:
    """The clock may have been set, and the starter may have been heard after what was recorded."""
    world = World()
    (job,) = world.submit(JobLeaseDuration="20")
    world.run(job)
    world.now += 7200
    again = restart(world)
    assert again.hands.take() == [("reconnect", "<c>#1#1#key", "1.0")]
    assert not again.idle.is_waiting(JobId(1, 0))


@pytest.mark.parametrize(
    ("actions", "signal", "code"),
    [((3,), "Remove", "1023"), ((1,), "Hold", "1"), ((1, 2), "VacateFast", "1022")],
)
def test_a_restart_looks_for_a_run_that_was_on_its_way_out(
    actions: tuple[int, ...], signal: str, code: str
) -> None:
    """It may be alive: nothing else is done with the job before its end is known."""
    world = World()
    (job,) = world.submit(JobLeaseDuration="2400")
    world.run(job)
    for action in actions:
        act(world, action, "1.0")
    again = restart(world)
    (_, name, where, number), *others = reversed(again.hands.take())
    assert others == [("reconnect", "<c>#1#1#key", "1.0")]
    assert (name, where, number) == (signal, "1.0", code)
    found = again.queue.jobs[JobId(1, 0)]
    assert not again.idle.is_waiting(found.id)
    again.exit(found, int(ShadowExit.KILLED), reusable=False)
    assert again.idle.is_waiting(found.id) == (signal == "VacateFast")
    assert (found.id in again.queue.jobs) == (signal != "Remove")


@pytest.mark.parametrize("lease", [None, "0", "-4", "undefined", '"long"', "error"])
def test_a_restart_looks_for_a_run_without_a_lease_too(lease: str | None) -> None:
    """Its starter may not have noticed yet that its shadow is gone."""
    world = World()
    (job,) = world.submit(**({} if lease is None else {"JobLeaseDuration": lease}))
    world.run(job)
    world.now += 7200
    again = restart(world)
    assert again.hands.take() == [("reconnect", "<c>#1#1#key", "1.0")]
    assert not again.idle.is_waiting(JobId(1, 0))


def test_the_lease_of_a_run_is_noted_as_it_begins_and_goes_with_it() -> None:
    """It is what the starter is told: a number, whatever becomes of the job's own attribute."""
    world = World()
    (job,) = world.submit(JobLeaseDuration="RemoteHost is undefined ? 600 : 20")
    world.run(job)
    assert job.ad.integer("JobLeaseDuration") == 20
    world.queue.update(job.id, {"JobLeaseDuration": None})
    assert lease_of_run(job.ad) == 600
    world.exit(job, int(ShadowExit.SHOULD_REQUEUE), reusable=False)
    assert lease_of_run(job.ad) is None
    world.queue.update(job.id, {"JobLeaseDuration": "30"})
    assert lease_of_run(job.ad) == 30


def test_a_restart_finishes_what_was_on_its_way_out_and_whose_machine_nobody_knows() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 3, "1.0")
    world.queue.update(job.id, {"StartdIpAddr": None})
    again = restart(world)
    assert again.hands.take() == [("009", "1.0"), ("history", "1.0", "3")]
    assert not again.queue.jobs


def test_a_job_that_a_crash_found_in_the_history_is_not_recorded_again() -> None:
    world = World()
    (job,) = world.submit()
    world.queue.update(job.id, {"JobStatus": "4"})
    again = restart(world, known="1.0")
    assert again.hands.take() == []
    assert not again.queue.jobs


def test_a_removal_that_a_crash_found_in_the_log_is_not_told_again() -> None:
    world = World()
    (job,) = world.submit()
    world.queue.update(job.id, {"JobStatus": "3"})
    again = restart(world, told="1.0")
    assert again.hands.take() == [("history", "1.0", "3")]
    assert not again.queue.jobs


def test_a_lost_host_is_followed_by_one_that_takes_over() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 1, "1.0")
    world.hands.take()
    world.scheduler.on_host_lost([job.id])
    assert world.hands.take() == [
        ("reconnect", "<c>#1#1#key", "1.0"), ("signal", "Hold", "1.0", "1"),
    ]  # fmt: skip


def stumble_over(world: World, odd: JobId) -> None:
    """Have somebody fail who follows the queue, whenever it is about one job."""

    def fail(changes: Changes) -> None:
        if odd in changes.changed:
            raise ValueError("an odd job")

    world.queue.observe(fail)


def test_one_odd_job_of_a_lost_host_keeps_no_other_from_being_taken_over() -> None:
    world = World()
    jobs = world.submit(4)
    for number, job in enumerate(jobs):
        world.run(job, f"<c>#1#{number}#key")
    stumble_over(world, jobs[1].id)
    with pytest.raises(TakenError, match="an odd job"):
        world.scheduler.on_host_lost([job.id for job in jobs])
    # The odd one, too: the queue has that it has a new shadow.
    assert world.hands.take() == [
        ("reconnect", f"<c>#1#{number}#key", f"1.{number}") for number in range(4)
    ]


def test_one_odd_job_keeps_a_new_schedd_from_taking_up_no_other() -> None:
    world = World()
    jobs = world.submit(4)
    for number, job in enumerate(jobs[:3]):
        world.run(job, f"<c>#1#{number}#key")
    world.queue.update(jobs[3].id, {"JobStatus": "4"})
    again = World()
    again.queue = world.replayed()
    again.idle = IdleJobs(again.queue, AutoClusters())
    again.scheduler = again.make_scheduler(again.queue, again.idle)
    stumble_over(again, jobs[0].id)
    with pytest.raises(TakenError, match="an odd job"):
        Recovery(again.scheduler).recover()
    assert again.hands.take() == [
        *(("reconnect", f"<c>#1#{number}#key", f"1.{number}") for number in range(3)),
        ("history", "1.3", "4"),
    ]


def test_a_claim_that_the_startd_gives_up_is_not_used_again() -> None:
    world = World()
    first, _ = world.submit(2)
    claim = world.run(first)
    world.scheduler.on_released_by_startd(claim.id)
    world.exit(first, int(ShadowExit.SHOULD_REQUEUE))
    assert world.hands.take() == []
    assert status_of(first) is JobStatus.IDLE
    assert len(world.scheduler.claims) == 0


def test_a_finished_job_that_the_history_cannot_take_stays_and_is_tried_again() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    world.hands.full = True
    world.exit(job, ExitCode=0)
    assert world.queue.jobs.get(job.id) is job
    assert status_of(job) is JobStatus.COMPLETED
    world.hands.full = False
    world.scheduler.policy.see_out([job])
    assert world.queue.jobs.get(job.id) is None
    assert ("history", "1.0", "4") in world.hands.take()


def test_a_job_beside_the_schedd_that_is_edited_to_be_over_stays_until_its_process_ends() -> None:
    world = World()
    (job,) = world.submit(JobUniverse="12")
    world.hands.beside = {"1.0"}
    world.queue.update(job.id, {"JobStatus": "4"})
    world.scheduler.policy.see_out([job])
    world.scheduler.on_events_written(job)
    assert world.queue.jobs.get(job.id) is job
    world.hands.beside = set()
    world.scheduler.policy.see_out([job])
    assert world.queue.jobs.get(job.id) is None


WAITING = '"/home/alice/j.log|005 (001.000.000) Job terminated."'


def test_a_job_whose_log_has_no_room_for_its_end_leaves_when_it_is_written() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    report = {"ExitCode": "0", SHADOW_EVENTS: WAITING}
    world.scheduler.on_shadow_exited(job.id, 100, report, reusable=True)
    world.scheduler.policy.apply([job])
    assert status_of(job) is JobStatus.COMPLETED
    assert ("history", "1.0", "4") not in world.hands.take()
    world.scheduler.on_job_update(job.id, {SHADOW_EVENTS: "undefined"})
    assert ("history", "1.0", "4") in world.hands.take()
    assert not world.queue.jobs


def test_a_removed_job_leaves_no_sooner_than_its_log_has_room_to_say_so() -> None:
    world = World()
    (job,) = world.submit()

    def have_no_room(jobs: Sequence[Job]) -> None:
        for each in jobs:
            world.queue.update(each.id, {SCHEDD_EVENTS: WAITING})
        world.hands.done += [("009", str(each.id)) for each in jobs]

    world.hands.aborted = have_no_room  # type: ignore[method-assign]
    act(world, 3, "1.0")
    world.scheduler.policy.apply([job])
    assert world.hands.take() == [("009", "1.0")]
    world.queue.update(job.id, {SCHEDD_EVENTS: None})
    world.scheduler.on_events_written(job)
    assert world.hands.take() == [("history", "1.0", "3")]
    assert not world.queue.jobs


def test_a_removal_while_the_end_waits_for_room_adds_no_other_end() -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    world.scheduler.on_shadow_exited(job.id, 100, {SHADOW_EVENTS: WAITING}, reusable=True)
    act(world, 3, "1.0")
    world.hands.take()
    world.scheduler.on_job_update(job.id, {SHADOW_EVENTS: "undefined"})
    assert world.hands.take() == [("history", "1.0", "3")]


def test_events_that_wait_are_taken_over_by_who_comes_after_the_dead() -> None:
    """Those of a run by its new shadow, and all others by the schedd."""
    world = World()
    running, ended = world.submit(2)
    world.run(running)
    for job in (running, ended):
        world.queue.update(job.id, {SHADOW_EVENTS: WAITING, "JobLeaseDuration": "2400"})
    world.scheduler.on_events_left([ended.id, JobId(99, 0)])
    assert world.hands.take() == [("recall", str(ended.id))]
    again = restart(world)
    done = again.hands.take()
    assert ("recall", str(ended.id)) in done
    assert ("recall", str(running.id)) not in done
    world.queue.update(running.id, {SCHEDD_EVENTS: WAITING})
    assert ("recall", str(running.id)) in restart(world).hands.take()


def test_sizes_that_a_run_reports_are_kept_coarse_and_exact_and_at_their_peak() -> None:
    world = World()
    world.scheduler.rounded = {"imagesize": 25, "residentsetsize": 25}
    (job,) = world.submit(ImageSize="45", ImageSize_RAW="43")
    world.run(job)
    world.scheduler.on_job_update(job.id, {"ImageSize": "44", "ResidentSetSize": "1608"})
    assert (job.ad.integer("ImageSize"), job.ad.integer("ImageSize_RAW")) == (45, 43)
    assert (job.ad.integer("ResidentSetSize"), job.ad.integer("ResidentSetSize_RAW")) == (
        1750,
        1608,
    )
    code = int(ShadowExit.SHOULD_REQUEUE)
    world.exit(job, code, reusable=False, ImageSize=2600, ResidentSetSize=1607)
    assert (job.ad.integer("ImageSize"), job.ad.integer("ImageSize_RAW")) == (2750, 2600)
    assert job.ad.integer("ResidentSetSize_RAW") == 1608


def test_a_job_that_left_its_machine_has_no_host_whatever_became_of_it() -> None:
    world = World()
    for number, reason in enumerate((ShadowExit.SHOULD_HOLD, ShadowExit.SHOULD_REQUEUE)):
        (job,) = world.submit()
        world.run(job, f"<c>#1#{number}#key")
        assert job.ad.integer("CurrentHosts") == 1
        world.exit(job, int(reason), reusable=False)
        assert job.ad.integer("CurrentHosts") == 0


def test_a_record_says_when_its_job_was_seen_out_and_that_its_log_has_a_removal() -> None:
    world = World()
    first, second = world.submit(2)
    world.run(first)
    world.exit(first)
    act(world, 3, "1.1")
    world.scheduler.departures.let_go(second)
    assert first.ad.integer("JobFinishedHookDone") == second.ad.integer("JobFinishedHookDone")
    assert first.ad.integer("JobFinishedHookDone") is not None
    assert "JobAbortEventLogged" not in first.ad
    assert second.ad.integer("JobAbortEventLogged") == 1


@pytest.mark.parametrize(("stays", "events"), [("false", 0), ("JobStatus == 4", 1)])
def test_a_removal_adds_no_end_to_the_log_of_a_job_that_was_on_its_way_out(
    stays: str, events: int
) -> None:
    """Seed 301337: the batch of those that leave gathered, and a removal came in between."""
    world = World()
    (job,) = world.submit(1, LeaveJobInQueue=stays)
    leaving: list[Job] = []
    world.hands.begin = leaving.append  # type: ignore[method-assign]
    world.run(job)
    world.exit(job)
    assert status_of(job) is JobStatus.COMPLETED
    act(world, 3, "1.0")
    world.hands.take()
    world.scheduler.departures.record([job])
    assert world.hands.take().count(("009", "1.0")) == events
