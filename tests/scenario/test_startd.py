"""An execution point's whole conversation with its submit side, on a virtual clock."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, WireError
from kettle.runtime.sockets.stream import Stream
from kettle.startd.machine import SlotRecord
from kettle.startd.services import execute_folder
from kettle.startd.services.policy import PolicyWatch
from kettle.startd.slot_machine import Phase
from kettle.wire.commands import Command
from kettle.wire.messages import claims
from kettle.wire.messages import starter_control as words
from kettle.wire.security.claim_id import SUBMIT_SIDE, ClaimId, mint_claim_id
from scenario.slots_stage import ExecutionPoint, FakeStarter, job, play

POLLED_SECONDS = 5
UPDATE_SECONDS = 120


@pytest.mark.shows("A010", "A053", "A087")
def test_a_job_is_cut_a_slot_and_the_rest_is_offered_again(tmp_path: Path) -> None:
    # Wire notes, REQUEST_CLAIM
    async def scenario(point: ExecutionPoint) -> None:
        first = point.offered()
        reply = await point.claim(job(RequestCpus=3))
        assert reply.accepted
        [(claim_id, slot)] = reply.claimed
        assert claim_id == first
        assert (slot.string("Name"), slot.integer("Memory")) == ("slot1_1@here", 128)
        assert reply.leftover is not None
        assert reply.leftover[0] == point.offered() != first
        assert reply.leftover[1].integer("Cpus") == 1
        assert point.phase() is Phase.CLAIMED_IDLE
        assert (await point.claim(job())).accepted
        assert not (await point.claim(job())).accepted

    play(tmp_path, scenario)


@pytest.mark.parametrize("text", ["", "STARTD_RECOMPUTE_DISK_FREE = true\n"])
def test_a_machine_that_offers_no_disk_is_looked_at_at_each_poll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    found = execute_folder.FolderFacts(free_kib=0, total_kib=9000)
    monkeypatch.setattr(execute_folder, "measure", lambda _path: found)

    async def scenario(point: ExecutionPoint) -> None:
        nonlocal found

        def offered() -> int | None:
            ad = point.advertised()
            return ad.integer("Disk") if ad is not None else None

        await asyncio.sleep(1)
        assert offered() == 0
        found = found._replace(free_kib=5000)
        await asyncio.sleep(POLLED_SECONDS + 1)
        assert offered() == 5000
        if text:
            found = found._replace(free_kib=0)
            await asyncio.sleep(UPDATE_SECONDS)
            assert offered() == 0
            found = found._replace(free_kib=6000)
            await asyncio.sleep(POLLED_SECONDS + 1)
            assert offered() == 6000

    play(tmp_path, scenario, f"RESERVED_DISK = 0\nUPDATE_INTERVAL = {UPDATE_SECONDS}\n{text}")


@pytest.mark.shows("R078")
def test_a_slot_is_advertised_at_each_interval_and_at_each_change(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        await asyncio.sleep(1)
        said = []
        for _ in range(6):
            ad = point.advertised()
            assert ad is not None
            said.append((ad.integer("MyCurrentTime") or 0, ad.integer("UpdateSequenceNumber") or 0))
            await asyncio.sleep(120)
        # Nothing happens to the slot, and yet each interval brings one ad, of a later time.
        steps = [(time - last, number - n) for (last, n), (time, number) in pairwise(said)]
        assert steps == [(120, 1)] * 5
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(0.9)
        cut = point.advertised("slot1_1")
        assert cut is not None
        assert (cut.string("State"), cut.string("Activity")) == ("Claimed", "Busy")
        starter.finish.set()
        await point.tell(Command.RELEASE_CLAIM, claim_id)
        await asyncio.sleep(0.9)
        assert point.advertised("slot1_1") is None

    play(tmp_path, scenario, "UPDATE_INTERVAL = 120\n", starter)


@pytest.mark.shows("R080")
def test_a_claim_id_that_is_not_the_slots_claims_nothing(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        good = point.offered()
        guess = mint_claim_id(good.partition("#")[0], 1, 1, bytes(range(32))).text
        with pytest.raises(WireError):
            await point.claim(job(), claim_id=guess)
        # Whoever has the session of one claim has no other claim by it.
        assert not (await point.claim(job(), claim_id=guess, session=good)).accepted
        assert point.phase("slot1") is Phase.UNCLAIMED_IDLE
        assert point.phase() is None
        assert (await point.claim(job())).accepted

    play(tmp_path, scenario)


@pytest.mark.shows("A012")
def test_a_released_slot_gives_its_resources_back(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job(RequestCpus=4))).claimed[0][0]
        await point.tell(Command.RELEASE_CLAIM, claim_id)
        assert point.phase() is None
        parent = point.service.machine.find("slot1")
        assert parent is not None
        assert parent.available.amount("Cpus") == 4
        assert point.released == []

    play(tmp_path, scenario)


@pytest.mark.shows("B001", "B071")
def test_a_slot_refuses_what_its_start_does_not_want(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        assert not (await point.claim(job(Owner="bob"))).accepted
        assert (await point.claim(job())).accepted
        assert point.phase("slot1") is Phase.UNCLAIMED_IDLE

    play(tmp_path, scenario, 'START = TARGET.Owner == "alice"\n')


def test_a_slot_that_there_is_not_enough_for_cannot_be_claimed(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        nothing = job(RequestCpus=0, RequestMemory=0, RequestDisk=0)
        assert not (await point.claim(nothing)).accepted
        await asyncio.sleep(UPDATE_SECONDS)
        ad = point.advertised()
        assert ad is not None
        assert ad.integer("SlotBrokenCode") == 1

    text = "SLOT_TYPE_1 = cpus=99\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1_PARTITIONABLE = true\n"
    play(tmp_path, scenario, text)


def test_a_startd_without_slots_says_why(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        await asyncio.sleep(UPDATE_SECONDS)
        entries = point.collector.service.store.entries()
        [ad] = [entry.ad for entry in entries if entry.ad.string("MyType") == "StartD"]
        assert ad.integer("TotalSlots") == 0
        assert ad.string("slot_type1BrokenReason") is not None

    text = "SLOT_TYPE_1 = cpus=99\nNUM_SLOTS_TYPE_1 = 1\nSLOT_CONFIG_FAILURE_MODE = CLEAR\n"
    play(tmp_path, scenario, text)


def test_a_starter_that_stays_runs_the_next_job_of_its_claim_and_of_no_other(
    tmp_path: Path,
) -> None:
    starter = FakeStarter(stays=True)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        starter.finish.set()
        await asyncio.sleep(0.1)
        assert point.phase() is Phase.CLAIMED_IDLE
        assert await point.activate(claim_id, job()) == (1, None)
        assert [one.number for one in starter.activations] == [1, 2]
        assert starter.processes == 1
        await point.tell(Command.RELEASE_CLAIM, claim_id)
        assert not point.startd.processes.children()
        other = (await point.claim(job())).claimed[0][0]
        await point.activate(other, job())
        assert starter.processes == 2
        starter.finish.set()
        # One that waits in vain is let go.
        await asyncio.sleep(5)
        assert not point.startd.processes.children()

    play(tmp_path, scenario, starter=starter)


def test_a_claim_that_is_released_ends_its_job_at_once(tmp_path: Path) -> None:
    # Its schedd may have the job run elsewhere from now on (simulation, seed 30141).
    starter = FakeStarter(stays=True)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await point.tell(Command.RELEASE_CLAIM, claim_id)
        await asyncio.sleep(0)
        assert [type(order) for order in starter.orders] == [words.VacateJob]
        await asyncio.sleep(1)
        assert point.phase() is None

    play(tmp_path, scenario, starter=starter)


def test_a_starter_that_stays_runs_no_job_of_another_owner(tmp_path: Path) -> None:
    # Owners who share an accounting group share claims, but no process.
    starter = FakeStarter(stays=True)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        for owner, processes in (("alice", 1), ("alice", 1), ("bob", 2), ("alice", 3)):
            assert await point.activate(claim_id, job(Owner=owner)) == (1, None)
            assert starter.processes == processes, owner
            starter.finish.set()
            await asyncio.sleep(0.1)

    play(tmp_path, scenario, starter=starter)


def test_what_a_startd_records_of_a_run_has_no_secret_of_its_claim(tmp_path: Path) -> None:
    # The file is open to everybody on the machine.
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        ad = job(ClaimId=claim_id, Environment="TOKEN=sesame", Cmd="/bin/recorded")
        await point.activate(claim_id, ad)
        starter.finish.set()
        await asyncio.sleep(0.1)
        recorded = (tmp_path / "history").read_text()
        assert "/bin/recorded" in recorded
        assert claim_id.rpartition("]")[2] not in recorded
        assert "sesame" not in recorded

    config = f"STARTD_HISTORY = {tmp_path}/history\nHISTORY_CONTAINS_JOB_ENVIRONMENT = false\n"
    play(tmp_path, scenario, config, starter)


def test_a_starter_that_stays_may_ask_for_the_next_job_of_its_claim(tmp_path: Path) -> None:
    # Decision 0009: the startd decides as it does about ACTIVATE_CLAIM.
    starter = FakeStarter(stays=True)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        starter.finish.set()
        await asyncio.sleep(0.1)
        assert not starter.orders
        await starter.ask(job())
        assert [one.number for one in starter.activations] == [1, 2]
        assert starter.activations[1].claim_id == claim_id
        assert point.service.machine.counters.job_starts == 2
        await asyncio.sleep(0.1)
        assert point.phase() is Phase.CLAIMED_IDLE
        refused = await starter.ask(job(Cmd="/bin/no"))
        assert isinstance(refused, words.ActivationRefused)
        assert refused.content.integer("Code") == 0
        assert point.phase() is Phase.CLAIMED_IDLE
        # Another owner's job is for another process.
        refused = await starter.ask(job(Owner="bob"))
        assert refused.content.integer("Code") == -1
        await asyncio.sleep(0.1)
        assert not point.startd.processes.children()

    play(tmp_path, scenario, 'START = TARGET.Cmd =!= "/bin/no"\n', starter)


def test_a_starter_that_asks_again_hears_only_what_is_new(tmp_path: Path) -> None:
    starter = FakeStarter(stays=True)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        starter.finish.set()
        await asyncio.sleep(1)
        granted = await starter.ask(job())
        assert isinstance(granted, words.NextActivation)
        assert granted.activation == b""
        assert granted.content.integer("Number") == 2
        first = starter.activations[0].slot
        news = [name for name in granted.content.names() if name not in {"Asked", "Number"}]
        assert all(words.is_passing(name) for name in news)
        passed = {name.lower() for name in first.own_names() if words.is_passing(name)}
        told = {name.lower() for name in (*news, *words.OF_THE_JOB)}
        assert passed <= told
        now = granted.content.integer("MyCurrentTime") or 0
        assert now == (first.integer("MyCurrentTime") or 0) + 1
        await asyncio.sleep(0.1)
        assert point.phase() is Phase.CLAIMED_IDLE
        # What all slots share has changed: it comes once more.
        point.service.refresh()
        granted = await starter.ask(job())
        assert isinstance(granted, words.NextActivation)
        assert starter.activations[-1].machine is not None

    play(tmp_path, scenario, "", starter)


@pytest.mark.shows("B138")
def test_a_starter_hears_when_its_claim_takes_no_further_job(tmp_path: Path) -> None:
    # The starter tells its shadow with the end of the job.
    starter = FakeStarter(stays=True)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(59)
        assert not starter.claim_goes_on
        await asyncio.sleep(2)
        assert starter.claim_goes_on == [False]
        starter.finish.set()
        await asyncio.sleep(0.1)
        refused = await starter.ask(job())
        assert isinstance(refused, words.ActivationRefused)

    play(tmp_path, scenario, "CLAIM_WORKLIFE = 60\n", starter)


def test_a_next_job_that_nobody_can_read_costs_its_shadow_the_starter(tmp_path: Path) -> None:
    starter = FakeStarter(stays=True)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        starter.finish.set()
        await asyncio.sleep(0.1)
        await starter.stream.send(words.AskActivation(ClassAd(), b"no ad"))
        await asyncio.sleep(0.1)
        assert not point.startd.processes.children()
        # The claim is as it was.
        assert await point.activate(claim_id, job()) == (1, None)

    play(tmp_path, scenario, "", starter)


def test_a_slot_cleans_from_the_last_measurements_until_the_starter_is_done(
    tmp_path: Path,
) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        assert await point.activate(claim_id, job()) == (1, None)
        for final, phase in ((False, Phase.CLAIMED_BUSY), (True, Phase.CLAIMED_CLEANING)):
            await starter.stream.send(words.JobUsage(ClassAd({"DiskUsage": 5, "Final": final})))
            await asyncio.sleep(0.1)
            assert point.phase() is phase
        starter.finish.set()
        await point.deactivate(claim_id, Command.DEACTIVATE_CLAIM_JOB_DONE)
        assert point.phase() is Phase.CLAIMED_IDLE

    play(tmp_path, scenario, "", starter)


@pytest.mark.shows("A011", "B077", "B078", "B138")
def test_a_claim_runs_one_job_after_another_until_its_worklife_is_over(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        for _ in range(2):
            assert await point.activate(claim_id, job()) == (1, None)
            assert point.phase() is Phase.CLAIMED_BUSY
            starter.finish.set()
            answer = await point.deactivate(claim_id, Command.DEACTIVATE_CLAIM_JOB_DONE)
            assert answer.boolean("Start") is True
            assert point.phase() is Phase.CLAIMED_IDLE
        await asyncio.sleep(80)
        assert await point.activate(claim_id, job()) == (1, None)
        await asyncio.sleep(200)
        starter.finish.set()
        answer = await point.deactivate(claim_id, Command.DEACTIVATE_CLAIM_JOB_DONE)
        assert answer.boolean("Start") is False
        code, why = await point.activate(claim_id, job(_condor_send_activation_failure_ad=True))
        assert code == 0
        assert why is not None
        assert why.integer("VacateReasonCode") == 1029

    play(tmp_path, scenario, "CLAIM_WORKLIFE = 200\n", starter)
    assert [activation.slot_name for activation in starter.activations] == ["slot1_1@here"] * 3


@pytest.mark.shows("B141", "B143")
def test_a_silent_schedd_loses_its_idle_claim_and_a_living_one_keeps_it(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        await point.claim(job())
        await asyncio.sleep(300)
        assert point.phase() is Phase.CLAIMED_IDLE
        assert point.alives in {9, 10}
        await point.schedd.network.close()  # type: ignore[attr-defined]
        await asyncio.sleep(100)
        assert point.phase() is None

    play(tmp_path, scenario)


@pytest.mark.parametrize("lease", [2400, 60])
def test_a_schedd_that_is_gone_loses_a_claim_that_no_job_has_used_long_before_its_lease(
    tmp_path: Path, lease: int
) -> None:
    """It will not come back for it: what it had claimed for whom, it alone knew."""

    async def scenario(point: ExecutionPoint) -> None:
        await point.claim(job(JobLeaseDuration=lease))
        await point.schedd.network.close()  # type: ignore[attr-defined]
        await asyncio.sleep(25)
        assert point.phase() is (Phase.CLAIMED_IDLE if lease == 2400 else None)
        await asyncio.sleep(300)
        assert point.phase() is None

    play(tmp_path, scenario)


def test_a_schedd_that_forgot_the_claim_loses_it_at_once(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        await point.claim(job())
        point.knows_claim = False
        await asyncio.sleep(40)
        assert point.phase() is None

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ({}, 40),
        ({"KillSigTimeout": 3}, 3),
        ({"KillSigTimeout": 9, "JobMaxVacateTime": 4}, 4),
        ({"KillSigTimeout": 900}, 40),
        ({"JobMaxVacateTime": "x", "KillSigTimeout": 9}, 0),
    ],
)
def test_a_job_that_is_told_to_leave_has_the_seconds_that_it_wants_and_the_machine_gives(
    tmp_path: Path, lines: dict[str, object], seconds: int
) -> None:
    starter = FakeStarter(stubborn=True)

    async def scenario(point: ExecutionPoint) -> None:
        ad = job(**lines)
        claim_id = (await point.claim(ad)).claimed[0][0]
        await point.activate(claim_id, ad)
        await point.deactivate(claim_id, Command.DEACTIVATE_CLAIM)
        [order] = starter.orders
        assert isinstance(order, words.VacateJob)
        assert order.content.real("VacateSeconds") == seconds

    play(tmp_path, scenario, "MachineMaxVacateTime = 40\n", starter)


@pytest.mark.shows("B053", "B131", "B135")
def test_preempt_vacates_and_a_stubborn_job_is_killed_when_its_time_is_over(
    tmp_path: Path,
) -> None:
    starter = FakeStarter(stubborn=True)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(25)
        assert point.phase() is Phase.PREEMPTING_VACATING
        assert [type(order) for order in starter.orders] == [words.VacateJob]
        assert starter.orders[0].content.integer("ReasonCode") == 1011
        await asyncio.sleep(10)
        assert [type(order) for order in starter.orders] == [words.VacateJob, words.KillJob]
        assert point.phase() is None
        assert point.released == [claim_id]

    text = "PREEMPT = time() - JobStart > 20\nMachineMaxVacateTime = 8\n"
    play(tmp_path, scenario, text, starter)


@pytest.mark.parametrize("plain", [True, False])
def test_where_the_policy_is_plain_jobs_begin_and_end_without_a_look_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    starter, looks = FakeStarter(), 0
    find = PolicyWatch.look

    def look(watch: PolicyWatch, records: Iterable[SlotRecord]) -> None:
        nonlocal looks
        looks += 1
        find(watch, records)

    monkeypatch.setattr(PolicyWatch, "look", look)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await asyncio.sleep(0.1)
        before = looks
        await point.activate(claim_id, job())
        starter.finish.set()
        await asyncio.sleep(0.1)
        assert point.phase() is Phase.CLAIMED_IDLE
        assert (looks == before) is plain

    # What is true or false in other words is an expression.
    text = f"PREEMPT = {'false' if plain else 'false || false'}\nPOLLING_INTERVAL = 300\n"
    play(tmp_path, scenario, text, starter)


@pytest.mark.parametrize("preempt", ["false", "false || false"])
def test_a_lease_that_begins_anew_at_a_jobs_end_has_its_timer(tmp_path: Path, preempt: str) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        ad = job(JobLeaseDuration=60)
        await point.activate((await point.claim(ad)).claimed[0][0], ad)
        await asyncio.sleep(100)
        starter.finish.set()
        await asyncio.sleep(0.1)
        await point.schedd.network.close()  # type: ignore[attr-defined]
        await asyncio.sleep(55)
        assert point.phase() is Phase.CLAIMED_IDLE
        await asyncio.sleep(10)
        assert point.phase() is None

    play(tmp_path, scenario, f"PREEMPT = {preempt}\nPOLLING_INTERVAL = 300\n", starter)


def test_a_plain_policy_that_wants_a_job_to_leave_counts_at_once(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(0.1)
        assert point.phase() is Phase.PREEMPTING_VACATING

    play(tmp_path, scenario, "PREEMPT = true\n", FakeStarter(stubborn=True))


def test_a_job_that_leaves_for_no_other_is_not_preempted(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(25)
        assert point.phase() is Phase.PREEMPTING_VACATING
        point.service.refresh_base()
        assert point.service.base.integer("JobPreemptions") == 0

    play(tmp_path, scenario, "PREEMPT = time() - JobStart > 20\n", FakeStarter(stubborn=True))


def test_a_machines_ad_says_what_draining_it_would_cost(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        base = point.service.base
        now = base.integer("ExpectedMachineQuickDrainingCompletion") or 0
        assert base.integer("ExpectedMachineQuickDrainingBadput") == 0
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(20)
        point.service.refresh_base()
        lost = base.integer("ExpectedMachineQuickDrainingBadput") or 0
        assert 38 <= lost <= 42
        # As much has gone by since the start as the job has run.
        done = base.integer("ExpectedMachineQuickDrainingCompletion") or 0
        assert 38 <= done - now <= 42
        # Retirement lets it go on for longer.
        assert 98 <= (base.integer("ExpectedMachineGracefulDrainingBadput") or 0) <= 102

    text = "MachineMaxVacateTime = 20\nMAXJOBRETIREMENTTIME = 100\n"
    play(tmp_path, scenario, text, FakeStarter())


@pytest.mark.shows("B084")
def test_retirement_lets_a_job_finish(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(30)
        assert point.phase() is Phase.CLAIMED_RETIRING
        assert starter.orders == []
        starter.finish.set()
        await asyncio.sleep(1)
        assert point.phase() is None

    text = "PREEMPT = time() - JobStart > 20\nMAXJOBRETIREMENTTIME = 3600\n"
    play(tmp_path, scenario, text, starter)


@pytest.mark.shows("B080", "B081")
def test_suspension_by_policy_and_by_command(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(8)
        assert point.phase() is Phase.CLAIMED_SUSPENDED
        await asyncio.sleep(8)
        assert point.phase() is Phase.CLAIMED_BUSY
        kinds = [type(order) for order in starter.orders]
        assert kinds == [words.SuspendJob, words.ContinueJob]
        await point.tell(Command.SUSPEND_CLAIM, claim_id)
        await asyncio.sleep(60)
        assert point.phase() is Phase.CLAIMED_SUSPENDED
        await point.tell(Command.CONTINUE_CLAIM, claim_id)
        assert point.phase() is Phase.CLAIMED_BUSY
        starter.finish.set()
        await asyncio.sleep(1)

    text = (
        "WANT_SUSPEND = True\nSUSPEND = time() - JobStart > 5 && time() - JobStart < 10\n"
        "CONTINUE = time() - EnteredCurrentActivity > 5\n"
    )
    play(tmp_path, scenario, text, starter)


def test_a_policy_knows_how_long_jobs_were_suspended(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        await asyncio.sleep(12)
        assert point.phase() is Phase.CLAIMED_SUSPENDED
        await asyncio.sleep(20)
        assert point.phase() is Phase.CLAIMED_BUSY
        record = point.service.machine.find("slot1_1")
        assert record is not None
        ad = point.service.slot_ad(record)
        frozen = ad.integer("TotalJobSuspendTime")
        assert frozen in {10, 11, 12}
        assert ad.integer("TotalClaimSuspendTime") == frozen
        assert ad.integer("TotalJobRunTime") == ad.integer("TotalClaimRunTime")
        starter.finish.set()
        await asyncio.sleep(1)

    text = (
        "WANT_SUSPEND = True\nSUSPEND = TotalJobRunTime > 5 && TotalJobSuspendTime =?= undefined\n"
        "CONTINUE = TotalClaimSuspendTime > 10\n"
    )
    play(tmp_path, scenario, text, starter)


def test_a_starter_that_dies_frees_its_slot(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        starter.die.set()
        await asyncio.sleep(1)
        assert point.phase() is Phase.CLAIMED_IDLE
        answer = await point.deactivate(claim_id, Command.DEACTIVATE_CLAIM_FORCIBLY)
        assert answer.boolean("Start") is True

    play(tmp_path, scenario, starter=starter)


async def command(point: ExecutionPoint, number: Command, ad: ClassAd) -> ClassAd:
    tool = point.world.client("condor@here")
    stream = await tool.network.connect(point.startd.network.address, number)
    await stream.send(claims.DrainJobs(ad))
    reply = claims.DrainJobsReply.read(await stream.receive()).response
    stream.close()
    return reply


@pytest.mark.shows("C001", "C003", "C006", "C010")
def test_draining_waits_for_the_jobs_and_is_cancelled(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        begun = await command(point, Command.DRAIN_JOBS, ClassAd({"HowFast": 0}))
        assert begun.boolean("Result") is True
        assert point.phase() is Phase.CLAIMED_RETIRING
        again = await command(point, Command.DRAIN_JOBS, ClassAd({"HowFast": 0}))
        assert again.integer("ErrorCode") == 10001
        starter.finish.set()
        await asyncio.sleep(1)
        assert point.phase("slot1") is Phase.DRAINED_IDLE
        assert not (await point.claim(job())).accepted
        wrong = await command(point, Command.CANCEL_DRAIN_JOBS, ClassAd({"RequestID": "x"}))
        assert wrong.boolean("Result") is False
        await command(point, Command.CANCEL_DRAIN_JOBS, ClassAd())
        assert point.phase("slot1") is Phase.UNCLAIMED_IDLE
        assert (await point.claim(job())).accepted

    play(tmp_path, scenario, "MAXJOBRETIREMENTTIME = 3600\n", starter)


def test_a_job_that_the_drainer_wants_runs_beside_those_that_retire(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        request = ClassAd({"HowFast": 0})
        request.insert_text("StartExpr", "IsBackfill =?= true")
        assert (await command(point, Command.DRAIN_JOBS, request)).boolean("Result") is True
        assert point.phase() is Phase.CLAIMED_RETIRING
        assert point.phase("slot1") is Phase.UNCLAIMED_IDLE
        assert not (await point.claim(job())).accepted
        backfill = job(IsBackfill=True, ProcId=1)
        reply = await point.claim(backfill)
        assert reply.accepted
        await asyncio.sleep(10)
        assert point.phase("slot1_2") is Phase.CLAIMED_IDLE
        assert (await point.activate(reply.claimed[0][0], backfill))[0] == 1
        await asyncio.sleep(10)
        assert point.phase("slot1_2") is Phase.CLAIMED_BUSY
        # Once those have gone that had a right to stay, it goes too.
        assert not point.service.machine.is_drained()
        await point.tell(Command.RELEASE_CLAIM, claim_id)
        starter.finish.set()
        await asyncio.sleep(30)
        assert point.phase("slot1_2") is None
        assert point.phase("slot1") is Phase.DRAINED_IDLE

    play(tmp_path, scenario, "MAXJOBRETIREMENTTIME = 3600\n", starter)


@pytest.mark.shows("C005", "C007")
def test_draining_resumes_by_itself_when_asked_to(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        ad = ClassAd({"HowFast": 10, "ResumeOnCompletion": 1})
        assert (await command(point, Command.DRAIN_JOBS, ad)).boolean("Result") is True
        await asyncio.sleep(1)
        assert point.phase("slot1") is Phase.UNCLAIMED_IDLE

    play(tmp_path, scenario)


@pytest.mark.parametrize(("wish", "stays_off"), [(2, True), (3, False)])
def test_a_startd_that_ends_once_drained_says_whether_it_stays_off(
    tmp_path: Path, wish: int, stays_off: bool
) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        stops: list[str] = []
        point.startd.runtime.stop = stops.append
        ad = ClassAd({"HowFast": 10, "ResumeOnCompletion": wish})
        assert (await command(point, Command.DRAIN_JOBS, ad)).boolean("Result") is True
        await asyncio.sleep(1)
        assert stops == ["graceful"]
        assert point.startd.runtime.stays_off is stays_off

    play(tmp_path, scenario)


@pytest.mark.shows("C011")
def test_a_drain_whose_check_fails_is_refused(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        ad = ClassAd({"HowFast": 0})
        ad.insert_text("CheckExpr", "Cpus > 100")
        assert (await command(point, Command.DRAIN_JOBS, ad)).boolean("Result") is False
        assert point.phase("slot1") is Phase.UNCLAIMED_IDLE

    play(tmp_path, scenario)


@pytest.mark.shows("B121")
def test_a_fast_shutdown_kills_and_a_peaceful_one_waits(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        stopping = asyncio.ensure_future(point.service.shut_down("peaceful"))
        await asyncio.sleep(500)
        assert starter.orders == []
        assert (await point.activate(claim_id, job()))[0] == 0
        starter.finish.set()
        await stopping

    play(tmp_path, scenario, "MAXJOBRETIREMENTTIME = 60\n", starter)


@pytest.mark.shows("B068", "B069", "B111")
def test_a_static_slot_benchmarks_once_and_then_takes_jobs(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        await asyncio.sleep(1)
        edges = [step.edge for step in point.service.machine.slots["slot1@here"].slot.past]
        assert edges == ["1", "3", "4"]
        await asyncio.sleep(1000)
        assert point.phase("slot1") is Phase.UNCLAIMED_IDLE
        assert len(point.service.machine.slots["slot1@here"].slot.past) == 3
        assert (await point.claim(job())).claimed[0][1].string("SlotType") == "Static"

    play(tmp_path, scenario, "NUM_SLOTS = 2\nRUNBENCHMARKS = LastBenchmark == 0\n")


@pytest.mark.shows("B016", "B101")
def test_is_owner_keeps_a_slot_from_service(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        assert point.phase("slot1") is Phase.OWNER_IDLE
        assert not (await point.claim(job())).accepted

    play(tmp_path, scenario, "IS_OWNER = True\n")


def test_the_submit_side_of_a_claim_is_known_by_its_session() -> None:
    assert SUBMIT_SIDE == "submit-side@matchsession"


@pytest.mark.parametrize("lost", ["send", "detach"])
def test_a_shadow_lost_between_grant_and_start_leaves_a_slot_that_can_be_used(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, detach = Stream.send, Stream.detach

    async def send_or_lose(stream: Stream, message: object) -> None:
        if lost == "send" and isinstance(message, claims.ActivateClaimReply):
            raise ConnectionLost("reset by peer")
        await send(stream, message)  # type: ignore[arg-type]

    async def detach_or_lose(stream: Stream) -> tuple[int, bytes]:
        if lost == "detach" and stream.command == Command.ACTIVATE_CLAIM:
            raise ConnectionLost("reset by peer")
        return await detach(stream)

    monkeypatch.setattr(Stream, "send", send_or_lose)
    monkeypatch.setattr(Stream, "detach", detach_or_lose)

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        with contextlib.suppress(WireError):
            await point.activate(claim_id, job())
        await asyncio.sleep(1)
        assert point.phase() is Phase.CLAIMED_IDLE
        await point.tell(Command.RELEASE_CLAIM, claim_id)
        await asyncio.sleep(1)
        assert point.phase() is None

    play(tmp_path, scenario, starter=FakeStarter())


def test_a_matched_slot_that_refuses_a_job_waits_on_for_its_match(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        claim_id = point.offered("slot1")
        point.schedd.network.add_session(
            ClaimId(claim_id), user="execute-side@matchsession", lifetime=None
        )
        stream = await point.open(Command.MATCH_INFO, claim_id)
        await stream.send(claims.MatchInfo(claim_id))
        stream.close()
        await asyncio.sleep(0.1)
        assert point.phase("slot1") is Phase.MATCHED_IDLE
        refused = await point.claim(job(Requirements=False), "slot1")
        assert not refused.claimed
        assert point.phase("slot1") is Phase.MATCHED_IDLE
        assert (await point.claim(job(), "slot1")).claimed
        assert point.phase("slot1") is Phase.CLAIMED_IDLE

    whole = "SLOT_TYPE_1 = 100%\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1_PARTITIONABLE = false\n"
    play(tmp_path, scenario, whole)


def test_the_work_of_a_job_s_processes_is_measured_while_it_runs(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        await point.activate(claim_id, job())
        [child] = point.startd.processes.children()
        record = point.service.machine.find_claim(claim_id)
        assert record is not None
        await asyncio.sleep(POLLED_SECONDS * 1.5)
        assert sum(record.load.cores) == 0.0
        point.startd.processes.worked[child.pid] = 4.0
        await asyncio.sleep(POLLED_SECONDS)
        assert sum(record.load.cores) == pytest.approx(4.0)
        # Nobody works on; the minute is not over.
        await asyncio.sleep(POLLED_SECONDS)
        assert sum(record.load.cores) == pytest.approx(4.0)
        await asyncio.sleep(61)
        assert sum(record.load.cores) == 0.0

    play(tmp_path, scenario, f"POLLING_INTERVAL = {POLLED_SECONDS}\n", starter)


@pytest.mark.parametrize("taken", ["nothing", "a program"])
def test_an_idle_machine_sees_soon_that_sandboxes_can_be_made_again(
    tmp_path: Path, taken: str
) -> None:
    """It looked with its next update only, minutes later."""

    async def scenario(point: ExecutionPoint) -> None:
        folder = point.service.runtime.config.get("EXECUTE") or ""
        claim_id = (await point.claim(job())).claimed[0][0]
        os.rmdir(folder)
        if taken == "a program":
            os.symlink("/bin/sh", folder)
        await asyncio.sleep(9)
        await point.tell(Command.RELEASE_CLAIM, claim_id)
        await asyncio.sleep(1)
        ad = point.advertised()
        assert ad is not None
        assert ad.string("KettleTrouble") == f"EXECUTE, {folder}, cannot be written"
        await asyncio.sleep(20)
        if taken == "a program":
            os.unlink(folder)
        os.mkdir(folder)
        await asyncio.sleep(9)
        ad = point.advertised()
        assert ad is not None
        assert (ad.boolean("Start"), ad.string("KettleTrouble")) == (True, None)

    play(tmp_path, scenario)


def test_a_slot_takes_no_job_while_no_sandbox_can_be_made(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        claim_id = (await point.claim(job())).claimed[0][0]
        folder = point.service.runtime.config.get("EXECUTE") or ""
        os.rmdir(folder)
        await asyncio.sleep(9)
        trouble = f"EXECUTE, {folder}, cannot be written"
        ad = point.advertised()
        assert ad is not None
        assert (ad.boolean("Start"), ad.string("KettleTrouble")) == (False, trouble)
        assert not (await point.claim(job())).claimed
        assert (await point.activate(claim_id, job()))[0] == 0
        os.mkdir(folder)
        await asyncio.sleep(9)
        ad = point.advertised()
        assert ad is not None
        assert (ad.boolean("Start"), ad.string("KettleTrouble")) == (True, None)
        assert (await point.claim(job())).claimed

    play(tmp_path, scenario)
