"""Whose jobs nobody answers for, by what lies in the execute folder and in /proc."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.runtime.process.abandoned import Abandoned, title_of
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


@contextlib.contextmanager
def starter_below(parent: str, folder: Path) -> Iterator[int]:
    """A process with a starter's title, below one with this."""
    (folder / "condor_starter").symlink_to("/bin/sleep")
    daemon = subprocess.Popen(
        [parent, "-c", "condor_starter 60 & echo $!; read -r _; kill $!"],
        executable="/bin/sh",
        env={"PATH": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert daemon.stdout is not None
    try:
        starter = int(daemon.stdout.readline())
        while not title_of(starter).startswith("condor_starter"):
            os.sched_yield()
        yield starter
    finally:
        daemon.communicate(b"\n")


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
    with starter_below(parent, tmp_path) as starter:
        (tmp_path / f"dir_{starter}").mkdir()
        abandoned = make(tmp_path)
        assert abandoned.starters() == ([starter] if is_ours else [])
        assert abandoned.lives(starter) is is_ours


def test_a_job_s_process_is_known_by_its_folder_its_environment_or_a_note(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    abandoned = make(tmp_path)
    sandbox = tmp_path / f"dir_{NOBODY}" / "sub"
    sandbox.mkdir(parents=True)
    mark = {"_CONDOR_SCRATCH_DIR": f"{tmp_path}/dir_{NOBODY}/scratch"}
    there = subprocess.Popen(["/bin/sleep", "60"], cwd=sandbox, env={})
    marked = subprocess.Popen(["/bin/sleep", "60"], cwd="/", env=mark)
    words = {"WAS": f"_CONDOR_SCRATCH_DIR={tmp_path}/dir_{NOBODY}/scratch"}
    stranger = subprocess.Popen(["/bin/sleep", "60"], cwd="/", env=words)
    try:
        assert sorted(abandoned.inhabitants([NOBODY])) == sorted([there.pid, marked.pid])
        assert abandoned.inhabitants([NOBODY + 1]) == []
        Census(note_of(str(tmp_path), NOBODY)).note([sleeper.pid])
        assert sleeper.pid in abandoned.inhabitants([NOBODY])
    finally:
        for child in (there, marked, stranger):
            child.kill()
            child.wait()


def test_another_daemon_s_starter_that_has_a_number_again_is_not_the_one_that_is_gone(
    tmp_path: Path,
) -> None:
    with starter_below("condor_startd", tmp_path) as starter:
        sandbox = tmp_path / f"dir_{starter}"
        sandbox.mkdir()
        # It began when this had long been there.
        before = time.time() - 3600
        os.utime(sandbox, (before, before))
        abandoned = make(tmp_path)
        assert (abandoned.starters(), abandoned.lives(starter)) == ([starter], False)
        Path(note_of(str(tmp_path), starter)).touch()
        assert abandoned.starters() == []


def test_who_works_in_a_sandbox_is_found_whatever_link_leads_there(tmp_path: Path) -> None:
    sandbox = tmp_path / "disk" / f"dir_{NOBODY}" / "scratch"
    sandbox.mkdir(parents=True)
    link = tmp_path / "execute"
    link.symlink_to("disk")
    there = subprocess.Popen(["/bin/sleep", "60"], cwd=sandbox, env={})
    try:
        assert make(link).inhabitants([NOBODY]) == [there.pid]
    finally:
        there.kill()
        there.wait()
