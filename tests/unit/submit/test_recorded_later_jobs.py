"""What `condor_submit` of 25.14.1 gives the second job of a cluster, beside what the first has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kettle.errors import SubmitError
from kettle.submit.build import SubmitOptions
from kettle.submit.digest import render_digest
from unit.submit.submitting import submission, values

MANY = SubmitOptions(allow_many_queues=True)
DATA = Path(__file__).parents[2] / "data" / "later_jobs.json"
FILES = dict.fromkeys(("a", "b", "a.sif", "b.sif", "//x", "/tmp/x"), "x")
FILES["/bin/sh"] = "x" * 200_000
# What stands in the descriptions whose later jobs are others here, and why.
ODD = (
    # What is forced to be nothing counts for nothing there when requirements are worked out.
    "+ShouldTransferFiles = $(l",
    # Each job has the size of its own program here; there all have the first one's.
    "shell = $(l",
    "executable = $CHOICE(Process,job.sh,/nowhere)",
    "vm_memory = $CHOICE",
    # A later job's on_exit_remove does not count there.
    "max_retries = $CHOICE(Process,,2)\non_exit_remove",
    # An image in a registry is not called one there.
    "docker_image = $CHOICE(Process,,d)\nqueue",
    # Such a job is never retired there, but for the first one of its cluster.
    "+OCUWanted",
)
Difference = dict[str, str] | None


def second_job(text: str) -> Difference:
    """Return what the second job has otherwise than the first, None where that is refused."""
    made = submission(text, files=FILES, options=MANY)
    try:
        jobs = list(made.jobs())
    except SubmitError:
        return None
    return {"JobStatus": str(jobs[1].status), **dict(jobs[1].differences)}


def test_a_later_job_has_otherwise_what_the_reference_s_has() -> None:
    cases: list[tuple[str, Difference]] = json.loads(DATA.read_text(encoding="utf-8"))
    wrong = [text for text, said in cases if second_job(text) != said]
    assert [text for text in wrong if not any(odd in text for odd in ODD)] == []
    assert [odd for odd in ODD if not any(odd in text for text in wrong)] == []


@pytest.mark.parametrize("more", ["", "request_memory = 1$(Process)\n", "input = in.$(Process)\n"])
@pytest.mark.parametrize("queue", ["queue 3\n", "queue\nqueue 2\n"])
def test_what_a_later_job_lacks_does_not_depend_on_other_lines(more: str, queue: str) -> None:
    text = f"nice_user = $CHOICE(Process,true,false,)\nlog = $CHOICE(Process,a,,b)\n{more}{queue}"
    assert values(text, "UserLog", options=MANY) == ['"/work/a"', '"/work/a"', '"/work/b"']
    assert values(text, "AccountingGroup", options=MANY) == ['"nice-user.me"'] * 3


def test_a_later_job_that_is_tried_again_leaves_the_queue_when_it_says() -> None:
    text = "max_retries = 2\non_exit_remove = ExitCode > $(Process)\nqueue 2\n"
    tries = "NumJobCompletions > JobMaxRetries || ExitCode =?= 0"
    assert values(text, "OnExitRemove") == [f"{tries} || ExitCode > 0", f"{tries} || ExitCode > 1"]


def test_each_job_has_the_size_of_its_own_program() -> None:
    text = "executable = $CHOICE(Process,job.sh,big)\nimage_size = $CHOICE(Process,7,,)\nqueue 3\n"
    files = {"big": "x" * 9000}
    assert values(text, "ExecutableSize", files=files) == ["1", "9", "1"]
    assert values(text, "ImageSize", files=files) == ["7", "9", "7"]


def test_a_later_job_adds_to_the_environment_of_its_cluster() -> None:
    text = 'environment = $CHOICE(Process,"A=1 B=2",,"A=3")\nqueue 3\n'
    assert values(text, "Environment") == ['"A=1 B=2"', '"A=1 B=2"', '"A=3 B=2"']


def test_requirements_that_are_forced_to_be_nothing_are_worked_out() -> None:
    text = "+Requirements = $CHOICE(Process,,Memory > 5,)\nqueue 3\n"
    usual = values("queue\n", "Requirements")
    assert values(text, "Requirements") == [*usual, "Memory > 5", *usual]


def test_all_jobs_of_a_cluster_are_of_one_universe() -> None:
    text = "universe = $CHOICE(Process,vanilla,local,nonsense)\nqueue 3\n"
    assert values(text, "JobUniverse") == ["5", "5", "5"]


def test_a_digest_keeps_what_the_reference_leaves_in_it_though_it_never_changes() -> None:
    """Recorded from 25.14.1; test_lm_more.py of its suite looks at hold."""
    kept = "hold=1", "max_materialize=1", "require_gpus=true", "skip_filechecks=true", "universe=5"
    gone = "executable=job.sh", "requirements=true", "accounting_group=a", "dag_node_name=A", "+B=3"
    made = submission("\n".join([*gone, *kept, "queue 2\n"]))
    made.begin(1)
    digest = render_digest(made, made.first_of_later(), "").splitlines()
    assert digest == [
        "FACTORY.Requirements=MY.Requirements",
        "FACTORY.Iwd=/work",
        *kept,
        "Item=",
        "",
        "Queue 2 ",
    ]
