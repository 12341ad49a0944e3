"""What `Schedd` says to a schedd, and the wheel's words where that fails."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

from kettle.attributes import codes
from kettle.classad import ClassAd as Ad
from kettle.client import jobs
from kettle.client.daemon import ask_ad
from kettle.client.pool import query_ads
from kettle.compat.htcondor2.arguments import check_expression
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.job_enums import JobAction, QueryOpt
from kettle.compat.htcondor2.process import PROCESS
from kettle.config.knobs.tools import ToolKnobs
from kettle.errors import (
    ClassAdSyntaxError,
    ConnectionLost,
    KettleError,
    NotCommitted,
    NotConnected,
    RefusedError,
)
from kettle.wire.commands import Command
from kettle.wire.messages.qmgmt import SetAttributeFlags

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.client.queue import Queue
    from kettle.compat.htcondor2.job_specs import Chosen
    from kettle.wire.sinful import Sinful

_OPTIONS: Final = {
    QueryOpt.SummaryOnly: "SummaryOnly",
    QueryOpt.IncludeClusterAd: "IncludeClusterAd",
    QueryOpt.IncludeJobsetAds: "IncludeJobsetAds",
}
# Names of the totals in an answer to an action, as programs read them.
_TOTALS: Final = {
    "TotalError": codes.ActionResult.ERROR,
    "TotalSuccess": codes.ActionResult.SUCCESS,
    "TotalNotFound": codes.ActionResult.NOT_FOUND,
    "TotalBadStatus": codes.ActionResult.BAD_STATUS,
    "TotalAlreadyDone": codes.ActionResult.ALREADY_DONE,
    "TotalPermissionDenied": codes.ActionResult.PERMISSION_DENIED,
}
_JOBS_IDS_SHOWN: Final = 2
_DAGMAN: Final = 8


def query_jobs(
    address: Sinful, constraint: str, projection: list[str], limit: int, opts: QueryOpt
) -> list[Ad]:
    """Return the ads that a query means."""
    try:
        check_expression(constraint)
        found = jobs.query_jobs(
            PROCESS.connector,
            address,
            constraint=constraint or "true",
            projection=projection,
            mine=_me() if opts & QueryOpt.DefaultMyJobsOnly else "",
            **_options(opts, limit),
        )
        found_ads = list(found)
    except ClassAdSyntaxError as error:
        raise HTCondorException("Failed to fetch ads from schedd, errmsg=") from error
    except KettleError as error:
        text = f"Failed to fetch ads from schedd, errmsg={error_text(error, 'TOOL')}"
        raise HTCondorException(text) from error
    if not opts & QueryOpt.SummaryOnly:
        return found_ads
    # By this the end of the answer was known; it says nothing.
    with contextlib.suppress(KeyError):
        del found.summary["Owner"]
    return [found.summary]


def _options(opts: QueryOpt, limit: int) -> dict[str, Any]:
    """Return what a query says of its options; a limit of 0 is one, too."""
    found: dict[str, Any] = {} if limit < 0 else {"LimitResults": limit}
    if opts == QueryOpt.AutoCluster:
        return {**found, "QueryDefaultAutocluster": True, "MaxReturnedJobIds": _JOBS_IDS_SHOWN}
    if opts == QueryOpt.GroupBy:
        return {**found, "ProjectionIsGroupBy": True, "MaxReturnedJobIds": _JOBS_IDS_SHOWN}
    return {**found, **{name: True for option, name in _OPTIONS.items() if opts & option}}


def _me() -> str:
    import os

    return PROCESS.config.get("USERNAME") or str(os.getuid())


def error_text(error: KettleError, subsystem: str) -> str:
    """Return an error in the reference's form, `WHO:NUMBER:WORDS`."""
    if isinstance(error, NotConnected):
        return f"CEDAR:6001:Failed to connect to {error.address}"
    code = error.code if isinstance(error, RefusedError) else 0
    return f"{subsystem}:{code}:{error}"


def read_claims(address: Sinful, constraint: str, projection: list[str]) -> list[Ad]:
    """Return the ads of claimed slots."""
    query = Ad({"MyType": "Query", "TargetType": "Machine"})
    try:
        query.insert_text("Requirements", constraint or "true", check=True)
    except ClassAdSyntaxError as error:
        raise HTCondorException("Cannot query schedd") from error
    if projection:
        query["Projection"] = ",".join(projection)
    with said_as("Cannot query schedd"):
        return query_ads(PROCESS.connector, address, Command.QUERY_STARTD_ADS, query)


def act(address: Sinful, action: JobAction, chosen: Chosen, reason: str, subcode: int | None) -> Ad:
    """Act on jobs; return how many had which result."""
    with said_as("Error when performing action on the schedd."):
        acted = jobs.act_on_jobs(
            PROCESS.connector,
            address,
            codes.JobAction(int(action)),
            ids=chosen.ids,
            constraint=chosen.constraint or "true",
            reason=reason,
            subcode=subcode if action is JobAction.Hold else None,
            of_each=False,
        )
    answer = Ad()
    for name, result in _TOTALS.items():
        answer[name] = acted.totals.get(result, 0)
    lines = dict(line.split(" = ", 1) for line in acted.lines)
    answer.insert_text("TotalJobAds", lines.get("TotalJobAds", "0"))
    answer.insert_text("TotalChangedAds", lines.get("ActionResult", "0"))
    return answer


def edit(address: Sinful, chosen: Chosen, name: str, text: str, flags: int) -> int:
    """Set an attribute of jobs; return of how many."""
    from kettle.client.queue import Queue

    flags |= int(SetAttributeFlags.NO_ACK)
    count = len(chosen.ids)
    lost = "Failed to connect to schedd."
    try:
        with Queue(PROCESS.connector, address) as queue:
            lost = "Unable to commit transaction:"
            if chosen.ids:
                for job in chosen.ids:
                    cluster, _, proc = job.partition(".")
                    queue.post_attribute(int(cluster), int(proc), name, text, flags=flags)
            else:
                count = _edit_where(queue, chosen.constraint, name, text, flags)
            queue.commit("Unable to commit transaction")
    except ConnectionLost as error:
        raise HTCondorException(lost) from error
    except KettleError as error:
        between = "" if chosen.ids else " "
        words = error.reason if isinstance(error, NotCommitted) else str(error)
        raise HTCondorException(f"Unable to commit transaction:{between}{words}") from error
    return count


def _edit_where(queue: Queue, constraint: str, name: str, text: str, flags: int) -> int:
    config = PROCESS.config
    if not config.value(ToolKnobs.CONDOR_Q_ONLY_MY_JOBS):
        # As the reference has it: who sees everybody's jobs edits only his own.
        flags |= int(SetAttributeFlags.ONLY_MY_JOBS)
    try:
        return queue.set_where(constraint or "true", name, text, flags=flags)
    except RefusedError as error:
        raise HTCondorException("Unable to edit jobs matching constraint") from error


def reschedule(address: Sinful) -> None:
    """Ask for a negotiation; a schedd that does not hear it is no error, as in the reference."""
    try:
        jobs.reschedule(PROCESS.connector, address)
    except KettleError:
        PROCESS.say(0, "the schedd could not be told to reschedule")


def retrieve(address: Sinful, constraint: str) -> None:
    """Fetch the output of spooled jobs; HTCondorException at the first that cannot be had."""
    from kettle.client.spool import fetch_output, place_for

    where = "DCSchedd::receiveJobSandbox"
    with said_as(
        lambda error: (
            f"{where}:6001:Failed to connect to schedd"
            if isinstance(error, NotConnected)
            else f"{where}:7003:{error}"
        )
    ):
        failures = [
            f"{where}:7003:File transfer failed for target job {_id_of(job)}: "
            f"{outcome.failure.reason}"
            for job, outcome in fetch_output(PROCESS.connector, address, constraint, place_for)
            if outcome.failure is not None
        ]
    if failures:
        raise HTCondorException(failures[0])


def _id_of(job: Ad) -> str:
    return f"{job.integer('ClusterId')}.{job.integer('ProcId')}"


def refresh_proxy(address: Sinful, cluster: int, proc: int, path: str, lifetime: int) -> int:
    """Refuse to send a proxy: nothing of Kettle's takes one."""
    del address, cluster, proc, path, lifetime
    raise HTCondorException("DCSchedd::delegateGSIcredential:6003:Failed to send proxy file")


def no_answer(where: str) -> Callable[[KettleError], str]:
    """Return what says why a schedd does not answer the request that the reference names so."""

    def tell(error: KettleError) -> str:
        if isinstance(error, NotConnected):
            return f"{where}:6001:Failed to connect to schedd"
        return "No result ad"

    return tell


def ask(address: Sinful, command: Command, request: Ad) -> Ad:
    """Send an ad and return the ad that answers it."""
    return ask_ad(PROCESS.connector, address, command, request)


def find_dag(address: Sinful, cluster: int) -> Ad:
    """Return how a running DAG can be spoken to, or why it cannot."""
    request = Ad({"ClusterId": cluster, "ProcId": 0, "ContactDaemonType": _DAGMAN})
    with said_as(no_answer("DCSchedd::getDAGManContact")):
        return ask(address, Command.GET_CONTACT_INFO, request)


def query_units(address: Sinful, request: Ad) -> list[Ad]:
    """Return the units of cores of users' own."""
    from kettle.wire.messages import daemoncore

    command = Command.QUERY_OCU_FROM_USERREC
    with (
        said_as("Cannot send OCU query request to schedd"),
        PROCESS.connector.connect(address, command, force_authentication=True) as stream,
    ):
        stream.send(daemoncore.Request(request))
        reader = stream.receive()
        return [reader.ad() for _ in range(reader.integer())]
