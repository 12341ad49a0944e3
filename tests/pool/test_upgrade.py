"""A pool of a version before, with jobs running and queued, goes on under this one.

A version before is a commit of this repository, unpacked beside the test; a clone that is too
shallow to have it cannot tell, and says so. KETTLE_PREVIOUS_COMMITS names others, with blanks
between; every release (a tag such as v1.2) is one of them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import print_logs, processes_of, wait_until_gone
from pool_jobs import (
    Witness,
    ask_queue,
    daemon_pids,
    make_machine,
    run_tool,
    title_of,
    wait_until,
)

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# The last commit of 2026-11-21 before the daemons' modules moved into rooms of their own ("The
# manual's examples know whoever runs them"), of the next day one of the afternoon and the last, and
# the last one whose spooled jobs had what their runs left in their own folders.
_COMMITS = (
    "a9f930bec1e216f6fa3ac6da05f25ae8f79a73ec",
    "1acb422e",
    "57458a17",
    "d372b5a0",
)


def _versions_before() -> list[str]:
    """Return the commits that are tried: those that are named, or ours and every release."""
    named = os.environ.get("KETTLE_PREVIOUS_COMMITS")
    if named:
        return named.split()
    said = subprocess.run(
        ["git", "-C", str(ROOT), "tag", "--list", "v[0-9]*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return [*_COMMITS, *said.stdout.split()]


RUNNING, COUNT = 3, 7
CONFIG = f"NUM_CPUS = {RUNNING}\nMASTER_BACKOFF_CONSTANT = 0\nMASTER_BACKOFF_CEILING = 1\n"
_PROGRAM = """
import sys
from kettle.tools.programs import run_program
sys.exit(run_program(sys.argv.pop(1)))
"""


class Version:
    """A version of Kettle: the folder that its package is in."""

    def __init__(self, source: Path) -> None:
        self.source = source

    def environment(self, **variables: str) -> dict[str, str]:
        """Return an environment in which Python finds this version."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {**kept, "PYTHONPATH": str(self.source), **variables}

    def run(self, *words: str, **variables: str) -> str:
        """Run a tool; AssertionError with what it said if it fails."""
        done = subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM, *words],
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def start_master(self, config_file: Path) -> subprocess.Popen[bytes]:
        """Start a master, and so the daemons of a configuration."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "kettle.master", "-f"],
            env=self.environment(CONDOR_CONFIG=str(config_file)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


THIS = Version(ROOT / "src")


@pytest.fixture(scope="module", params=_versions_before())
def before(request: pytest.FixtureRequest) -> Iterator[Version]:
    """A version before, unpacked where every account can read it."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-before-"))
    folder.chmod(0o755)
    try:
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", "--format=tar", request.param, "src"],
            capture_output=True,
            check=False,
        )
        if archive.returncode:
            said = archive.stderr.decode(errors="replace").strip()
            pytest.skip(f"this clone has no commit {request.param}, a version before: {said}")
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
        yield Version(folder / "src")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the account of jobs can reach."""
    made = Path(tempfile.mkdtemp(prefix="kettle-upgrade-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def pool_of(version: Version, folder: Path, config: str) -> Iterator[PersonalPool]:
    """Start a pool with a version; stop and remove whatever it has become in the end."""
    settings = folder / "settings"
    settings.write_text(config)
    pool = PersonalPool(str(folder / "pool"))
    version.run("kettle", "up", "--dir", pool.folder, "--config", str(settings))
    try:
        yield pool
    except BaseException:
        print_logs(pool)
        raise
    finally:
        pool.stop(how="fast")
        wait_until_gone(pool)


def kill_daemons(pool: PersonalPool) -> None:
    """Kill every daemon of a pool at once, and leave jobs as they are."""
    pids = [pid for pid in processes_of(pool) if title_of(pid).startswith("condor_")]
    master = pool.master_pid()
    for pid in [*([master] if master is not None else []), *pids]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: pool.master_pid() is None, 10)


def assert_each_ended_once(witness: Witness) -> None:
    jobs = witness.jobs
    jobs.wait_for(5, 60)
    jobs.wait_until_gone()
    once = dict.fromkeys(range(COUNT), 1)
    assert jobs.count_events(5) == once
    assert {proc: len(ads) for proc, ads in jobs.history().items()} == once
    assert jobs.count_events(0) == once
    assert witness.doubles() == []


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_jobs_of_the_version_before_end_exactly_once(
    before: Version, folder: Path, how: str
) -> None:
    with pool_of(before, folder, CONFIG) as pool:
        witness = Witness(pool, folder / "jobs", COUNT)
        witness.wait_until_begun(RUNNING)
        if how == "stopped":
            before.run("kettle", "down", "--dir", pool.folder)
        else:
            kill_daemons(pool)
        THIS.run("kettle", "up", "--dir", pool.folder)
        rows = ask_queue(pool, str(witness.jobs.cluster), "JobStatus")
        assert len(rows) == COUNT, "a job was lost"
        witness.let_go()
        assert_each_ended_once(witness)


def test_an_access_point_that_is_upgraded_finds_its_jobs_on_machines_that_are_not(
    before: Version, folder: Path
) -> None:
    access = CONFIG + "DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD\n"
    with pool_of(before, folder, access) as pool:
        config = make_machine(pool, folder / "machine")
        point = before.start_master(config)
        try:
            witness = Witness(pool, folder / "jobs", COUNT)
            witness.wait_until_begun(RUNNING)
            witness.jobs.wait_for_status(2)
            kill_daemons(pool)
            THIS.run("kettle", "up", "--dir", pool.folder)
            wait_until(
                lambda: len(witness.jobs.count_events(23)) == RUNNING,
                30,
                lambda: f"{witness.jobs.count_events(23)} reconnected",
            )
            witness.let_go()
            assert_each_ended_once(witness)
            assert [witness.begun(proc) for proc in range(COUNT)] == [1] * COUNT
        finally:
            point.send_signal(signal.SIGQUIT)
            point.wait(60)
        assert daemon_pids(pool, "condor_starter") == []


def test_checkpoints_at_a_url_of_a_spooled_job_of_the_version_before_are_deleted_with_it(
    before: Version, folder: Path
) -> None:
    store, go = folder / "ck", folder / "go"
    store.mkdir()
    store.chmod(0o777)
    script = (
        "#!/bin/sh\n[ -e state ] || { echo 1 > state; exit 85; }\n"
        f"touch {store}/waits; while [ ! -e {go} ]; do sleep 0.1; done\n"
    )
    (folder / "job.sh").write_text(script)
    (folder / "job.sub").write_text(
        f"executable = {folder}/job.sh\ncheckpoint_exit_code = 85\n"
        f"transfer_checkpoint_files = state\ncheckpoint_destination = file://{store}\n"
        "transfer_output_files =\nshould_transfer_files = yes\nrequest_memory = 10MB\n"
        "request_disk = 10MB\nqueue\n"
    )
    with pool_of(before, folder, CONFIG) as pool:
        rule = f"cleanup_locally_mounted_checkpoint,-prefix,\\0,-path,{store}"
        mapped = f"* file://{store} {rule}\n"
        (Path(pool.folder) / "checkpoint-destination-mapfile").write_text(mapped)
        code, _, complaint = run_tool(pool, "condor_submit", "-spool", str(folder / "job.sub"))
        assert code == 0, complaint
        wait_until((store / "waits").exists, 40)
        (place,) = (path for path in store.iterdir() if path.is_dir())
        kill_daemons(pool)
        THIS.run("kettle", "up", "--dir", pool.folder)
        go.touch()
        wait_until(lambda: ask_queue(pool, "1", "JobStatus") == [["4"]], 60)
        assert place.exists()
        assert run_tool(pool, "condor_rm", "1")[0] == 0
        wait_until(lambda: not place.exists(), 30)
