"""What a starter made is removed with a few calls; what a job made of it, whatever it takes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kettle.runtime.process.privileges import Privileges, account_of
from kettle.starter.place import public_text
from kettle.starter.sandbox import Sandbox
from kettle.starter.services.sandbox import KeptSandbox, SandboxKeeper, SmallFile


def ad_file(path: str, lines: list[str]) -> SmallFile:
    parts = [line.partition(" = ") for line in lines]
    return SmallFile(path, public_text((name, text) for name, _, text in parts))


def keeper(folder: Path) -> SandboxKeeper:
    me = account_of(os.getuid())
    made = SandboxKeeper(Sandbox(str(folder / "dir_1")), Privileges(me, can_switch=False), me)
    box = made.sandbox
    made.make([ad_file(box.job_ad, ["A = 1"]), SmallFile(box.chirp_config, "cookie", 0o700)])
    return made


def test_an_untouched_sandbox_is_removed(tmp_path: Path) -> None:
    one = keeper(tmp_path)
    assert Path(one.sandbox.job_ad).read_text() == "A = 1\n"
    one.remove()
    assert list(tmp_path.iterdir()) == []
    one.remove()


def test_a_link_in_place_of_a_folder_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".job.ad").write_text("mine")
    inside = tmp_path / "execute"
    inside.mkdir()
    one = keeper(inside)
    scratch = Path(one.sandbox.scratch)
    (scratch / ".job.ad").unlink()
    scratch.rmdir()
    scratch.symlink_to(outside)
    (Path(one.sandbox.root) / "more").mkdir(mode=0o500)
    one.remove()
    assert list(inside.iterdir()) == []
    assert outside.is_dir()


def test_an_ad_for_the_job_has_no_secrets(tmp_path: Path) -> None:
    lines = ["Cmd = 1", "ClaimId = 2", "TransferKey = 3", "_condor_privX = 4", "Args = 5"]
    file = ad_file(str(tmp_path / "ad"), lines)
    assert file.text == "Cmd = 1\nArgs = 5\n"


def kept_keeper(folder: Path, kept: KeptSandbox, text: str) -> SandboxKeeper:
    me = account_of(os.getuid())
    box = Sandbox(str(folder / "dir_1"))
    made = SandboxKeeper(box, Privileges(me, can_switch=False), me, kept)
    made.make([ad_file(box.machine_ad, ["M = 1"]), ad_file(box.job_ad, [text])])
    return made


def test_an_untouched_sandbox_serves_the_next_job_with_its_own_files(tmp_path: Path) -> None:
    kept = KeptSandbox()
    first = kept_keeper(tmp_path, kept, "LongName = 1")
    assert first.leave_to_next()
    before = os.stat(first.sandbox.scratch).st_ino
    second = kept_keeper(tmp_path, kept, "A = 2")
    assert os.stat(second.sandbox.scratch).st_ino == before
    assert Path(second.sandbox.job_ad).read_text() == "A = 2\n"
    assert os.stat(second.sandbox.job_ad).st_mode & 0o777 == 0o644
    assert second.leave_to_next()
    kept.remove(second.privileges)
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_the_job_before_is_gone_if_the_next_one_gets_none_yet(tmp_path: Path) -> None:
    kept = KeptSandbox()
    first = kept_keeper(tmp_path, kept, "A = 1")
    assert first.leave_to_next()
    SandboxKeeper(first.sandbox, first.privileges, first.account, kept).make()
    assert os.listdir(first.sandbox.scratch) == []


@pytest.mark.parametrize("what", ["file", "mode", "link", "ad", "ad of a link", "cookie", "folder"])
def test_a_sandbox_that_the_job_changed_is_removed(what: str, tmp_path: Path) -> None:
    kept = KeptSandbox()
    one = kept_keeper(tmp_path, kept, "A = 1")
    if what == "file":
        Path(one.sandbox.scratch, "output").write_text("x")
    elif what == "mode":
        os.chmod(one.sandbox.user, 0o750)
    elif what == "link":
        os.rmdir(one.sandbox.user)
        os.symlink("/tmp", one.sandbox.user)
    elif what == "ad":
        os.unlink(one.sandbox.machine_ad)
        os.mkdir(one.sandbox.machine_ad)
    elif what == "ad of a link":
        os.unlink(one.sandbox.job_ad)
        os.symlink("/etc/passwd", one.sandbox.job_ad)
    elif what == "cookie":
        os.mkdir(one.sandbox.chirp_config)
    else:
        os.mkdir(os.path.join(one.sandbox.root, "more"))
    assert not one.leave_to_next()
    one.remove()
    assert list(tmp_path.iterdir()) == []
    assert kept.account is None


def test_what_stands_in_the_place_of_an_ad_is_not_written_through(tmp_path: Path) -> None:
    kept = KeptSandbox()
    one = kept_keeper(tmp_path, kept, "A = 1")
    outside = tmp_path / "outside"
    outside.write_text("mine")
    for ad in (one.sandbox.job_ad, one.sandbox.machine_ad):
        os.unlink(ad)
        os.link(outside, ad)
    assert one.leave_to_next()
    # What still lives might put it there after the look.
    os.unlink(one.sandbox.job_ad)
    os.symlink(outside, one.sandbox.job_ad)
    two = kept_keeper(tmp_path, kept, "A = 2")
    assert outside.read_text() == "mine"
    assert Path(two.sandbox.job_ad).read_text() == "A = 2\n"
    assert Path(two.sandbox.machine_ad).read_text() == "M = 1\n"


@pytest.mark.parametrize("where", ["user/x", "htcondor/x", "x", "more/x", "user/.chirp.config"])
def test_what_is_beside_the_scratch_directory_is_the_job_s_as_well(
    tmp_path: Path, where: str
) -> None:
    one = keeper(tmp_path)
    before, files = one.measure()
    path = Path(one.sandbox.root, where)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x" * 300_000)
    assert one.measure()[0] >= before + 290
    assert one.measure()[1] == files
    assert one.survey().kib >= before + 290


@pytest.mark.parametrize("mode", [0o000, 0o300, 0o400])
@pytest.mark.parametrize("where", ["scratch/d", "scratch", "user", "more/x", "more", "."])
def test_what_a_job_closes_counts_all_the_same_and_stays_closed(
    tmp_path: Path, where: str, mode: int
) -> None:
    one = keeper(tmp_path)
    root = Path(one.sandbox.root)
    for folder in ("scratch/d/e", "more/x"):
        (root / folder).mkdir(parents=True)
    for file in ("scratch/d/e/f", "scratch/d/f", "user/f", "more/x/f"):
        (root / file).write_bytes(b"x" * 300_000)
    before = one.measure()
    assert before[0] >= 4 * 290
    assert before[1] == 5
    (root / where).chmod(mode)
    assert one.measure() == before
    assert one.survey()[:2] == before
    assert (root / where).stat().st_mode & 0o777 == mode
    one.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="modes do not bind root")
def test_what_cannot_be_looked_at_is_told_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = keeper(tmp_path)
    told: list[str] = []
    monkeypatch.setattr("kettle.runtime.tasks.report", told.append)
    (Path(one.sandbox.scratch) / "d").mkdir(mode=0)
    one.measure()
    assert told == []
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    one.measure()
    one.measure()
    assert len(told) == 1
    assert told[0].startswith("Not all that the job has on disk can be looked at, and what")
    assert "Permission denied: 'd'" in told[0]


def test_files_in_a_private_tmp_count_as_those_in_the_sandbox_do(tmp_path: Path) -> None:
    one = keeper(tmp_path)
    beside = tmp_path / "tmp"
    beside.mkdir()
    before = one.measure(str(beside))[1]
    (beside / "a").touch()
    (Path(one.sandbox.scratch) / "b").touch()
    assert one.measure(str(beside))[1] == before + 2


def test_what_a_starter_writes_is_whole_or_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = [1000]
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = real(descriptor, data[: min(2, room[0])])
        room[0] -= taken
        return taken

    monkeypatch.setattr("kettle.starter.services.sandbox.os.write", write)
    one = keeper(tmp_path)
    assert Path(one.sandbox.job_ad).read_text() == "A = 1\n"
    room[0] = 3
    with pytest.raises(OSError, match="No space left"):
        one.write_file(ad_file(one.sandbox.job_ad, ["A = 2"]))


def test_streams_are_looked_for_until_a_survey_has_missed_them(tmp_path: Path) -> None:
    one = keeper(tmp_path)
    out = Path(one.sandbox.scratch) / "_condor_stdout"
    out.touch()
    os.utime(out, (7, 7))
    assert one.stream_times() == {"StdoutMtime": 7}
    assert not one.survey().is_as_made
    assert one.stream_times() == {"StdoutMtime": 7}
    out.unlink()
    assert one.survey().is_as_made

    def switch(_: object) -> None:
        raise AssertionError("an account is taken on for nothing")

    one.privileges.as_account = switch  # type: ignore[assignment,method-assign]
    assert one.stream_times() == {}


@pytest.mark.timeout(30)
def test_a_pipe_of_the_job_s_in_the_place_of_a_file_of_ours_keeps_nobody_waiting(
    tmp_path: Path,
) -> None:
    one = keeper(tmp_path)
    pipe = f"{one.sandbox.scratch}/out"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="No such device or address"):
        one.write(pipe, "text", 0o600)
    other_end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        with pytest.raises(OSError, match="it is no regular file"):
            one.write(pipe, "text", 0o600)
        with pytest.raises(BlockingIOError):
            os.read(other_end, 1)
    finally:
        os.close(other_end)
