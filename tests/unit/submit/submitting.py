"""A submission out of dictionaries, for the tests of the submit language."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.config import Config
from kettle.submit.build import JobPlan, Submission, SubmitOptions, read_submission
from kettle.submit.sources import MemorySubmitSources, SubmitFacts

FACTS = SubmitFacts(
    now=1_000,
    user="me",
    folder="/work",
    file_name="job.sub",
    version="$CondorVersion: 25.14.1 $",
    platform="$CondorPlatform: X $",
    environment={"HOME": "/home/me", "LANG": "C"},
)
MACHINE = {"ARCH": "X86_64", "OPSYS": "LINUX", "FULL_HOSTNAME": "h.x"}


def submission(
    text: str,
    files: Mapping[str, str] | None = None,
    config: str = "",
    options: SubmitOptions | None = None,
    standard_input: str | None = None,
    facts: SubmitFacts = FACTS,
) -> Submission:
    known = {"job.sh": "#!/bin/sh\n", **(files or {})}
    sources = MemorySubmitSources(files=known, standard_input=standard_input)
    return read_submission(text, sources, Config.from_text(config, facts=MACHINE), facts, options)


def jobs_of(text: str, **more: object) -> tuple[Submission, list[JobPlan]]:
    made = submission(f"executable = job.sh\n{text}", **more)  # type: ignore[arg-type]
    return made, list(made.jobs())


def values(text: str, name: str, **more: object) -> list[str | None]:
    """One attribute of every job."""
    made, jobs = jobs_of(text, **more)
    return [job.differences.get(name) or made.cluster.get(name) for job in jobs]
