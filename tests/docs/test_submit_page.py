"""The examples of the manual's page about submit descriptions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.submit.build import read_submission
from kettle.submit.sources import MemorySubmitSources, SubmitFacts

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "submit.md"
PAIR = re.compile(r"```ini\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
EXAMPLES = PAIR.findall(PAGE.read_text(encoding="utf-8"))
FILES = {"job.sh": "#!/bin/sh\n", "data/a.dat": "a", "data/b.dat": "b", "data/c.txt": "c"}
FACTS = SubmitFacts(
    now=0,
    user="me",
    folder="/work",
    file_name="job.sub",
    version="v",
    platform="p",
    environment={},
)


def test_every_description_on_the_page_is_followed_by_its_attributes() -> None:
    assert len(EXAMPLES) == PAGE.read_text(encoding="utf-8").count("```ini")


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_makes_the_jobs_that_the_page_says(number: int) -> None:
    text, expected = EXAMPLES[number]
    config = Config.from_text("", facts={"ARCH": "X86_64", "OPSYS": "LINUX"})
    submission = read_submission(text, MemorySubmitSources(files=FILES), config, FACTS)
    jobs = list(submission.jobs())
    assert submission.warnings == []
    for line in expected.splitlines():
        proc, _, assignment = line.partition(": ")
        name, _, value = assignment.partition(" = ")
        own = jobs[int(proc)].differences.get(name)
        assert (own or submission.cluster.get(name)) == value, line
    assert len(jobs) == 1 + max(int(line.partition(":")[0]) for line in expected.splitlines())
