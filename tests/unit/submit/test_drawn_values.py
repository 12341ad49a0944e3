"""What a description draws is drawn for each job, whichever way the job is made."""

from __future__ import annotations

import random

import pytest

from kettle.config import Config
from kettle.submit.build import Submission, read_submission
from kettle.submit.digest import partly_expanded
from kettle.submit.sources import MemorySubmitSources
from unit.submit.submitting import FACTS, MACHINE, values


class Dice(MemorySubmitSources):
    """Files, and dice that go on."""

    dice: random.Random

    def random(self) -> random.Random:
        return self.dice


def submission(text: str) -> Submission:
    sources = Dice(files={"job.sh": "#!/bin/sh\n"})
    sources.dice = random.Random(1)
    return read_submission(
        f"executable = job.sh\n{text}", sources, Config.from_text("", facts=MACHINE), FACTS
    )


def drawn(text: str, name: str) -> list[str]:
    made = submission(text)
    return [job.differences.get(name) or made.cluster.get(name) or "" for job in made.jobs()]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("arguments = {}", "Args"),
        ("arguments = $(Process) {}", "Args"),
        ("output = out.{}", "Out"),
        ("environment = SEED={}", "Environment"),
        ("+Seed = {}", "Seed"),
        ("seed = {}\narguments = $INT(seed,%08d)", "Args"),
        ("request_memory = {}", "RequestMemory"),
    ],
)
def test_each_job_has_its_own(line: str, name: str) -> None:
    found = drawn(line.format("$RANDOM_INTEGER(1,1000000)") + "\nqueue 20\n", name)
    assert len(set(found)) == 20, found


@pytest.mark.parametrize("choice", ["a,b1", "b1,a", "1,2"])
def test_no_choice_is_made_more_often_for_how_it_is_written(choice: str) -> None:
    text = f"arguments = $(Process) $RANDOM_CHOICE({choice})\nqueue 1000\n"
    found = [one.strip('"').split(" ")[1] for one in drawn(text, "Args")]
    for word in choice.split(","):
        assert 420 < found.count(word) < 580, word


def test_a_digest_keeps_what_is_drawn_for_whoever_makes_the_jobs() -> None:
    made = submission("x = 5\nqueue\n")
    list(made.jobs())
    text = "$(x) $RANDOM_INTEGER(1,9) $RANDOM_CHOICE(a,b)"
    assert partly_expanded(text, made.macros) == (
        "5 $RANDOM_INTEGER(1,9) $RANDOM_CHOICE(a,b)",
        True,
    )


def test_blanks_part_a_list_of_which_one_is_drawn() -> None:
    assert values("q = a a,a\ta\n+A = $RANDOM_CHOICE(q)\nqueue\n", "A") == ["a"]
    assert values('+A = "$RANDOM_CHOICE(a a,a a)"\nqueue\n', "A") == ['"a a"']
