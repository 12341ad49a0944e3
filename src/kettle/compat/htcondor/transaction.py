"""`Transaction` of version 1: jobs that come into the queue together or not at all."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from kettle.client.queue import Queue
from kettle.compat import htcondor2
from kettle.compat.classad2.ads import of_engine
from kettle.compat.htcondor.convert import shown
from kettle.compat.htcondor.errors import (
    HTCondorInternalError,
    HTCondorIOError,
    HTCondorReplyError,
    HTCondorValueError,
    raising,
)
from kettle.compat.htcondor2.process import PROCESS
from kettle.compat.htcondor2.submit_result import SubmitResult as ResultOfVersion2
from kettle.compat.htcondor2.submitting import (
    NOT_COMMITTED,
    Sender,
    append_jobs,
    check_items,
    queue_jobs,
    read,
    tell,
    warn,
)
from kettle.errors import ConnectionLost, KettleError, SubmitError
from kettle.submit.notices import Notice

if TYPE_CHECKING:
    from kettle.wire.sinful import Sinful

_NONE: Final = "Job queue attempt without active transaction"
_FAILED: Final = "Some jobs of the transaction could not be queued: none of it is in the queue"


class Place(Protocol):
    """Where jobs are queued: a `Schedd`."""

    transaction_under_way: Transaction | None

    @property
    def sinful(self) -> Sinful:
        """The schedd's address."""

    def reschedule(self) -> None:
        """Have the schedd ask for matches."""


class SubmitResult(ResultOfVersion2):
    """The cluster and its jobs, as they were put into the queue."""

    def __str__(self) -> str:
        return (
            f"Submitted {self.num_procs()} jobs into cluster {self.cluster()},{self.first_proc()} "
            f":\n{self.clusterad().printOld()}"
        )


class Transaction:
    """A transaction of a schedd's queue, which its `with` statement begins and commits.

    An exception that leaves the statement undoes it. So do jobs that cannot be queued, whether or
    not the program goes on after that: some are sent by then, and the others never will be.
    """

    def __init__(self, schedd: Place, *, goes_on: bool = False) -> None:
        """Take the schedd; one that goes on is part of the transaction that is under way."""
        self._schedd = schedd
        self._goes_on = goes_on
        self.connection: Queue | None = None
        self.senders: list[Sender] = []
        # The transaction that this one is part of, mostly itself, and whether that has failed.
        self._whole = self
        self.failed = False
        # What was queued last, where more of it would come into the same cluster.
        self.last: tuple[htcondor2.Submit, str, Sender] | None = None

    def __enter__(self) -> Self:
        around = self._schedd.transaction_under_way
        if around is not None:
            if not self._goes_on:
                raise HTCondorIOError("Transaction already in progress for schedd.")
            self.connection, self.senders = around.connection, around.senders
            self._whole = around
            return self
        self._goes_on, self._whole, self.failed, self.last = False, self, False, None
        try:
            self.connection = Queue(PROCESS.connector, self._schedd.sinful)
        except KettleError as error:
            raise HTCondorIOError("Failed to connect to schedd.") from error
        self._schedd.transaction_under_way = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        queue, self.connection = self.connection, None
        if self._goes_on or queue is None:
            return
        self._schedd.transaction_under_way = None
        senders, self.senders = self.senders, []
        if self.failed:
            if error is None:
                raise HTCondorIOError(_FAILED)
            return
        with contextlib.ExitStack() as ended:
            ended.push(queue)
            if error is not None or not senders:
                return
            warning = _commit(queue)
        if warning:
            senders[0].submission.warnings.insert(0, Notice(warning, mark=""))
        for sender in senders:
            warn(sender.submission)
        try:
            self._schedd.reschedule()
        except htcondor2.HTCondorException:
            # The jobs are in the queue: who is told of a failure would queue them once more.
            PROCESS.say(0, "the schedd could not be told to reschedule")

    def queue(
        self,
        description: htcondor2.Submit,
        count: int,
        *,
        spooled: bool = False,
        appends: bool = False,
        ad_results: list[Any] | None = None,
    ) -> SubmitResult:
        """Put the jobs of a description into the queue, when the transaction is committed.

        With `appends` those of the description that was queued last, where they have no items and
        no other universe, come into the same cluster.
        """
        if self.connection is None:
            raise HTCondorValueError(_NONE)
        if self._whole.failed:
            raise HTCondorIOError(_FAILED)
        if count < 0:
            raise HTCondorValueError("There can be no fewer than no jobs")
        with raising(HTCondorInternalError):
            check_items(description)
            submission = read(description, count, spooled=spooled)
        keeps = ad_results is not None
        sender = Sender(submission, description.getSubmitMethod(), keeps=keeps)
        universe = description.get("universe", "").casefold()
        last, self._whole.last = self._whole.last, None
        earlier = None
        if appends and description.own_items() is None and not submission.wants_factory():
            if last is not None and last[0] is description and last[1] == universe:
                earlier = last[2]
            self._whole.last = (description, universe, sender)
        first, cluster, jobs = self._send(self.connection, sender, earlier)
        self.senders.append(sender)
        ads = [of_engine(ad) for ad in sender.spooled.ads]
        if ad_results is not None:
            ad_results.extend(shown(ads))
        kept = sender.spooled if spooled else None
        made = shown(of_engine(sender.shared_ad(cluster)))
        return SubmitResult(cluster, first, jobs, made, kept)

    def _send(self, queue: Queue, sender: Sender, earlier: Sender | None) -> tuple[int, int, int]:
        """Send jobs and return the first one's number, their cluster, and how many they are.

        A failure ends the transaction, as its connection may be out of step.
        """
        first = 0 if earlier is None else earlier.submission.job_count
        with contextlib.ExitStack() as undone:
            undone.push(queue)
            undone.callback(self._note_failure)
            cluster, jobs = _queue_jobs(queue, sender, earlier)
            undone.pop_all()
        return first, cluster, jobs

    def _note_failure(self) -> None:
        self._whole.failed = True


def _queue_jobs(queue: Queue, sender: Sender, earlier: Sender | None) -> tuple[int, int]:
    try:
        if earlier is None:
            cluster, jobs = queue_jobs(queue, sender)
        else:
            cluster, jobs = append_jobs(queue, sender, earlier)
    except SubmitError as error:
        raise HTCondorInternalError(_words(error)) from error
    except KettleError as error:
        raise HTCondorIOError(tell(error)) from error
    if not jobs:
        raise HTCondorInternalError("the description makes no jobs")
    return cluster, jobs


def _commit(queue: Queue) -> str:
    try:
        return queue.commit(NOT_COMMITTED)
    except ConnectionLost as error:
        raise HTCondorIOError(tell(error)) from error
    except KettleError as error:
        raise HTCondorReplyError(tell(error)) from error


def _words(error: SubmitError) -> str:
    """Return why no job can be made, with what there is to say to it."""
    return "\n".join(filter(None, [error.said.rstrip(), error.hint]))
