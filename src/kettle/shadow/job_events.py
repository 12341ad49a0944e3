"""The events of a running job, made from its ad and from what its starter said.

Pure: which event is written when is decided in `shadow_machine.py` and `endings.py`; the bytes are
`kettle.records.event_log`'s.
"""

from __future__ import annotations

from typing import Any

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd, unparse
from kettle.classad.nodes import literal
from kettle.classad.values import saturate_integer
from kettle.records.event_base import Event
from kettle.records.event_ends import JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_grid import RemoteErrorEvent
from kettle.records.event_kinds import ExecuteEvent, JobHeldEvent, JobImageSizeEvent
from kettle.records.event_usage import CpuTimes, UsageValue
from kettle.shadow.endings import Ending, why_it_left

_SIZES = (
    ("memory_mb", "MemoryUsage"),
    ("resident_kb", "ResidentSetSize"),
    ("proportional_kb", "ProportionalSetSize"),
)


def _resources(ad: ClassAd, attribute: str) -> list[str]:
    return (ad.string(attribute) or "Cpus Memory Disk GPUs").replace(",", " ").split()


def starter_facts(info: ClassAd, job: ClassAd) -> ClassAd:
    """Return what events need of what register_starter_info said: a thousand shadows keep it."""
    facts = ClassAd()
    for name in ("Name", "MachineResources", *_announced(info), *_asked_for(job)):
        text = info.text(name)
        if text is not None:
            facts.insert_text(name, text)
    return facts


def _announced(info: ClassAd) -> list[str]:
    """Return the attributes of a slot that event 001 tells of."""
    names = ["CondorScratchDir", *_resources(info, "MachineResources")]
    return [attribute for name in names for attribute in (name, f"Available{name}")]


def _asked_for(job: ClassAd) -> list[str]:
    """Return the attributes of a slot that the job wants told too (`ulog_execute_attrs`)."""
    return (job.string("UserLogExecuteEventAttrs") or "").replace(",", " ").split()


def execute_event(startd_address: str, facts: ClassAd, job: ClassAd) -> ExecuteEvent:
    """Return event 001; `facts` are `starter_facts`'."""
    event = ExecuteEvent(host=startd_address, slot_name=facts.string("Name"))
    for attribute in _announced(facts):
        text = facts.text(attribute)
        if text is not None:
            event.properties[attribute] = text
    event.properties.pop("Swap", None)
    for attribute in _asked_for(job):
        value = facts.evaluate(attribute)
        if isinstance(value, (bool, int, float, str)):
            event.properties.setdefault(attribute, unparse(literal(value), old=True))
    return event


def _number(value: object) -> UsageValue | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value


# Why a program that was to be started never was.
_NEVER_STARTED = frozenset(
    {
        HoldReasonCode.FailedToCreateProcess,
        HoldReasonCode.UnableToOpenInput,
        HoldReasonCode.UnableToOpenOutput,
        HoldReasonCode.IwdError,
    }
)


def usage_table(job: ClassAd, now: float, *, executed: bool = True) -> dict[str, UsageValue]:
    """Return the attributes of the table of resources of events 004 and 005.

    Without a second of execution there is no use of processors to tell; what could not be
    `executed` at all has no time of execution either, though its event 001 was written. What never
    came so far has no time in its slot.
    """
    table: dict[str, UsageValue] = {}
    for name in _resources(job, "ProvisionedResources"):
        allocated = _number(job.evaluate(f"{name}Provisioned"))
        if allocated is None:
            continue
        table[name] = allocated
        for attribute in (f"Request{name}", f"{name}Usage", f"{name}AverageUsage"):
            number = _number(job.evaluate(attribute))
            if number is not None:
                table[attribute] = number
        assigned = job.string(f"Assigned{name}")
        if assigned:
            table[f"Assigned{name}"] = assigned
    executing = job.integer("JobCurrentStartExecutingDate")
    started = job.integer("JobCurrentStartDate")
    began = bool(executing and (not started or executing >= started))
    if executed and executing and began:
        table["TimeExecuteUsage"] = max(0, int(now) - executing)
    if not executed or table.get("TimeExecuteUsage") == 0:
        table.pop("CpusUsage", None)
    if started and began:
        table["TimeSlotBusyUsage"] = max(0, int(now) - started)
    return table


def _run_times(job: ClassAd) -> CpuTimes:
    return CpuTimes(job.integer("RemoteUserCpu") or 0, job.integer("RemoteSysCpu") or 0)


def _total_times(job: ClassAd) -> CpuTimes:
    run = _run_times(job)
    return CpuTimes(
        (job.real("CumulativeRemoteUserCpu") or 0.0) + run.user_seconds,
        (job.real("CumulativeRemoteSysCpu") or 0.0) + run.system_seconds,
    )


def _exit_fields(job: ClassAd) -> dict[str, Any]:
    by_signal = job.boolean("ExitBySignal") is True
    return {
        "normal": not by_signal,
        "return_value": None if by_signal else job.integer("ExitCode") or 0,
        "signal": job.integer("ExitSignal") if by_signal else None,
        "core_file": job.string("JobCoreFileName") if by_signal else None,
    }


def terminated_event(job: ClassAd, sent: int, received: int, now: float) -> JobTerminatedEvent:
    """Return event 005; `sent` and `received` are the bytes of this run, from the job's view."""
    return JobTerminatedEvent(
        **_exit_fields(job),
        run_remote=_run_times(job),
        total_remote=_total_times(job),
        sent_bytes=sent,
        received_bytes=received,
        total_sent_bytes=(job.real("BytesSent") or 0.0) + sent,
        total_received_bytes=(job.real("BytesRecvd") or 0.0) + received,
        usage=usage_table(job, now),
    )


def evicted_event(
    job: ClassAd, ending: Ending, sent: int, received: int, now: float, *, requeued: bool = False
) -> JobEvictedEvent:
    """Return event 004, with the exit in it if the job ended and goes back into the queue."""
    reason, code, subcode = ending.reason, ending.code, ending.subcode
    if ending.has_code:
        reason, code, subcode = why_it_left(reason, code, subcode)
    event = JobEvictedEvent(
        checkpointed=ending.checkpointed,
        run_remote=_run_times(job),
        sent_bytes=sent,
        received_bytes=received,
        reason=reason or None,
        reason_code=code if ending.has_code else None,
        reason_subcode=subcode if ending.has_code else None,
    )
    if requeued:
        event.requeued = True
        for name, value in _exit_fields(job).items():
            setattr(event, name, value)
    else:
        started = not (ending.has_code and ending.code in _NEVER_STARTED)
        event.usage = usage_table(job, now, executed=started)
    return event


def held_event(ending: Ending) -> JobHeldEvent:
    """Return event 012."""
    return JobHeldEvent(reason=ending.reason, code=ending.code, subcode=ending.subcode)


def image_size_event(job: ClassAd) -> JobImageSizeEvent:
    """Return event 006 for the sizes the job has now."""
    event = JobImageSizeEvent(size_kb=job.integer("ImageSize") or 0)
    for name, attribute in _SIZES:
        value = job.evaluate(attribute)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            setattr(event, name, saturate_integer(value))
    return event


def remote_error_event(ad: ClassAd) -> RemoteErrorEvent:
    """Return event 021 from the ad that the starter sent with its ulog call."""
    return RemoteErrorEvent(
        daemon=ad.string("Daemon") or "starter",
        host=ad.string("ExecuteHost") or "",
        message=ad.string("ErrorMsg") or "",
        critical=ad.boolean("CriticalError") is not False,
        code=ad.integer("HoldReasonCode"),
        subcode=ad.integer("HoldReasonSubCode"),
    )


def stamp(event: Event, cluster: int, proc: int, now: float) -> Event:
    """Put the job and the moment into an event's header."""
    event.cluster, event.proc, event.time = cluster, proc, now
    return event
