"""Jobs that have to leave while their files travel: at once, or when their seconds are over.

The files go by a plug-in that is done when a file says so, so it is known what travels.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, ask_queue, programs_of, run_tool, submit, wait_until

pytestmark = pytest.mark.timeout(240)

# Says by a file that it works, and goes on when another is there.
PLUGIN = """#!/bin/sh
if [ "$1" = -classad ]; then
  echo 'PluginType = "FileTransfer"'
  echo 'SupportedMethods = "held"'
  echo 'MultipleFileSupport = true'
  exit 0
fi
url=$(sed -n 's/.*Url = "\\([^"]*\\)".*/\\1/p' "$2")
folder=/${url#held://}
folder=${folder%/*}
echo yes >"$folder/new" && mv "$folder/new" "$folder/works"
until [ -e "$folder/go" ]; do sleep 0.1; done
echo "[ TransferUrl = \\"$url\\"; TransferSuccess = true; TransferFileBytes = 3 ]" > "$4"
"""
# By which the plug-in of this process's pool is known among others.
NAME = f"held-{os.getpid()}.sh"
HEAD = (
    "executable = /usr/bin/touch\ntransfer_executable = false\nshould_transfer_files = yes\n"
    "request_disk = 10MB\narguments = result\n"
)


@pytest.fixture(scope="module")
def pool(work_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    plugin = work_folder / NAME
    plugin.write_text(PLUGIN)
    plugin.chmod(0o755)
    # No startd comes to a starter's help that does not listen.
    text = f"FILETRANSFER_PLUGINS = {plugin}\nKILLING_TIMEOUT = 600\nMachineMaxVacateTime = 600\n"
    with personal_pool(tmp_path_factory.mktemp("leaving"), text) as pool:
        yield pool


def worker(folder: Path) -> int:
    """Wait until the plug-in works; return its pid."""
    wait_until((folder / "works").exists, 30)
    (pid,) = programs_of(f"{NAME} -")
    return pid


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"


def start(pool: PersonalPool, folder: Path, lines: str) -> Jobs:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    return submit(pool, folder, f"{HEAD}{lines}\nqueue\n")


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("transfer_input_files = held://{}/file", id="input"),
        pytest.param("transfer_output_files = result\noutput_destination = held://{}", id="output"),
    ],
)
@pytest.mark.parametrize(
    ("words", "more"),
    [
        pytest.param(("condor_vacate_job", "-fast"), "", id="at once"),
        pytest.param(("condor_vacate_job",), "job_max_vacate_time = 2", id="in two seconds"),
    ],
)
def test_files_of_a_job_that_has_to_leave_are_broken_off_and_it_runs_again(
    pool: PersonalPool, work: Path, lines: str, words: tuple[str, ...], more: str
) -> None:
    jobs = start(pool, work, f"{lines.format(str(work).strip('/'))}\n{more}")
    pid = worker(work)
    assert run_tool(pool, *words, str(jobs.cluster))[0] == 0
    wait_until(lambda: is_gone(pid), 20)
    (work / "go").touch()
    jobs.wait_for(5, 40)
    assert jobs.count_events(4) == {0: 1}
    assert "broken off" not in jobs.log.read_text()


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("transfer_input_files = held://{}/file", id="input"),
        pytest.param("transfer_output_files = result\noutput_destination = held://{}", id="output"),
    ],
)
# A removed job's files have no time, whatever the job would have; those of a held one have it.
@pytest.mark.parametrize(("tool", "seconds"), [("condor_rm", 500), ("condor_hold", 2)])
def test_no_file_of_a_job_that_is_removed_or_held_goes_on_its_way(
    pool: PersonalPool, work: Path, lines: str, tool: str, seconds: int
) -> None:
    where = lines.format(str(work).strip("/"))
    jobs = start(pool, work, f"{where}\njob_max_vacate_time = {seconds}")
    pid = worker(work)
    assert run_tool(pool, tool, str(jobs.cluster))[0] == 0
    wait_until(lambda: is_gone(pid), 20)
    if tool == "condor_rm":
        jobs.wait_until_gone()
    else:
        jobs.wait_for_status(5)


@pytest.mark.parametrize(
    ("tool", "vacate", "last"),
    [("condor_vacate_job", "Code 1022 Subcode 0", 5), ("condor_hold", "Code 1 Subcode 0", 12)],
)
def test_output_may_arrive_within_the_seconds_and_the_job_leaves_all_the_same(
    pool: PersonalPool, work: Path, tool: str, vacate: str, last: int
) -> None:
    lines = f"transfer_output_files = result\noutput_destination = held://{str(work).strip('/')}"
    jobs = start(pool, work, f"{lines}\njob_max_vacate_time = 500")
    pid = worker(work)
    begun = "Started transferring output files"
    assert begun in jobs.log.read_text()
    assert run_tool(pool, tool, str(jobs.cluster))[0] == 0
    told = "told to leave within some seconds, while they have ended, and its output travels"
    wait_until(lambda: told in starters_logs(pool), 20)
    assert not is_gone(pid)
    (work / "go").touch()
    jobs.wait_for(last, 40)
    numbers = [event.number for event in jobs.events() if event.number != 6]
    assert numbers[:7] == [0, 40, 40, 1, 40, 40, 4]
    assert f"Job was evicted. {vacate}" in jobs.log.read_text()
    if last == 12:
        names = ("JobStatus", "NumJobCompletions")
        assert ask_queue(pool, str(jobs.cluster), *names) == [["5", "1"]]
    else:
        wait_until(lambda: ask_queue(pool, str(jobs.cluster), "JobStatus") == [], 20)


def starters_logs(pool: PersonalPool) -> str:
    """Return what the starters have said last."""
    logs = Path(pool.log_folder).glob("StarterLog*")
    return "".join(log.read_text(errors="replace") for log in logs)
