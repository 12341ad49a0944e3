"""A job's processes, active and reaped, and which of its programs comes next.

What starts and reaps them is `services/programs.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kettle.choices import Choice


class Role(Choice):
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
