"""From a submit description to a cluster ad and the differences of each of its jobs.

`read_submission` reads up to the first queue statement; `Submission.jobs` makes the jobs one
after the other, so that a million of them need no memory. Steps that look at nothing that changes
from job to job are done once. Sending the jobs is `kettle.client.queue`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kettle.config.origin import COMMAND_LINE_SOURCE, Origin
from kettle.errors import ConfigError, SubmitError
from kettle.structs import Struct, field
from kettle.submit import interactive, registry
from kettle.submit.extended import read_extended_commands, read_templates
from kettle.submit.job import Attributes, JobBuilder
from kettle.submit.macros import SubmitMacros, Variable
from kettle.submit.queue_statement import QueueStatement, Row, parse_queue
from kettle.submit.reader import QueueText, SubmitReader, at_queue
from kettle.submit.steps import Step, all_steps, set_base

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kettle.classad import ClassAd
    from kettle.config import Config
    from kettle.errors import LanguageError
    from kettle.submit.commands.command import Command
    from kettle.submit.sources import SubmitFacts, SubmitSources


class _Begun(NamedTuple):
    """A job as far as all jobs are alike, and the steps that each runs again."""

    job: JobBuilder
    again: tuple[Step, ...]


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
    cluster: Attributes = field(default_factory=Attributes)
    warnings: list[str] = field(default_factory=list)
    # What seems to have been meant for something, and is looked at by nothing.
    unused: list[str] = field(default_factory=list)
    # What no macro function could do, and of which job.
    problems: list[tuple[int, str]] = field(default_factory=list)
    is_factory: bool = False
    job_count: int = 0
    _live: tuple[Step, ...] = ()
    _begun: _Begun | None = None
    _has_one_statement: bool = True
    _seen: set[str] = field(default_factory=set)
    _forced_names: set[str] = field(default_factory=set)
    _status: int = 1
    _first_text: QueueText | None = None

    def jobs(self) -> Iterator[JobPlan]:
        """Yield the jobs; the cluster's attributes are complete from the first one on.

        Raises SubmitError for what cannot be made into a job, also in the middle.
        """
        text = self._next_queue(first=True)
        while text is not None:
            statement = parse_queue(text, self.reader, self.sources)
            yield from self._jobs_of(statement)
            text = self._next_queue(first=False)
        self._warn_unused()

    def begin(self, cluster: int) -> None:
        """Say which number the cluster has; before the first job is made."""
        self.facts = self.facts.changed(cluster=cluster)
        self.macros.defaults["CLUSTER"] = self.macros.defaults["CLUSTERID"] = str(cluster)

    def first_of_later(self) -> QueueStatement:
        """Make the first job only, for a cluster whose jobs are made later.

        Returns the queue statement; the cluster's attributes are complete then. Raises
        SubmitError, also where the description has more than one queue statement.
        """
        text = self._next_queue(first=True)
        assert text is not None
        statement = parse_queue(text, self.reader, self.sources)
        for row in statement.rows():
            self._set_row(statement, row)
            self._build(row)
            break
        self.job_count = statement.job_count()
        if self._next_queue(first=False) is not None:
            raise SubmitError("ERROR: jobs that are made later have one queue statement")
        self._warn_unused()
        return statement

    def wants_factory(self) -> bool:
        """Tell whether the description asks for its jobs to be made later.

        Reads the description up to its queue statement; SubmitError.
        """
        self._first_text = self._next_queue(first=True)
        job = self.builder()
        return job.is_set("max_idle") or job.is_set("max_materialize")

    def materialize_limit(self) -> int | None:
        """Return how many jobs of a cluster made later may be there at a time, None for all."""
        job = self.builder()
        return job.integer("max_materialize")

    def builder(self) -> JobBuilder:
        """Return a job without attributes, for steps to run on."""
        return JobBuilder(
            self.macros,
            self.sources,
            self.config,
            self.facts,
            spooled=self.options.spooled,
            interactive=self.options.interactive,
            extended=self.extended,
        )

    def cluster_ad(self) -> ClassAd:
        """Return the cluster's ad; jobs must have been made before."""
        return self.cluster.to_ad()

    def _next_queue(self, *, first: bool) -> QueueText | None:
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
        if self.options.allow_many_queues:
            # Jobs of a later statement differ from the cluster in whatever stands before it.
            self._has_one_statement = False
            return self.reader.next_queue()
        error = self.reader.extra_data()
        if error is not None:
            raise error
        return None

    def _jobs_of(self, statement: QueueStatement) -> Iterator[JobPlan]:
        for row in statement.rows():
            if self.options.most_jobs is not None and self.job_count >= self.options.most_jobs:
                raise SubmitError(
                    "\nERROR: Number of submitted jobs would exceed -maxjobs "
                    f"({self.options.most_jobs})"
                )
            self._set_row(statement, row)
            yield self._build(row)
            self.job_count += 1
            if self.options.interactive:
                return

    def _set_row(self, statement: QueueStatement, row: Row) -> None:
        macros = self.macros
        index, step = str(row.index), str(row.step)
        where = f"\n\t at Step {step}, ItemIndex {index}"
        macros.place = (at_queue(statement.line), where)
        macros.live = {
            "Process": str(self.job_count),
            "Step": step,
            "Row": index,
            "ItemIndex": index,
            "Item": "",
            "Node": macros.live.get("Node", ""),
        }
        for name, value in zip(statement.variables, row.values, strict=False):
            variable = macros.row_variables.get(name.upper())
            if variable is None:
                origin = Origin(self.facts.file_name, statement.line)
                macros.row_variables[name.upper()] = Variable(name, value, origin)
            else:
                variable.text = value

    @property
    def is_parallel(self) -> bool:
        """Whether the jobs are the kinds of nodes of one parallel job."""
        return self.cluster.get("JobUniverse") == "11"

    def _build(self, row: Row) -> JobPlan:
        job = self.builder()
        try:
            if not len(self.cluster):
                if self.options.interactive:
                    # The program is replaced, so the description need not name one (S003).
                    self._assume("executable", interactive.DEFAULT_COMMAND)
                    self._assume("transfer_executable", "false")
                set_base(job)
                self._live = self._run(job, all_steps())
                self._finish(job)
                self.cluster = job.attributes
                return JobPlan(self.job_count, self._status, row, Attributes())
            if self._has_one_statement and all(step.is_leaf for step in self._live):
                return self._build_quickly(row, job)
            if self._has_one_statement:
                begun = self._begun or self._begin(job)
                job = begun.job.copy()
                self._run(job, begun.again)
            else:
                set_base(job)
                self._run(job, all_steps())
            self._finish(job)
            differences = job.attributes.difference(self.cluster)
            return JobPlan(self.job_count, self._status, row, differences)
        except ConfigError as error:
            raise SubmitError(f"ERROR: {error.message}", hint=self._hint(error, job)) from None
        except SubmitError as error:
            error.hint = error.hint or self._hint(error, job)
            raise

    def _hint(self, error: LanguageError, job: JobBuilder) -> str:
        from kettle.submit import refusals  # for those alone who are refused

        return refusals.hint_for(error, job.asked, self.macros)

    def _assume(self, command: str, text: str) -> None:
        """Take a command for given that the description does not have."""
        if not self.macros.is_set(command):
            self.macros.assign(command, text, Origin(COMMAND_LINE_SOURCE, 0))

    def _build_quickly(self, row: Row, job: JobBuilder) -> JobPlan:
        """Do anew only the steps that look at what changes, none of which others look at."""
        for step in self._live:
            step.run(job)
        differences = Attributes()
        forced = self._forced_names
        for name, text in job.attributes:
            if self.cluster.get(name) != text and name.lower() not in forced:
                differences.set(name, text)
        for name, text in job.forced:
            if self.cluster.get(name) != text:
                differences.set(name, text)
        self._take_warnings(job)
        return JobPlan(self.job_count, self._status, row, differences)

    def _begin(self, job: JobBuilder) -> _Begun:
        """Make of a new job what it has in common with all others.

        That is what the steps do before the first one that looks at what changes and that others
        look at; leaves that look at it are done again for each.
        """
        steps, live = all_steps(), self._live
        place = next(n for n, step in enumerate(steps) if step in live and not step.is_leaf)
        before = steps[:place]
        set_base(job)
        self._run(job, [step for step in before if step not in live])
        again = (*(step for step in before if step in live), *steps[place:])
        self._begun = _Begun(job, again)
        return self._begun

    def _new_job(self) -> JobBuilder:
        job = self.builder()
        set_base(job)
        return job

    def _run(self, job: JobBuilder, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Run steps and return those that looked at something that changes."""
        live = []
        for step in steps:
            self.macros.looked_at_live = False
            step.run(job)
            if self.macros.looked_at_live:
                live.append(step)
        return tuple(live)

    def _finish(self, job: JobBuilder) -> None:
        for name, text in job.forced:
            job.attributes.set(name, text)
        if self.options.interactive:
            interactive.set_interactive(job)
        if self.options.batch_name:
            job.set_string("JobBatchName", self.options.batch_name)
        self._forced_names = {name.lower() for name, _ in job.forced}
        self._status = job.status if job.asked_status is None else job.asked_status
        self.is_factory = (
            job.param("max_idle") is not None or job.param("max_materialize") is not None
        )
        self._take_warnings(job)

    def _take_warnings(self, job: JobBuilder) -> None:
        # A submit file is no configuration: the reference leaves these words out.
        said = (f"WARNING: {text.removeprefix('Config source ')}" for text in self.macros.warnings)
        for warning in (*said, *job.warnings):
            if warning not in self._seen:
                self._seen.add(warning)
                self.warnings.append(warning)
        for problem in self.macros.problems:
            if problem not in self._seen:
                self._seen.add(problem)
                self.problems.append((self.job_count, problem))
        self.macros.problems.clear()

    def _warn_unused(self) -> None:
        if self.config.boolean("WARN_ON_UNUSED_SUBMIT_FILE_MACROS") is False:
            return
        if not len(self.cluster):
            return
        for variable in self.macros.unused():
            if variable.name.upper() in self.macros.row_variables:
                what = f"the Queue variable '{variable.name}'"
            else:
                what = f"the line '{variable.name} = {variable.text}'"
            warning = f"WARNING: {what} was unused by condor_submit. Is it a typo?"
            nearest = registry.nearest_command(variable.name)
            self.unused.append(
                f"{warning}\n         Did you mean '{nearest}'?" if nearest else warning
            )


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
