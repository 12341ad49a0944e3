"""A value that is refused is told at its own line, whatever else the description says."""

from __future__ import annotations

import pytest

from kettle.errors import SubmitError
from kettle.submit import registry
from kettle.submit.commands.command import Command
from unit.submit.submitting import submission
from unit.submit.test_check import check

# What has the names of words of complaints, or is looked at beside other commands.
BESIDE = ("error = err", "output = out", "log = job.log", "rank = Memory", "arguments = a b")
VIRTUAL = ("executable = x", "universe = vm", "vm_memory = 128", "vm_disk = a:b:c", "log = job.log")
CLOUD = (
    *("executable = x", "universe = grid", "grid_resource = ec2 https://x"),
    *("ec2_access_key_id = a", "ec2_secret_access_key = b", "ec2_ami_id = c", *BESIDE),
)
KINDS: dict[str, tuple[str, ...]] = {
    "vanilla": (
        *("executable = job.sh", "request_gpus = 1", "request_memory = 1GB", "request_disk = 1GB"),
        *("cron_minute = 1", "max_retries = 1", "tool_daemon_cmd = job.sh", *BESIDE),
    ),
    "docker": ("executable = job.sh", "universe = docker", "docker_image = x", *BESIDE),
    "container": (
        *("executable = job.sh", "universe = container", "container_image = docker:x", *BESIDE),
    ),
    "vm": (*VIRTUAL, "vm_type = kvm"),
    "grid": CLOUD,
}
# Of two that exclude each other it is not said which is too many.
EITHER = {"docker_image": "container_image", "container_image": "docker_image"}
FAULTS = ("1 +", "-1", '"', "vmware")
# The line on which the faulty command stands.
PLACE = 3


def refused(row: Command, kind: str) -> tuple[str, SubmitError] | None:
    """Return a description that one of the faults makes wrong, and what is said of it."""
    replaced = (row.name, EITHER.get(row.name))
    others = [line for line in KINDS[kind] if line.partition(" ")[0] not in replaced]
    for fault in FAULTS:
        lines = [*others[: PLACE - 1], f"{row.name} = {fault}", *others[PLACE - 1 :], "queue", ""]
        text = "\n".join(lines)
        try:
            list(submission(text, {"run.sh": "#!/bin/sh\n"}).jobs())
        except SubmitError as error:
            return text, error
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_the_line_that_is_named_is_that_of_the_faulty_command(kind: str) -> None:
    found = []
    for row in registry.all_commands():
        if not row.step and kind != (row.universes or "vanilla"):
            continue
        case = refused(row, kind)
        if case is None:
            continue
        text, error = case
        said = [one for one in check(text.replace("job.sh", "run.sh")).findings if one.line]
        lines = {one.line for one in said if one.severity == "error"}
        found.append(row.name)
        assert PLACE in lines, (text, error.message)
        assert f"job.sub, line {PLACE}: {row.name} = " in error.hint, (text, error.message)
    assert len(found) >= {"vanilla": 90, "vm": 60, "grid": 60}.get(kind, 40)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["java_vm_arguments = a", 'java_vm_arguments2 = "b"'], 3),
        (['environment = "A=1"', "environment2 = x"], 3),
        (["allow_arguments_v1 = true\narguments = a", "arguments2 = b"], 4),
        (["retry_request_memory_increase = x", "request_memory = 1GB"], 2),
        (["accounting_group = a b", "nice_user = true\naccounting_group_user = u"], 2),
        (["retry_until = 1 +", "on_exit_hold = false\non_exit_remove = true"], 2),
        (["x509userproxy = nope", "initialdir = sub"], 2),
        (["+Rank = 1 +", "rank = 2"], 2),
        (["on_exit_remove = 1 +", "max_retries = 2\non_exit_hold = false"], 2),
        (["a = $(a_)\na_ = $(a)\nrank = $(a)"], 2),
        (["request_memory = $(b)", "b = 1 +"], 2),
    ],
)
def test_of_commands_that_one_step_looks_at_it_is_the_faulty_one(
    lines: list[str], line: int
) -> None:
    text = "\n".join(("executable = job.sh", *lines, "queue", ""))
    with pytest.raises(SubmitError) as raised:
        list(submission(text, {"sub/x": ""}).jobs())
    assert f"job.sub, line {line}: " in raised.value.hint


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["notify_user = never"], 2),
        (["nice_user = true", "accounting_group = g"], 2),
        (["job_lease_duration = 1", "log = x"], 2),
        (["x = 1", "rank = $INT(y)"], 3),
    ],
)
def test_a_warning_is_told_at_the_line_of_its_command(lines: list[str], line: int) -> None:
    report = check("\n".join(("executable = run.sh", *lines, "queue", "")))
    assert line in [one.line for one in report.findings if one.kind == "said"], report.findings
