"""What becomes of a job whose next program cannot follow the one that has ended."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.runtime.process.processes import Child
from kettle.starter.launch import CannotLaunch
from kettle.starter.processes import Role
from kettle.starter.service import Starter
from kettle.starter.services.programs import Programs
from kettle.starter.services.shadow import LeaseOver

CHECKPOINT = 85
ODDITIES = [LeaseOver("the shadow did not come back"), RefusedError("no"), KeyError("a fault")]


async def nothing() -> None:
    return None


def fail(error: Exception) -> Any:
    async def call(_: object) -> None:
        raise error

    return call


class Stage(SimpleNamespace):
    """A starter whose one program has ended, and whose parts do nothing."""

    def __init__(self, **more: Any) -> None:
        super().__init__(said=[], told=[], vacate=None, transfers=True, _excess=None, _watch=None)
        self.job = ClassAd({"SuccessCheckpointExitCode": CHECKPOINT, "PostCmd": "after"})
        self.child = Child(42, "job")
        self.jobs = SimpleNamespace(child=self.child, lost_init=False, end_all=self.end_all)
        self.place = SimpleNamespace(allows_scripts=lambda *_: True)
        self.slot = ClassAd()
        self.end = SimpleNamespace(stays=True)
        self.orders = SimpleNamespace()
        self._census = SimpleNamespace(remove=lambda: None)
        self._disk_left = lambda: 0
        self.streams = SimpleNamespace(finish=nothing)
        self.__dict__.update(more)
        self.programs = Programs(self)  # type: ignore[arg-type]
        self.programs.processes = self.programs.processes.add(Role.JOB, 42)
        self.child.on_exit(self.programs._on_exit)

    def log(self, line: str) -> None:
        self.said.append(line)

    def trace(self, *_: object) -> None:
        return

    def stop_looking(self) -> None:
        return

    async def end_all(self) -> bool:
        return True

    async def report_failure(self, message: str, code: int, subcode: int) -> None:
        self.told.append((message, code, subcode))

    async def run(self, wait_status: int) -> None:
        """Let the program end, and await the end of all as a starter does; not for ever."""
        self._clean_up = nothing
        self._run = lambda: Starter._await_end(self)  # type: ignore[arg-type]
        self.control = SimpleNamespace(begin=lambda _: None)
        self.child.finish(wait_status, None)  # type: ignore[arg-type]
        async with asyncio.timeout(5):
            await Starter.run(self)  # type: ignore[arg-type]


@pytest.mark.parametrize("error", ODDITIES, ids=lambda error: type(error).__name__)
def test_a_checkpoint_that_fails_ends_the_wait_for_the_end(error: Exception) -> None:
    async def main() -> None:
        stage = Stage(shadow=SimpleNamespace(call=fail(error)))
        if isinstance(error, LeaseOver):
            await stage.run(CHECKPOINT << 8)
            assert stage.vacate.reason == "the job lease expired"
            return
        with pytest.raises(type(error)):
            await stage.run(CHECKPOINT << 8)
        assert stage.told == [(f"starter fault: {type(error).__name__}: {error}", 0, 0)]

    asyncio.run(main())


@pytest.mark.parametrize("error", ODDITIES, ids=lambda error: type(error).__name__)
def test_a_script_that_cannot_follow_for_a_fault_ends_the_wait(error: Exception) -> None:
    async def main() -> None:
        stage = Stage()
        stage.programs._spawn = fail(error)  # type: ignore[method-assign]
        if isinstance(error, LeaseOver):
            await stage.run(0)
            assert stage.vacate.reason == "the job lease expired"
            return
        with pytest.raises(type(error)):
            await stage.run(0)
        assert stage.told == [(f"starter fault: {type(error).__name__}: {error}", 0, 0)]

    asyncio.run(main())


def test_a_fault_as_a_program_ends_ends_the_wait() -> None:
    async def main() -> None:
        def take_core(*_: object) -> None:
            raise KeyError("a fault")

        stage = Stage(
            keeper=SimpleNamespace(take_core=take_core), launch_plan=SimpleNamespace(cwd="/")
        )
        stage.jobs.pid_inside = 42
        stage.child.on_exit(lambda _: stage.log("the next one was called, too"))
        with pytest.raises(KeyError):
            await stage.run(11)
        assert stage.told == [("starter fault: KeyError: 'a fault'", 0, 0)]
        assert "the next one was called, too" in stage.said

    asyncio.run(main())


def test_nothing_follows_what_could_not_follow() -> None:
    """What ran beside is killed then, and its end begins nothing."""

    async def main() -> None:
        stage = Stage(shadow=SimpleNamespace(call=fail(RefusedError("no"))))
        tool = Child(43, "tool")
        stage.programs.processes = stage.programs.processes.add(Role.TOOL, 43)
        tool.on_exit(stage.programs._on_exit)
        stage.programs._spawn = fail(AssertionError("started"))  # type: ignore[method-assign]
        with pytest.raises(RefusedError):
            await stage.run(CHECKPOINT << 8)
        tool.finish(9, None)  # type: ignore[arg-type]
        await asyncio.sleep(0)
        assert stage.programs._following() is None

    asyncio.run(main())


def test_a_program_that_cannot_be_started_is_told_and_no_fault() -> None:
    async def main() -> None:
        stage = Stage()
        stage.programs._spawn = fail(CannotLaunch("no such script", 6))  # type: ignore[method-assign]
        await stage.run(0)
        assert stage.told == [("no such script", 6, 0)]

    asyncio.run(main())
