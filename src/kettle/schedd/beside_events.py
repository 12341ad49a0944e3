"""What a job's log is told of a job that runs beside the schedd.

Pure. Two writers of the reference are meant: its starter for the local universe, which writes 004
whenever a run does not end the job, without why, and its schedd for the scheduler universe. What
each wrote is recorded in tests/data/event_logs/beside (source of every rule here).
"""

from __future__ import annotations

import os

from kettle.attributes.codes import JobUniverse, ShadowExit
from kettle.errors import NotForked
from kettle.records.event_base import Event
from kettle.records.event_ends import JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_grid import RemoteErrorEvent
from kettle.records.event_kinds import JobHeldEvent
from kettle.records.event_usage import CpuTimes
from kettle.schedd.beside import NotStarted, Run, StarterDied


def last_events(run: Run, status: int, reason: int, more: dict[str, object]) -> list[Event]:
    """Return what a log is told of the end of a run, by its wait status and exit reason."""
    is_local = run.job.universe == JobUniverse.LOCAL
    if reason == ShadowExit.EXITED:
        ended = JobTerminatedEvent()
        _set_times(ended, run)
        if not is_local:
            ended.total_remote = ended.run_remote
        _set_ending(ended, status)
        return [ended]
    evicted = JobEvictedEvent()
    _set_times(evicted, run)
    if run.wish == "Hold" and run.released:
        return [evicted]
    if run.wish == "Hold":
        return [evicted, JobHeldEvent(reason=run.reason, code=run.code, subcode=run.subcode)]
    if reason == ShadowExit.SHOULD_HOLD:
        held = JobHeldEvent(
            reason=str(more["HoldReason"]),
            code=int(str(more["HoldReasonCode"])),
            subcode=int(str(more["HoldReasonSubCode"])),
        )
        return [evicted, held] if is_local else [held]
    if reason == ShadowExit.SHOULD_REQUEUE and (is_local or not run.wish):
        evicted.requeued = True
        # Why a local job had to leave its log does not say.
        evicted.reason = None if run.wish else run.reason or None
        _set_ending(evicted, status)
    return [evicted]


def failure_events(run: Run, failure: NotStarted, host: str) -> list[Event]:
    """Return what a log is told of a program that could not be started."""
    held = JobHeldEvent(reason=str(failure), code=failure.code, subcode=failure.subcode)
    if run.job.universe != JobUniverse.LOCAL:
        return [held]
    error = RemoteErrorEvent(daemon="starter", host=host, message=str(failure))
    return [error, JobEvictedEvent(), held]


def lost_events(run: Run, failure: StarterDied | NotForked) -> list[Event]:
    """Return what a log is told of a run that was lost: nothing if it never began."""
    return [JobEvictedEvent(reason=str(failure))] if run.executed else []


def _set_times(event: JobTerminatedEvent | JobEvictedEvent, run: Run) -> None:
    user = run.attributes.get("RemoteUserCpu", 0.0)
    system = run.attributes.get("RemoteSysCpu", 0.0)
    times = CpuTimes(float(str(user)), float(str(system)))
    if run.job.universe == JobUniverse.LOCAL:
        event.run_local = times
    else:
        # Compat: the reference writes zeros (test_the_log_of_a_scheduler_job_has_its_times).
        event.run_remote = times


def _set_ending(event: JobTerminatedEvent | JobEvictedEvent, status: int) -> None:
    event.normal = not os.WIFSIGNALED(status)
    event.return_value = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
    event.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
