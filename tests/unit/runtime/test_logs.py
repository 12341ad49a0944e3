"""The lines of a daemon's log and the rotation of its file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kettle.runtime.logs import Log, parse_limit, parse_verbosity


def log_at(path: Path, verbosity: str = "", **options: object) -> Log:
    return Log(
        str(path),
        now=lambda: 1_700_000_000.25,
        verbosity=parse_verbosity(verbosity),
        **options,  # type: ignore[arg-type]
    )


def test_a_line_begins_with_date_and_time(tmp_path: Path) -> None:
    log = log_at(tmp_path / "SchedLog")
    log("Number of Active Workers 0")
    log.close()
    text = (tmp_path / "SchedLog").read_text()
    assert re.fullmatch(r"11/1[45]/23 \d\d:13:20 Number of Active Workers 0\n", text)


def test_pid_category_and_fractions_stand_in_the_head_when_asked_for(tmp_path: Path) -> None:
    log = log_at(tmp_path / "L", "D_PID D_CAT D_SUB_SECOND")
    log.problem("disk is full")
    log.close()
    text = (tmp_path / "L").read_text()
    assert re.fullmatch(r".{17}\.250 \(pid:\d+\) \(D_ERROR\) disk is full\n", text)


def test_full_debug_lines_appear_only_with_full_debug(tmp_path: Path) -> None:
    for verbosity, count in (("", 1), ("D_FULLDEBUG", 2), ("D_FULLDEBUG -D_FULLDEBUG", 1)):
        path = tmp_path / f"log{count}{len(verbosity)}"
        log = log_at(path, verbosity)
        log("always")
        log.full("sometimes")
        log.close()
        assert len(path.read_text().splitlines()) == count


def test_a_category_is_written_at_the_level_that_is_on(tmp_path: Path) -> None:
    log = log_at(tmp_path / "L", "SECURITY:2, D_COMMAND")
    log.debug("D_SECURITY", "detail", level=2)
    log.debug("D_COMMAND", "plain")
    log.debug("D_COMMAND", "unwanted", level=2)
    log.debug("D_NETWORK", "unwanted")
    log.close()
    lines = (tmp_path / "L").read_text().splitlines()
    assert [line.split()[-1] for line in lines] == ["detail", "plain"]


def test_a_full_file_moves_aside_as_old(tmp_path: Path) -> None:
    log = log_at(tmp_path / "L", limit=(60, 0))
    for number in range(3):
        log(f"line {number} of a daemon's log")
    log.close()
    assert "line 1" in (tmp_path / "L.old").read_text()
    assert "line 2" in (tmp_path / "L").read_text()


def test_more_than_one_old_file_is_kept_by_time_and_the_oldest_forgotten(tmp_path: Path) -> None:
    now = [1_700_000_000.0]
    log = Log(str(tmp_path / "L"), now=lambda: now[0], limit=(40, 0), keep=2)
    for number in range(5):
        log(f"line {number} of a daemon's log")
        now[0] += 1
    log.close()
    names = sorted(entry.name for entry in tmp_path.iterdir())
    assert len(names) == 3
    assert names[0] == "L"
    assert all(re.fullmatch(r"L\.\d{8}T\d{6}", name) for name in names[1:])


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("1000", (1000, 0)),
        ("10 Mb", (10 * 1024**2, 0)),
        ("2 days", (0, 172800)),
        ("6hr", (0, 21600)),
        (None, (10 * 1024**2, 0)),
        ("much", (10 * 1024**2, 0)),
    ],
)
def test_a_limit_is_a_size_or_a_time(text: str | None, limit: tuple[int, int]) -> None:
    assert parse_limit(text) == limit
