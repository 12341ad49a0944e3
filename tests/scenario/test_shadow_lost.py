"""Starters that are lost, hosts that take over: who is looked for, and what is believed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.levels import Level
from kettle.policy.lease import RUN_LEASE
from kettle.runtime.sockets.stream import Stream
from kettle.shadow.services import shadow
from kettle.testing.world import World
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.messages.shadow_host import SetAttributes
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import (
    break_off,
    come_back,
    end_with_three,
    exit_of,
    play,
    slot_of,
)


def test_a_lost_starter_is_found_again_and_the_job_is_not_started_twice(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["001", "022", "023", "005"]
        assert there.story[:3] == ["activate 1", "CA_LOCATE_STARTER", "CA_RECONNECT_JOB"]
        assert here.updates["NumJobStarts"] == "1"
        assert here.updates["NumJobReconnects"] == "1"

    play(tmp_path, scenario, script=break_off, reconnected=come_back)


def test_a_job_that_the_startd_has_forgotten_goes_back_into_the_queue(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (116, False)
        assert here.numbers() == ["001", "022", "024", "004"]

    play(tmp_path, scenario, script=break_off, locate="Failure")


def test_an_execution_point_that_is_gone_is_waited_for_until_the_lease_ends(
    tmp_path: Path,
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.vanish()
        assert exit_of(await here.ended()) == (116, False)
        assert here.numbers() == ["001", "022", "024", "004"]
        assert "JobLeaseDuration (600 seconds) expired" in here.log.read_text()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert 600 <= waited <= 640


@pytest.mark.parametrize(("edited", "waited"), [(20, 600), (900, 900)])
def test_a_lease_that_is_made_shorter_is_waited_for_as_long_as_the_starter_knows_it(
    tmp_path: Path, edited: int, waited: int
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await here.stream.send(SetAttributes(7, 3, {"JobLeaseDuration": str(edited)}))
        await asyncio.sleep(4)
        await there.vanish()
        assert exit_of(await here.ended()) == (116, False)
        assert f"JobLeaseDuration ({waited} seconds) expired" in here.log.read_text()
        return world.clock.now() - began

    took: float = play(tmp_path, scenario, script=break_off)
    assert waited <= took <= waited + 40


@pytest.mark.parametrize(
    ("lease", "told", "waited"),
    [
        (600, "600", 600), ("=undefined", "0", 1800), (0, "0", 1800), (-4, "0", 1800),
        ("=ShadowBday is undefined ? 9 : 600", "600", 600),
    ],
)  # fmt: skip
def test_a_starter_is_told_the_lease_as_the_number_that_its_shadow_goes_by(
    tmp_path: Path, lease: object, told: str, waited: int
) -> None:
    heard: list[str | None] = []

    async def listen(starter: StarterEnd, _: ClassAd) -> None:
        heard.append((await starter.register()).text("JobLeaseDuration"))
        await starter.begin()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=lease)
        await asyncio.sleep(4)
        await there.vanish()
        assert exit_of(await here.ended()) == (116, False)
        return world.clock.now() - began

    took: float = play(tmp_path, scenario, script=listen)
    assert heard == [told]
    assert waited <= took <= waited + 40


@pytest.mark.parametrize(("noted", "waited"), [(600, 600), (0, 1800)])
def test_who_takes_a_run_over_waits_for_the_lease_that_its_starter_was_told(
    tmp_path: Path, noted: int, waited: int
) -> None:
    """The job's own may have been edited since, and the host that knew is dead."""

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await there.vanish()
        told = {"NumJobStarts": 1, "JobCurrentStartExecutingDate": int(began)}
        lease = {"JobLeaseDuration": 20, RUN_LEASE: noted}
        await here.run(there, reconnect=True, **told, **lease)
        assert exit_of(await here.ended()) == (116, False)
        return world.clock.now() - began

    took: float = play(tmp_path, scenario)
    assert waited <= took <= waited + 40


@pytest.mark.parametrize("how", ["found", "forgotten", "too late"])
def test_how_the_search_for_a_lost_starter_ended_is_a_line_of_its_own(
    tmp_path: Path, how: str
) -> None:
    log = tmp_path / "reconnections"

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600, JobCurrentStartDate=int(began))
        if how == "too late":
            await asyncio.sleep(4)
            await there.vanish()
        await here.ended()
        return began

    place: dict[str, Any] = {"reconnected": come_back} if how == "found" else {}
    if how == "forgotten":
        place["locate"] = "Failure"
    config = f"SHADOW_RECONNECT_LOG = {log}\nSHADOW_RECONNECT_TIMEOUT_VERSION = two\n"
    began: float = play(tmp_path, scenario, config, script=break_off, **place)
    [line] = log.read_text().splitlines()
    job, activated, heard, found, over, lease, version, dead = line.split(",")
    assert (job.count("."), lease, version) == (1, "600", "two")
    assert int(activated) == int(began)
    assert int(activated) <= int(heard) <= int(over)
    assert (found, dead) == ("true" if how == "found" else "false", str(how == "forgotten").lower())
    assert (int(over) - int(heard) >= 590) == (how == "too late")


def test_an_execution_point_whose_port_refuses_is_waited_for_as_well(tmp_path: Path) -> None:
    """The job may live on where all daemons were killed."""

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.network.close()
        assert exit_of(await here.ended()) == (116, False)
        assert "JobLeaseDuration (600 seconds) expired" in here.log.read_text()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert 600 <= waited <= 640


async def start_collector(world: World, *slots: ClassAd) -> None:
    """Answer, as the pool's collector, with these slots."""
    _, network, _ = world.runtime("COLLECTOR")

    async def on_query(stream: Stream) -> None:
        query = Query.read(await stream.receive()).query
        found = [slot for slot in slots if query.evaluate("Requirements", slot) is True]
        await stream.send(QueryReply(found))

    network.register(Command.QUERY_STARTD_ADS, on_query, levels=(Level.ALLOW,))
    await network.listen(9618)
    network.begin_accepting()


@pytest.mark.parametrize(
    ("host", "port", "name", "began_at", "is_gone"),
    [
        pytest.param("10.0.0.2", 9700, "slot1@ep", 2, True, id="its successor"),
        pytest.param("10.0.0.2", 9701, "slot1@ep", 1, True, id="its successor of that second"),
        pytest.param("10.0.0.2", 9701, "slot1@ep", 0, False, id="one from before"),
        pytest.param("10.0.0.2", 9700, "slot1@other", 2, False, id="another startd"),
        pytest.param("10.0.0.9", 9700, "slot1@ep", 2, False, id="the same name elsewhere"),
    ],
)
def test_a_job_is_gone_when_its_startd_s_successor_does_not_know_it(
    host: str, port: int, name: str, began_at: int, is_gone: bool, tmp_path: Path
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.network.close()
        later = ExecutionPoint(world, host=host, port=port, locate="Failure")
        await later.start()
        before, now = slot_of(there, "slot1_1@ep", 1), slot_of(later, name, began_at)
        now["LastHeardFrom"] = 5
        await start_collector(world, before, now)
        assert exit_of(await here.ended()) == (116, False)
        assert ("Job not found at execution machine" in here.log.read_text()) is is_gone
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert (waited < 20) is is_gone


def test_a_startd_that_is_known_where_it_was_may_answer_yet(tmp_path: Path) -> None:
    """No process changes its port: what is at the same one is itself, and not its successor."""

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.network.close()
        await start_collector(world, slot_of(there, "slot1_1@ep", 1))
        assert exit_of(await here.ended()) == (116, False)
        assert "Job not found at execution machine" not in here.log.read_text()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert waited >= 600


def test_a_new_host_takes_over_a_running_job(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        told = {"NumJobStarts": 1, "JobCurrentStartExecutingDate": int(world.clock.now())}
        await here.run(there, reconnect=True, **told)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["022", "023", "005"]
        assert "Local schedd and job shadow died" in here.log.read_text()
        assert "NumJobStarts" not in here.updates

    play(tmp_path, scenario, reconnected=come_back)


def test_a_run_that_is_taken_over_late_is_looked_for_before_it_is_given_up(tmp_path: Path) -> None:
    """Recorded leases are old, and clocks are set: the starter may be there after all."""

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        told = {"NumJobStarts": 1, "JobCurrentStartExecutingDate": int(world.clock.now())}
        long_ago = int(world.clock.now()) - 7200
        await here.run(there, reconnect=True, LastJobLeaseRenewal=long_ago, **told)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["022", "023", "005"]

    play(tmp_path, scenario, reconnected=come_back)


def test_a_clock_that_is_set_ends_no_lease(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = asyncio.get_running_loop().time()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.vanish()
        await asyncio.sleep(60)
        world.clock.set_forward = 7200.0
        assert exit_of(await here.ended()) == (116, False)
        return asyncio.get_running_loop().time() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert 600 <= waited <= 640


@pytest.mark.parametrize("signal", ["Hold", "Vacate"])
def test_who_may_be_started_again_waits_for_the_lease_of_a_lost_starter(
    tmp_path: Path, signal: str
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(6)
        await there.vanish()
        await here.signal(signal, "now", 1 if signal == "Hold" else 0)
        await here.ended()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off, locate="UnknownError")
    assert 600 <= waited <= 640


@pytest.mark.parametrize(("signal", "seconds"), [("Hold", 600), ("Vacate", 600), ("Remove", 0)])
def test_who_may_be_started_again_waits_though_the_connection_broke_as_it_was_to_leave(
    tmp_path: Path, signal: str, seconds: float
) -> None:
    async def stay(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        await starter.place.deactivated.wait()
        await asyncio.sleep(10)
        raise ConnectionLost("the network is gone")

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        await here.run(there, JobLeaseDuration=600, JobMaxVacateTime=500)
        await asyncio.sleep(6)
        began = world.clock.now()
        await here.signal(signal, "now", 1 if signal == "Hold" else 0)
        await asyncio.sleep(5)
        await there.vanish()
        await here.ended()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=stay, locate="UnknownError")
    assert seconds <= waited <= seconds + 60


@pytest.mark.parametrize("xml", [False, True])
def test_a_new_host_believes_the_log_of_a_job_that_tells_of_its_end(
    tmp_path: Path, xml: bool
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, UserLogUseXML=xml)
        assert exit_of(await here.ended()) == (100, True)
        told = here.log.read_bytes()
        await here.run(there, reconnect=True, NumJobStarts=1, UserLogUseXML=xml)
        ended = await here.ended()
        assert exit_of(ended) == (100, False)
        assert ended.attributes["ExitCode"] == "3"
        assert here.log.read_bytes() == told

    play(tmp_path, scenario, script=end_with_three)


@pytest.mark.parametrize("committed", [True, False])
def test_a_new_host_believes_the_log_of_a_job_that_tells_of_an_end_and_another_run(
    tmp_path: Path, committed: bool
) -> None:
    """If the queue knows of that end it was an earlier run's, and this one is looked for."""
    wants = {"OnExitRemove": "=ExitCode == 0"}

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, **wants)
        assert exit_of(await here.ended()) == (107, True)
        assert here.numbers() == ["001", "004"]
        told = here.log.read_bytes()
        counts = {"NumJobStarts": 1, "NumJobCompletions": 1} if committed else {}
        await here.run(there, reconnect=True, **wants, **counts)
        ended = await here.ended()
        if committed:
            assert exit_of(ended)[0] == 116
            assert here.numbers() == ["001", "004", "022", "024", "004"]
            return
        assert exit_of(ended) == (107, False)
        assert here.log.read_bytes() == told
        for name in ("NumJobStarts", "NumJobCompletions"):
            assert ended.attributes[name] == "1"
        assert ended.attributes["ExitCode"] == "3"

    play(tmp_path, scenario, script=end_with_three, locate="Failure")


@pytest.mark.parametrize("committed", [True, False])
def test_a_start_that_only_a_dead_host_heard_of_is_told_and_counted_once(
    tmp_path: Path, committed: bool
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        now = int(world.clock.now())
        more = {"JobCurrentStartExecutingDate": now, "NumJobStarts": 1} if committed else {}
        await here.run(there, reconnect=True, JobCurrentStartDate=now, **more)
        ended = await here.ended()
        assert exit_of(ended) == (100, True)
        starts = here.updates.get("NumJobStarts", ended.attributes.get("NumJobStarts"))
        assert starts == (None if committed else "1")
        assert here.numbers() == ["022", "023", *([] if committed else ["001"]), "005"]

    play(tmp_path, scenario, reconnected=come_back)


@pytest.mark.parametrize("counted", [0, 1])
def test_a_start_that_only_the_log_knows_is_counted_though_the_starter_is_gone(
    tmp_path: Path, counted: int
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        # As if the schedd had died before it had the word of the start, and its host after it.
        await here.run(there)
        await here.ended()
        told = {"JobCurrentStartExecutingDate": int(world.clock.now())} if counted else {}
        here.updates.clear()
        await here.run(there, reconnect=True, NumJobStarts=counted, **told)
        assert exit_of(await here.ended()) == (116, False)
        assert here.numbers() == ["001", "022", "024", "004", "022", "024", "004"]
        assert here.updates.get("NumJobStarts") == (None if counted else "1")

    play(tmp_path, scenario, script=break_off, locate="Failure")


def test_a_new_host_has_a_job_begin_whose_start_nobody_heard_of(tmp_path: Path) -> None:
    async def begin_again(starter: StarterEnd, _: ClassAd) -> None:
        """The call that was lost is made again, and its answer is lost too."""
        await starter.begin()
        await starter.begin()
        await asyncio.sleep(5)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, reconnect=True)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["022", "023", "001", "005"]
        assert here.updates["NumJobStarts"] == "1"

    play(tmp_path, scenario, reconnected=begin_again)


def test_a_removal_while_the_starter_is_lost_does_not_wait_for_the_lease(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        await here.run(there)
        await asyncio.sleep(6)
        await there.vanish()
        asked_at = world.clock.now()
        await here.signal("Remove", "no more")
        assert (await here.ended()).reason == 102
        return world.clock.now() - asked_at

    waited: float = play(tmp_path, scenario, script=break_off, locate="UnknownError")
    assert waited < 120


@pytest.mark.parametrize("reachable", [True, False])
def test_a_shadow_with_a_bug_lets_its_job_start_anew_when_the_run_is_over_for_certain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reachable: bool
) -> None:
    def stumble(run: object) -> None:
        raise TypeError(run)

    monkeypatch.setattr(shadow, "note_disconnection", stumble)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        if not reachable:
            await there.vanish()
        assert exit_of(await here.ended())[0] == 4
        assert here.numbers() == ["001", "007"]
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert waited < 30 if reachable else 600 <= waited <= 640


def test_the_secret_of_a_claim_that_a_startd_names_goes_nowhere(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, JobLeaseDuration=600)
        report = await here.ended()
        secret = there.claim.secret
        assert report.attributes["VacateReason"] == '"Job not found at execution machine"'
        assert "Job not found at execution machine" in here.log.read_text()
        for told in (here.log.read_text(), str(here.updates), "\n".join(world.log)):
            assert secret not in told
        assert f"ClaimId ({there.claim.public}) not found" in "\n".join(world.log)

    said = "ClaimId ({}) not found"
    play(tmp_path, scenario, script=break_off, locate="Failure", locate_error=said)
