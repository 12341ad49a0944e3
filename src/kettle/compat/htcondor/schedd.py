"""`Schedd` of version 1: transactions, iterators, and what has another name now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kettle.client.spool import spool_input
from kettle.compat import htcondor2
from kettle.compat.classad.ads import ClassAd
from kettle.compat.classad2 import ExprTree
from kettle.compat.classad2.ads import to_engine
from kettle.compat.classad2.depth import bounded
from kettle.compat.htcondor.absent import NO_NEGOTIATION, refuse
from kettle.compat.htcondor.collector import (
    DaemonLocation,
    constraint_text,
    location_of,
    records_constraint,
)
from kettle.compat.htcondor.convert import calls_version_2, given, shown, takes
from kettle.compat.htcondor.enums import DaemonTypes, QueryOpts
from kettle.compat.htcondor.errors import (
    HTCondorIOError,
    HTCondorLocateError,
    HTCondorReplyError,
    HTCondorValueError,
    raising,
)
from kettle.compat.htcondor.iterators import HistoryIterator, QueryIterator
from kettle.compat.htcondor.submit import Submit, description_of
from kettle.compat.htcondor.transaction import SubmitResult, Transaction
from kettle.compat.htcondor2.errors import said_as
from kettle.compat.htcondor2.job_specs import choose
from kettle.compat.htcondor2.process import PROCESS

if TYPE_CHECKING:
    from kettle.wire.sinful import Sinful


class EditResult:
    """How many attributes of jobs an edit changed."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __int__(self) -> int:
        return self._count

    def __str__(self) -> str:
        return f"edited {self._count} jobs"


@calls_version_2(HTCondorIOError, "reschedule", "refreshGSIProxy", "retrieve")
@calls_version_2(HTCondorIOError, "export_jobs", "import_exported_job_results", "unexport_jobs")
class Schedd(htcondor2.Schedd):
    """A schedd: this host's, or the one of a location ad."""

    def __init__(self, location_ad: Any = None) -> None:
        """Find this host's schedd, or take the one that `Collector.locate` found."""
        kind = HTCondorLocateError if location_ad is None else HTCondorValueError
        with raising(kind):
            super().__init__(location_of(location_ad))
        # The transaction whose `with` statement is being run.
        self.transaction_under_way: Transaction | None = None

    @property
    def location(self) -> DaemonLocation:
        """Where the schedd is."""
        return DaemonLocation(DaemonTypes.Schedd, self._addr, self._version)

    @property
    def sinful(self) -> Sinful:
        """The schedd's address."""
        return self._address

    # -- Questions --------------------------------------------------------------------------

    @takes(limit=int)
    def query(  # type: ignore[override]
        self,
        constraint: Any = "true",
        projection: Iterable[str] = (),
        callback: Any = None,
        limit: int = -1,
        opts: Any = QueryOpts.Default,
        **older: Any,
    ) -> list[ClassAd]:
        """Return the ads of the jobs that the constraint is true for.

        With `callback` those for which it returns anything but None. `requirements` and
        `attr_list` are older names of the first two arguments.
        """
        constraint = older.pop("requirements", constraint)
        projection = older.pop("attr_list", projection)
        if older:
            raise TypeError(f"query() has no argument {next(iter(older))!r}")
        text, names = constraint_text(constraint) or "true", list(projection)

        def hear(ad: Any) -> Any:
            ad = shown(ad)
            return ad if callback is None or callback(ad) is not None else None

        with raising(HTCondorIOError):
            found: list[ClassAd] = shown(
                super().query(text, names, hear, limit, htcondor2.QueryOpt(int(opts)))
            )
        return found

    @takes(limit=int)
    def xquery(
        self,
        constraint: Any = "true",
        projection: Iterable[str] = (),
        limit: int = -1,
        opts: Any = QueryOpts.Default,
        name: str | None = None,
        **older: Any,
    ) -> QueryIterator:
        """Return an iterator over the ads of the jobs that the constraint is true for."""
        found = self.query(constraint, projection, None, limit, opts, **older)
        for ad in found:
            ad.pop("ServerTime", None)
        return QueryIterator(found, self._addr if name is None else name)

    @takes(match=int)
    def history(  # type: ignore[override]
        self,
        constraint: Any = None,
        projection: Iterable[str] = (),
        match: int = -1,
        since: Any = None,
    ) -> HistoryIterator:
        """Return an iterator over the records of jobs that have left the queue, newest first."""
        text = records_constraint(constraint)
        with raising(HTCondorIOError):
            return HistoryIterator(shown(super().history(text, list(projection), match, since)))

    @takes(match=int)
    def jobEpochHistory(  # type: ignore[override]  # noqa: N802
        self,
        constraint: Any = None,
        projection: Iterable[str] = (),
        match: int = -1,
        since: Any = None,
        ad_type: str | None = None,
    ) -> HistoryIterator:
        """Return an iterator over the records of single runs, as `history`."""
        text = records_constraint(constraint)
        with raising(HTCondorIOError):
            found = super().jobEpochHistory(
                text, list(projection), match, since, **({"ad_type": ad_type} if ad_type else {})
            )
            return HistoryIterator(shown(found))

    # -- Changes ----------------------------------------------------------------------------

    def act(self, action: Any, job_spec: Any, reason: str | None = None) -> ClassAd:  # type: ignore[override]
        """Hold, release, remove, … jobs; return how many had which result."""
        try:
            spec = _spec_of(job_spec)
        except HTCondorValueError as error:
            if isinstance(job_spec, str):
                raise
            # The wheel leaves it to the schedd to refuse what is listed.
            raise HTCondorReplyError("Error when performing action on the schedd.") from error
        with raising(HTCondorReplyError):
            answer: ClassAd = shown(super().act(given(action), spec, reason))
        return answer

    def edit(  # type: ignore[override]
        self, job_spec: Any, attr: Any, value: Any = None, flags: Any = 0
    ) -> EditResult:
        """Set an attribute of jobs, or those of an ad that stands for its name and value."""
        if self.transaction_under_way is not None:
            raise HTCondorIOError("Transaction already in progress for schedd.")
        spec = _spec_of(job_spec)
        flag = htcondor2.TransactionFlag(int(flags))
        if isinstance(attr, str):
            values = {attr: _expression_text(value)}
        else:
            ad = attr if isinstance(attr, ClassAd) else ClassAd(attr)
            values = {name: repr(ad.lookup(name)) for name in ad}
        with raising(HTCondorIOError):
            counts = [super(Schedd, self).edit(spec, *pair, flag) for pair in values.items()]
        return EditResult(sum(counts))

    def edit_multiple(
        self, edits: Iterable[tuple[Any, Mapping[str, Any]]], flags: Any = 0
    ) -> EditResult:
        """Set attributes: pairs of jobs and an ad, as `edit` takes them, one after the other."""
        pairs = list(edits)
        if any(len(pair) != 2 for pair in pairs):
            raise HTCondorValueError("invalid edit list")
        return EditResult(sum(int(self.edit(jobs, ad, flags=flags)) for jobs, ad in pairs))

    def insert_jobs(self, ads: Any) -> Any:
        """Refuse: jobs come from descriptions."""
        del ads
        refuse("jobs are submitted from descriptions: Schedd.submit with a Submit, or with its ad")

    def negotiate(self, owner: str, ad: Any = None) -> Any:
        """Refuse: a program is no negotiator."""
        del owner, ad
        refuse(NO_NEGOTIATION)

    @takes(flags=int)
    def transaction(self, flags: Any = 0, continue_txn: bool = False) -> Transaction:
        """Return a transaction for a `with` statement.

        With `continue_txn` it may be part of one that is under way. `flags` are ignored: what is
        committed is on disk.
        """
        del flags
        return Transaction(self, goes_on=bool(continue_txn))

    # -- Submission and files ---------------------------------------------------------------

    @bounded
    def submit(  # type: ignore[override]
        self,
        description: Any,
        count: int = 1,
        spool: bool = False,
        ad_results: list[Any] | None = None,
        itemdata: Iterable[Any] | None = None,
    ) -> SubmitResult | int:
        """Put jobs into the queue, `count` of each item; the queue statement does not count.

        A job's ad may stand for a description: the answer is the cluster's number then.
        """
        if not isinstance(description, htcondor2.Submit):
            if not isinstance(description, ClassAd):
                raise HTCondorValueError("Not a Submit object")
            with self.transaction() as txn:
                found = description_of(description)
                result = txn.queue(found, int(count), spooled=bool(spool), ad_results=ad_results)
            return result.cluster()
        made = description if isinstance(description, Submit) else _of_version_2(description)
        with self.transaction() as txn:
            return txn.queue(
                made.for_items(itemdata),
                max(int(count), 1),
                spooled=bool(spool),
                ad_results=ad_results,
            )

    @bounded
    def submitMany(  # noqa: N802
        self,
        cluster_ad: Mapping[str, Any],
        proc_ads: Iterable[tuple[Mapping[str, Any], int]],
        spool: bool = False,
        ad_results: list[Any] | None = None,
    ) -> int:
        """Submit jobs by ads: what they share, and pairs of what some differ in and their number.

        Every pair makes a cluster of its own; the answer is the last one's number.
        """
        cluster = 0
        with self.transaction() as txn:
            for own, count in proc_ads:
                job = ClassAd(cluster_ad)
                job.update(own)
                found = description_of(job)
                result = txn.queue(found, int(count), spooled=bool(spool), ad_results=ad_results)
                cluster = result.cluster()
        return cluster

    @bounded
    def spool(self, ad_list: Any) -> None:
        """Send the input files of jobs that were submitted with `spool`: their ads, or a result."""
        with raising(HTCondorIOError):
            if isinstance(ad_list, SubmitResult):
                super().spool(ad_list)
                return
            with said_as(lambda error: str(error)):
                ads = [to_engine(ad) for ad in ad_list]
                if ads:
                    spool_input(PROCESS.connector, self._address, ads)

    # -- Users ------------------------------------------------------------------------------

    def query_users(
        self, constraint: Any = "true", projection: Iterable[str] = (), limit: int = -1
    ) -> list[ClassAd]:
        """Return the records of users."""
        with raising(HTCondorIOError):
            text = constraint_text(constraint) or "true"
            found: list[ClassAd] = shown(self.queryUserAds(text, list(projection)))
        return found if limit < 0 else found[:limit]

    def enable_users(self, users: list[str], add: bool = False) -> ClassAd:
        """Let users submit again; with `add` those too that the schedd does not know."""
        with raising(HTCondorReplyError):
            answer: ClassAd = shown(self.addUserRec(users) if add else self.enableUserRec(users))
        return answer

    def enable_users_matching(self, constraint: Any) -> ClassAd:
        """Let the users submit again that the constraint is true for."""
        with raising(HTCondorReplyError):
            answer: ClassAd = shown(self.enableUserRec(ExprTree(constraint_text(constraint))))
        return answer

    def disable_users(self, users: list[str], reason: str | None = None) -> ClassAd:
        """Take no more jobs of users."""
        with raising(HTCondorReplyError):
            answer: ClassAd = shown(self.disableUserRec(users, reason))
        return answer

    def disable_users_matching(self, constraint: Any, reason: str | None = None) -> ClassAd:
        """Take no more jobs of the users that the constraint is true for."""
        with raising(HTCondorReplyError):
            found = ExprTree(constraint_text(constraint))
            answer: ClassAd = shown(self.disableUserRec(found, reason))
        return answer


def _of_version_2(description: htcondor2.Submit) -> Submit:
    made = Submit(dict(description))
    made.setQArgs(description.getQArgs())
    return made


def _spec_of(job_spec: Any) -> Any:
    """Return which jobs are meant: True is all of them."""
    if isinstance(job_spec, bool):
        return ExprTree(str(job_spec))
    if isinstance(job_spec, str) and job_spec.strip().lower() in {"true", "false"}:
        return ExprTree(job_spec)
    if isinstance(job_spec, tuple | set | frozenset):
        return [str(one) for one in job_spec]
    if isinstance(job_spec, list | str):
        # As the wheel of version 1 says it of what means no job.
        try:
            choose(job_spec)
        except ValueError:
            why = "job_spec is not a valid constraint expression."
            raise HTCondorValueError(why if isinstance(job_spec, str) else "Invalid ID") from None
    return job_spec


def _expression_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, ExprTree):
        return repr(value)
    return repr(ClassAd({"value": value}).lookup("value"))
