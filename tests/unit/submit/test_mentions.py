"""Which attributes an expression of a description asks for (dry runs of HTCondor 25.14.1)."""

from __future__ import annotations

import pytest

from kettle.errors import SubmitError
from unit.submit.submitting import jobs_of, values

CIRCULAR = [
    "Requirements && Cpus > 1",
    "MY.Requirements && Cpus > 1",
    "TARGET.Requirements && Cpus > 1",
    "REQUIREMENTS =?= true",
    "isUndefined(requirements)",
    "'Requirements' && Cpus > 1",
    "other.requirements",
    "self.requirements",
    "root.requirements",
    "(MY).requirements",
    ".requirements",
    "{requirements}[0]",
    "[a=requirements].a",
    "[x=1].requirements",
    "Memory > 10 && Requirements",
]
STRAIGHT = [
    '"Requirements" == "a"',
    "foo.requirements",
    "job.requirements",
    "my.target.requirements",
    "myrequirements",
    "requirements()",
    "[requirements=true].requirements",
    "[requirements=1; b=requirements].b",
    "[x=[y=requirements];requirements=3].x.y",
    "$(Requirements)",
]


@pytest.mark.parametrize("text", CIRCULAR)
def test_requirements_that_ask_for_themselves_are_refused(text: str) -> None:
    with pytest.raises(SubmitError) as raised:
        jobs_of(f"requirements = {text}\nqueue\n")
    assert raised.value.complaint.startswith(f"Requirements = ({text})\nIs Circular.")


@pytest.mark.parametrize("text", STRAIGHT)
def test_requirements_of_another_ad_are_none_of_the_job_s(text: str) -> None:
    assert len(jobs_of(f"requirements = {text}\nqueue\n")[1]) == 1


@pytest.mark.parametrize(
    "lines",
    [
        "+Requirements = Requirements && Cpus > 1",
        "requirements = Requirements\nMY.Requirements = true",
        "requirements = Req\n+Req = Requirements",
        "rank = Rank + Requirements\nperiodic_hold = PeriodicHold\n+Foo = Foo",
        "universe = grid\ngrid_resource = batch pbs\nrequirements = Requirements",
    ],
)
def test_only_what_is_to_become_requirements_is_looked_at(lines: str) -> None:
    assert len(jobs_of(f"{lines}\nqueue\n")[1]) == 1


def test_what_the_configuration_appends_may_be_what_asks() -> None:
    config = "APPEND_REQUIREMENTS = Requirements\n"
    with pytest.raises(SubmitError, match=r"= \(Cpus > 1\) && \(Requirements\)\nIs Circular"):
        jobs_of("requirements = Cpus > 1\nqueue\n", config=config)


@pytest.mark.parametrize("more", ["", "max_idle = 1\n"])
def test_a_later_job_whose_requirements_ask_for_themselves_is_refused(more: str) -> None:
    text = f"{more}requirements = $(item)\nqueue item in (true, false, requirements)\n"
    with pytest.raises(SubmitError, match=r"Requirements = \(requirements\)\nIs Circular"):
        jobs_of(text)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("MY.Memory > 3 && MY.Arch == 1", True),
        ("other.Memory > 3 && other.Arch == 1", True),
        (".Memory > 3 && .Arch == 1", True),
        (".left.Memory && .left.Arch == 1", True),
        ("Memory[Arch]", True),
        ("f(Memory, Arch)", True),
        ("(TARGET).Memory > 3 && (TARGET).Arch == 1", False),
        ("[Memory=3].Memory && [Arch=1].Arch", False),
        ("foo.Memory && foo.Arch", False),
        ('eval("Memory") && "Arch" == "Memory"', False),
    ],
)
def test_a_clause_is_left_out_where_the_attribute_is_asked_for(text: str, asks: bool) -> None:
    made, _ = jobs_of(f"requirements = {text}\nqueue\n")
    assert ('TARGET.Arch == "' not in (made.cluster.get("Requirements") or "")) is asks
    assert any("refers to TARGET.Memory" in str(notice) for notice in made.warnings) is asks


@pytest.mark.parametrize(
    "text", ["{}.X", "TARGET.{}.X.Y", "f(other.{}.X)", "[a={}.X].a", ".right.{}.X"]
)
def test_what_something_is_selected_from_is_asked_for(text: str) -> None:
    made, _ = jobs_of(f"requirements = {text.format('Memory')} && {text.format('OpSys')}\nqueue\n")
    assert any("refers to TARGET.Memory" in str(notice) for notice in made.warnings)
    assert "TARGET.OpSys ==" not in (made.cluster.get("Requirements") or "")
    with pytest.raises(SubmitError, match="Is Circular"):
        jobs_of("requirements = TARGET.Requirements.X\nqueue\n")
    assert jobs_of("requirements = RequestMemory.X\nqueue\n")[0].warnings == []


def test_nothing_is_said_of_what_another_system_decides() -> None:
    text = "universe = grid\ngrid_resource = batch pbs\nrequirements = Memory > 3\nqueue\n"
    assert jobs_of(text)[0].warnings == []


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("MY.Capability > 3", True),
        ("TARGET.Capability > 3", False),
        ("[Capability=1].Capability", False),
    ],
)
def test_a_limit_of_gpus_is_left_out_where_the_property_is_asked_for(text: str, asks: bool) -> None:
    lines = f"require_gpus = {text}\nrequest_gpus = 1\ngpus_minimum_capability = 2\nqueue\n"
    (required,) = values(lines, "RequireGPUs")
    assert ("GPUsMinCapability" not in (required or "")) is asks


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("MY.RequestMemory * 2", True),
        (".RequestMemory * 2", True),
        ("TARGET.RequestMemory * 2", False),
        ("x.RequestMemory * 2", False),
        ("RequestMemory *", False),
    ],
)
def test_an_increase_asks_for_what_it_increases(text: str, asks: bool) -> None:
    lines = (
        "request_memory = 1\nretry_request_memory_max = 10 GB\n"
        f"retry_request_memory_increase = {text}\nqueue\n"
    )
    if asks:
        assert len(jobs_of(lines)[1]) == 1
        return
    with pytest.raises(SubmitError, match="references RequestMemory"):
        jobs_of(lines)
