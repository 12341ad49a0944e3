"""condor_manifest beside what HTCondor 25.14.1's says of the same files, and what it deletes."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

PLACE = "local://vo/fs"
STEM = "_condor_checkpoint_MANIFEST"
JOB = "ap_1.0_7"


def run(*words: str, **knobs: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": "ONLY_ENV"}
    environment |= {f"_CONDOR_{name}": text for name, text in knobs.items()}
    streams = Streams(io.StringIO(), out, err)
    code = load_tool("condor_manifest")(["condor_manifest", *words], environment, streams)
    return code, out.getvalue(), err.getvalue()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write_manifest(path: Path, files: dict[str, bytes]) -> None:
    body = "".join(f"{digest(data)} *{name}\n" for name, data in files.items())
    path.write_text(f"{body}{digest(body.encode())} *{path.name}\n")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("getNumberFromFileName", f"{STEM}.0101"), (101, "101\n")),
        (("getNumberFromFileName", f"{STEM}.000"), (0, "0\n")),
        (("getNumberFromFileName", f"{STEM}.-101"), (255, "-1\n")),
        (("getNumberFromFileName", "failure.0001"), (255, "-1\n")),
        (("FileFromLine", "abc *d e"), (0, "d e\n")),
        (("FileFromLine", "abc"), (0, "\n")),
        (("ChecksumFromLine", "abc *d"), (0, "abc\n")),
        (("ChecksumFromLine", "abc"), (0, "abc\n")),
        (("compute_file_sha256_checksum", "no such file"), (1, "")),
        (("validateManifestFile", "no such file"), (1, "false\n")),
        (
            ("validateFilesListedIn", "no such file"),
            (1, "false\nFailed to open MANIFEST, aborting.\n"),
        ),
    ],
)
def test_small_questions_are_answered_as_the_reference_does(
    words: tuple[str, str], answer: tuple[int, str]
) -> None:
    assert run(*words)[:2] == answer


def test_a_manifest_is_made_and_is_right_until_something_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in/d").mkdir(parents=True)
    (tmp_path / "in/a").write_text("abc")
    (tmp_path / "in/d/b").write_text("")
    monkeypatch.chdir(tmp_path)
    assert run("createManifestFor", "in") == (0, "", "")
    lines = Path("MANIFEST").read_text().splitlines()
    assert lines[:2] == [f"{digest(b'abc')} *in/a", f"{digest(b'')} *in/d/b"]
    assert run("compute_file_sha256_checksum", "in/a")[1] == f"{lines[0]}\n"
    assert run("validateManifestFile", "MANIFEST")[:2] == (0, "true\n")
    assert run("validateFilesListedIn", "MANIFEST")[:2] == (0, "true\n")
    Path("in/a").write_text("abd")
    code, said, _ = run("validateFilesListedIn", "MANIFEST")
    assert (code, said.splitlines()[0]) == (1, "false")
    assert said.splitlines()[1] == (
        f"Checkpoint file 'in/a' did not have expected checksum ({digest(b'abd')} vs "
        f"{digest(b'abc')})."
    )
    Path("in/a").unlink()
    assert run("validateFilesListedIn", "MANIFEST")[1] == (
        "false\nFailed to open checkpoint file ('in/a') to compute checksum.\n"
    )
    Path("MANIFEST").write_text("\n".join(lines[1:]) + "\n")
    assert run("validateManifestFile", "MANIFEST")[:2] == (1, "false\n")


@pytest.mark.parametrize("text", ["", "\n", "\n\n", "9876 abcdef\n", "abcd 1234 @$%^\n"])
def test_what_is_no_manifest_is_right_about_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m"
    path.write_text(text)
    assert run("validateManifestFile", str(path))[0] == 1
    assert run("validateFilesListedIn", str(path))[0] == 1


@pytest.mark.parametrize(
    "words", [(), ("nosuch", "x"), ("FileFromLine",), ("deleteFilesStoredAt", "x")]
)
def test_a_wrong_command_line_is_told_the_functions(words: tuple[str, ...]) -> None:
    code, said, complaint = run(*words)
    assert (code, said) == (1, "")
    assert "validateFilesListedIn" in complaint


class Checkpoints:
    """Checkpoints of a job at a place that is mounted here, and their manifests."""

    def __init__(self, folder: Path) -> None:
        self.shelf, self.waiting = folder / "shelf", folder / "waiting"
        self.waiting.mkdir()
        (self.waiting / ".job.ad").write_text("ClusterId = 1\n")
        self.map = folder / "map"
        self.map.write_text(
            f"* local://vo other\n* {PLACE} cleanup_locally_mounted_checkpoint,-prefix,\\0,"
            f"-path,{self.shelf}\n"
        )

    def add(self, number: int, files: dict[str, bytes], stem: str = STEM) -> None:
        for name, data in files.items():
            path = self.shelf / JOB / f"{number:04d}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        write_manifest(self.waiting / f"{stem}.{number:04d}", files)

    def delete(self, first: object, last: object, **knobs: str) -> tuple[int, str, str]:
        stem = str(self.waiting / STEM)
        knobs = {"CHECKPOINT_DESTINATION_MAPFILE": str(self.map), **knobs}
        words = ("deleteFilesStoredAt", f"{PLACE}/{JOB}", stem, str(first), str(last))
        return run(*words, **knobs)


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path)


def test_checkpoints_are_deleted_with_their_manifests_and_what_is_empty_then(
    checkpoints: Checkpoints,
) -> None:
    checkpoints.add(0, {"state": b"1", "d/e/more": b"2"})
    checkpoints.add(1, {"state": b"1"}, stem="_condor_checkpoint_FAILURE")
    checkpoints.add(2, {"state": b"3"})
    # Of one that failed not everything need be there.
    (checkpoints.shelf / JOB / "0001/state").unlink()
    assert checkpoints.delete(0, 1)[:2] == (0, "")
    assert [path.name for path in (checkpoints.shelf / JOB).iterdir()] == ["0002"]
    assert {path.name for path in checkpoints.waiting.iterdir()} == {".job.ad", f"{STEM}.0002"}
    code, said, told = checkpoints.delete(2, 2)
    assert (code, said) == (0, "")
    assert told.splitlines()[-1] == f"Removing {checkpoints.waiting} after successful clean-up."
    assert list(checkpoints.shelf.iterdir()) == []
    assert not checkpoints.waiting.exists()


def test_a_missing_manifest_is_told_and_keeps_no_other_from_being_deleted(
    checkpoints: Checkpoints,
) -> None:
    checkpoints.add(1, {"state": b"1"})
    assert checkpoints.delete(0, 1)[:2] == (1, "Failed to open MANIFEST, aborting.\n")
    assert not checkpoints.waiting.exists()
    assert checkpoints.delete("x", 1)[2] == "'x' is not a number, aborting.\n"
    assert "Unable to check contents of" in checkpoints.delete(1, 1)[2]


def test_missing_manifests_are_told_once_however_many_there_are(checkpoints: Checkpoints) -> None:
    """Their numbers are a user's, who is not to have us look for each."""
    checkpoints.add(0, {"state": b"1"})
    checkpoints.add(99_999, {"state": b"1"})
    assert checkpoints.delete(0, 99_999)[:2] == (1, "Failed to open MANIFEST, aborting.\n")
    assert not checkpoints.waiting.exists()
    assert list(checkpoints.shelf.iterdir()) == []


def test_what_failed_and_what_did_not_go_also_when_they_have_one_number(
    checkpoints: Checkpoints,
) -> None:
    checkpoints.add(3, {"more": b"1"}, stem="_condor_checkpoint_FAILURE")
    checkpoints.add(3, {"state": b"1"})
    assert checkpoints.delete(3, 3)[:2] == (0, "")
    assert not checkpoints.waiting.exists()
    assert list(checkpoints.shelf.iterdir()) == []


def test_the_checkpoints_of_several_jobs_are_deleted_by_one_call(tmp_path: Path) -> None:
    jobs, words = [], []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        jobs.append(Checkpoints(folder))
        jobs[-1].add(number, {"state": b"1"})
        words += [f"{PLACE}/{number}/{JOB}", str(jobs[-1].waiting)]
    jobs[0].map.write_text(
        "".join(
            f"* {PLACE}/{number} cleanup_locally_mounted_checkpoint,-prefix,\\0,-path,{job.shelf}\n"
            for number, job in enumerate(jobs)
        )
    )
    # Of the second job there is a manifest that nobody can follow.
    write_manifest(jobs[1].waiting / f"{STEM}.0001", {"../../x": b""})
    knobs = {"CHECKPOINT_DESTINATION_MAPFILE": str(jobs[0].map)}
    code, said, _ = run("deleteFilesListedIn", *words, **knobs)
    assert (code, said) == (1, "../../x is not in the checkpoint's place, aborting.\n")
    assert [job.waiting.exists() for job in jobs] == [False, True, False]
    assert [bool(list(job.shelf.iterdir())) for job in jobs] == [False, True, False]


def test_a_manifest_that_comes_at_the_end_keeps_the_job_s_ad(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The schedd sets one aside just when a shadow's deletion has found no more."""
    checkpoints.add(0, {"state": b"1"})
    late, remove = checkpoints.waiting / f"{STEM}.0001", os.rmdir

    def late_rmdir(path: str) -> None:
        if Path(path) == checkpoints.waiting:
            late.touch()
        remove(path)

    monkeypatch.setattr(os, "rmdir", late_rmdir)
    assert checkpoints.delete(0, 0) == (0, "", "")
    assert {path.name for path in checkpoints.waiting.iterdir()} == {".job.ad", late.name}
    assert (checkpoints.waiting / ".job.ad").read_text() == "ClusterId = 1\n"
    assert {path.name for path in checkpoints.waiting.parent.iterdir()} <= {
        "map",
        "shelf",
        "waiting",
    }


def test_a_manifest_cannot_name_what_is_not_in_its_checkpoint(checkpoints: Checkpoints) -> None:
    victim = checkpoints.shelf / "victim"
    victim.parent.mkdir()
    victim.write_text("mine")
    checkpoints.add(0, {"state": b"1"})
    write_manifest(checkpoints.waiting / f"{STEM}.0000", {"../../victim": b"mine"})
    code, said, _ = checkpoints.delete(0, 0)
    assert (code, said) == (1, "../../victim is not in the checkpoint's place, aborting.\n")
    assert victim.exists()


PLUGIN = """#!/bin/sh
echo "$@" >> {log}
[ "$6" = bad ] && {{ echo no; exit 3; }}
[ "$6" = slow ] && sleep 60
exit 0
"""


def test_a_plug_in_is_told_the_place_the_file_and_the_job_s_ad(
    checkpoints: Checkpoints, tmp_path: Path
) -> None:
    plugin, log = tmp_path / "plugin", tmp_path / "log"
    plugin.write_text(PLUGIN.format(log=log))
    plugin.chmod(0o755)
    checkpoints.map.write_text(f"* {PLACE} plugin,-x,1\n")
    checkpoints.add(0, {"a b": b"1"})
    checkpoints.add(1, {"bad": b"1"}, stem="_condor_checkpoint_FAILURE")
    ad = checkpoints.waiting / ".job.ad"
    libexec = {"LIBEXEC": str(tmp_path)}
    code, said, _ = checkpoints.delete(0, 1, **libexec)
    assert code == 1
    place = f"{PLACE}/{JOB}"
    assert log.read_text().splitlines() == [
        f"-x 1 -from {place}/0000 -delete a b -jobad {ad}",
        f"-x 1 -from {place}/0001 -delete bad -jobad {ad} -ignore-missing-files",
    ]
    assert "exit code was 3, aborting.\n(Output: 'no\n')" in said
    left = {path.name for path in checkpoints.waiting.iterdir()}
    assert left == {".job.ad", "_condor_checkpoint_FAILURE.0001"}
    checkpoints.add(2, {"slow": b"1"})
    _, said, _ = checkpoints.delete(2, 2, CHECKPOINT_CLEANUP_TIMEOUT="0", **libexec)
    assert "Timed out after 0 seconds waiting for" in said
    plugin.unlink()
    assert "does not exist, aborting" in checkpoints.delete(2, 2, **libexec)[1]
    checkpoints.map.write_text("* other://x plugin\n")
    assert "in map file, aborting" in checkpoints.delete(2, 2)[1]
    checkpoints.map.unlink()
    assert "Failed to parse checkpoint destination map file" in checkpoints.delete(2, 2)[1]
