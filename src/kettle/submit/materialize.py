# ruff: noqa: SLF001 - the other half of `build.Submission`, for jobs that are made later
"""Jobs made later, out of a cluster's ad and the submit digest that goes with it.

The digest has only what changes from job to job; everything else stands in the cluster's ad. So
only the steps that look at something that changes are run, and a job gets what these say
otherwise than the cluster. When jobs are made is the schedd's factory's decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import ConfigError, SubmitError
from kettle.submit.build import JobPlan, read_submission
from kettle.submit.job import Attributes, JobBuilder
from kettle.submit.queue_statement import parse_queue
from kettle.submit.steps import Step, all_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kettle.classad import ClassAd
    from kettle.config import Config
    from kettle.submit.build import Submission
    from kettle.submit.sources import SubmitFacts, SubmitSources

# What the steps cannot do without, and the cluster's attribute that says it.
_BACKGROUND = (("executable", "Cmd"),)
# Limit: what replacing macros may cost for one job, and for reading the digest: a schedd that makes
# jobs has others to serve. Some 3,300 replacements in texts of up to 40,000 characters, fewer in
# longer ones (30 in one of 4 MiB): 0.01 to 0.05 s measured.
_MOST_WORK = 1 << 27


def later_jobs(
    digest: str,
    cluster: ClassAd,
    sources: SubmitSources,
    config: Config,
    facts: SubmitFacts,
    *,
    skip: int = 0,
) -> Iterator[JobPlan]:
    """Yield a cluster's jobs from number `skip` on, each with what it has otherwise than it.

    Raises SubmitError for a digest that makes no jobs.
    """
    submission = read_submission(_with_background(digest, cluster), sources, config, facts)
    submission.begin(facts.cluster)
    submission.macros.allow(_MOST_WORK)
    try:
        text = submission._next_queue(first=True)
        assert text is not None
        statement = parse_queue(text, submission.reader, submission.sources)
        total = statement.job_count()
        live: tuple[Step, ...] | None = None
        submission.job_count = skip
        for row in statement.rows(skip):
            submission.macros.allow(_MOST_WORK)
            submission._set_row(statement, row)
            if live is None:
                first = submission._new_job()
                live = _live_steps(submission, first)
                submission._status = first.status
            differences = _differences(submission, live, cluster)
            status = submission._status
            following = statement.next_row(row)
            yield JobPlan(submission.job_count, status, row, differences, total, following)
            submission.job_count += 1
    except ConfigError as error:
        raise SubmitError(error.message) from error


def _live_steps(submission: Submission, first: JobBuilder) -> tuple[Step, ...]:
    """Run all steps for a first job and return those that each job needs.

    Where one attribute that the digest itself names changes, the others are taken with it.
    """
    steps = all_steps(submission.macros)
    live = submission._run(first, steps)
    if any(step.forces for step in live):
        return tuple(step for step in steps if step.forces or step in live)
    return live


def _with_background(digest: str, cluster: ClassAd) -> str:
    said = {line.partition("=")[0].strip().lower() for line in digest.split("\n")}
    lines = []
    for command, attribute in _BACKGROUND:
        value = cluster.string(attribute)
        if value and command not in said:
            lines.append(f"{command}={value}")
    universe = cluster.integer("JobUniverse")
    if universe is not None and "universe" not in said:
        lines.append(f"universe={universe}")
    return "\n".join((*lines, digest))


def _differences(submission: Submission, live: tuple[Step, ...], cluster: ClassAd) -> Attributes:
    job = submission.builder()
    for step in live:
        step.run(job)
    differences = Attributes()
    for name, text in (*job.attributes, *job.forced):
        if cluster.text(name) != text:
            differences.set(name, text)
    return differences
