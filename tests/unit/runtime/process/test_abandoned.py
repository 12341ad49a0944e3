"""Whose jobs nobody answers for, by what lies in the execute folder and in /proc."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.runtime.process.abandoned import Abandoned
from kettle.runtime.process.census import Census, note_of
from kettle.runtime.process.privileges import Privileges

# No process has it.
NOBODY = 2**22 + 1


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that nothing tells to be a job's."""
    child = subprocess.Popen(["/bin/sleep", "60"], cwd="/", env={})
    yield child
    child.kill()
    child.wait()


def make(execute: Path) -> Abandoned:
    return Abandoned(str(execute), "", Privileges.find(), [].append)


def test_starters_are_known_by_what_they_leave_in_the_execute_folder(tmp_path: Path) -> None:
    for name in (f"dir_{NOBODY}", f".private_{NOBODY + 1}", f".processes_{NOBODY + 2}", "dir_x"):
        (tmp_path / name).mkdir()
    (tmp_path / "lost+found").mkdir()
    assert sorted(make(tmp_path).starters()) == [NOBODY, NOBODY + 1, NOBODY + 2]
    assert make(tmp_path / "none").starters() == []


@pytest.mark.parametrize(
    ("parent", "is_ours"), [("condor_startd", False), ("condor_schedd", False), ("sh", True)]
)
def test_a_starter_whose_daemon_lives_is_that_one_s(
    tmp_path: Path, parent: str, is_ours: bool
) -> None:
    """It may be of another pool, and have the number of one that died in this folder."""
    (tmp_path / "condor_starter").symlink_to("/bin/sleep")
    words = [parent, "-c", "condor_starter 60 & echo $!; read -r _; kill $!"]
    daemon = subprocess.Popen(
        words,
        executable="/bin/sh",
        env={"PATH": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert daemon.stdout is not None
    starter = int(daemon.stdout.readline())
    try:
        (tmp_path / f"dir_{starter}").mkdir()
        assert make(tmp_path).starters() == ([starter] if is_ours else [])
    finally:
        daemon.communicate(b"\n")


def test_a_job_s_process_is_known_by_its_folder_its_environment_or_a_note(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    abandoned = make(tmp_path)
    sandbox = tmp_path / f"dir_{NOBODY}" / "sub"
    sandbox.mkdir(parents=True)
    mark = {"_CONDOR_SCRATCH_DIR": f"{tmp_path}/dir_{NOBODY}/scratch"}
    there = subprocess.Popen(["/bin/sleep", "60"], cwd=sandbox, env={})
    marked = subprocess.Popen(["/bin/sleep", "60"], cwd="/", env=mark)
    try:
        assert sorted(abandoned.inhabitants([NOBODY])) == sorted([there.pid, marked.pid])
        assert abandoned.inhabitants([NOBODY + 1]) == []
        Census(note_of(str(tmp_path), NOBODY)).note([sleeper.pid])
        assert sleeper.pid in abandoned.inhabitants([NOBODY])
    finally:
        for child in (there, marked):
            child.kill()
            child.wait()
