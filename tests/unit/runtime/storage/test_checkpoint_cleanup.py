"""Manifests of checkpoints that nobody wants any more, on their way out of a job's folder."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.runtime.process.privileges import Account, Privileges, account_of
from kettle.runtime.storage import checkpoint_cleanup
from kettle.steps import take_all
from kettle.transfer.checkpoints import manifest_name


class Waiting:
    """A job's folder in the spool with a manifest, and where that is to wait."""

    def __init__(self, spool: Path) -> None:
        self.spool = spool
        self.folder = spool / "1/0/cluster1.proc0.subproc0"
        self.folder.mkdir(parents=True)
        (self.folder / manifest_name(0)).touch()
        self.target = spool / "checkpoint-cleanup/alice/cluster1.proc0.subproc0"

    def set_aside(
        self,
        privileges: Privileges | None = None,
        owner: Account | None = None,
        *,
        name: str = "",
    ) -> Generator[None, None, str | None]:
        us = account_of(os.getuid())
        privileges = privileges or Privileges(us, can_switch=False)
        job = ClassAd({"Owner": "alice", "ClusterId": 1, "ClaimId": "secret"})
        if name:
            job["GlobalJobId"] = name
        return checkpoint_cleanup.set_aside(
            privileges, owner or us, str(self.spool), str(self.folder), job
        )


@pytest.fixture
def waiting(tmp_path: Path) -> Waiting:
    return Waiting(tmp_path)


def test_a_folder_that_a_deletion_removes_meanwhile_is_made_again_with_the_ad(
    waiting: Waiting,
) -> None:
    steps = waiting.set_aside()
    next(steps)
    (waiting.target / ".job.ad").unlink()
    waiting.target.rmdir()
    assert [*steps] == []
    assert set(os.listdir(waiting.target)) == {".job.ad", manifest_name(0)}


def test_what_waits_of_an_older_queue_s_job_of_the_same_number_is_not_taken_for_the_jobs_own(
    waiting: Waiting,
) -> None:
    def run(name: str) -> str | None:
        (waiting.folder / manifest_name(0)).write_text(name)
        return take_all(waiting.set_aside(name=name))

    other = waiting.target.with_name(f"{waiting.target.name}.1")
    for name, target in (("a", waiting.target), ("b", other), ("a", waiting.target), ("b", other)):
        assert run(name) == str(target)
        assert (target / manifest_name(0)).read_text() == name
        assert f'GlobalJobId = "{name}"' in (target / ".job.ad").read_text()


@pytest.mark.timeout(30)
def test_what_an_owner_puts_in_the_place_of_the_ad_keeps_nobody_waiting_and_is_not_followed(
    waiting: Waiting,
) -> None:
    """The folder is the owner's, and who makes it is a daemon of everybody's."""
    waiting.target.mkdir(parents=True)
    os.mkfifo(waiting.target / ".job.ad")
    precious = waiting.spool / "precious"
    precious.write_text("as it was")
    aside = waiting.target.with_name(f"{waiting.target.name}.job.ad.{os.getpid()}")
    aside.symlink_to(precious)
    assert [*waiting.set_aside()] == [None]
    assert (waiting.target / ".job.ad").read_text() == 'Owner = "alice"\nClusterId = 1\n'
    assert os.listdir(waiting.target.parent) == [waiting.target.name]
    assert precious.read_text() == "as it was"


def test_what_cannot_take_the_place_of_an_ad_is_not_left_beside_the_folder(
    waiting: Waiting,
) -> None:
    (waiting.target / ".job.ad").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        next(waiting.set_aside())
    assert os.listdir(waiting.target.parent) == [waiting.target.name]


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_who_is_killed_before_a_folder_is_the_owner_s_keeps_nothing_from_being_set_aside(
    open_place: Path,
) -> None:
    waiting, owner = Waiting(open_place), account_of(65534)
    os.chown(waiting.folder, owner.uid, owner.gid)
    waiting.target.parent.mkdir(parents=True)
    switching = Privileges(account_of(0), can_switch=True)
    assert [*waiting.set_aside(switching, owner)] == [None]
    assert set(os.listdir(waiting.target)) == {".job.ad", manifest_name(0)}
    assert waiting.target.parent.stat().st_uid == owner.uid


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
@pytest.mark.parametrize("is_link", [False, True])
def test_root_gives_away_no_folder_that_is_in_use_or_that_a_link_leads_to(
    open_place: Path, is_link: bool
) -> None:
    waiting, owner = Waiting(open_place), account_of(65534)
    os.chown(waiting.folder, owner.uid, owner.gid)
    owners, roots = waiting.target.parent, open_place / "of root"
    roots.mkdir()
    owners.parent.mkdir()
    if is_link:
        owners.symlink_to(roots)
    else:
        roots.rename(owners)
        (owners / "in use").touch()
    with pytest.raises(OSError, match=r"Permission denied|Not a directory"):
        next(waiting.set_aside(Privileges(account_of(0), can_switch=True), owner))
    assert owners.stat().st_uid == 0
