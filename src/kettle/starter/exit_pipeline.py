"""What happens when a job exits, step by step, and what is left to do after a failure.

Two stages (starter exit notes): reaping, then cleanup, which begins when no active process is
left. Every
wake-up runs the list from its start; a finished step is remembered and is not done again, a
failed one stops the pass. Performing the steps is `service.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import Enum


class Controller(Enum):
    """Who told the starter to run the job, and wants to know its end."""

    SHADOW = "shadow"
    LOCAL_FILE = "local file"
    LOCAL_SCHEDD = "local schedd"


class ExitStep(Enum):
    """One step of the cleanup stage, with its row in the manual's overview."""

    CANCEL_UPDATES = "cancel the periodic updates"
    EXIT_HOOK = "invoke HOOK_JOB_EXIT"
    TRANSFER_OUTPUT = "transfer the output files"
    JOB_POLICY = "evaluate the job's exit policy"
    USER_LOG = "write the local user log event"
    UPDATE_STARTD = "send the final update ad to the startd"
    JOB_EXIT = "tell the shadow (job_exit)"
    QUEUE_UPDATE = "tell the schedd (queue management)"
    MAIL = "send the notification mail"
    AD_FILE = "write the final job ad to its file"
    AWAIT_DEACTIVATION = "wait for the claim to be deactivated"


S = ExitStep
STEPS: dict[Controller, tuple[ExitStep, ...]] = {
    Controller.SHADOW: (
        S.CANCEL_UPDATES,
        S.EXIT_HOOK,
        S.TRANSFER_OUTPUT,
        S.USER_LOG,
        S.UPDATE_STARTD,
        S.JOB_EXIT,
        S.AWAIT_DEACTIVATION,
    ),
    Controller.LOCAL_FILE: (S.CANCEL_UPDATES, S.EXIT_HOOK, S.USER_LOG, S.AD_FILE),
    # Mail and ad file come after the queue knows (M021).
    Controller.LOCAL_SCHEDD: (
        S.CANCEL_UPDATES,
        S.EXIT_HOOK,
        S.JOB_POLICY,
        S.USER_LOG,
        S.QUEUE_UPDATE,
        S.MAIL,
        S.AD_FILE,
    ),
}


Perform = Callable[[ExitStep], Awaitable[bool]]
"""Does one step; False where it failed and has to be tried again at the next wake-up."""


class ExitPipeline:
    """The cleanup stage of one job: steps in order, each done exactly once (M028)."""

    def __init__(self, controller: Controller) -> None:
        self.steps = STEPS[controller]
        self.done: list[ExitStep] = []

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return len(self.done) == len(self.steps)

    async def run(self, perform: Perform) -> bool:
        """Make one pass; True when all steps are done, False when one has to be retried."""
        for step in self.steps:
            if step in self.done:
                continue
            if not await perform(step):
                return False
            self.done.append(step)
        return True


class Role(Enum):
    """What a process of the starter is for."""

    PRE = "PreCmd"
    JOB = "Cmd"
    POST = "PostCmd"
    TOOL = "ToolDaemonCmd"


@dataclass(frozen=True)
class UserProcess:
    """One process the starter started, and its wait status once it is reaped."""

    role: Role
    pid: int
    status: int | None = None


@dataclass(frozen=True)
class ProcessList:
    """The active and the reaped processes of a starter (M003, M004, M005, M006, M007)."""

    active: tuple[UserProcess, ...] = ()
    reaped: tuple[UserProcess, ...] = ()

    def add(self, role: Role, pid: int) -> ProcessList:
        """A process was started."""
        return replace(self, active=(*self.active, UserProcess(role, pid)))

    def reap(self, pid: int, status: int) -> ProcessList:
        """Offer an exit to every active process; those concerned move to the reaped list.

        A tool daemon also ends when the job does.
        """
        job_ended = any(p.pid == pid and p.role is Role.JOB for p in self.active)
        active: list[UserProcess] = []
        reaped = list(self.reaped)
        for process in self.active:
            if process.pid == pid:
                reaped.append(replace(process, status=status))
            elif process.role is Role.TOOL and job_ended:
                reaped.append(process)
            else:
                active.append(process)
        return ProcessList(tuple(active), tuple(reaped))

    def status_of(self, role: Role) -> int | None:
        """Return the wait status of the process with this role, None before it ended."""
        for process in self.reaped:
            if process.role is role:
                return process.status
        return None

    def pid_of(self, role: Role) -> int | None:
        """Return the pid of the process with this role, None before it ended."""
        return next((process.pid for process in self.reaped if process.role is role), None)

    def forget(self, role: Role) -> ProcessList:
        """Let the process with this role begin anew, as after a checkpoint."""
        return replace(self, reaped=tuple(p for p in self.reaped if p.role is not role))

    def next_role(self, *, has_post: bool) -> Role | None:
        """Return what to start after the last exit: pre, then job, then post (M006).

        How a script ended matters only where the job says so (`outcome.is_script_success`).
        """
        if self.active:
            return None
        started = {process.role for process in self.reaped}
        if Role.JOB not in started:
            return Role.JOB
        if has_post and Role.POST not in started:
            return Role.POST
        return None
