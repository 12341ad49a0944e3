"""How `condor_submit` sends what it made to a schedd, and what it prints then."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import (
    KettleError,
    NotCommitted,
    NotFoundError,
    SubmitError,
    UnknownHostError,
    Unreached,
)
from kettle.structs import Struct
from kettle.submit.notices import WARNING_MARK, Notice
from kettle.tools.options import tell_more

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kettle.client.pool import Located
    from kettle.submit.build import JobPlan, Submission
    from kettle.tools.programs import Streams
    from kettle.tools.reach import Reach
    from kettle.wire.sinful import Sinful


# What is said of a submission that the schedd does not take, up to its reason.
NOT_COMMITTED = "Failed to commit job submission into the queue.\nERROR"


class Manner(Struct):
    """How jobs are sent, and how much is said meanwhile."""

    verbose: bool = False
    terse: bool = False
    quiet: bool = False
    # The schedd is to make the jobs as it needs them, whatever the description says.
    is_factory: bool = False
    # By which options other tools find the schedd.
    schedd_words: tuple[str, ...] = ()

    @property
    def shows_way(self) -> bool:
        """Whether it is said how the jobs can be watched."""
        return not self.verbose and not self.terse


class Progress:
    """What appears while jobs are queued: a line that grows by a dot for each."""

    def __init__(
        self, streams: Streams, verb: str, done: str, *, terse: bool, dots: bool = True
    ) -> None:
        self.streams = streams
        self.verb = verb
        self.done = done
        self.terse = terse
        self.dots = dots and not terse
        self.verbose = False
        # The description came by `-`: the line that grows, and what is counted, are not shown.
        self.quiet = self.by_dash = False
        # Neither is anything else: what is written goes to standard output.
        self.silent = False
        self.what = "job(s)"
        self.count = 0
        self._told = 0

    def begin(self) -> None:
        """Show that it begins."""
        if not self.terse and not self.quiet and not self.silent:
            self.streams.stdout.write(f"{self.verb} {self.what}")

    def one(self) -> None:
        """Show one more job."""
        self.count += 1
        if self.dots and not (self.quiet or self.silent or self.verbose):
            self.streams.stdout.write(".")

    def tell(self, submission: Submission, proc: int) -> None:
        """Say, before a job is shown, what no macro function could do for it or those before."""
        while self._told < len(submission.problems):
            number, problem = submission.problems[self._told]
            if number > proc:
                return
            # Each has its place in what both streams say together.
            self.streams.stdout.flush()
            self.streams.stderr.write(f"{problem}\n")
            self._told += 1

    def end(self, submission: Submission, cluster: int, *, way: str = "") -> None:
        """Show how many jobs there are, the `way` to watch them, and what seems odd about them."""
        self.tell(submission, self.count)
        out, err = self.streams.stdout, self.streams.stderr
        if not self.count:
            if self.terse:
                return
            if not self.by_dash:
                out.write("\n")
            name = submission.facts.file_name
            name = "(stdin)" if name == "-" else name
            err.write(f'\nWARNING: "{name}" has only empty "queue" commands -- no jobs queued\n')
            err.writelines(f"{warning}\n" for warning in submission.warnings)
            return
        if not self.by_dash and not self.terse:
            out.write("\n")
        if self.verbose or self.silent:
            pass
        elif self.terse:
            out.write(f"{cluster}.0 - {cluster}.{self.count - 1}\n")
        else:
            # The procs of a parallel job are the kinds of its nodes, not jobs.
            jobs = 1 if submission.is_parallel else self.count
            out.write(f"{jobs} job(s) {self.done} to cluster {cluster}.\n")
        out.flush()
        err.write(way)
        err.writelines(f"{warning}\n" for warning in submission.warnings)
        if self.verbose:
            out.write("\n")
            out.flush()
        err.writelines(f"{warning}\n" for warning in submission.unused)

    def fail(self, submission: Submission, error: KettleError) -> None:
        """Show why it ended, after what no macro function could do.

        Compat: why it did, also where the description itself warns of something, of which the
        reference tells instead (test_why_a_line_is_refused_is_told_beside_warnings).
        """
        self.tell(submission, self.count + len(submission.problems))
        for problem in submission.macros.problems:
            self.streams.stderr.write(f"{problem}\n")
        message = error.message if isinstance(error, SubmitError) else f"ERROR: {error}"
        if isinstance(error, NotCommitted):
            # Compat: in the reference's two lines, the reason in the second one
            # (test_a_submission_that_is_refused_says_why).
            message = f"\n{message}"
        self.streams.stderr.write(f"{message}\n")
        tell_more(error, self.streams.stderr, message)
        for warning in (*submission.warnings, *submission.unused):
            self.streams.stderr.write(f"{warning}\n")


class Sender:
    """Hands the jobs of a submission to a queue connection, in its order of asking."""

    def __init__(self, submission: Submission, progress: Progress, *, verbose: bool) -> None:
        self.submission = submission
        self.progress = progress
        self.verbose = verbose
        self.spooled: list[ClassAd] = []
        self._jobs: Iterator[JobPlan] | None = None
        self._current: JobPlan | None = None
        self._cluster_ad: ClassAd | None = None

    def cluster_ad(self, cluster: int) -> ClassAd:
        """Return the ad of what all jobs share."""
        del cluster
        from kettle.client.queue import check_universe

        self._cluster_ad = self.submission.cluster_ad()
        check_universe(self._cluster_ad.integer("JobUniverse"))
        return self._cluster_ad

    def proc_texts(self, cluster: int, index: int) -> list[tuple[str, str]] | None:
        """Return what the next job has for itself, None after the last."""
        if self._jobs is None:
            self.submission.begin(cluster)
            self._jobs = self.submission.jobs()
        job = self._current = next(self._jobs, None)
        if job is None:
            return None
        return [*job.differences, ("ProcId", str(index)), ("JobStatus", str(job.status))]

    def on_proc(self, cluster: int, proc: int) -> None:
        """Show that a job was sent."""
        self.progress.tell(self.submission, proc)
        self.progress.one()
        job = self._current
        if job is None or not (self.verbose or self.submission.options.spooled):
            return
        ad = job.differences.to_ad(self._cluster_ad or self.submission.cluster_ad())
        ad["ClusterId"], ad["ProcId"], ad["JobStatus"] = cluster, proc, job.status
        if self.submission.options.spooled:
            self.spooled.append(ad)
        if self.verbose:
            self.progress.streams.stdout.write(render_proc(ad))


def way_to_watch(cluster: int) -> str:
    """Return what is said of how the jobs can be watched."""
    return f"To monitor your job(s), run: condor_watch_q -clusters {cluster}\n"


def render_proc(ad: ClassAd) -> str:
    """Return what -verbose shows of a job: the whole ad."""
    lines = [f"{line}\n" for line in sorted(ad.lines(), key=str.lower)]
    return "".join([f"\n** Proc {ad.integer('ClusterId')}.{ad.integer('ProcId')}:\n", *lines])


def show_capabilities(reach: Reach, schedd: Located, streams: Streams) -> int:
    """Say what the schedd offers to submitters; 1 if it cannot be asked."""
    from kettle.client.queue import Queue
    from kettle.transfer.plan import is_url

    try:
        with Queue(reach.connector, schedd.address) as queue:
            offered = queue.capabilities()
            explained = offered.string("ExtendedSubmitHelpFile")
            if explained and not is_url(explained):
                offered = queue.capabilities(help_text=True)
    except KettleError as error:
        streams.stderr.write(f"ERROR: {error}\n")
        return 1
    streams.stdout.write(f"Schedd {schedd.name}\n{describe_offer(offered)}")
    return 0


def describe_offer(offered: ClassAd) -> str:
    """Return what a schedd's capabilities mean for whoever submits, as the reference prints it."""
    from kettle.submit.extended import describe_commands

    lines = []
    if offered.boolean("LateMaterialize"):
        lines.append(" Has Late Materialization enabled\n")
    if offered.boolean("UseJobsets"):
        lines.append(" Has Jobsets enabled\n")
    added = offered.evaluate("ExtendedSubmitCommands")
    if isinstance(added, ClassAd):
        lines.append(" Has Extended submit commands:\n")
        lines += [f"\t{line}\n" for line in describe_commands(added)]
    explained = offered.string("ExtendedSubmitHelp") or offered.string("ExtendedSubmitHelpFile")
    if explained:
        lines.append(f" Has Extended help:\n\t{explained}\n")
    return "".join(lines)


def submit_jobs(
    reach: Reach, schedd: Located, submission: Submission, manner: Manner, streams: Streams
) -> int:
    """Queue the jobs at the schedd that the command line means; 0, or 1 if none was queued."""
    progress = Progress(streams, "Submitting", "submitted", terse=manner.terse)
    progress.quiet = progress.by_dash = manner.quiet
    progress.verbose, progress.dots = manner.verbose, progress.dots and not manner.verbose
    sender = Sender(submission, progress, verbose=manner.verbose)
    progress.begin()
    try:
        cluster, count = _queue(reach, schedd.address, sender, is_factory=manner.is_factory)
    except Unreached as error:
        streams.stderr.write(tell_silence(reach, error))
        return 1
    except KettleError as error:
        progress.fail(submission, error)
        return 1
    shows_way = count and manner.shows_way and not submission.options.interactive
    progress.end(submission, cluster, way=way_to_watch(cluster) if shows_way else "")
    if sender.spooled and not _spool(reach, schedd.address, sender.spooled, streams):
        return 1
    if count and reach.config.boolean("SUBMIT_SEND_RESCHEDULE"):
        from kettle.client.jobs import reschedule

        reschedule(reach.connector, schedd.address)
    if submission.options.interactive:
        code = open_shell(f"{cluster}.0", reach, manner, streams)
        end_session(f"{cluster}.0", reach, schedd.address)
        return code
    return 0


def tell_absence(reach: Reach, error: KettleError) -> str:
    """Return what is said of a schedd that is not found."""
    if isinstance(error, UnknownHostError):
        from kettle.tools.failures import is_name_at_fault

        if is_name_at_fault(error, reach.name, reach.config):
            return f"condor_submit: unknown host {reach.name}\n"
    if isinstance(error, Unreached) or (reach.name and isinstance(error, NotFoundError)):
        whom = f"schedd {reach.name}" if reach.name else "local schedd"
        return f"\nERROR: Can't find address of {whom}\n"
    return f"\nERROR: Can't find address of local schedd\n{error}\n"


def tell_silence(reach: Reach, error: Unreached) -> str:
    """Return what is said of a schedd that does not answer."""
    from kettle.tools.failures import explain_in_line  # for the few that fail

    whom = f"queue manager {reach.name}" if reach.name else "local queue manager"
    return f"\nERROR: Failed to connect to {whom}\n{explain_in_line(error)}\n"


def warn_of_sets(submission: Submission) -> None:
    """Warn whoever names a set of jobs, of which there are no records: jobs only have its name."""
    if submission.cluster.get("JobSetName") is not None:
        said = Notice("schedd does not support jobsets.", mark=f"\n{WARNING_MARK}")
        submission.warnings.insert(0, said)


def _queue(reach: Reach, schedd: Sinful, sender: Sender, *, is_factory: bool) -> tuple[int, int]:
    """Put the jobs into the queue; return the cluster and how many there are."""
    from kettle.client.queue import Queue, submit_factory
    from kettle.submit.extended import commands_of

    submission = sender.submission
    with Queue(reach.connector, schedd) as queue:
        added = queue.capabilities().evaluate("ExtendedSubmitCommands")
        submission.extended = commands_of(added) if isinstance(added, ClassAd) else ()
        if is_factory or submission.wants_factory():
            cluster, count = submit_factory(queue, submission)
            if sender.verbose and not sender.progress.quiet:
                sender.progress.streams.stdout.write("\n")
            sender.progress.count = count
        else:
            cluster, count = queue.submit(sender.cluster_ad, sender.proc_texts, sender.on_proc)
        warn_of_sets(submission)
        if count:
            warning = queue.commit(NOT_COMMITTED)
            if warning:
                submission.warnings.append(
                    Notice(
                        "Committed job submission into the queue with the following warning(s):\n"
                        f"{WARNING_MARK}{warning}",
                        mark=f"\n{WARNING_MARK}",
                    )
                )
    return cluster, count


def _spool(reach: Reach, schedd: Sinful, jobs: list[ClassAd], streams: Streams) -> bool:
    """Send the input files of jobs; whether all went well."""
    from kettle.client.spool import spool_input

    try:
        spool_input(reach.connector, schedd, jobs)
    except KettleError as error:
        streams.stderr.write(f"\n{error}\nERROR: Failed to spool job files.\n")
        return False
    return True


def end_session(job: str, reach: Reach, schedd: Sinful) -> None:
    """Remove an interactive job whose shell has ended (S002); one that is gone is no trouble."""
    from kettle.attributes.codes import JobAction
    from kettle.client.jobs import act_on_jobs

    reason = "the interactive session has ended"
    with contextlib.suppress(KettleError):
        act_on_jobs(reach.connector, schedd, JobAction.REMOVE, ids=[job], reason=reason)


def open_shell(job: str, reach: Reach, manner: Manner, streams: Streams) -> int:
    """Wait for an interactive job to start and open a shell in it; its exit code."""
    from kettle.tools.programs import load_tool

    streams.stdout.flush()
    streams.stderr.write("Waiting for job to start...\n")
    streams.stderr.flush()
    argv = ["condor_ssh_to_job", "-auto-retry", "-remove-on-interrupt", *manner.schedd_words, job]
    return load_tool("condor_ssh_to_job")(argv, reach.environment, streams)
