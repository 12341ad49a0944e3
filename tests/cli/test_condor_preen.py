"""condor_preen: what it finds, what it removes, and checkpoints that it tries to delete again."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

OLD = time.time() - 100 * 86400


class Place:
    """The folders of a pool that preening looks at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("log", "execute", "spool"):
            (folder / name).mkdir()
        self.shelf = folder / "shelf"
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "CONDOR_CONFIG": "ONLY_ENV",
            "_CONDOR_LOG": str(folder / "log"),
            "_CONDOR_EXECUTE": str(folder / "execute"),
            "_CONDOR_SPOOL": str(folder / "spool"),
            "_CONDOR_CHECKPOINT_DESTINATION_MAPFILE": str(folder / "map"),
        }
        (folder / "map").write_text(
            f"* local://fs cleanup_locally_mounted_checkpoint,-prefix,\\0,-path,{self.shelf}\n"
        )

    def preen(self, *words: str, **knobs: str) -> tuple[int, list[str], str]:
        out, err = io.StringIO(), io.StringIO()
        environment = {**self.environment, **{f"_CONDOR_{n}": text for n, text in knobs.items()}}
        streams = Streams(io.StringIO(), out, err)
        code = load_tool("condor_preen")(["condor_preen", *words], environment, streams)
        return code, [line.strip() for line in out.getvalue().splitlines()], err.getvalue()

    def put(self, name: str, text: str = "", *, old: bool = False) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if old:
            os.utime(path, (OLD, OLD))
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_nothing_is_found_where_nothing_is_bad(place: Place) -> None:
    place.put("log/SchedLog", "x", old=True)
    code, found, told = place.preen("-d")
    assert (code, found) == (0, [])
    assert "Results: No files preened" in told


def test_core_files_go_that_are_old_or_large_or_too_many(place: Place) -> None:
    old = place.put("log/core.1", old=True)
    large = place.put("log/core.2", "x" * 2000)
    kept = [place.put(f"log/core.{number}") for number in (3, 4)]
    os.utime(kept[0], (time.time() - 50, time.time() - 50))
    limits = {"PREEN_COREFILE_MAX_SIZE": "1000", "PREEN_COREFILES_PER_PROCESS": "1"}
    assert place.preen(**limits)[:2] == (0, [str(old), str(large), str(kept[0])])
    assert old.exists()
    found = place.preen("-r", **limits)[1]
    assert found == [f"{path} - Removed" for path in (old, large, kept[0])]
    assert os.listdir(place.folder / "log") == ["core.4"]


def test_a_dead_starter_s_old_sandbox_goes_and_no_other(place: Place) -> None:
    dead, mine, young = "dir_2147483646", f"dir_{os.getpid()}", "dir_2147483645"
    for name in (dead, mine, young, "lost+found"):
        place.put(f"execute/{name}/scratch/file")
    for name in (dead, mine, "lost+found"):
        os.utime(place.folder / "execute" / name, (OLD, OLD))
    assert place.preen("-remove")[1] == [f"{place.folder}/execute/{dead} - Removed"]
    assert set(os.listdir(place.folder / "execute")) == {mine, young, "lost+found"}


def waiting(place: Place, job: str, destination: str = "local://fs") -> Path:
    """Leave a checkpoint of a job, and its manifest in the spool."""
    place.put("shelf/ap_1.0_7/0000/state", "1")
    folder = f"spool/checkpoint-cleanup/alice/{job}"
    place.put(f"{folder}/_condor_checkpoint_MANIFEST.0000", f"{'a' * 64} *state\n")
    ad = f'ClusterId = 1\nGlobalJobId = "ap#1.0#7"\nCheckpointDestination = "{destination}"\n'
    return place.put(f"{folder}/.job.ad", ad).parent


def test_checkpoints_that_wait_are_deleted_and_then_nothing_of_them_is_left(place: Place) -> None:
    folder = waiting(place, "cluster1.proc0.subproc0")
    empty = folder.with_name("cluster2.proc0.subproc0")
    empty.mkdir()
    code, found, told = place.preen("-log", str(place.folder / "preen.log"))
    assert (code, found, told) == (0, [], "")
    assert "Removing " in (place.folder / "preen.log").read_text()
    assert list(place.shelf.iterdir()) == []
    assert list(folder.parent.iterdir()) == []


def test_checkpoints_that_cannot_be_deleted_are_told_and_stay(place: Place) -> None:
    unknown = waiting(place, "cluster1.proc0.subproc0", "other://fs")
    nameless = waiting(place, "cluster2.proc0.subproc0")
    (nameless / ".job.ad").unlink()
    broken = waiting(place, "cluster3.proc0.subproc0")
    (broken / "_condor_checkpoint_MANIFEST.0000").write_text(f"{'a' * 64} *../../x\n")
    code, found, _ = place.preen(MAX_CHECKPOINT_CLEANUP_PROCS="1")
    assert code == 0
    assert [line.split(" - ")[0] for line in found[:2]] == [str(unknown), str(nameless)]
    assert "no clean-up plug-in is registered for other://fs" in found[0]
    assert ".job.ad cannot be read" in found[1]
    assert found[2].startswith(f"{broken} - checkpoint clean-up proc ")
    assert found[2].endswith("returned 1")
    assert (place.shelf / "ap_1.0_7/0000/state").exists()


def test_a_pipe_in_the_place_of_an_ad_or_a_manifest_keeps_nobody_waiting(place: Place) -> None:
    """Whether or not somebody holds its other end."""
    adless = waiting(place, "cluster1.proc0.subproc0")
    listless = waiting(place, "cluster2.proc0.subproc0")
    pipes = [adless / ".job.ad", listless / "_condor_checkpoint_MANIFEST.0000"]
    for pipe in pipes:
        pipe.unlink()
        os.mkfifo(pipe)
    held = os.open(pipes[0], os.O_RDWR)
    try:
        code, found, _ = place.preen(PREEN_CHECKPOINT_CLEANUP_TIMEOUT="60")
    finally:
        os.close(held)
    assert code == 0
    assert found[0].startswith(f"{adless} - its .job.ad cannot be read")
    assert found[1].startswith(f"{listless} - checkpoint clean-up proc ")
    assert found[1].endswith("returned 1")


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_account_among_an_owner_s_is_told_and_left(place: Place) -> None:
    """Within his folder an owner may put whose he can get: nobody's rights are lent to him."""
    folder = waiting(place, "cluster1.proc0.subproc0")
    os.chown(folder.parent, 54322, 54322)
    code, found, _ = place.preen()
    assert (code, found) == (0, [f"{folder} - it is not the owner's, but of uid 0"])
    assert (place.shelf / "ap_1.0_7/0000/state").exists()


def test_what_is_found_is_mailed_to_the_administrator(place: Place) -> None:
    place.put("log/core", old=True)
    mailer = place.put("mailer", f'#!/bin/sh\n{{ echo "$@"; cat; }} > {place.folder}/mail\n')
    mailer.chmod(0o755)
    code, found, _ = place.preen("-m", MAIL=str(mailer), PREEN_ADMIN="root@here")
    assert (code, found) == (0, [])
    first, *rest = (place.folder / "mail").read_text().splitlines()
    assert first.startswith("-s condor_preen results ")
    assert first.endswith(": 1 old file found root@here")
    assert f"  {place.folder}/log/core" in rest
    assert place.preen("-m", MAIL="", CONDOR_ADMIN="x")[0] == 2


@pytest.mark.parametrize("words", [("-x",), ("word",), ("-log",)])
def test_a_wrong_command_line_is_told_the_usage(place: Place, words: tuple[str, ...]) -> None:
    code, found, told = place.preen(*words)
    assert (code, found) == (1, [])
    assert "Usage: condor_preen" in told
