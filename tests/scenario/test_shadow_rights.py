"""What the machine that runs a job reaches of its owner's: attributes, files, and no more later.

The calls of a scripted starter, on virtual time. Which names a job may set is in
`tests/unit/policy/test_job_words.py`.
"""

from __future__ import annotations

from pathlib import Path

from kettle.classad import ClassAd
from kettle.testing.world import World
from kettle.wire.messages import syscalls as calls
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import play


def test_a_job_may_read_and_set_attributes_of_its_own_ad_but_not_all(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        assert (await starter.call(calls.SetJobAttr("40 + 2", "ChirpX"))).value == 0
        assert (await starter.call(calls.GetJobAttr("ChirpX"))).result == "40 + 2"
        assert (await starter.call(calls.GetJobAttr("Nothing"))).result == "UNDEFINED"
        assert (await starter.call(calls.GetJobAttr("ClaimId"))).result == "UNDEFINED"
        # What queue management protects, and where this access point reads and writes files.
        for name in (
            "Owner", "User", "JobUniverse", "JobStatus", "ClaimId", "AuthTokenSubject", "Project",
            "UserLog", "Iwd", "TransferOutputRemaps", "LeaveJobInQueue", "JobLeaseDuration",
            "SUBMIT_Iwd", "WantIOProxy", "LimitDirectoryAccess", "NotifyUser", "AccountingGroup",
        ):  # fmt: skip
            assert (await starter.call(calls.SetJobAttr('"root"', name))).errno == 13, name
        assert (await starter.call(calls.SetJobAttr("1 +", "ChirpX"))).errno == 22
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, WantIOProxy=True)
        await here.ended()
        assert here.updates["ChirpX"] == "40 + 2"
        assert "Owner" not in here.updates

    play(tmp_path, scenario, "IMMUTABLE_JOB_ATTRS = Project\n", script=script)


def test_what_a_runs_machine_may_reach_is_decided_when_the_run_begins(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        shadow = here_now[0].host.shadows[(7, 3)]
        # As when somebody edits the job while it runs.
        shadow.set_attributes(WantIOProxy=True, StreamOut=True, LimitDirectoryAccess="/")
        assert (await starter.call(calls.Open(0, 0, "/etc/passwd"))).errno == 13
        assert shadow.access_limits() is not None
        shadow.set_attributes(LimitDirectoryAccess="")
        assert shadow.access_limits() is not None
        await starter.exit()

    here_now: list[ScheddEnd] = []

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        here_now.append(here)
        await here.run(there, WantRemoteUpdates=True, LimitDirectoryAccess=str(tmp_path))
        assert (await here.ended()).reason == 100

    play(tmp_path, scenario, script=script)


def test_a_job_that_wants_no_delayed_updates_has_none(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        report = ClassAd({"ImageSize": 5})
        report["ChirpDelayedAttrs"] = ClassAd({"ChirpX": 1})
        await starter.call(calls.RegisterJobInfo(report))
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, WantDelayedUpdates=False)
        await here.ended()
        assert "ImageSize" in here.updates
        assert "ChirpX" not in here.updates

    play(tmp_path, scenario, script=script)


def test_a_job_may_narrow_its_requirements_but_not_without_end(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        assert (await starter.call(calls.Constrain("Memory > 1"))).value == 0
        long = " && ".join(["Memory > 1"] * 1000)
        answers = [(await starter.call(calls.Constrain(long))).value for _ in range(10)]
        assert answers[0] == 0
        assert answers[-1] == -1
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, WantIOProxy=True)
        await here.ended()
        assert here.updates["Requirements"].count("(true) && (Memory > 1)") == 1

    play(tmp_path, scenario, script=script)


def test_a_job_that_asked_for_no_chirp_reaches_neither_files_nor_its_ad(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        for call in (
            calls.Open(0, 0, "/etc/passwd"),
            calls.Unlink("job.log"),
            calls.SetJobAttr("1", "ChirpX"),
            calls.Constrain("true"),
        ):
            assert (await starter.call(call)).errno == 13, call
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert (await here.ended()).reason == 100

    play(tmp_path, scenario, script=script)
