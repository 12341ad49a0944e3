"""Job ads made from an event log: what `condor_q` and `condor_history -userlog` show.

Only what the events tell, by the reference's rules: an ad begins at the submission (what comes
before it is passed over), the log's jobs belong to whoever asks, and what no event says has a
value that tells so. A batch's name is not taken from the log.
"""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Callable

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.records.event_base import Event
from kettle.records.event_ends import JobTerminatedEvent
from kettle.records.event_kinds import ExecuteEvent, JobHeldEvent, JobImageSizeEvent, SubmitEvent
from kettle.records.event_log import read_events
from kettle.runtime.storage.texts import LARGEST_ADS, read_bytes

# Event number → the state after it, and the attribute for its reason.
_STATES = {
    1: (JobStatus.RUNNING, ""),
    4: (JobStatus.IDLE, "LastVacateReason"),
    5: (JobStatus.COMPLETED, ""),
    7: (JobStatus.IDLE, "LastVacateReason"),
    9: (JobStatus.REMOVED, "RemoveReason"),
    10: (JobStatus.SUSPENDED, ""),
    11: (JobStatus.RUNNING, ""),
    12: (JobStatus.HELD, "HoldReason"),
    13: (JobStatus.IDLE, "ReleaseReason"),
    24: (JobStatus.IDLE, "LastVacateReason"),
}
# After these the job is no longer where it was.
_LEAVES = frozenset({4, 7, 12, 24})
_UNKNOWN = "???"
# A hold that the user asked for.
_USER_REQUEST = 1


def read_log_file(path: str) -> list[ClassAd]:
    """Return the ads of a log's jobs; OSError if it cannot be read."""
    return replay_log(read_bytes(path, limit=LARGEST_ADS), _own_name(), path, int(time.time()))


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return _UNKNOWN


def replay_log(data: bytes, owner: str, path: str, now: int) -> list[ClassAd]:
    """Return an ad for each job in the log, by their ids."""
    jobs: dict[tuple[int, int], ClassAd] = {}
    for event in read_events(data):
        job = event.cluster, event.proc
        # A cluster's own submission, 035, is another's kind.
        if isinstance(event, SubmitEvent) and event.number == SubmitEvent.number:
            jobs[job] = _start(event, owner, path, now)
        ad = jobs.get(job)
        if ad is not None:
            _follow(ad, event)
    return [jobs[job] for job in sorted(jobs)]


def _start(event: SubmitEvent, owner: str, path: str, now: int) -> ClassAd:
    moment = int(event.time)
    return ClassAd(
        {
            "MyType": "Job",
            "TargetType": "Machine",
            "ClusterId": event.cluster,
            "ProcId": event.proc,
            "UserLog": path,
            "QDate": moment,
            "EnteredCurrentStatus": moment,
            "GlobalJobId": f"localhost#{event.cluster}.{event.proc}#{moment}",
            "ServerTime": now,
            "SubmitHost": event.host,
            "JobStatus": int(JobStatus.IDLE),
            "LastJobStatus": 0,
            "Owner": owner,
            "JobPrio": 0,
            "ImageSize": 0,
            "Cmd": _UNKNOWN,
            **dict.fromkeys(_ZEROS, 0),
            **dict.fromkeys(_TIMES, 0.0),
        }
    )


_ZEROS = (
    *("LastSuspensionTime", "CompletionDate", "NumJobStarts", "TotalSuspensions"),
    "NumSystemHolds",
)
_TIMES = (
    *("LocalUserCpu", "RemoteUserCpu", "LocalSysCpu", "RemoteSysCpu"),
    "RemoteWallClockTime",
)


def _follow(ad: ClassAd, event: Event) -> None:
    found = _STATES.get(event.number)
    if found is not None:
        state, reason_name = found
        before = ad.integer("JobStatus") or 0
        ad["LastJobStatus"], ad["JobStatus"] = before, int(state)
        ad["EnteredCurrentStatus"] = int(event.time)
        reason = getattr(event, "reason", None) or getattr(event, "message", None)
        if reason_name and reason:
            ad[reason_name] = str(reason)
        if event.number in _LEAVES and before != JobStatus.IDLE:
            ad["LastVacateTime"] = int(event.time)
            if reason and event.number == JobHeldEvent.number:
                ad["LastVacateReason"] = str(reason)
    take = _DETAILS.get(event.number)
    if take is not None:
        take(ad, event)


def _executing(ad: ClassAd, event: Event) -> None:
    assert isinstance(event, ExecuteEvent)
    ad["JobCurrentStartDate"] = int(event.time)
    ad["NumJobStarts"] = (ad.integer("NumJobStarts") or 0) + 1
    ad["StartdIpAddr"] = ad["RemoteHost"] = event.host


def _terminated(ad: ClassAd, event: Event) -> None:
    assert isinstance(event, JobTerminatedEvent)
    host = ad.string("RemoteHost")
    if host is not None:
        ad["LastRemoteHost"] = host
        del ad["RemoteHost"]
    ad["CompletionDate"] = int(event.time)
    ad["ExitBySignal"] = not event.normal
    if event.normal:
        ad["ExitCode"] = event.return_value or 0
    else:
        ad["ExitSignal"] = event.signal or 0
    for prefix, remote, local in (
        ("Last", event.run_remote, event.run_local),
        ("", event.total_remote, event.total_local),
    ):
        for where, times in (("Remote", remote), ("Local", local)):
            ad[f"{prefix}{where}UserCpu"] = times.user_seconds
            ad[f"{prefix}{where}SysCpu"] = times.system_seconds
    began = ad.integer("JobCurrentStartDate")
    if began is not None:
        seconds = float(int(event.time) - began)
        ad["LastRemoteWallClockTime"] = seconds
        ad["RemoteWallClockTime"] = (ad.real("RemoteWallClockTime") or 0.0) + seconds


def _suspended(ad: ClassAd, event: Event) -> None:
    ad["LastSuspensionTime"] = int(event.time)
    ad["TotalSuspensions"] = (ad.integer("TotalSuspensions") or 0) + 1


def _held(ad: ClassAd, event: Event) -> None:
    assert isinstance(event, JobHeldEvent)
    ad["HoldReasonCode"], ad["HoldReasonSubCode"] = event.code, event.subcode
    if event.code != _USER_REQUEST:
        ad["NumSystemHolds"] = (ad.integer("NumSystemHolds") or 0) + 1


def _grown(ad: ClassAd, event: Event) -> None:
    assert isinstance(event, JobImageSizeEvent)
    ad["ImageSize"] = event.size_kb
    ad["ResidentSetSize"] = event.resident_kb or 0
    known = event.proportional_kb
    ad["ProportionalSetSize"] = -1 if known is None else known


_DETAILS: dict[int, Callable[[ClassAd, Event], None]] = {
    1: _executing,
    5: _terminated,
    6: _grown,
    10: _suspended,
    12: _held,
}
