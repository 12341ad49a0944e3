"""The lines of a daemon's log and the rotation of its file."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.runtime.log_allowance import MOST_LINES, WINDOW_SECONDS
from kettle.runtime.logs import Log, Verbosity, parse_limit, parse_verbosity


def log_at(path: Path, verbosity: str = "", **options: object) -> Log:
    return Log(
        str(path),
        now=lambda: 1_700_000_000.25,
        verbosity=parse_verbosity(verbosity),
        **options,  # type: ignore[arg-type]
    )


def test_what_is_no_text_is_escaped_and_bytes_are_as_they_are(tmp_path: Path) -> None:
    log_at(tmp_path / "XLog").write("D_ALWAYS", "half \ud800, byte \udce9")
    assert (tmp_path / "XLog").read_bytes().endswith(b"half \\ud800, byte \xe9\n")


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


def test_lines_that_find_no_room_are_counted_and_told_of_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_at(tmp_path / "L")
    log("first")
    write = os.write

    def refuse(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", refuse)
    log("second")
    log("third")
    monkeypatch.setattr(os, "write", write)
    log("fourth")
    log.close()
    first, told, fourth = (tmp_path / "L").read_text().splitlines()
    assert first.endswith("first")
    assert told.endswith("2 lines of this log could not be written: No space left on device")
    assert fourth.endswith("fourth")


def test_a_line_that_broke_off_is_no_beginning_of_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_at(tmp_path / "L")
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:12]))
    log("first")
    monkeypatch.setattr(os, "write", write)
    log("second")
    log("third")
    log.close()
    torn, told, second, third = (tmp_path / "L").read_text().splitlines()
    assert len(torn) == 12
    assert told.endswith("1 lines of this log could not be written: No space left on device")
    assert (second[-6:], third[-5:]) == ("second", "third")


def test_a_line_that_broke_off_is_ended_by_whoever_opens_the_log_next(tmp_path: Path) -> None:
    (tmp_path / "L").write_text("11/14/23 22:13")
    log = log_at(tmp_path / "L")
    log("second")
    log.close()
    torn, second = (tmp_path / "L").read_text().splitlines()
    assert (torn, second[-6:]) == ("11/14/23 22:13", "second")


def test_a_line_that_broke_off_before_its_file_was_moved_leaves_no_empty_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_at(tmp_path / "L", limit=(30, 0))
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:12]))
    log("a line of a daemon's log")
    monkeypatch.setattr(os, "write", write)
    log("another line of the log")
    log.close()
    assert len((tmp_path / "L.old").read_text()) == 12
    first = (tmp_path / "L").read_text().splitlines()[0]
    assert first.endswith("No space left on device")


def test_a_log_that_is_not_needed_is_opened_when_it_can_be(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        log_at(tmp_path / "later" / "L")
    log = log_at(tmp_path / "later" / "L", needed=False)
    log("first")
    (tmp_path / "later").mkdir()
    log("second")
    log.close()
    told, second = (tmp_path / "later" / "L").read_text().splitlines()
    assert told.endswith("2 lines of this log could not be written: No such file or directory")
    assert second.endswith("second")


def test_a_log_that_cannot_be_rotated_goes_on_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_at(tmp_path / "L", limit=(30, 0))
    log("a line of a daemon's log")
    opened = os.open

    def refuse(path: str, flags: int, mode: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "open", refuse)
    log("another line of the log")
    monkeypatch.setattr(os, "open", opened)
    log.close()
    assert "another" in (tmp_path / "L.old").read_text()


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


def test_categories_and_levels_are_written_as_in_the_reference(tmp_path: Path) -> None:
    log = log_at(tmp_path / "L", "D_FULLDEBUG D_CAT D_COMMAND:2")
    log("one")
    log.full("two")
    log.debug("D_COMMAND", "three")
    log.debug("D_COMMAND", "four", level=2)
    log.close()
    heads = [line[18:] for line in (tmp_path / "L").read_text().splitlines()]
    assert heads == [
        "(D_ALWAYS) one",
        "(D_ALWAYS:2) two",
        "(D_COMMAND) three",
        "(D_COMMAND:2) four",
    ]


def test_the_moment_is_written_as_it_is_asked_for(tmp_path: Path) -> None:
    log = log_at(tmp_path / "L", "D_TIMESTAMP D_SUB_SECOND D_PID D_FDS")
    log("one")
    log.configure(verbosity=parse_verbosity(""), time_format="%Y")
    log("two")
    log.close()
    first, second = (tmp_path / "L").read_text().splitlines()
    assert re.fullmatch(r"1700000000\.250 \(fd:\d+\) \(pid:\d+\) one", first)
    assert second == "2023 two"


def test_two_processes_share_a_file_that_one_of_them_moves_aside(tmp_path: Path) -> None:
    moment = [1_700_000_000.0]
    path = str(tmp_path / "ShadowLog")
    one, other = (Log(path, now=lambda: moment[0], limit=(300, 0)) for _ in range(2))
    for number in range(30):
        moment[0] += 1
        (one if number % 2 else other)(f"line {number} of thirty")
    for log in (one, other):
        log.close()
    new, old = (tmp_path / "ShadowLog").read_text(), (tmp_path / "ShadowLog.old").read_text()
    assert max(len(new), len(old)) <= 300 + 60
    kept = [int(number) for number in re.findall(r"line (\d+) of", old + new)]
    assert kept == list(range(kept[0], 30))


def test_a_file_is_moved_by_nobody_while_another_moves_it(tmp_path: Path) -> None:
    path = tmp_path / "L"
    log = log_at(path, limit=(50, 0))
    log("first")
    with path.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        log("second, which would be too much")
    log.close()
    assert not (tmp_path / "L.old").exists()
    assert len(path.read_text().splitlines()) == 2


def test_a_new_file_says_so_and_belongs_to_the_owner_of_the_folder(tmp_path: Path) -> None:
    log = log_at(tmp_path / "L", limit=(50, 0))
    log("x" * 60)
    log("y")
    log.close()
    assert f"Now in new log file {tmp_path / 'L'}\n" in (tmp_path / "L").read_text()
    assert (tmp_path / "L").stat().st_uid == tmp_path.stat().st_uid


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root follows no link")
def test_as_root_a_link_that_the_daemons_account_made_is_not_followed(open_place: Path) -> None:
    folder, secret = open_place / "log", open_place / "secret"
    folder.mkdir()
    os.chown(folder, 54321, 54321)
    secret.write_text("root's\n")
    path = folder / "ShadowLog"
    path.symlink_to("../secret")
    os.lchown(path, 54321, 54321)
    with pytest.raises(PermissionError):
        log_at(path)("a line")
    assert (secret.read_text(), secret.stat().st_uid) == ("root's\n", 0)
    os.lchown(path, 0, 0)
    log = log_at(path)
    log("a line")
    log.close()
    assert secret.read_text().endswith(" a line\n")


def test_a_log_that_was_deleted_begins_anew(tmp_path: Path) -> None:
    moment = [1_700_000_000.0]
    path = tmp_path / "L"
    log = Log(str(path), now=lambda: moment[0])
    log("one")
    path.rename(tmp_path / "elsewhere")
    moment[0] += 1
    log("two")
    log.close()
    assert path.read_text().endswith(" two\n")
    assert (tmp_path / "elsewhere").read_text().endswith(" one\n")


def test_files_are_opened_and_moved_with_the_rights_that_this_takes(tmp_path: Path) -> None:
    moment = [1_700_000_000.0]
    entered: list[float] = []

    @contextlib.contextmanager
    def privileged() -> Iterator[None]:
        entered.append(moment[0])
        yield

    log = Log(str(tmp_path / "L"), now=lambda: moment[0], limit=(100, 0))
    log.privileged = privileged
    log("x" * 80)
    assert entered == []
    log("y" * 80)
    assert len(entered) == 1
    (tmp_path / "L").rename(tmp_path / "elsewhere")
    moment[0] += 1
    log("z")
    assert len(entered) == 2
    log.close()


def test_what_somebody_says_stays_one_record_whatever_reader_splits_the_lines() -> None:
    said: list[str] = []
    log = Log(now=lambda: 1_700_000_000, sink=said.append)
    log("quiet")
    head = said.pop().removesuffix("quiet\n")
    ends = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")
    for end in ends:
        log(f"Job 1.0 is held: why not{end}{head}vm#2.0#1/1 executing: pid 1{end}end")
    # As epoch, as a banner, and as what erases the line on a terminal.
    log("held: a\n1700000000 forged\n[09:13] forged\n** forged\n\x1b[2Kforged\x9b2Kforged")
    for record in said:
        first, *rest = record.splitlines()
        assert first.startswith(head)
        assert all(line.startswith("\t") for line in rest)
        assert "\x1b" not in record
        assert "\x9b" not in record


@pytest.mark.parametrize(("time_format", "tab"), [("", ""), ("%m/%d/%Y %H:%M:%S ", "\t")])
def test_a_moment_that_no_head_has_may_begin_a_line_of_a_record(time_format: str, tab: str) -> None:
    said: list[str] = []
    log = Log(now=lambda: 1_700_000_000, sink=said.append)
    log.configure(verbosity=Verbosity(), limit=(0, 0), keep=1, time_format=time_format)
    log("plugin said:\n11/28/2026 14:00:00 began")
    assert said[0].endswith(f"plugin said:\n{tab}11/28/2026 14:00:00 began\n")


def test_an_ad_in_a_record_looks_as_it_does_in_the_reference_s_log() -> None:
    said: list[str] = []
    log = Log(now=lambda: 1_700_000_000, sink=said.append)
    log('An ad\nMyType = "Job"\nOwner = "alice"\n\n  indented\n')
    assert said[0].partition("An ad")[2] == '\nMyType = "Job"\nOwner = "alice"\n\n  indented\n\n'


def test_no_record_names_a_claim_in_full() -> None:
    said: list[str] = []
    Log(sink=said.append)('ClaimId (<1.2.3.4:5>#17#2#[Encryption="YES";]00ff) not found')
    assert said[0].endswith("ClaimId (<1.2.3.4:5>#17#2#...) not found\n")


def test_what_strangers_cause_takes_a_bounded_part_of_the_log_and_is_counted() -> None:
    lines: list[str] = []
    clock = [1_700_000_000.0]
    log = Log(sink=lines.append, now=lambda: clock[0])
    for number in range(50_000):
        log.stranger("packets", f"packet {number}")
        log.stranger("denied", "one of another kind") if not number else None
    assert len(lines) == MOST_LINES + 1
    assert lines[0].endswith("packet 0\n")
    assert sum("one of another kind" in line for line in lines) == 1
    clock[0] += WINDOW_SECONDS
    log("something of our own")
    told, own = lines[-2:]
    assert re.search(r"\.\.\. and 49,980 more since \d\d:\d\d:\d\d: packets\n", told)
    assert own.endswith("something of our own\n")
    log.stranger("packets", "a packet of another minute")
    assert lines[-1].endswith("a packet of another minute\n")


def test_what_was_only_counted_is_told_when_the_clock_goes_back_and_at_the_end() -> None:
    lines: list[str] = []
    clock = [1_700_000_000.0]
    log = Log(sink=lines.append, now=lambda: clock[0])
    for wait in (-100.0, 0.0):
        for _ in range(MOST_LINES + 3):
            log.stranger("packets", "a packet", problem=True)
        clock[0] += wait
    log.close()
    assert [line.count("and 3 more") for line in lines if "..." in line] == [1, 1]


def test_a_log_that_is_moved_aside_while_it_tells_what_it_counted_tells_it_once(
    tmp_path: Path,
) -> None:
    clock = [1_700_000_000.0]
    log = Log(str(tmp_path / "L"), now=lambda: clock[0], limit=(100, 0), keep=100)
    for kind in ("packets", "connections"):
        for _ in range(MOST_LINES + 1):
            log.stranger(kind, f"one of the {kind}")
    clock[0] += WINDOW_SECONDS
    log.close()
    text = "".join(path.read_text() for path in tmp_path.iterdir())
    assert text.count("... and 1 more") == 2
