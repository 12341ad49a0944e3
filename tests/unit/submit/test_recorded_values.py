"""What `condor_submit -dry-run` of 25.14.1 made of odd values, and what it said of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kettle.errors import LanguageError
from kettle.submit.registry import all_commands
from kettle.submit.sources import SubmitFacts
from unit.submit.submitting import FACTS, submission

FOLDER = Path(__file__).parents[2] / "data"
# Odd values of a few commands; and of all commands a value beside macros that expand to nothing,
# with sizes that no machine has, and times of jobs of the grid.
VALUES, BLANKS = (
    json.loads((FOLDER / name).read_text("utf-8"))
    for name in ("submit_values.json", "submit_blanks.json")
)
# Where it was recorded.
WHERE = SubmitFacts(
    now=FACTS.now,
    user="root",
    folder="/tmp/ld",
    file_name=FACTS.file_name,
    version=FACTS.version,
    platform=FACTS.platform,
    environment={},
)
# Commands that HTCondor lacks, and so nothing is recorded of.
OWN: frozenset[str] = frozenset()
FILES = {"/bin/sleep": "x", "/bin/sh": "x", "/tmp/ld/in.txt": "i"}


def made_of(line: str, description: str) -> tuple[str, dict[str, str]]:
    """What is said of a description with this line, and the attributes of its job."""
    text = f"{description}{line}\nqueue\n"
    try:
        made = submission(text, files=FILES, facts=WHERE)
        (job,) = made.jobs()
    except LanguageError as refused:
        return refused.message, {}
    said = "\n".join(map(str, made.warnings))
    return said, {name: text for ad in (made.cluster, job.differences) for name, text in ad}


@pytest.mark.parametrize("data", [VALUES, BLANKS], ids=["values", "blanks"])
def test_odd_values_become_what_the_reference_makes_of_them(data: dict[str, Any]) -> None:
    _, plain = made_of("", data["description"])
    found = []
    for line, _, _ in data["cases"]:
        said, made = made_of(line, data["description"])
        # How a job is made says nothing here: some of these lines have it made later.
        names = sorted((made.keys() | plain.keys()) - {"ProcId", "JobStatus"}) if made else []
        other = {name: made.get(name) for name in names if made.get(name) != plain.get(name)}
        found.append([line, said, other])
    assert found == data["cases"]


def test_every_command_has_a_recorded_case() -> None:
    said = [line for data in (VALUES, BLANKS) for line, _, _ in data["cases"]]
    vectors = FOLDER / "vectors" / "submit"
    said += [case["submit"] for case in json.loads((vectors / "commands.json").read_text("utf-8"))]
    cases = json.loads((vectors / "cases.json").read_text("utf-8"))["cases"]
    said += [case["submit"] for case in cases]
    lines = (line for text in said for line in text.split("\n"))
    names = {re.split(r"[=@]", line)[0].strip().lower() for line in lines}
    rows = [row for row in all_commands() if names.isdisjoint({row.name, *row.aliases})]
    assert {row.name for row in rows} == OWN


@pytest.mark.parametrize("text", ["-1.5", "-1.-5", "-1"])
def test_a_version_of_cuda_is_no_number_below_zero(text: str) -> None:
    said, _ = made_of(f"cuda_version = {text}", VALUES["description"])
    assert said.startswith("ERROR: cuda_version must be of the form")
