"""`Schedd`: questions about jobs, actions on them, submission, their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from kettle.client import exports
from kettle.compat.classad2 import ClassAd, ExprTree
from kettle.compat.classad2.ads import of_engine, to_engine
from kettle.compat.htcondor2 import schedd_calls
from kettle.compat.htcondor2.addresses import check_location, sinful_of
from kettle.compat.htcondor2.arguments import texts_of
from kettle.compat.htcondor2.collector import Collector
from kettle.compat.htcondor2.daemon_enums import DaemonType
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.history import (
    Constraint,
    Since,
    check_daemon_since,
    read_history,
)
from kettle.compat.htcondor2.job_enums import HistorySrc, JobAction, QueryOpt, TransactionFlag
from kettle.compat.htcondor2.job_specs import JobSpec, choose
from kettle.compat.htcondor2.process import PROCESS
from kettle.compat.htcondor2.schedd_records import RecordsOfSchedd
from kettle.wire.commands import Command

if TYPE_CHECKING:
    from kettle.classad import ClassAd as Ad
    from kettle.compat.htcondor2.submit import Submit
    from kettle.compat.htcondor2.submit_result import SubmitResult
    from kettle.wire.sinful import Sinful

Callback = Callable[[ClassAd], Any]

# What stands for "no item data was given": None says that there is none.
DEFAULT_ITEMS: Final[Any] = object()


class Schedd(RecordsOfSchedd):
    """A schedd: this host's, or the one of a location ad."""

    def __init__(self, location: ClassAd | None = None) -> None:
        """Find this host's schedd, or take the one that `Collector.locate` found."""
        if location is None:
            location = Collector().locate(DaemonType.Schedd)
        self._addr: str = check_location(location)["MyAddress"]
        self._version: str = check_location(location)["CondorVersion"]

    @property
    def _address(self) -> Sinful:
        return sinful_of(self._addr)

    # -- Questions --------------------------------------------------------------------------

    def query(
        self,
        constraint: str | ExprTree = "True",
        projection: list[str] = [],  # noqa: B006 - as the wheel has it; never changed
        callback: Callback | None = None,
        limit: int = -1,
        opts: QueryOpt = QueryOpt.Default,
    ) -> list[ClassAd]:
        """Return the ads of the jobs that the constraint is true for, `limit` at most.

        With `callback` what it returns for each ad instead, None left out.
        """
        names = texts_of(projection, "projection")
        found = schedd_calls.query_jobs(
            self._address, str(constraint), names, int(limit), QueryOpt(opts)
        )
        return chosen_by(callback, map(of_engine, found))

    def history(
        self,
        constraint: Constraint = None,
        projection: list[str] = [],  # noqa: B006
        match: int = -1,
        since: Since = None,
    ) -> list[ClassAd]:
        """Return the records of jobs that have left the queue, newest first, `match` at most.

        The search ends at the job, cluster or expression that `since` names.
        """
        return self._history(HistorySrc.ScheddJob, constraint, projection, match, since)

    def jobEpochHistory(  # noqa: N802
        self,
        constraint: Constraint = None,
        projection: list[str] = [],  # noqa: B006
        match: int = -1,
        since: Since = None,
        **kwargs: Any,
    ) -> list[ClassAd]:
        """Return the records of single runs, as `history`; `ad_type` names the kinds of them."""
        return self._history(HistorySrc.JobEpoch, constraint, projection, match, since, **kwargs)

    def daemonHistory(  # noqa: N802
        self,
        constraint: Constraint = None,
        projection: list[str] = [],  # noqa: B006
        match: int = -1,
        since: ExprTree | None = None,
    ) -> list[ClassAd]:
        """Return the records that the schedd keeps of itself, as `history`."""
        check_daemon_since(since)
        return self._history(
            HistorySrc.Daemon, constraint, projection, match, since, ad_type="SCHEDD"
        )

    def _history(
        self,
        src: int,
        constraint: Constraint = None,
        projection: list[str] = [],  # noqa: B006
        match: int = -1,
        since: Since = None,
        **kwargs: Any,
    ) -> list[ClassAd]:
        return read_history(
            self._addr,
            HistorySrc(src),
            constraint,
            projection,
            match,
            since,
            kwargs.get("ad_type"),
        )

    def get_claims(
        self,
        constraint: Constraint = None,
        projection: list[str] = [],  # noqa: B006
    ) -> list[ClassAd]:
        """Return the ads of the slots that the schedd has claims on."""
        names = texts_of(list(projection), "projection")
        text = "" if constraint is None else str(constraint)
        return [of_engine(ad) for ad in schedd_calls.read_claims(self._address, text, names)]

    # -- Changes ----------------------------------------------------------------------------

    def act(
        self, action: JobAction, job_spec: JobSpec, reason: str | tuple[str, int] | None = None
    ) -> ClassAd:
        """Hold, release, remove, … jobs; return how many had which result.

        `reason` is said in the jobs' ads; a pair of a reason and a number is that, and
        HoldReasonSubCode.

        Compat: the wheel forgets a reason that is only a text; here it counts (shown by
        test_a_reason_that_is_a_text_is_kept).
        """
        if not isinstance(action, JobAction):
            raise TypeError("action must be a JobAction")
        subcode: int | None = None
        if isinstance(reason, tuple):
            reason, subcode = reason[0], int(reason[1])
        words = "Python-initiated action" if reason is None else str(reason)
        return of_engine(schedd_calls.act(self._address, action, choose(job_spec), words, subcode))

    def edit(
        self,
        job_spec: JobSpec,
        attr: str,
        value: str | ExprTree,
        flags: TransactionFlag = TransactionFlag.Default,
    ) -> int:
        """Set an attribute of jobs to an expression; return how many jobs there were."""
        if not isinstance(flags, TransactionFlag):
            raise TypeError("flags must be a TransactionFlag")
        text = repr(value) if isinstance(value, ExprTree) else str(value)
        if job_spec == []:
            return 0
        return schedd_calls.edit(self._address, choose(job_spec), attr, text, int(flags))

    def reschedule(self) -> None:
        """Ask the schedd to ask for matches now."""
        schedd_calls.reschedule(self._address)

    # -- Submission and files ---------------------------------------------------------------

    def submit(
        self,
        description: Submit,
        count: int = 0,
        spool: bool = False,
        itemdata: Iterator[str] | Iterator[dict[str, str]] | None = DEFAULT_ITEMS,
        queue: str | None = None,
    ) -> SubmitResult:
        """Put the jobs of a description into the queue, all of them or none.

        `count` is how many of each item instead of the queue statement's number; `itemdata` are
        items instead of the statement's, lines or dictionaries with the same names; `queue` is
        another statement. With `spool` the jobs wait for `spool()` to send their input.
        """
        from kettle.compat.htcondor2.submit import Submit
        from kettle.compat.htcondor2.submitting import submit

        if not isinstance(description, Submit):
            raise TypeError("description must be an htcondor2.Submit object")
        given = itemdata is not DEFAULT_ITEMS
        if queue is not None and (given or count != 0):
            raise ValueError("queue and count/itemdata are mutually exclusive")
        real = description.with_items(itemdata) if given else description.with_queue(queue)
        return submit(self._address, real, int(count), spooled=bool(spool))

    def spool(self, result: SubmitResult) -> None:
        """Send the input files of jobs that were submitted with `spool`."""
        from kettle.compat.htcondor2.submitting import spool

        spool(self._address, result)

    def retrieve(self, job_spec: JobSpec) -> None:
        """Fetch the output of jobs whose input was spooled, to where their descriptions say."""
        schedd_calls.retrieve(self._address, choose(job_spec).expression())

    def refreshGSIProxy(  # noqa: N802
        self, cluster: int, proc: int, proxy_filename: str, lifetime: int = -1
    ) -> int:
        """Give a job a new X.509 proxy; return how many seconds it is good for.

        Kettle's schedd takes none while a job is queued: HTCondorException.
        """
        return schedd_calls.refresh_proxy(
            self._address, int(cluster), int(proc), str(proxy_filename), int(lifetime)
        )

    # -- Jobs that another manager has ------------------------------------------------------

    def export_jobs(self, job_spec: JobSpec, export_dir: str, new_spool_dir: str) -> ClassAd:
        """Write jobs into a folder and leave them to another manager; return what came of it."""
        chosen = choose(job_spec)
        with said_as(schedd_calls.no_answer("DCSchedd::exportJobs")):
            answer = exports.export_jobs(
                PROCESS.connector,
                self._address,
                ids=chosen.ids,
                constraint=chosen.constraint,
                folder=str(export_dir),
                spool=str(new_spool_dir),
            )
        return checked(answer, "DCSchedd::exportJobs")

    def import_exported_job_results(self, import_dir: str) -> ClassAd:
        """Take jobs back with what has become of them; return what came of it."""
        with said_as("No result ad"):
            return of_engine(
                exports.import_results(PROCESS.connector, self._address, str(import_dir))
            )

    def unexport_jobs(self, job_spec: JobSpec) -> ClassAd:
        """Take jobs back as they were given away; return what came of it."""
        chosen = choose(job_spec)
        with said_as(schedd_calls.no_answer("DCSchedd::unexportJobs")):
            answer = exports.unexport_jobs(
                PROCESS.connector, self._address, ids=chosen.ids, constraint=chosen.constraint
            )
        return checked(answer, "DCSchedd::unexportJobs")

    # -- What Kettle's schedd refuses -------------------------------------------------------

    def _get_dag_contact_info(self, cluster: int) -> ClassAd:
        if not isinstance(cluster, int):
            raise TypeError("cluster must be an integer")
        return of_engine(schedd_calls.find_dag(self._address, cluster))

    def create_ocu(self, request: ClassAd) -> ClassAd:
        """Ask for a unit of cores of one's own, as a schedd of HTCondor's gives them."""
        what = "Cannot send OCU creation request to schedd"
        command = Command.CREATE_OCU_FOR_USERREC
        with said_as(what):
            answer = schedd_calls.ask(self._address, command, to_engine(request))
        return of_engine(answer)

    def remove_ocu(self, request: ClassAd) -> ClassAd:
        """Give such a unit back; the ad has its id, or is it, as the wheel wants it."""
        if isinstance(request, int):
            request = ClassAd({"OCUId": request})
        what = "Cannot send OCU removal request to schedd"
        command = Command.REMOVE_OCU_FROM_USERREC
        with said_as(what):
            answer = schedd_calls.ask(self._address, command, to_engine(request))
        return of_engine(answer)

    def query_ocu(self, request: ClassAd) -> list[ClassAd]:
        """Return such units, as the request says."""
        return [of_engine(ad) for ad in schedd_calls.query_units(self._address, to_engine(request))]


def job_spec_hack(
    addr: str,
    job_spec: JobSpec,
    f_job_ids: Callable[..., Any],
    f_constraint: Callable[..., Any],
    args: Iterable[Any],
) -> Any:
    """Call one function for jobs that are named by ids, the other for those of a constraint.

    Each takes the address, the ids or the constraint as a text, and the rest.
    """
    chosen = choose(job_spec)
    if chosen.ids:
        return f_job_ids(addr, ", ".join(chosen.ids), *args)
    return f_constraint(addr, chosen.expression(), *args)


def chosen_by(callback: Callback | None, ads: Iterable[ClassAd]) -> list[Any]:
    """Return the ads, or what the callback makes of each of them, None left out."""
    if callback is None:
        return list(ads)
    made = (callback(ad) for ad in ads)
    return [one for one in made if one is not None]


def checked(answer: Ad, where: str) -> ClassAd:
    """Return the answer; HTCondorException, in the reference's form, if it tells of a failure."""
    if answer.integer("ActionResult") != 1:
        code = answer.integer("ErrorCode") or 0
        reason = answer.string("ErrorString") or "Unknown reason"
        if code > 0:
            raise HTCondorException(f"{where}:{code}:{reason}")
    return of_engine(answer)
