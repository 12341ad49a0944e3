"""From a submit description to a cluster ad and the differences of each of its jobs.

`read_submission` reads up to the first queue statement; `Submission.jobs` makes the jobs one
after the other, so that a million of them need no memory. Steps that look at nothing that changes
from job to job are done once. Sending the jobs is `kettle.client.queue`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from kettle.attributes.codes import JobUniverse
from kettle.config.origin import COMMAND_LINE_SOURCE, Origin
from kettle.errors import ConfigError, SubmitError
from kettle.named_tuples import NamedTuple
from kettle.structs import Struct, field
from kettle.submit import interactive, registry
from kettle.submit.extended import read_extended_commands, read_templates
from kettle.submit.job import Attributes, JobBuilder
from kettle.submit.macros import SubmitMacros
from kettle.submit.notices import ERROR_MARK, Notice
from kettle.submit.protected import read_protected
from kettle.submit.queue_statement import QueueStatement, Row, parse_queue
from kettle.submit.reader import QueueText, SubmitReader, at_queue
from kettle.submit.steps import Step, all_steps, set_base
from kettle.submit.taken import take_all
from kettle.submit.transfer import refuse_services

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kettle.classad import ClassAd
    from kettle.config import Config
    from kettle.errors import LanguageError
    from kettle.submit.again import Later
    from kettle.submit.commands.command import Command
    from kettle.submit.sources import SubmitFacts, SubmitSources
    from kettle.submit.watched_job import WatchedJob
    from kettle.wire.security.mapfile import MapFile


# Limit: how often a job that does more than those before it is watched.
_MOST_WATCHED = 20
# Limit: unused lines that are told with the nearest command; looking for it takes a millisecond.
_MOST_NEAREST = 50


Builder = TypeVar("Builder", bound=JobBuilder)
# Name and text of attributes by the lower case of their names.
ClusterTexts = Mapping[str, tuple[str, str]]


class JobPlan(NamedTuple):
    """One job: its number, its status, its row, and what it has otherwise than the cluster.

    `total` is how many jobs its statement makes, where they are made later, and `next_row` the
    item of the one after it: None if that is the same one, -1 if there is none.
    """

    proc: int
    status: int
    row: Row
    differences: Attributes
    total: int = 0
    next_row: int | None = None


class SubmitOptions(Struct):
    """What the command line adds to a description."""

    assignments: tuple[tuple[str, str], ...] = ()
    appended: tuple[str, ...] = ()
    queue: str | None = None
    spooled: bool = False
    allow_many_queues: bool = False
    batch_name: str = ""
    most_jobs: int | None = None
    interactive: bool = False
    # Whether the jobs are made later whatever the description says, and whether of such jobs the
    # first alone is made: for who only wants to see what would be.
    is_factory: bool = False
    first_of_later: bool = False
    # Whether the program must be there, have some length, and be no script of DOS's.
    checks_program: bool = True
    # Whether such a script is only warned of.
    allows_dos_scripts: bool = False
    # Whether what is unused is told where the configuration says no, and not where it says yes.
    toggles_unused: bool = False


class Submission(Struct):
    """A description that was read, and the jobs it makes."""

    macros: SubmitMacros
    reader: SubmitReader
    sources: SubmitSources
    config: Config
    facts: SubmitFacts
    options: SubmitOptions
    # Commands that the schedd adds to the language (EXTENDED_SUBMIT_COMMANDS).
    extended: tuple[Command, ...] = ()
    # Which URLs wait in a queue of their own (PROTECTED_URL_TRANSFER_MAPFILE).
    protected: MapFile | None = None
    cluster: Attributes = field(default_factory=Attributes)
    warnings: list[Notice] = field(default_factory=list)
    # What seems to have been meant for something, and is looked at by nothing.
    unused: list[Notice] = field(default_factory=list)
    # What no macro function could do, and of which job.
    problems: list[tuple[int, Notice]] = field(default_factory=list)
    # What the first of the cluster's jobs begins as.
    first_status: int = 1
    is_factory: bool = False
    job_count: int = 0
    # Whether a job has been begun that is not complete.
    is_making: bool = False
    _later: Later | None = None
    # What steps write for some jobs and not for others.
    _unforeseen: set[str] = field(default_factory=set)
    _has_one_statement: bool = True
    _values: tuple[str, ...] | None = None
    # Whether it asks for jobs that are made later, None until that was looked at, and how many of
    # them may be there at a time.
    _is_late: bool | None = None
    _limit: int | None = None
    # Why that cannot be known: refused as soon as there is a job to make, as in the reference.
    _late_fault: SubmitError | None = None
    # What was told, as it is written: whoever reads it sees no command.
    _seen: set[str] = field(default_factory=set)
    _status: int = 1
    _first_text: QueueText | None = None
    # What a digest says again though it is in the cluster (`taken.take_all`).
    said_again: frozenset[str] = frozenset()
    # What a digest of it says, once all of it is read.
    digest_lines: tuple[str, ...] = ()
    # The statement whose jobs are being made.
    statement: QueueStatement | None = None

    def jobs(self) -> Iterator[JobPlan]:
        """Yield the jobs; the cluster's attributes are complete from the first one on.

        Raises SubmitError for what cannot be made into a job, also in the middle.
        """
        self._read_protected()
        text = self._next_queue(first=True)
        while text is not None:
            statement = parse_queue(text, self.reader, self.sources)
            before = self.job_count
            yield from self._jobs_of(statement)
            names = statement.variables
            self._values = None
            if self.job_count > before:
                self.macros.end_rows(names)
            else:
                # What follows may be wrong, and end it all.
                self._take_warnings()
            text = self._next_queue(first=False)
            if text is None:
                self.macros.empty_rows(names)
        self._take_warnings()
        self._warn_unused()

    def begin(self, cluster: int) -> None:
        """Say which number the cluster has; before the first job is made."""
        self.facts = self.facts.changed(cluster=cluster)
        self.macros.defaults["CLUSTER"] = self.macros.defaults["CLUSTERID"] = str(cluster)

    def go_on(self, earlier: Submission) -> None:
        """Have the jobs be further ones of the cluster that another submission has begun."""
        self.cluster, self.job_count = earlier.cluster, earlier.job_count
        self.first_status = earlier.first_status
        self._has_one_statement = False

    def _read_protected(self) -> None:
        def complain(text: str) -> None:
            self.warnings.append(Notice(text))

        self.protected = read_protected(self.config, self.sources.read_text, complain)

    def first_statement(self) -> QueueStatement:
        """Read up to the first queue statement and return it; SubmitError."""
        text = self._next_queue(first=True)
        assert text is not None
        return parse_queue(text, self.reader, self.sources)

    def first_of_later(self) -> QueueStatement:
        """Make the first job only, for a cluster whose jobs are made later.

        Compat: it is the first of those that there will be, where the reference takes the first
        item before those that a slice chooses (test_a_late_cluster_has_what_its_first_job_has).

        Returns the queue statement; the cluster's attributes are complete then. Raises
        SubmitError, also where the description has more than one queue statement.
        """
        from kettle.submit.digest import digest_lines  # for jobs that are made later alone

        self._read_protected()
        statement = self.first_statement()
        self._is_later_asked_for()
        self._refuse_late_fault(statement)
        self.is_factory = True
        for row in statement.rows():
            self.set_row(statement, row)
            self._build(row)
            break
        self.job_count = statement.job_count()
        if self._next_queue(first=False) is not None:
            raise SubmitError("jobs that are made later have one queue statement")
        # A name that the digest has no need of any more is no typing error.
        self.digest_lines = digest_lines(self, statement)
        self.macros.empty_rows(statement.variables)
        self._warn_unused()
        return statement

    def wants_factory(self) -> bool:
        """Tell whether the description asks for its jobs to be made later.

        Reads the description up to its queue statement; SubmitError.
        """
        self._first_text = self._next_queue(first=True)
        return self._is_later_asked_for()

    def materialize_limit(self) -> int | None:
        """Return how many jobs of a cluster made later may be there at a time, None for all."""
        self._is_later_asked_for()
        return self._limit

    def _is_later_asked_for(self) -> bool:
        """Look, once and before any item is there, at what asks for jobs that are made later."""
        if self._is_late is None:
            job = self.builder()
            try:
                refuse_services(job)
            except (ConfigError, SubmitError) as error:
                raise self._refusal(error, job) from error.__cause__
            self._is_late = False
            try:
                self._limit = job.integer("max_materialize", bits=32)
                idle = None if self._limit is not None else job.integer("max_idle", bits=32)
                self._is_late = self._limit is not None or idle is not None
            except (ConfigError, SubmitError) as error:
                self._late_fault = self._refusal(error, job)
                self._late_fault.__cause__ = error.__cause__
        return self._is_late

    def _refuse_late_fault(self, statement: QueueStatement) -> None:
        if self._late_fault is not None and statement.job_count():
            raise self._late_fault

    def builder(self, cluster: ClusterTexts | None = None) -> JobBuilder:
        """Return a job without attributes of its own, for steps to run on.

        It is one of this cluster, which is the submission's own where none is given.
        """
        return self._builder(JobBuilder, cluster)

    def _builder(self, kind: type[Builder], cluster: ClusterTexts | None = None) -> Builder:
        return kind(
            self.macros,
            self.sources,
            self.config,
            self.facts,
            spooled=self.options.spooled,
            interactive=self.options.interactive,
            checks_program=self.options.checks_program,
            allows_dos_scripts=self.options.allows_dos_scripts,
            extended=self.extended,
            protected=self.protected,
            cluster=self.cluster.texts if cluster is None else cluster,
        )

    def cluster_ad(self) -> ClassAd:
        """Return the cluster's ad; jobs must have been made before."""
        return self.cluster.to_ad()

    def _next_queue(self, *, first: bool) -> QueueText | None:
        # What is read now belongs to no command of a job.
        self.macros.reading = ""
        if first and self._first_text is not None:
            return self._first_text
        if first:
            text = self.reader.next_queue()
            if self.options.queue is not None:
                if text is not None:
                    raise self.reader.parse_error(
                        "-queue argument conflicts with queue statement in submit file"
                    )
                return QueueText(self.options.queue, self.reader.lines.number)
            return text or QueueText("", self.reader.lines.number)
        if self.options.queue is not None:
            return None
        if self.options.allow_many_queues and not self.is_factory:
            # Compat: the reference calls many statements deprecated, also where a site allows them;
            # here they stay (test_many_statements_are_no_matter_of_a_warning). Jobs of a later one
            # differ from the cluster in whatever stands before it.
            self._has_one_statement, self._later = False, None
            return self.reader.next_queue()
        error = self.reader.extra_data()
        if error is not None:
            raise error
        return None

    def _jobs_of(self, statement: QueueStatement) -> Iterator[JobPlan]:
        statement.before = self.macros.last_values(statement.variables)
        self.statement = statement
        if not len(self.cluster):
            # Before the variables have values: no item decides it.
            self.is_factory = self._is_later_asked_for() or self.options.is_factory
        self._refuse_late_fault(statement)
        only_one = self.is_factory and self.options.first_of_later
        for row in statement.rows():
            if only_one:
                self.set_row(statement, row)
                yield self._build(row)
                self.job_count += statement.job_count()
                return
            if self.options.most_jobs is not None and self.job_count >= self.options.most_jobs:
                raise SubmitError(
                    f"Number of submitted jobs would exceed -maxjobs ({self.options.most_jobs})",
                    mark=f"\n{ERROR_MARK}",
                )
            self.set_row(statement, row)
            self.is_making = True
            plan = self._build(row)
            self.is_making = False
            yield plan
            self.job_count += 1
            if self.options.interactive:
                return

    def set_row(self, statement: QueueStatement, row: Row) -> None:
        """Go on to another job, of this row of its queue statement."""
        macros = self.macros
        macros.place = (
            "",
            at_queue(statement.end_line or statement.told_line or statement.line),
            "\n\t at Step %(Step)s, ItemIndex %(ItemIndex)s",
        )
        macros.set_numbers(self.job_count, row.step, row.index)
        if row.values is not self._values:
            self._values = row.values
            origin = Origin(self.facts.file_name, statement.line)
            macros.set_row(statement.variables, row.values, origin)

    @property
    def is_parallel(self) -> bool:
        """Whether the jobs are the kinds of nodes of one parallel job."""
        return self.cluster.get("JobUniverse") == str(int(JobUniverse.PARALLEL))

    def _build(self, row: Row) -> JobPlan:
        if self._later is not None and self.macros.is_plain_row:
            plan = self._build_quickly(row, self._later)
            if plan is not None:
                return plan
        watched = self._watched_job()
        job = watched or self.builder()
        try:
            if not job.is_later:
                return self._build_first(row, job)
            if watched is not None:
                return self._build_watched(row, watched)
            return self.plan(row, job, all_steps(self.macros))
        except (ConfigError, SubmitError) as error:
            raise self._refusal(error, job) from error.__cause__

    def _refusal(self, error: ConfigError | SubmitError, job: JobBuilder) -> SubmitError:
        """Return what is told of a job that cannot be made, with the command that is to blame."""
        if isinstance(error, ConfigError):
            told = SubmitError(error.message, command=job.at_fault(error))
            told.hint = self._hint(error, told)
            return told
        # Compat: also of jobs that are made later; there the same is said in the middle of a
        # complaint about the line of the queue statement
        # (test_a_job_that_is_made_later_is_refused_in_the_same_words).
        self._take_warnings(job.warnings)
        error.command = job.at_fault(error)
        error.hint = error.hint or self._hint(error, error)
        return error

    def _hint(self, error: LanguageError, told: SubmitError) -> str:
        from kettle.submit import refusals  # for those alone who are refused

        return refusals.hint_for(error, told, self.macros)

    def _assume(self, command: str, text: str) -> None:
        """Take a command for given that the description does not have."""
        if not self.macros.is_set(command):
            self.macros.assign(command, text, Origin(COMMAND_LINE_SOURCE, 0))

    def _build_first(self, row: Row, job: JobBuilder) -> JobPlan:
        """Make the first job: what it has is the cluster's."""
        if self.options.interactive:
            # The program is replaced, so the description need not name one (S003).
            self._assume("executable", interactive.DEFAULT_COMMAND)
            self._assume("transfer_executable", "false")
        set_base(job)
        self.said_again = take_all(job, all_steps(self.macros))
        self._finish(job)
        self.cluster, self.first_status = job.attributes, self._status
        return JobPlan(self.job_count, self._status, row, Attributes())

    def _watched_job(self) -> WatchedJob | None:
        """Return a job of which is found out what others have in common with it; None for none."""
        if not (
            len(self.cluster)
            and self._later is None
            and self._has_one_statement
            and self.macros.is_plain_row
            and len(self._unforeseen) < _MOST_WATCHED
        ):
            return None
        from kettle.submit.watched_job import WatchedJob  # for more than one job

        return self._builder(WatchedJob)

    def _build_watched(self, row: Row, job: WatchedJob) -> JobPlan:
        """Make a job from the beginning and find out what has to be done again for the others."""
        from kettle.submit.again import Again, Comparison, Later  # for more than one job

        again = Again(job, all_steps(self.macros), self._unforeseen)
        plan = self.plan(row, job)
        fixed = frozenset({"jobbatchname"} if self.options.batch_name else ())
        self._later = Later(again, Comparison(again, plan.differences, fixed))
        return plan

    def _build_quickly(self, row: Row, later: Later) -> JobPlan | None:
        """Make a job by what has to be done again; None where it has to be made as a whole."""
        known = len(self._unforeseen)
        job = later.attempt(self._unforeseen)
        if len(self._unforeseen) > known:
            self._later = None
        if job is None:
            return None
        self._status = job.status_in_queue
        self._take_warnings(job.warnings)
        return JobPlan(self.job_count, self._status, row, later.comparison.differences(job))

    def plan(self, row: Row, job: JobBuilder, steps: Sequence[Step] = ()) -> JobPlan:
        """Finish a later job, for which these steps are left to be run."""
        from kettle.submit.differences import differences  # for more than one job

        for step in steps:
            job.take_step(step.run)
        self._finish(job)
        return JobPlan(self.job_count, self._status, row, differences(job))

    def _finish(self, job: JobBuilder) -> None:
        for name, text in job.forced:
            job.attributes.set(name, text)
        if self.options.interactive:
            interactive.set_interactive(job)
        if self.options.batch_name:
            job.set_string("JobBatchName", self.options.batch_name)
        self._status = job.status_in_queue
        self._take_warnings(job.warnings)

    def _take_warnings(self, warnings: Sequence[Notice] = ()) -> None:
        """Note what macros and a job have to tell, once."""
        if not (self.macros.warnings or warnings or self.macros.problems):
            return
        said: Iterable[Notice] = ()
        if self.macros.warnings:
            from kettle.config.remarks import render  # few have any

            said = (Notice(render(one, of_submit=True)) for one in self.macros.warnings)
        for warning in (*said, *warnings):
            if str(warning) not in self._seen:
                self._seen.add(str(warning))
                self.warnings.append(warning)
        for problem in self.macros.problems:
            if str(problem) not in self._seen:
                self._seen.add(str(problem))
                self.problems.append((self.job_count, problem))
        self.macros.warnings.clear()
        self.macros.problems.clear()

    def _warn_unused(self) -> None:
        warns = self.config.boolean("WARN_ON_UNUSED_SUBMIT_FILE_MACROS") is not False
        if warns is self.options.toggles_unused:
            return
        if not len(self.cluster):
            return
        for variable in self.macros.unused(items_first=self.is_factory):
            if variable.name.upper() not in self.macros.variables:
                what = f"the Queue variable '{variable.name}'"
            else:
                what = f"the line '{variable.name} = {variable.text}'"
            said = f"{what} was unused by condor_submit. Is it a typo?"
            few = len(self.unused) < _MOST_NEAREST
            nearest = registry.nearest_command(variable.name) if few else ""
            said += f"\n         Did you mean '{nearest}'?" if nearest else ""
            self.unused.append(Notice(said, variable.name))


def make_macros(sources: SubmitSources, config: Config, facts: SubmitFacts) -> SubmitMacros:
    """Return an empty table of variables, with what the configuration gives every description."""
    defaults = {
        name: config.get(name) or ""
        for name in ("ARCH", "OPSYS", "OPSYSVER", "OPSYSANDVER", "OPSYSMAJORVER", "SPOOL")
    }
    return SubmitMacros(sources, facts, defaults)


def read_submission(
    text: str,
    sources: SubmitSources,
    config: Config,
    facts: SubmitFacts,
    options: SubmitOptions | None = None,
) -> Submission:
    """Prepare a description; nothing is read before its jobs are asked for.

    The language's own commands are those of the configuration (EXTENDED_SUBMIT_COMMANDS); whoever
    submits to a schedd puts that one's into `extended`.
    """
    options = options or SubmitOptions()
    macros = make_macros(sources, config, facts)
    for number, (name, value) in enumerate(options.assignments, 1):
        macros.assign(name, value, Origin(COMMAND_LINE_SOURCE, number))
    place = "<stdin>" if facts.file_name == "-" else facts.file_name
    reader = SubmitReader(macros, sources, text, place)
    reader.appended = options.appended
    reader.templates = read_templates(config)
    extended = read_extended_commands(config)
    return Submission(macros, reader, sources, config, facts, options, extended)
