"""A name service that keeps silent for a while: nothing runs twice, is held or goes untold."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.attributes.codes import JobStatus
from kettle.errors import NotFoundError
from kettle.records.event_log import read_events
from kettle.runtime.process.privileges import Account
from kettle.schedd.services.owner_accounts import OwnerAccounts
from kettle.testing.world import World, run_in_world
from scenario.access_point import AccessPoint


class Names:
    """What the name service says: nothing, while it is silent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.silent = False
        found = OwnerAccounts.of

        def of(accounts: OwnerAccounts, user: str) -> Account:
            if self.silent:
                raise accounts._passing(user, "there is no such account")
            accounts._silent.clear()
            return found(accounts, user)

        monkeypatch.setattr(OwnerAccounts, "of", of)


Scenario = Callable[[AccessPoint, Names], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Scenario], None]:
    """Return what plays a scenario of one slot."""

    def run(scenario: Scenario) -> None:
        names = Names(monkeypatch)

        async def main(world: World) -> None:
            here = AccessPoint(world, "", 1)
            await here.start()
            await scenario(here, names)
            await here.daemon.stop("fast")

        run_in_world(tmp_path, main)

    return run


Play = Callable[[Scenario], None]


def numbers(log: Path) -> list[str]:
    return [f"{event.number:03}" for event in read_events(log.read_bytes())]


async def restart_in_silence(here: AccessPoint, names: Names, log: Path) -> None:
    """Have a job run, and a new schedd that cannot say who its owner is."""
    here.run_seconds = None
    await here.submit(1, log, JobLeaseDuration="600")
    await here.negotiate()
    await here.crash_schedd()
    here.story.clear()
    names.silent = True
    await here.start_schedd()


def test_a_running_job_is_neither_held_nor_released_and_is_looked_for_when_its_owner_is_found(
    tmp_path: Path, play: Play
) -> None:
    async def scenario(here: AccessPoint, names: Names) -> None:
        await restart_in_silence(here, names, tmp_path / "events")
        await asyncio.sleep(500)
        assert here.job(1).status == JobStatus.RUNNING
        names.silent, here.run_seconds = False, 5
        await asyncio.sleep(20)
        assert here.story == ["reconnect 1.0", "release"]
        (job,) = here.history()
        assert (job["JobStatus"], job["JobRunCount"]) == ("4", "1")

    play(scenario)


def test_held_and_released_meanwhile_it_does_not_start_again_before_its_run_is_seen_ended(
    tmp_path: Path, play: Play
) -> None:
    async def scenario(here: AccessPoint, names: Names) -> None:
        log = tmp_path / "events"
        await restart_in_silence(here, names, log)
        await here.act(1, "1.0", HoldReason="via condor_hold")
        await here.act(2, "1.0", ReleaseReason="via condor_release")
        assert here.job(1).status == JobStatus.IDLE
        await asyncio.sleep(500)
        assert await here.negotiate() == []
        assert here.story == []
        names.silent = False
        await asyncio.sleep(10)
        # Its shadow is told what was wanted meanwhile.
        assert here.story[:2] == ["reconnect 1.0", "Hold 1.0"]
        assert numbers(log) == ["000", "013"]

    play(scenario)


def test_when_its_lease_is_over_it_waits_for_its_owner_and_starts_again(
    tmp_path: Path, play: Play
) -> None:
    async def scenario(here: AccessPoint, names: Names) -> None:
        await restart_in_silence(here, names, tmp_path / "events")
        await asyncio.sleep(590)
        assert here.story == []
        await asyncio.sleep(20)
        assert here.story == ["release"]
        assert here.job(1).status == JobStatus.IDLE
        # Nor is it matched, to end at once.
        assert await here.negotiate() == []
        names.silent = False
        await asyncio.sleep(70)
        assert len(await here.negotiate()) == 1
        assert here.story == ["release", "claim", "start 1.0"]

    play(scenario)


def test_what_happens_in_the_silence_is_told_behind_it_and_in_its_order(
    tmp_path: Path, play: Play
) -> None:
    async def scenario(here: AccessPoint, names: Names) -> None:
        log = tmp_path / "events"
        await here.submit(2, log)
        names.silent = True
        await here.act(1, "1.0", HoldReason="via condor_hold")
        await here.act(2, "1.0", ReleaseReason="via condor_release")
        await here.act(3, "1.0", RemoveReason="via condor_rm")
        await asyncio.sleep(100)
        assert numbers(log) == ["000", "000"]
        assert here.job(1).status == JobStatus.REMOVED
        # What waits survives a crash.
        await here.crash_schedd()
        await here.start_schedd()
        await asyncio.sleep(100)
        assert here.job(1).status == JobStatus.REMOVED
        names.silent = False
        await asyncio.sleep(10)
        assert numbers(log) == ["000", "000", "012", "013", "009"]
        assert [job["ProcId"] for job in here.history()] == ["0"]

    play(scenario)


def test_what_would_start_in_the_silence_waits_without_a_hold(tmp_path: Path, play: Play) -> None:
    async def scenario(here: AccessPoint, names: Names) -> None:
        log = tmp_path / "events"
        await here.submit(3, log)
        names.silent = True
        await here.negotiate()
        assert here.story == ["claim", "release"]
        assert await here.negotiate() == []
        why = here.job(1, 2).ad.string("LastRejMatchReason")
        assert why == "its schedd starts no job: there is no such account"
        await asyncio.sleep(1000)
        assert here.story == ["claim", "release"]
        names.silent = False
        await asyncio.sleep(70)
        await here.negotiate()
        await asyncio.sleep(60)
        assert [job["JobStatus"] for job in here.history()] == ["4"] * 3
        assert numbers(log) == ["000"] * 3

    play(scenario)


def test_after_a_day_of_silence_there_is_no_account(tmp_path: Path, play: Play) -> None:
    async def scenario(here: AccessPoint, names: Names) -> None:
        await here.submit(1)
        names.silent = True
        await here.negotiate()
        with pytest.raises(NotFoundError):
            here.schedd.accounts.of("alice@here")
        await asyncio.sleep(24 * 3600 + 100)
        assert here.story == ["claim", "release"]
        await here.negotiate()
        assert here.job(1).status == JobStatus.HELD
        assert here.job(1).ad.integer("HoldReasonCode") == 23

    play(scenario)
