"""What `kettle why` sees of an event log that cannot be opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.tools.front.log_trouble import describe_log_trouble


def job(log: Path, **facts: object) -> ClassAd:
    known = {"GlobalJobId": "own@here.example#1.0#5", "Owner": "ann", "UserLog": str(log)}
    return ClassAd({"Iwd": "/", **known, **facts})


def make_folder(path: Path) -> None:
    path.mkdir()


def make_file_for_its_folder(path: Path) -> None:
    path.parent.touch()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (make_folder, "Is a directory (errno 21)."),
        (make_file_for_its_folder, "Not a directory (errno 20)."),
    ],
)
def test_a_log_that_cannot_be_opened_is_told_before_the_job_is_held(
    tmp_path: Path, make: object, said: str
) -> None:
    log = tmp_path / "logs" / "log"
    if make is make_folder:
        log.parent.mkdir()
    assert callable(make)
    make(log)
    found = describe_log_trouble(job(log), "HERE.example", "ann")
    assert found.endswith(f"cannot open the event log {log}: {said}")


def test_a_log_that_can_be_made_or_written_is_no_trouble_and_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "new" / "log"
    assert describe_log_trouble(job(log), "here.example", "ann") == ""
    assert not log.parent.exists()
    log.parent.mkdir()
    log.touch()
    assert describe_log_trouble(job(log), "here.example", "ann") == ""


@pytest.mark.parametrize(
    "facts",
    [
        {"Owner": "ben"},
        {"GlobalJobId": "there.example#1.0#5"},
        {"GlobalJobId": ""},
        {"UserLog": "/dev/null"},
    ],
)
def test_files_of_others_and_elsewhere_are_not_looked_at(
    tmp_path: Path, facts: dict[str, object]
) -> None:
    assert describe_log_trouble(job(tmp_path, **facts), "here.example", "ann") == ""
