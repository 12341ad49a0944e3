"""The steps of the submit language and the rows of its commands belong together."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from kettle.attributes.codes import JobUniverse
from kettle.errors import SubmitError
from kettle.submit import registry, simple
from kettle.submit.commands.command import Kind
from kettle.submit.job import FIELDS, JobBuilder
from unit.submit.submitting import submission, values

RECORDED = Path(__file__).parents[2] / "data" / "vectors" / "submit" / "commands.json"
# Commands that a description makes up itself.
FAMILIES = (
    *("request_*", "jobset.*", "transform_body_*", "transformbody_*", "*_container_port"),
    *("ec2_tag_*", "ec2tag*", "cloud_label_*", "cloudlabel*"),
)


def name_of(run: Any) -> str:
    """Return a step as rows name it."""
    while isinstance(run, partial):
        run = run.func
    return f"{run.__module__.rpartition('.')[2]}.{run.__name__}"


@pytest.fixture(scope="module")
def asked() -> dict[str, set[str]]:
    """By command, in lower case, the steps that look at it in the recorded descriptions."""
    found: dict[str, set[str]] = defaultdict(set)
    running = ""

    def take_step(job: JobBuilder, run: Callable[[JobBuilder], None]) -> None:
        nonlocal running
        running = name_of(run)
        take(job, run)

    def noted(method: str) -> Callable[..., Any]:
        real = getattr(JobBuilder, method)

        def ask(job: JobBuilder, name: str) -> Any:
            found[name.lower()].add(running)
            return real(job, name)

        return ask

    take = JobBuilder.take_step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JobBuilder, "take_step", take_step)
        for method in ("param", "text_of", "is_set"):
            patch.setattr(JobBuilder, method, noted(method))
        for case in json.loads(RECORDED.read_text(encoding="utf-8")):
            try:
                list(submission(case["submit"], config=case.get("config", "")).jobs())
            except SubmitError:
                continue
    return found


def test_every_kind_of_command_has_its_converter_or_is_none_of_those() -> None:
    assert {*simple.SETTERS, "special", "unread"} == set(get_args(Kind))
    assert {row.kind for row in registry.all_commands()} <= set(get_args(Kind))


def test_what_is_special_names_a_step_that_looks_at_it(asked: dict[str, set[str]]) -> None:
    rows = registry.all_commands()
    assert [row.name for row in rows if bool(row.step) != (row.kind == "special")] == []
    lost = [row.name for row in rows if row.step and row.step not in asked[row.name.lower()]]
    assert lost == []


def test_what_is_unread_no_step_looks_at(asked: dict[str, set[str]]) -> None:
    rows = [row for row in registry.all_commands() if row.kind == "unread"]
    assert [row.name for row in rows if asked.get(row.name.lower())] == []


def test_no_step_looks_at_a_command_that_is_no_row(asked: dict[str, set[str]]) -> None:
    known = set(registry.known_names())
    unknown = {name for name in asked if name not in known}
    made_up = {name for name in unknown for family in FAMILIES if fnmatchcase(name, family)}
    assert unknown - made_up == set()


def test_what_steps_say_to_others_can_be_changed_by_assigning_alone() -> None:
    # A list or a dictionary could grow in its place, which no record of a step would tell.
    unchanging = {bool, int, str, JobUniverse, int | None, tuple[str, ...]}
    kinds = get_type_hints(JobBuilder)
    assert {name: kinds[name] for name in FIELDS if kinds[name] not in unchanging} == {}
    assert {type(getattr(JobBuilder, name)) for name in FIELDS} <= {
        *(bool, int, str, JobUniverse, tuple, type(None)),
    }


@pytest.mark.parametrize(
    ("line", "knob", "attribute", "usual", "other"),
    [
        ("retry_until = 1", "DEFAULT_JOB_MAX_RETRIES", "JobMaxRetries", "2", "5"),
        ("", "JOB_DEFAULT_LEASE_DURATION", "JobLeaseDuration", "2400", "60"),
        ("deferral_time = 1", "SCHEDD_INTERVAL", "ScheddInterval", "300", "60"),
    ],
)
def test_a_number_that_is_set_to_nothing_has_the_default_of_its_row(
    line: str, knob: str, attribute: str, usual: str, other: str
) -> None:
    for config, value in (("", usual), (f"{knob} =\n", usual), (f"{knob} = {other}\n", other)):
        assert values(line + "\nqueue\n", attribute, config=config) == [value]
