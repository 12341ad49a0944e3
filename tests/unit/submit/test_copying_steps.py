"""A step that says that it copies does: who is filled in is as who is made from the beginning.

All steps that say so are walked through, so that a new one that is wrong about itself is found.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from kettle.errors import SubmitError
from kettle.submit import again, registry, simple, steps
from kettle.submit.commands.command import Command
from kettle.submit.copies import Copy, copy_of
from kettle.submit.job import JobBuilder
from kettle.submit.simple import Setter
from kettle.submit.steps import Step, all_steps
from unit.submit.submitting import submission

# What a text may be around what changes, and what may change: words with a digit in them, as
# letters, numbers, truths and names of files would be taken for.
TEXTS = ("{}", '"a {}, b"', 'A != "{}"', "'{}'", "/dev/{}", "d//{}/%s%", "5{}")
ITEMS = (
    "w0 true1 a.2-x null0",
    "1 0 -1 00 1.5",
    "0x10 5x 1e3 99999999999999999999",
    "/a/b1 a//b2 //3 1/2 /0/",
)
FORCED = "+Told"


def step_name(step: Step) -> str:
    """Return the command of a simple step, else the step as the rows of commands name it."""
    run: Any = step.run
    if isinstance(run, partial):
        return run.keywords["command"].name if "command" in run.keywords else FORCED
    return f"{run.__module__.rpartition('.')[2]}.{run.__name__}"


def copying_steps() -> list[str]:
    made = submission(f"executable = job.sh\n{FORCED} = 1\nqueue\n")
    list(made.jobs())
    return [step_name(step) for step in all_steps(made.macros) if step.copies]


def descriptions(name: str) -> list[str]:
    """Return what a step has to do with, in many forms; empty if no command leads to it."""
    rows = [row for row in registry.all_commands() if name in (row.step, row.name)]
    commands = [(row.name, row.universes) for row in rows] or ([(name, "")] * (name == FORCED))
    found = []
    for command, universe in commands:
        base = "universe = grid\ngrid_resource = batch pbs\n" if universe == "grid" else ""
        base += "output = o\nerror = e\n" if command.startswith(("transfer_", "stream_")) else ""
        found += [
            f"executable = job.sh\n{base}{command} = {text.replace('{}', '$(item)')}\n"
            f"queue item in ({items})\n"
            for text in TEXTS
            for items in ITEMS
        ]
    return found


def told(text: str, *, quick: bool) -> object:
    made = submission(text)
    # Without it no job is watched, and so each is made from the beginning.
    made._has_one_statement = quick
    jobs: list[object] = []
    try:
        for job in made.jobs():
            shown = {**dict(made.cluster), **dict(job.differences)}
            jobs.append((job.status, shown))
    except SubmitError as error:
        jobs.append(error.message)
    return jobs, made.warnings


def walk(name: str) -> tuple[list[str], int]:
    """Return the descriptions of which a job is another one, and how many were filled in."""
    copied = 0

    def noted(job: Any, step: Step, *more: Any) -> Copy | None:
        nonlocal copied
        found = copy_of(job, step, *more)
        copied += found is not None and step_name(step) == name
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(again, "copy_of", noted)
        wrong = [
            text for text in descriptions(name) if told(text, quick=True) != told(text, quick=False)
        ]
    return wrong, copied


@pytest.mark.parametrize("name", copying_steps())
def test_what_a_step_copies_is_what_it_would_make(name: str) -> None:
    wrong, copied = walk(name)
    assert wrong == []
    assert copied, "no description here has it copied: add one"


def test_a_step_that_is_wrong_about_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_long(job: JobBuilder, command: Command, text: str) -> None:
        job.set_boolean(command.attribute, len(text) > 4)

    monkeypatch.setitem(simple.SETTERS, "integer", Setter(is_long, copies=True))  # type: ignore[index]
    named = "checkpoint_exit_code"
    (row,) = (row for row in registry.simple_commands() if row.name == named)
    run = partial(simple._set_in_universe, command=row._replace(kind="integer"))
    monkeypatch.setattr(steps, "_later_steps", lambda: (Step(run, copies=True),))
    assert walk(named)[0]
