"""Whose jobs nobody answers for, by what lies in the execute folder and in /proc."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.runtime.process.abandoned import Abandoned
from kettle.runtime.process.census import Census, note_of
from kettle.runtime.process.privileges import Privileges
from kettle.testing.pool_processes import title_of

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


def test_a_starter_whose_parent_lives_is_that_one_s(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    (tmp_path / f"dir_{sleeper.pid}").mkdir()
    ours = title_of(os.getpid()).split(" ")[0]
    assert make(tmp_path).starters("condor_schedd") == [sleeper.pid]
    assert make(tmp_path).starters("condor_schedd", ours) == []


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
