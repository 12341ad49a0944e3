"""Questions about what was: the histories of a schedd and of a startd."""

from __future__ import annotations

import re
from typing import Final

from kettle.classad import ClassAd as Ad
from kettle.compat.classad2 import ClassAd, ClassAdException, ExprTree
from kettle.compat.classad2.ads import of_engine
from kettle.compat.htcondor2.addresses import sinful_of
from kettle.compat.htcondor2.arguments import texts_of
from kettle.compat.htcondor2.errors import said_as
from kettle.compat.htcondor2.job_enums import HistorySrc
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import ClassAdSyntaxError, KettleError, NotConnected
from kettle.wire.commands import Command

Since = int | str | ExprTree | None
Constraint = str | ExprTree | None

_JOB: Final = re.compile(r"(\d+)(?:\.(\d+))?")
_SOURCES: Final = {
    HistorySrc.ScheddJob: "",
    HistorySrc.StartdJob: "STARTD",
    HistorySrc.JobEpoch: "JOB_EPOCH",
    HistorySrc.Daemon: "DAEMON",
}


def since_text(since: Since) -> str:
    """Return the expression that ends a search; empty for none. TypeError, ValueError."""
    if since is None:
        return ""
    if isinstance(since, int):
        return f"ClusterId == {since}"
    if isinstance(since, ExprTree):
        return str(since)
    if not isinstance(since, str):
        raise TypeError("since must be an int, string, or ExprTree")
    job = _JOB.fullmatch(since)
    if job is not None:
        cluster, proc = job.groups()
        return f"ClusterId == {cluster}" + (f" && ProcId == {proc}" if proc else "")
    try:
        ExprTree(since)
    except ClassAdException:
        raise ValueError(
            "The job_spec string must be a clusterID[.procID] or the string form of an ExprTree."
        ) from None
    return since


def read_history(
    address: str,
    source: HistorySrc,
    constraint: Constraint,
    projection: list[str],
    match: int,
    since: Since,
    ad_type: str | list[str] | None = None,
) -> list[ClassAd]:
    """Return the records of a kind, newest first; `match` is how many at most, -1 for all."""
    names = texts_of(list(projection), "projection")
    query = Ad({"NumJobMatches": int(match), "Projection": names})
    ending, wanted = since_text(since), _types(ad_type)
    try:
        if constraint is not None and str(constraint):
            query.insert_text("Requirements", str(constraint), check=True)
    except ClassAdSyntaxError:
        raise ValueError("invalid constraint") from None
    if ending:
        query.insert_text("Since", ending)
    if wanted:
        query["HistoryAdTypeFilter"] = wanted
    if _SOURCES[source]:
        query["HistoryRecordSource"] = _SOURCES[source]
    if source is HistorySrc.Daemon:
        query["DaemonHistorySubsys"] = wanted
    at_startd = source is HistorySrc.StartdJob
    command = Command.GET_HISTORY if at_startd else Command.QUERY_SCHEDD_HISTORY
    from kettle.client.jobs import query_history

    with said_as(_tell):
        found = query_history(PROCESS.connector, sinful_of(address), query, command=command)
        return [of_engine(ad) for ad in found]


def _types(ad_type: str | list[str] | None) -> str:
    if ad_type is None:
        return ""
    if isinstance(ad_type, list):
        return ",".join(ad_type)
    if not isinstance(ad_type, str):
        raise TypeError("ad_type must be a list of strings or a string")
    return ad_type


def _tell(error: KettleError) -> str:
    if isinstance(error, NotConnected):
        return f"Failed to connect to {error.address}"
    return str(error)


def check_daemon_since(since: object) -> None:
    """Raise TypeError unless a search of a daemon's own records ends with an expression."""
    if since is not None and not isinstance(since, ExprTree):
        raise TypeError("since must be an ExprTree")
