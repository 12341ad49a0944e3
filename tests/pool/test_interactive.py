"""A shell in a running job, and an interactive job that ends with its shell (S002)."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kettle.runtime.process.terminals import Terminals, try_terminal
from kettle.starter.services.ssh import SFTP_SERVERS
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import WALLED, run_tool, submit, wait_until

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")

# How long a session may say nothing before its test gives it up.
_QUIET_SECONDS = 40.0

shows = pytest.mark.shows
pytestmark = [
    pytest.mark.skipif(
        not SSHD or not shutil.which("ssh"), reason="sshd and ssh are not installed"
    ),
]


def run_program(name: str, words: list[str], config: str, said: str = "") -> tuple[int, str]:
    """Run a tool as a program of its own, because ssh takes over its streams."""
    code = f"from kettle.tools.programs import run_program as r; raise SystemExit(r({name!r}))"
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "CONDOR_CONFIG": config, "PYTHONPATH": source},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    # Shown where a test fails.
    sys.stderr.write(done.stderr)
    return done.returncode, done.stdout


def run_in_terminal(name: str, words: list[str], config: str, typed: str) -> tuple[int, str]:
    """Run a tool as its own program in a terminal, and type when a prompt is there."""
    code = f"from kettle.tools.programs import run_program as r; raise SystemExit(r({name!r}))"
    source = str(Path(__file__).parents[2] / "src")
    ours, theirs = os.openpty()
    done = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "CONDOR_CONFIG": config, "PYTHONPATH": source, "PS1": "$ "},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = b""
    try:
        while select.select([ours], [], [], _QUIET_SECONDS)[0]:
            try:
                said += os.read(ours, 4096)
            except OSError:
                # Nobody has the other end any more.
                break
            if typed and (b"$ " in said or b"# " in said):
                os.write(ours, typed.encode())
                typed = ""
        return done.wait(_QUIET_SECONDS), said.decode(errors="replace")
    finally:
        done.kill()
        done.wait()
        os.close(ours)


def needs_terminals() -> None:
    """Skip where no account could have a terminal; root's pools give one on every machine."""
    if os.geteuid() != 0 and try_terminal() is not Terminals.GIVEN:
        pytest.skip("sshd can give no terminal here: /dev/pts is not mounted for the group tty")


def test_a_shell_beside_the_job_has_a_terminal_of_its_own(tmp_path: Path) -> None:
    needs_terminals()
    with personal_pool(tmp_path) as pool:
        text = "executable = /bin/sleep\narguments = 60\ntransfer_executable = false\nqueue\n"
        jobs = submit(pool, tmp_path / "jobs", text)
        jobs.wait_for(1, 20)
        code, said = run_in_terminal(
            "condor_ssh_to_job", [f"{jobs.cluster}.0"], pool.config_file, "tty; exit 6\n"
        )
        assert "/dev/pts/" in said, said
        assert code == 6
        run_tool(pool, "condor_rm", "-all")


@shows("S002")
def test_an_interactive_job_gives_its_owner_a_terminal(tmp_path: Path) -> None:
    needs_terminals()
    with personal_pool(tmp_path) as pool:
        path = tmp_path / "job.sub"
        path.write_text("should_transfer_files = YES\nqueue\n")
        words = ["-interactive", str(path)]
        code, said = run_in_terminal("condor_submit", words, pool.config_file, "tty; exit 4\n")
        assert "/dev/pts/" in said, said
        assert code == 4


def test_a_command_runs_beside_the_job_and_its_code_comes_back(tmp_path: Path) -> None:
    with personal_pool(tmp_path) as pool:
        jobs = submit(
            pool,
            tmp_path / "jobs",
            "executable = /bin/sleep\narguments = 60\nshould_transfer_files = YES\n"
            "transfer_executable = false\nqueue\n",
        )
        jobs.wait_for(1, 20)
        code, said = run_program(
            "condor_ssh_to_job", [f"{jobs.cluster}.0", "pwd; exit 5"], pool.config_file
        )
        assert code == 5
        assert "/execute/dir_" in said
        run_tool(pool, "condor_rm", "-all")


@pytest.mark.skipif(
    not any(map(os.path.exists, SFTP_SERVERS)), reason="this machine has no sftp-server"
)
def test_files_are_copied_into_a_running_jobs_sandbox_and_back(tmp_path: Path) -> None:
    with personal_pool(tmp_path) as pool:
        text = "executable = /bin/sleep\narguments = 60\ntransfer_executable = false\n"
        jobs = submit(pool, tmp_path / "jobs", f"{text}should_transfer_files = YES\nqueue\n")
        jobs.wait_for(1, 20)
        here, back = tmp_path / "here", tmp_path / "back"
        here.write_text("carried\n")
        for words in ([str(here), "remote:there"], ["remote:there", str(back)]):
            command = ["-ssh", "scp", f"{jobs.cluster}.0", *words]
            assert run_program("condor_ssh_to_job", command, pool.config_file)[0] == 0
        assert back.read_text() == "carried\n"
        run_tool(pool, "condor_rm", "-all")


@shows("R089")
def test_a_shell_in_a_job_behind_a_wall_is_reached_through_the_broker(tmp_path: Path) -> None:
    with personal_pool(tmp_path, WALLED) as pool:
        text = "executable = /bin/sleep\narguments = 60\ntransfer_executable = false\nqueue\n"
        jobs = submit(pool, tmp_path / "jobs", text)
        jobs.wait_for(1, 30)
        code, _ = run_program(
            "condor_ssh_to_job", [f"{jobs.cluster}.0", "exit 7"], pool.config_file
        )
        assert code == 7
        run_tool(pool, "condor_rm", "-all")


@shows("S002")
def test_an_interactive_job_ends_with_its_shell(tmp_path: Path) -> None:
    with personal_pool(tmp_path) as pool:
        path = tmp_path / "job.sub"
        path.write_text("should_transfer_files = YES\nqueue 5\n")
        words = ["-interactive", str(path)]
        code, said = run_program("condor_submit", words, pool.config_file, "pwd\nexit 3\n")
        assert code == 3
        assert "/execute/dir_" in said
        wait_until(
            lambda: run_tool(pool, "condor_q", "-af", "ClusterId")[1].strip() == "",
            10,
        )
