"""How `Schedd.submit` makes a cluster of a description, and what it says when that fails."""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import TYPE_CHECKING, Protocol

from kettle.classad import ClassAd as Ad
from kettle.client.jobs import reschedule
from kettle.client.queue import Queue, check_universe, submit_factory
from kettle.client.submit_sources import read_facts
from kettle.compat.classad2.ads import of_engine
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.process import PROCESS
from kettle.compat.htcondor2.submit_result import SpooledJobs, SubmitResult
from kettle.errors import KettleError, NotCommitted, NotConnected, RefusedError, SubmitError
from kettle.submit.build import SubmitOptions, read_submission
from kettle.submit.extended import commands_of
from kettle.submit.notices import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kettle.client.submit_sources import SystemSubmitSources
    from kettle.compat.classad2 import ClassAd
    from kettle.submit.build import JobPlan, Submission
    from kettle.submit.macros import SubmitMacros
    from kettle.wire.sinful import Sinful

_METHOD = "JobSubmitMethod"
# What the reference says of a queue statement that is none.
_QUEUE_TROUBLE = "invalid Queue statement"


class Description(Protocol):
    """What there is to know of a description: `Submit`."""

    def queue_text(self, count: int = 0) -> str:
        """Return its queue statement, `count` jobs of each item if that is not 0."""

    def sources(self) -> SystemSubmitSources:
        """Return where a submission has its files and items from."""

    def assign_to(self, macros: SubmitMacros) -> None:
        """Set the commands in a table; ValueError, HTCondorException."""

    def getSubmitMethod(self) -> int:  # noqa: N802 - the wheel's name
        """Return what JobSubmitMethod tells of the jobs."""

    def check_items(self) -> None:
        """Raise ValueError for a queue statement that is none."""


class Sender:
    """Hands the jobs of a submission to a queue connection, and keeps what was sent."""

    def __init__(self, submission: Submission, method: int, *, keeps: bool = False) -> None:
        """Take the jobs of a submission; `spooled` keeps their ads too where `keeps` says so."""
        self.submission = submission
        self._keeps = keeps or submission.options.spooled
        self.cluster: Ad | None = None
        self.spooled = SpooledJobs()
        self._method = method
        self._jobs: Iterator[JobPlan] | None = None
        self._current: JobPlan | None = None

    def cluster_ad(self, cluster: int) -> Ad:
        """Return the ad of what all jobs share."""
        ad = self.submission.cluster_ad()
        check_universe(ad.integer("JobUniverse"))
        set_method(ad, self._method)
        self.cluster = ad
        ad["ClusterId"] = cluster
        return ad

    def shared_ad(self, cluster: int) -> Ad:
        """Return the cluster's ad as a program is shown it: with what the first job begins as."""
        ad = (self.submission.cluster_ad() if self.cluster is None else self.cluster).copy()
        ad["ClusterId"] = cluster
        ad["JobStatus"] = self.submission.first_status
        return ad

    def proc_ad(self, cluster: int, index: int) -> Ad | None:
        """Return what the next job has for itself, None after the last."""
        if self._jobs is None:
            self.submission.begin(cluster)
            self._jobs = self.submission.jobs()
        self._current = next(self._jobs, None)
        return None if self._current is None else _own_ad(self._current, index)

    def on_proc(self, cluster: int, proc: int) -> None:
        """Keep a job whose input is still to be sent, or whose ad is wanted."""
        if self._current is None or not self._keeps:
            return
        ad = self._current.differences.to_ad(self.cluster)
        ad["ClusterId"], ad["ProcId"], ad["JobStatus"] = cluster, proc, self._current.status
        self.spooled.ads.append(ad)


# How the reference begins to say why nothing was queued.
NOT_COMMITTED = "Unable to commit transaction"


def _own_ad(job: JobPlan, index: int) -> Ad:
    ad = job.differences.to_ad()
    ad.insert_text("ProcId", str(index))
    ad.insert_text("JobStatus", str(job.status))
    return ad


def set_method(ad: Ad, method: int) -> None:
    """Say in a cluster's ad how it was submitted; below 0 nothing is said."""
    if method < 0:
        with contextlib.suppress(KeyError):
            del ad[_METHOD]
    else:
        ad[_METHOD] = method


def read(description: Description, count: int, *, spooled: bool) -> Submission:
    """Return the submission that a description stands for; its jobs are not looked at yet.

    ValueError and HTCondorException for commands that cannot be set.
    """
    config = PROCESS.config
    facts = read_facts(config, os.environ, "")
    # As in the wheel nobody looks at the program: without one the job is held when it would start.
    options = SubmitOptions(spooled=spooled, checks_program=False)
    text = description.queue_text(count)
    found = read_submission(text, description.sources(), config, facts, options)
    # Not by way of text: a value would be a comment, or another command, in some of its lines.
    description.assign_to(found.macros)
    return found


def submit(address: Sinful, description: Description, count: int, *, spooled: bool) -> SubmitResult:
    """Put the jobs into the queue, all or none; ValueError, HTCondorException."""
    if count < 0:
        raise ValueError(_QUEUE_TROUBLE)
    check_items(description)
    sender = Sender(read(description, count, spooled=spooled), description.getSubmitMethod())
    try:
        cluster, jobs = _queue(address, sender)
    except SubmitError as error:
        raise HTCondorException(tell_job(error)) from error
    except KettleError as error:
        raise HTCondorException(tell(error)) from error
    warn(sender.submission)
    try:
        reschedule(PROCESS.connector, address)
    except KettleError:
        PROCESS.say(0, "the schedd could not be told to reschedule")
    kept = sender.spooled if spooled else None
    return SubmitResult(cluster, 0, jobs, of_engine(sender.shared_ad(cluster)), kept)


def check_items(description: Description) -> None:
    """Raise ValueError for a queue statement that is none, before anything is connected to."""
    try:
        description.check_items()
    except ValueError as error:
        raise ValueError(f"{_QUEUE_TROUBLE}, errmsg={error}") from error


def _queue(address: Sinful, sender: Sender) -> tuple[int, int]:
    with Queue(PROCESS.connector, address) as queue:
        cluster, count = queue_jobs(queue, sender)
        if not count:
            raise HTCondorException("the description makes no jobs")
        warning = queue.commit(NOT_COMMITTED)
        if warning:
            sender.submission.warnings.insert(0, Notice(warning, mark=""))
    return cluster, count


def queue_jobs(queue: Queue, sender: Sender) -> tuple[int, int]:
    """Put the jobs into the transaction of a connection; return their cluster and count."""
    submission = sender.submission
    learn_commands(queue, submission)
    if not submission.wants_factory():
        return queue.submit(sender.cluster_ad, sender.proc_ad, sender.on_proc)
    cluster, count = submit_factory(queue, submission)
    method = sender.cluster_ad(cluster).text(_METHOD) or "undefined"
    queue.post_attribute(cluster, -1, _METHOD, method)
    return cluster, count


def append_jobs(queue: Queue, sender: Sender, earlier: Sender) -> tuple[int, int]:
    """Put jobs into the cluster that an earlier sender has begun; return it and their count."""
    learn_commands(queue, sender.submission)
    sender.submission.go_on(earlier.submission)
    sender.cluster = earlier.cluster
    assert sender.cluster is not None
    cluster, first = sender.cluster.integer("ClusterId"), sender.submission.job_count
    assert cluster is not None
    return cluster, queue.append(cluster, first, sender.proc_ad, sender.on_proc) - first


def learn_commands(queue: Queue, submission: Submission) -> None:
    """Have a submission know what the schedd adds to the language."""
    added = queue.capabilities().evaluate("ExtendedSubmitCommands")
    submission.extended = commands_of(added) if isinstance(added, Ad) else ()


def tell_job(error: SubmitError) -> str:
    """Return why no job can be made, in the reference's form."""
    why = error.said.rstrip()
    hint = f"{error.hint}\n" if error.hint else ""
    return f"Failed to create job ad, errmsg=Submit:-1:{why}\n{hint}"


def tell(error: KettleError) -> str:
    """Return why a submission failed, in the reference's form."""
    if isinstance(error, NotConnected):
        return (
            f"Failed to connect to schedd, errmsg=CEDAR:6001:Failed to connect to {error.address}"
        )
    if isinstance(error, NotCommitted) and error.reason:
        return f"{NOT_COMMITTED}, {error.reason}"
    if isinstance(error, RefusedError):
        return str(error)
    return f"Failed to connect to schedd, errmsg={error}"


def warn(submission: Submission) -> None:
    """Pass on what the schedd has to say of jobs that it took.

    That a command is unknown is said by `condor_submit` alone, as with the wheel.
    """
    if submission.warnings:
        text = "\n".join(map(str, submission.warnings)).strip()
        warnings.warn(f"Submit succeeded with warning: {text}", UserWarning, stacklevel=4)


def spool(address: Sinful, result: SubmitResult) -> None:
    """Send the input files of jobs that were submitted for it."""
    from kettle.client.spool import spool_input

    if result.spooled is None:
        raise ValueError("result must have come from submit() with spool set")
    with said_as(
        lambda error: (
            "DCSchedd::spoolJobFiles:6001:Failed to connect to schedd"
            if isinstance(error, NotConnected)
            else str(error)
        )
    ):
        spool_input(PROCESS.connector, address, result.spooled.ads)


def make_ads(
    description: Description,
    count: int,
    cluster: int,
    first: int,
    date: int,
    owner: str,
    *,
    whole: bool,
) -> Iterator[ClassAd]:
    """Yield the ads of the jobs that a description makes, or, not `whole`, what each has alone."""
    submission = read(description, count, spooled=False)
    submission.begin(cluster)
    try:
        for number, job in enumerate(submission.jobs()):
            shared = submission.cluster_ad()
            set_method(shared, description.getSubmitMethod())
            ad = shared.copy() if whole or number == 0 else Ad()
            ad.update(_own_ad(job, first + number))
            ad["ClusterId"] = cluster
            if date:
                ad["QDate"] = date
            if owner:
                ad["Owner"] = owner
            yield of_engine(ad)
    except SubmitError as error:
        raise HTCondorException(tell_job(error)) from error
