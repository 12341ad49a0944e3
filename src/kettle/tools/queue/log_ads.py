"""Job ads made from an event log: what `condor_q -userlog` shows.

Only what the events tell: numbers, the time of submission, the state, where it runs.
"""

from __future__ import annotations

import pwd
from collections.abc import Callable
from pathlib import Path

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.records.event_base import Event
from kettle.records.event_log import read_events

# Event number → the state after it.
_STATES = {
    0: JobStatus.IDLE,
    1: JobStatus.RUNNING,
    4: JobStatus.IDLE,
    5: JobStatus.COMPLETED,
    7: JobStatus.IDLE,
    9: JobStatus.REMOVED,
    10: JobStatus.SUSPENDED,
    11: JobStatus.RUNNING,
    12: JobStatus.HELD,
    13: JobStatus.IDLE,
}


def read_log_file(path: str) -> list[ClassAd]:
    """Return the ads of a log's jobs; OSError if it cannot be read."""
    return replay_log(Path(path).read_bytes(), _name_of(Path(path).stat().st_uid))


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def replay_log(data: bytes, owner: str) -> list[ClassAd]:
    """Return an ad for each job in the log, in order of their first events."""
    jobs: dict[tuple[int, int], ClassAd] = {}
    for event in read_events(data):
        if event.cluster < 0 or event.proc < 0:
            continue
        ad = jobs.setdefault((event.cluster, event.proc), _start(event, owner))
        state = _STATES.get(event.number)
        if state is not None:
            ad["JobStatus"] = int(state)
            ad["EnteredCurrentStatus"] = int(event.time)
        take = _DETAILS.get(event.number)
        if take is not None:
            take(ad, event)
    return list(jobs.values())


def _start(event: Event, owner: str) -> ClassAd:
    return ClassAd(
        {
            "ClusterId": event.cluster,
            "ProcId": event.proc,
            "Owner": owner,
            "QDate": int(event.time),
            "JobStatus": int(JobStatus.IDLE),
            "JobUniverse": int(JobUniverse.VANILLA),
            "JobPrio": 0,
            "ImageSize": 0,
            "RemoteUserCpu": 0.0,
            "Cmd": "",
        }
    )


def _executing(ad: ClassAd, event: Event) -> None:
    ad["ShadowBday"] = int(event.time)
    ad["RemoteHost"] = str(getattr(event, "slot_name", "") or getattr(event, "host", ""))


def _held(ad: ClassAd, event: Event) -> None:
    ad["HoldReason"] = str(getattr(event, "reason", ""))
    ad["HoldReasonCode"] = int(getattr(event, "code", 0) or 0)
    ad["HoldReasonSubCode"] = int(getattr(event, "subcode", 0) or 0)


def _grown(ad: ClassAd, event: Event) -> None:
    ad["ImageSize"] = int(getattr(event, "size_kb", 0) or 0)


_DETAILS: dict[int, Callable[[ClassAd, Event], None]] = {
    1: _executing,
    6: _grown,
    12: _held,
}
