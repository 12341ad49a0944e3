"""Jobs made later, out of a cluster's ad and the submit digest that goes with it.

The digest has only what changes from job to job; everything else stands in the cluster's ad. So
only the steps that look at something that changes are run, and a job gets what these say
otherwise than the cluster. When jobs are made is the schedd's factory's decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse
from kettle.classad.text import without_line_ends
from kettle.errors import ConfigError, SubmitError
from kettle.octets import BLANKS
from kettle.submit.build import JobPlan, read_submission
from kettle.submit.steps import Step, all_steps, with_followers
from kettle.submit.taken import take_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kettle.classad import ClassAd
    from kettle.config import Config
    from kettle.submit.build import ClusterTexts, Submission
    from kettle.submit.job import JobBuilder
    from kettle.submit.macros import SubmitMacros
    from kettle.submit.queue_statement import QueueStatement, Row
    from kettle.submit.sources import SubmitFacts, SubmitSources
    from kettle.wire.security.mapfile import MapFile

# What the steps cannot do without, and the cluster's attribute that says it.
_BACKGROUND = (("executable", "Cmd"),)
# What a digest sets to no avail: a job's numbers are those it gets.
_THE_SCHEDD_S = ("PROCESS", "CLUSTER")
# Limit: what replacing macros may cost for one job, and for reading the digest: a schedd that makes
# jobs has others to serve. Some 3,300 replacements in texts of up to 40,000 characters, fewer in
# longer ones (30 in one of 4 MiB): 0.01 to 0.05 s measured.
_MOST_WORK = 1 << 27
# Limit: the characters that are told of what a macro function could not do.
_LONGEST_PROBLEM = 500


def later_jobs(
    digest: str,
    cluster: ClassAd,
    sources: SubmitSources,
    config: Config,
    facts: SubmitFacts,
    *,
    skip: int = 0,
    protected: MapFile | None = None,
    tell: Callable[[str], object] | None = None,
) -> Iterator[JobPlan]:
    """Yield a cluster's jobs from number `skip` on, each with what it has otherwise than it.

    URLs that `protected` is about are listed apart. What a macro function could not do, which makes
    nothing of it and a job all the same, is a sentence for `tell`. Raises SubmitError for a digest
    that makes no jobs.
    """
    submission = read_submission(_with_background(digest, cluster), sources, config, facts)
    submission.protected = protected
    submission.begin(facts.cluster)
    submission.macros.allow(_MOST_WORK)
    texts = _ClusterTexts(cluster)
    try:
        statement = _prepare(submission)
        total = statement.job_count()
        live = _find_live_steps(submission, statement, texts)
        submission.job_count = skip
        for row in statement.rows(skip):
            plan = _make(submission, statement, row, live, texts)
            for problem in _take_problems(submission):
                if tell is not None:
                    tell(f"Job {facts.cluster}.{plan.proc}: {problem}")
            yield plan._replace(total=total, next_row=statement.next_row(row))
            submission.job_count += 1
    except ConfigError as error:
        raise SubmitError(error.message, mark="") from error


def _prepare(submission: Submission) -> QueueStatement:
    """Return the digest's queue statement, whose jobs are made where the cluster was submitted."""
    statement = submission.first_statement()
    folder = submission.macros.raw("FACTORY.Iwd")
    if folder:
        changed = submission.facts.changed(folder=folder)
        submission.facts = submission.macros.facts = changed
    for name in _THE_SCHEDD_S:
        submission.macros.variables.pop(name, None)
    return statement


def _find_live_steps(
    submission: Submission, statement: QueueStatement, texts: ClusterTexts
) -> tuple[Step, ...]:
    """Return the steps that each job needs.

    Asked of the cluster's first job, with whichever job it goes on: what a job is depends on no
    restart of the schedd.
    """
    live: tuple[Step, ...] = ()
    for row in statement.rows():
        submission.set_row(statement, row)
        live = _live_steps(submission.macros, submission.builder(texts))
        # They are told of the job, when it is made.
        submission.macros.forget_problems()
        break
    return live


def _make(
    submission: Submission,
    statement: QueueStatement,
    row: Row,
    live: tuple[Step, ...],
    texts: ClusterTexts,
) -> JobPlan:
    submission.macros.allow(_MOST_WORK)
    submission.set_row(statement, row)
    submission.macros.place = ("", "", "")
    return submission.plan(row, submission.builder(texts), live)


def _take_problems(submission: Submission) -> list[str]:
    """Return the sentences about what a macro function could not do, each once."""
    found = [without_line_ends(p.sentence[:_LONGEST_PROBLEM]) for _, p in submission.problems]
    submission.problems.clear()
    return found


class _ClusterTexts(Mapping[str, tuple[str, str]]):
    """The attributes of a cluster as they are now: it may be edited between two jobs."""

    def __init__(self, ad: ClassAd) -> None:
        self._ad = ad

    def __getitem__(self, key: str) -> tuple[str, str]:
        text = self._ad.text(key)
        if text is None:
            raise KeyError(key)
        return self._ad.spelling(key) or key, text

    def __iter__(self) -> Iterator[str]:
        return (name.lower() for name in self._ad.names())

    def __len__(self) -> int:
        return len(self._ad)


def _live_steps(macros: SubmitMacros, first: JobBuilder) -> tuple[Step, ...]:
    """Run all steps for a first job and return those that each job needs.

    What others have said to them is said again before each. What the digest itself forces counts
    for each.
    """
    taken = take_each(first, all_steps(macros))
    live = with_followers({one.step.run for one in taken if one.is_live})
    needed = []
    fields: dict[str, object] = {}
    for one in taken:
        step = one.step
        if step.forces or step.run in live:
            needed.append(step._replace(run=partial(_run, step.run, fields)))
            fields = {}
        else:
            fields |= one.fields
    return tuple(needed)


def _run(run: Callable[[JobBuilder], None], fields: dict[str, object], job: JobBuilder) -> None:
    """Run a step for a job, to which steps that are not run have said this."""
    vars(job).update(fields)
    run(job)


def _with_background(digest: str, cluster: ClassAd) -> str:
    said = {line.partition("=")[0].strip(BLANKS).lower() for line in digest.split("\n")}
    lines = []
    for command, attribute in _BACKGROUND:
        value = cluster.string(attribute)
        if value == "java" and cluster.integer("JobUniverse") == JobUniverse.JAVA:
            # Its class is not known then.
            continue
        if value and command not in said:
            lines.append(f"{command}={value}")
    universe = cluster.integer("JobUniverse")
    if universe is not None and "universe" not in said:
        lines.append(f"universe={universe}")
    return "\n".join((*lines, digest))
