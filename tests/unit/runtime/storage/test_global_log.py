"""The pool's event log: many writers, one lock that no stranger can hold, rotation."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.records.event_kinds import GenericEvent
from kettle.records.event_log import GlobalHeader, read_events
from kettle.runtime.storage.event_logs import render
from kettle.runtime.storage.global_log import GlobalLog
from kettle.testing.virtual_loop import run_virtually

HOLD = fcntl.LOCK_EX | fcntl.LOCK_NB


def make(folder: Path, text: str = "", said: list[str] | None = None) -> GlobalLog:
    config = Config.from_text(f"LOCK = {folder}\n{text}", subsystem="SCHEDD")
    report = said.append if said is not None else None
    return GlobalLog(config, str(folder / "all"), render, report=report)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock, as another process does."""
    with open(path, "wb") as other:
        fcntl.flock(other, HOLD)
        yield


def event(text: str = "something") -> GenericEvent:
    return GenericEvent(info=text, time=1795262865.0)


def told(path: Path) -> list[str]:
    found = read_events(path.read_bytes())
    assert GlobalHeader.parse(found[0]) is not None
    return [each.info for each in found[1:] if isinstance(each, GenericEvent)]


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root follows no link")
def test_as_root_a_link_that_the_daemons_account_made_is_not_followed(open_place: Path) -> None:
    secret, said = open_place / "secret", []
    secret.write_text("root's\n")
    (open_place / "all").symlink_to("secret")
    os.lchown(open_place / "all", 54321, 54321)
    log = make(open_place, said=said)
    log.write(event())
    log.close()
    assert secret.read_text() == "root's\n"
    assert "a link that is not root's" in said[0]


def test_whoever_reads_the_log_cannot_stop_its_writers_with_a_lock(tmp_path: Path) -> None:
    writer = make(tmp_path, "EVENT_LOG_MAX_SIZE = 900\nEVENT_LOG_MAX_ROTATIONS = 3\n")
    writer.write(event("one"))
    with open(tmp_path / "all", "rb") as stranger:
        fcntl.flock(stranger, HOLD)
        for _ in range(20):
            writer.write(event("more"))
    writer.close()
    assert (tmp_path / "all.1").exists()


def test_the_lock_is_a_file_that_nobody_else_may_open(tmp_path: Path) -> None:
    (tmp_path / "EventLogLock").touch(0o644)
    writer = make(tmp_path)
    writer.write(event())
    writer.close()
    assert stat.S_IMODE(os.stat(tmp_path / "EventLogLock").st_mode) == 0o600


def test_events_wait_for_a_log_that_another_process_is_making(tmp_path: Path) -> None:
    async def main() -> None:
        writer = make(tmp_path)
        with held(tmp_path / "EventLogLock"):
            writer.write(event("one"))
            writer.write(event("two"))
            assert not (tmp_path / "all").exists()
        await asyncio.sleep(0.1)
        assert told(tmp_path / "all") == ["one", "two"]
        writer.close()

    run_virtually(main())


def test_a_lock_that_is_never_given_back_costs_the_header_but_no_event(tmp_path: Path) -> None:
    async def main() -> None:
        writer = make(tmp_path)
        with held(tmp_path / "EventLogLock"):
            writer.write(event("one"))
            await asyncio.sleep(60)
        found = read_events((tmp_path / "all").read_bytes())
        assert [each.number for each in found] == [8]
        assert "one" in (tmp_path / "all").read_text()
        writer.close()

    run_virtually(main())


def test_a_full_log_is_written_on_while_another_process_has_the_lock(tmp_path: Path) -> None:
    writer = make(tmp_path, "EVENT_LOG_MAX_SIZE = 100\n")
    writer.write(event("one"))
    with held(tmp_path / "EventLogLock"):
        writer.write(event("two"))
    assert told(tmp_path / "all") == ["one", "two"]
    writer.write(event("three"))
    writer.close()
    assert told(tmp_path / "all.old") == ["one", "two"]
    assert told(tmp_path / "all") == ["three"]


def test_headers_count_on_and_say_how_long_a_finished_log_became(tmp_path: Path) -> None:
    writer = make(tmp_path, "EVENT_LOG_MAX_SIZE = 100\nEVENT_LOG_MAX_ROTATIONS = 5\n")
    for word in ("one", "two", "three"):
        writer.write(event(word))
    writer.close()
    headers = {}
    for name in ("all", "all.1", "all.2"):
        header = GlobalHeader.parse(read_events((tmp_path / name).read_bytes())[0])
        assert header is not None
        headers[name] = header
    assert [headers[name].sequence for name in ("all.2", "all.1", "all")] == [1, 2, 3]
    first = os.stat(tmp_path / "all.2").st_size
    assert headers["all.2"].size == first
    assert headers["all.1"].offset == first
    assert headers["all"].offset == first + os.stat(tmp_path / "all.1").st_size
    assert headers["all"].max_rotation == 5


def test_a_second_writer_follows_a_rotation(tmp_path: Path) -> None:
    text = "EVENT_LOG_MAX_SIZE = 400\nEVENT_LOG_MAX_ROTATIONS = 9\n"
    one, two = make(tmp_path, text), make(tmp_path, text)
    for number in range(10):
        one.write(event(f"a{number}"))
        two.write(event(f"b{number}"))
    one.close()
    two.close()
    words = [word for path in sorted(tmp_path.glob("all*")) for word in told(path)]
    assert sorted(words) == sorted(f"{who}{n}" for who in "ab" for n in range(10))


def test_no_rotation_without_rotations(tmp_path: Path) -> None:
    writer = make(tmp_path, "EVENT_LOG_MAX_SIZE = 100\nEVENT_LOG_MAX_ROTATIONS = 0\n")
    for _ in range(5):
        writer.write(event())
    writer.close()
    assert len(told(tmp_path / "all")) == 5


def test_what_is_no_regular_file_is_left_alone_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "all")
    said: list[str] = []
    writer = make(tmp_path, said=said)
    writer.write(event())
    assert stat.S_ISFIFO(os.stat(tmp_path / "all").st_mode)
    assert any("no regular file" in each for each in said)
    os.unlink(tmp_path / "all")
    writer.write(event("later"))
    writer.close()
    assert told(tmp_path / "all") == ["later"]


def test_a_lock_that_cannot_be_made_is_told_of_and_loses_no_event(tmp_path: Path) -> None:
    said: list[str] = []
    writer = make(tmp_path, "EVENT_LOG_ROTATION_LOCK = /nonexistent/lock\n", said)
    writer.write(event("one"))
    writer.close()
    assert "one" in (tmp_path / "all").read_text()
    assert any("/nonexistent/lock" in each for each in said)


def test_a_full_disk_tears_no_event_and_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    room = [100_000]

    def write(descriptor: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = real(descriptor, data[: room[0]])
        room[0] -= taken
        return taken

    async def main() -> None:
        said: list[str] = []
        writer = make(tmp_path, said=said)
        writer.write(event("one"))
        before = (tmp_path / "all").read_bytes()
        room[0] = 10
        for word in ("two", "three"):
            writer.write(event(word))
        await asyncio.sleep(5000)
        assert (tmp_path / "all").read_bytes() == before
        assert len(said) == 1
        room[0] = 100_000
        await asyncio.sleep(2)
        assert told(tmp_path / "all") == ["one", "two", "three"]
        room[0] = 0
        writer.write(event("four"))
        writer.close()
        assert said[-1].endswith("1 events are left out")

    monkeypatch.setattr("kettle.runtime.storage.small_files.os.write", write)
    run_virtually(main())
