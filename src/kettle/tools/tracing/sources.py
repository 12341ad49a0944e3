"""Where a job's moments are: the daemons' logs, here and on its machine, and the job's event log.

Logs are looked through from their ends, bounded, with those that were moved aside before them; of
another machine's the newest files, which its startd sends to whoever may administer it.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterator

from kettle.classad import ClassAd, parse_old_ad
from kettle.config import Config
from kettle.config.knobs.log import LogKnobs
from kettle.errors import AuthorizationDenied, ClassAdSyntaxError, KettleError
from kettle.octets import to_bytes, to_text
from kettle.records.event_base import Event
from kettle.records.event_log import read_events
from kettle.records.history import read_backwards
from kettle.records.job_trace import Step, TraceLine, parse
from kettle.runtime.storage.small_files import require_regular
from kettle.runtime.storage.told import user_log_paths
from kettle.tools.reach import Reach

# Limit: how much of each log's end is looked through.
MOST_BYTES = 64 << 20
# The subsystems that say something about a job; a starter has a log for each slot.
_SUBSYSTEMS = ("NEGOTIATOR", "SCHEDD", "SHADOW", "STARTD", "STARTER")


# When, in epoch seconds, whether that is exact, and what was said.
Line = tuple[float, bool, TraceLine]


def read_lines(config: Config, global_id: str) -> tuple[list[Line], list[str]]:
    """Return the lines about a job with their moments, and what kept some from being read."""
    found: list[Line] = []
    gaps = []
    closed: set[str] = set()
    time_format = config[LogKnobs.DEBUG_TIME_FORMAT]
    for subsystem in _SUBSYSTEMS:
        path = config.get(f"{subsystem}_LOG")
        if not path:
            continue
        files = _files(path, each_slot=subsystem == "STARTER")
        for name in files:
            try:
                data = _read_tail(name)
            except PermissionError:
                closed.add(os.path.dirname(name))
                continue
            except OSError as error:
                gaps.append(f"{name}: {error.strerror}")
                continue
            found += _read(data, global_id, time_format)
    if closed:
        folders = " and ".join(sorted(closed))
        gaps.append(f"the logs in {folders} are closed to you: what only they know is left out")
    return found, gaps


def fetch_lines(
    reach: Reach, job: ClassAd, found: list[Line], *, gaps_told: bool
) -> tuple[list[Line], list[str]]:
    """Return what the logs of the machine that ran a job last say, if ours do not say it.

    `found` is what ours say. With `gaps_told` nothing is said of a refusal: who may not read the
    logs here, and has been told so, gets none from elsewhere. Moments are taken to be in this
    machine's time zone and format.
    """
    host = job.string("RemoteHost") or job.string("LastRemoteHost") or ""
    slot, _, machine = host.rpartition("@")
    if not machine or any(line.step is Step.ACTIVATED for _, _, line in found):
        return [], []
    from kettle.client.daemon import fetch_log
    from kettle.client.pool import STARTD

    global_id = job.string("GlobalJobId") or ""
    time_format = reach.config[LogKnobs.DEBUG_TIME_FORMAT]
    more: list[Line] = []
    try:
        address = reach.pool.locate(STARTD, machine).address
        for name in ("STARTD", f"STARTER.{slot}"):
            data = bytearray()
            for piece in fetch_log(reach.connector, address, name):
                data += piece
                if len(data) > 2 * MOST_BYTES:
                    del data[:-MOST_BYTES]
            more += _read(bytes(data), global_id, time_format)
    except AuthorizationDenied:
        if gaps_told:
            return more, []
        return more, [f"the logs of {machine} are sent to its administrators only"]
    except (KettleError, OSError) as error:
        return more, [f"the logs of {machine} cannot be read: {error}"]
    return more, []


def find_in_history(config: Config, word: str) -> ClassAd | None:
    """Return the last ad of a job (CLUSTER or CLUSTER.PROC) in this machine's history file."""
    cluster, _, proc = word.partition(".")
    wanted = {f"ClusterId = {int(cluster)}"} | ({f"ProcId = {int(proc)}"} if proc else set())
    try:
        with open(config.get("HISTORY") or "", "rb") as file:
            size = file.seek(0, os.SEEK_END)
            for record in read_backwards(
                lambda at, length: os.pread(file.fileno(), length, at), size
            ):
                if wanted.issubset(record.lines):
                    return parse_old_ad("\n".join(record.lines), check=False)
    except (OSError, ClassAdSyntaxError):
        pass
    return None


def _read(data: bytes, global_id: str, time_format: str) -> Iterator[Line]:
    for text in _about(data, global_id):
        moment = read_moment(text, time_format)
        line = parse(_behind_moment(text, time_format).rstrip())
        if moment is not None and line is not None and line.job == global_id:
            yield *moment, line


def read_job_events(job: ClassAd) -> list[Event]:
    """Return the events of a job in its own log; none if that cannot be read here.

    A log may have those of older jobs with the same number.
    """
    cluster, proc = job.integer("ClusterId"), job.integer("ProcId")
    since = job.integer("QDate") or 0
    for path in user_log_paths(job)[:1]:
        try:
            data = _read_tail(path)
        except OSError:
            return []
        year = time.localtime().tm_year
        return [
            event
            for event in read_events(data, year=year)
            if (event.cluster, event.proc) == (cluster, proc) and event.time >= since
        ]
    return []


def read_moment(line: str, time_format: str) -> tuple[float, bool] | None:
    """Read a line's head: epoch seconds, and whether they are exact to the millisecond."""
    words = line.split(" ", 12)
    if words[0].replace(".", "", 1).isdecimal() and len(words[0].partition(".")[0]) >= 9:
        return float(words[0]), "." in words[0]
    count = len(time_format.split(" "))
    if len(words) < count:
        return None
    head, fraction = " ".join(words[:count]), 0.0
    whole, dot, digits = head.rpartition(".")
    exact = bool(dot) and len(digits) == 3 and digits.isdecimal()
    if exact:
        head, fraction = whole, int(digits) / 1000
    try:
        return time.mktime(time.strptime(head, time_format)) + fraction, exact
    except (ValueError, OverflowError):
        return None


def _behind_moment(line: str, time_format: str) -> str:
    """Return what stands behind a line's moment."""
    words = line.split(" ", 1)
    if not words[0].replace(".", "", 1).isdecimal():
        words = line.split(" ", len(time_format.split(" ")))
    return words[-1]


def _files(path: str, *, each_slot: bool) -> list[str]:
    """Return a log and those that were moved aside, oldest first."""
    pattern = glob.escape(path) + "*"
    names = [name for name in glob.glob(pattern) if os.path.isfile(name)]
    if not each_slot:
        names = [name for name in names if name == path or name.startswith(f"{path}.")]
    return sorted(names, key=os.path.getmtime)


def _read_tail(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(require_regular(descriptor), "rb") as file:
        size = os.fstat(descriptor).st_size
        file.seek(max(0, size - MOST_BYTES))
        return file.read(MOST_BYTES)


def _about(data: bytes, global_id: str) -> Iterator[str]:
    """Yield the lines that name a job."""
    wanted = to_bytes(f"{global_id}/")
    at = data.find(wanted)
    while at >= 0:
        begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        yield to_text(data[begin : end if end >= 0 else len(data)])
        at = data.find(wanted, end if end >= 0 else len(data))
