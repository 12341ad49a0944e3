"""What runs beside a job of a root pool is held to what its slot has, and ends with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.runtime.process.cgroups import find_hierarchy
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, ask_queue, programs_of, submit, wait_until

pytestmark = [pytest.mark.timeout(120), pytest.mark.root]

# A URL plug-in for one file, which tells of its control groups; what it does then comes before the
# end. What hides has left its session and has no file open.
PLUGIN = """\
#!/usr/bin/env -S python3 -I
import os, sys, time
if sys.argv[1] == "-classad":
    print('PluginType = "FileTransfer"\\nSupportedMethods = "own"')
    sys.exit()
where = sys.argv[2] if ":" in sys.argv[1] else "{work}/put"
with open("/proc/self/cgroup") as own, open(where, "w") as file:
    file.write(own.read())
def hide():
    if os.fork():
        return False
    os.setsid()
    os.closerange(0, 64)
    return True
"""
HOG = "hide() and [bytearray(b'x') * (100 << 20) for _ in range(6)] and time.sleep(300)\n"
SLEEP = "hide() and os.execve('/bin/sleep', ['sleep', '{seconds}'], {{}})\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    if find_hierarchy() is None:
        pytest.skip("this machine has no control groups that root may write")
    with personal_pool(tmp_path_factory.mktemp("beside"), "NUM_CPUS = 2\n") as made:
        yield made


def run(pool: PersonalPool, work: Path, more: str, script: str, lines: str = "") -> Jobs:
    """Submit a job whose input `in` its own plug-in brings, which does some more then."""
    plugin = work / "own.py"
    plugin.write_text(PLUGIN.replace("{work}", str(work)) + more)
    plugin.chmod(0o755)
    return submit(
        pool,
        work / "job",
        f"executable = /bin/sh\narguments = \"-c '{script}'\"\noutput = out\n"
        "transfer_executable = false\nshould_transfer_files = yes\n"
        f"transfer_plugins = own={plugin}\ntransfer_input_files = own://x/in\n"
        "request_memory = 128\nrequest_disk = 1MB\n"
        f"{lines}queue\n",
    )


def hold_of(jobs: Jobs) -> list[str]:
    wait_until(lambda: bool(jobs.count_events(12)), 20, lambda: str(jobs.events()))
    names = ("HoldReasonCode", "HoldReasonSubCode", "HoldReason")
    return ask_queue(jobs.pool, str(jobs.cluster), *names)[0]


def test_a_plug_in_of_a_job_is_in_the_control_group_of_its_slot(
    pool: PersonalPool, work: Path
) -> None:
    remap = 'transfer_output_files = got\ntransfer_output_remaps = "got=own://x/y"\n'
    jobs = run(pool, work, "", "cat in /proc/self/cgroup; echo > got", remap)
    jobs.wait_for(5, 20)
    name = "condor" + f"{pool.folder}/execute".replace("/", "_") + "_slot1_"
    groups = [line for line in (work / "job" / "out").read_text().splitlines() if name in line]
    # As many of the plug-in's as of the program's, and the same; so it is with output.
    half = len(groups) // 2
    assert half
    assert groups[:half] == groups[half:]
    put = (work / "put").read_text().splitlines()
    assert [line for line in put if name in line] == groups[:half]


def test_what_a_plug_in_leaves_beside_a_job_counts_as_the_jobs_memory(
    pool: PersonalPool, work: Path
) -> None:
    code, subcode, reason = hold_of(run(pool, work, HOG, "sleep 300"))
    assert (code, subcode) == ("34", "102")
    assert "memory limit of 128 megabytes" in reason


def test_a_plug_in_that_the_kernel_kills_for_its_memory_is_told_of_with_the_transfer(
    pool: PersonalPool, work: Path
) -> None:
    code, subcode, reason = hold_of(run(pool, work, "held = b'x' * (600 << 20)\n", "true"))
    # The transfer failed, with the plug-in's signal.
    assert (code, subcode) == ("13", "9")
    assert "memory limit of 128 megabytes" in reason


def test_what_a_plug_in_leaves_ends_with_the_job(pool: PersonalPool, work: Path) -> None:
    jobs = run(
        pool, work, SLEEP.format(seconds="7135"), f"until [ -e {work}/go ]; do sleep 0.1; done"
    )
    jobs.wait_for(1, 20)
    wait_until(lambda: bool(programs_of("sleep 7135")), 10)
    (work / "go").touch()
    jobs.wait_for(5, 20)
    wait_until(lambda: not programs_of("sleep 7135"), 10)
