"""Simulated jobs, and the witness who sees every one of them run.

A job is `/bin/job SECONDS CODE NAME`: it lives in virtual time on its machine until it ends, its
starter dies, or somebody kills it. One in four hides from its starter's death, as a program does
that left its process group, and lives on until the machine's next startd. The witness is not part
of the pool: what it saw is the truth that logs, history and queue are held against.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kettle.runtime.process.census import Census
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.process.processes import Child
from kettle.schedd.services import beside, local
from kettle.starter.launch import LaunchPlan
from kettle.starter.services.job import JobProcesses
from kettle.starter.services.use import JobUse
from kettle.starter.usage import Sample
from kettle.testing.simulation.processes import SimulatedProcess, SimulatedProcesses


@dataclass
class Execution:
    """One run of a job's program."""

    job: str
    machine: str
    began: float
    ended: float | None = None
    code: int | None = None
    # What it writes at its end, if its files travel.
    output: str = ""


@dataclass
class Witness:
    """What really ran, when and where."""

    executions: list[Execution] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    # Jobs that have left their queue.
    gone: set[str] = field(default_factory=set)

    def begin(self, job: str, machine: str, now: float) -> Execution:
        """See a program start; a second live one of the same job is what must never happen."""
        for other in self.executions:
            if other.job == job and other.ended is None:
                self.violations.append(
                    f"job {job} starts on {machine} at {now:.3f} while it runs on {other.machine} "
                    f"since {other.began:.3f}"
                )
        if job in self.gone:
            self.violations.append(f"job {job} starts on {machine} at {now:.3f} after its end")
        execution = Execution(job, machine, now)
        self.executions.append(execution)
        return execution

    def watch(self, process: SimulatedProcess, job: str) -> Execution:
        """See a program start in a process, and be there when that ends."""
        loop = process.table.loop
        execution = self.begin(job, process.machine, loop.time())

        def note() -> None:
            execution.ended = loop.time()

        process.at_death.append(note)
        return execution

    def runs_of(self, job: str) -> list[Execution]:
        """Return every run of one job, in order."""
        return [execution for execution in self.executions if execution.job == job]


def hides(name: str) -> bool:
    """Whether a job lives on when its starter is dead; always the same ones."""
    return zlib.crc32(name.encode()) % 4 == 0


def ignores_signals(name: str) -> bool:
    """Whether a job stays, whoever asks it to leave, until it is killed; always the same ones."""
    return zlib.crc32(name.encode()) % 5 == 0


class SimulatedJobProcesses(JobProcesses):
    """What a starter runs for its job; the programs live in the simulation's process table."""

    def __init__(
        self,
        processes: SimulatedProcesses,
        privileges: Privileges,
        account: Account,
        owner: SimulatedProcess,
        witness: Witness,
    ) -> None:
        super().__init__(processes, privileges, account)  # type: ignore[arg-type]
        self.use = SimulatedUse(self, privileges, self._processes)
        self._owner = owner
        self._witness = witness

    def launch(
        self,
        plan: LaunchPlan,
        streams: Mapping[int, int] | None = None,
        *,
        beside: bool = False,
    ) -> Child:
        """Start the program."""
        del streams
        seconds, code, name = float(plan.argv[1]), int(plan.argv[2]), plan.argv[3]
        table = self._owner.table

        async def live(process: SimulatedProcess) -> int:
            execution = self._witness.watch(process, name)
            travels = self._check_input(plan, name)
            await asyncio.sleep(seconds)
            if travels:
                execution.output = f"{name} on {process.machine} from {execution.began:.6f}"
                self._write_output(plan, name, execution.output)
            execution.code = code
            return code

        process = table.start(f"job {name}", self._owner.machine, live, self._owner)
        if not hides(name):
            self._owner.at_death.append(process.kill)
        if not beside:
            self.child = process.child
        return process.child

    def _check_input(self, plan: LaunchPlan, name: str) -> bool:
        """Look at the input of a program whose files travel; False for any other."""
        path = Path(plan.cwd, f"{name}.in")
        if self._owner.machine not in plan.cwd or not path.exists():
            return False
        found = path.read_text()
        if found != f"for {name}":
            self._witness.violations.append(f"job {name} finds {found!r} in its input")
        return True

    @staticmethod
    def _write_output(plan: LaunchPlan, name: str, text: str) -> None:
        Path(plan.cwd, f"{name}.out").write_text(text)

    def _mine(self) -> list[SimulatedProcess]:
        return [each for each in self._owner.table.living() if each.parent is self._owner]

    async def keep_census(self, census: Census) -> None:
        """Note nobody: what is left of programs is found in the simulation's table."""

    def living(self) -> list[int]:
        """Return the pids of the job's programs that run."""
        return [process.pid for process in self._mine()]

    def signal_program(self, pid: int, number: int) -> bool:
        """Signal a program; every signal that asks it to leave kills it, or else none does."""
        del number
        process = self._owner.table.all[pid]
        if not ignores_signals(process.name.removeprefix("job ")):
            process.kill()
        return True

    def suspend(self) -> int:
        """Note that the job is suspended; its time goes on."""
        self.suspended = True
        return len(self._mine())

    def resume(self) -> int:
        """Let it go on."""
        self.suspended = False
        return len(self._mine())

    def kill_all(self) -> bool:
        """Kill every program of the job; whether none was left."""
        mine = self._mine()
        for process in mine:
            process.kill()
        return not mine

    async def end_all(self) -> bool:
        """Kill until nothing is left."""
        if not self.kill_all():
            await asyncio.sleep(0.001)
        return not self._mine()


class SimulatedUse(JobUse):
    """What simulated programs use, which is nothing."""

    def sample(self) -> Sample:
        """Return what an idle program uses."""
        return Sample(pids=len(self._jobs.living()))

    def first_sample(self) -> Sample:
        """Return what a program uses when it has just begun."""
        return Sample(pids=1)

    def final_sample(self) -> Sample:
        """Return what an ended program used."""
        return Sample()


async def _find_nobody(*_: object) -> list[int]:
    """Look for no process: ours have no place in the system's list."""
    return []


def spare_the_system() -> None:
    """Have nobody look through the system's processes for what a simulated job has left."""
    for module in (beside, local):
        setattr(module, "hunt", _find_nobody)  # noqa: B010 - the module they import is not their own
