"""What a job's history record has is what a real one has, story by story.

`tests/data/history_names.tsv` has the names of the attributes in the records that HTCondor 25.14.1
wrote of these stories, each with the stories whose record has it, or `*` for all.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit

NAMES = Path(__file__).parents[1] / "data/history_names.tsv"

COMMON = """
request_memory = 1
request_disk = 1MB
output = {folder}/out.$(Cluster)
error = {folder}/err.$(Cluster)
initialdir = {folder}
"""
FILES = "should_transfer_files = yes\n"
STORIES = {
    "plain": "executable = /bin/true\ntransfer_executable = false\n"
    "should_transfer_files = no\nqueue\n",
    "transfer": FILES + "executable = {folder}/copy\ntransfer_input_files = in.txt\n"
    "transfer_output_files = out.txt\nqueue\n",
    "failed": FILES + "executable = /bin/false\nqueue\n",
    "signal": FILES + "executable = /bin/sh\narguments = \"-c 'kill -9 $$'\"\nqueue\n",
    "retry": FILES + "executable = {folder}/fail\nmax_retries = 2\nqueue\n",
    "local": FILES + "universe = local\nexecutable = /bin/true\nqueue\n",
    "scheduler": FILES + "universe = scheduler\nexecutable = /bin/true\nqueue\n",
    "late": FILES + "executable = /bin/true\nmax_materialize = 1\nqueue 2\n",
    "removed": FILES + "executable = /bin/true\nrequirements = NoSuch\nqueue\n",
}

# What depends on the moment or on the machine: whether a negotiator had refused the job first, and
# whether the program lived for a measurable time.
EITHER_WAY = frozenset(
    ("LastRejMatchNegotiator", "LastRejMatchReason", "LastRejMatchTime", "CpusUsage")
)
# Known: the count of files is of every sandbox; how far a cluster is made is its jobs' too; a start
# beside the schedd has its moment and its host.
MORE = frozenset(
    (
        "ScratchDirFileCount",
        "JobMaterializePaused",
        "JobCurrentStartExecutingDate",
        "LastRemoteHost",
    )
)


def recorded(story: str) -> set[str]:
    names = set()
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        name, _, stories = line.partition("\t")
        if stories == "*" or story in stories.split():
            names.add(name)
    return names


@pytest.mark.timeout(180)
def test_a_record_has_the_attributes_that_a_real_one_has(tmp_path: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix="kettle-names-")) if os.getuid() == 0 else tmp_path
    work.chmod(0o777)
    (work / "in.txt").write_text("hello\n", encoding="utf-8")
    for name, text in {"copy": "cat in.txt >out.txt\n", "fail": "exit 3\n"}.items():
        (work / name).write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        (work / name).chmod(0o755)
    differences = {}
    with personal_pool(tmp_path, "") as pool:
        jobs = {
            story: submit(pool, work, (COMMON + text).replace("{folder}", str(work)))
            for story, text in STORIES.items()
        }
        assert run_tool(pool, "condor_rm", str(jobs["removed"].cluster))[0] == 0
        for story, job in jobs.items():
            job.wait_until_gone()
            ours, theirs = set(job.record()), recorded(story)
            missing = theirs - ours - EITHER_WAY
            more = ours - theirs - EITHER_WAY - MORE
            if missing or more:
                differences[story] = (sorted(missing), sorted(more))
    assert differences == {}
