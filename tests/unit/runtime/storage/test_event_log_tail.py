"""What a log said last of a job is found at its end, whatever other jobs say around it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.records.event_base import Event
from kettle.records.event_cluster import ClusterSubmitEvent
from kettle.records.event_ends import JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_forms import render
from kettle.records.event_heads import heads_of, heads_of_cluster, read_head
from kettle.records.event_kinds import ExecuteEvent, JobAbortedEvent, JobHeldEvent, SubmitEvent
from kettle.records.event_log import DEFAULT_STYLE, Format, Style
from kettle.runtime.storage import event_log_tail
from kettle.runtime.storage.event_log_tail import (
    LogTails,
    last_event,
    read_tail,
    requeues_told,
    starts_told,
    submission_told,
    submissions_told,
    tells_of,
    tells_of_start,
)


def tail_of(style: Style, *events: Event) -> bytes:
    return b"".join(render(event, style) for event in events)


STYLES = pytest.mark.parametrize("style", [Style(form) for form in Format], ids=list(Format))


def write(path: Path, *events: Event, style: Style = DEFAULT_STYLE) -> Path:
    path.write_bytes(b"".join(render(event, style) for event in events))
    return path


@STYLES
def test_the_last_event_of_a_job_is_found_among_others(tmp_path: Path, style: Style) -> None:
    path = write(
        tmp_path / "log",
        ExecuteEvent(cluster=7, proc=1),
        JobTerminatedEvent(cluster=7, proc=1, normal=True, return_value=3),
        ExecuteEvent(cluster=7, proc=11),
        ExecuteEvent(cluster=17, proc=1),
        style=style,
    )
    found = last_event(read_tail(str(path)), 7, 1)
    assert isinstance(found, JobTerminatedEvent)
    assert found.return_value == 3
    assert isinstance(last_event(read_tail(str(path)), 17, 1), ExecuteEvent)
    assert last_event(read_tail(str(path)), 1, 1) is None


@STYLES
def test_what_is_torn_or_not_there_says_nothing(tmp_path: Path, style: Style) -> None:
    path = write(tmp_path / "log", JobAbortedEvent(cluster=7, proc=1, reason="r"), style=style)
    path.write_bytes(path.read_bytes()[:-2])
    assert last_event(read_tail(str(path)), 7, 1) is None
    assert last_event(read_tail(str(tmp_path / "none")), 7, 1) is None
    assert last_event(read_tail(str(tmp_path)), 7, 1) is None


def test_only_the_end_of_a_long_log_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(
        tmp_path / "log", ExecuteEvent(cluster=7, proc=1), *[ExecuteEvent(cluster=8, proc=0)] * 50
    )
    monkeypatch.setattr(event_log_tail, "TAIL_BYTES", 1000)
    assert last_event(read_tail(str(path)), 7, 1) is None
    assert isinstance(last_event(read_tail(str(path)), 8, 0), ExecuteEvent)


@STYLES
def test_the_start_of_a_run_is_told_until_the_run_ends(tmp_path: Path, style: Style) -> None:
    begun, gone = ExecuteEvent(cluster=7, proc=1), JobEvictedEvent(cluster=7, proc=1)
    assert not tells_of_start(tail_of(style), 7, 1)
    assert tells_of_start(tail_of(style, begun), 7, 1)
    assert not tells_of_start(tail_of(style, begun, gone), 7, 1)
    assert tells_of_start(tail_of(style, gone, begun), 7, 1)


@STYLES
def test_starts_are_counted_from_the_submission_on(tmp_path: Path, style: Style) -> None:
    begun, gone = ExecuteEvent(cluster=7, proc=1), JobEvictedEvent(cluster=7, proc=1)
    other, submitted = ExecuteEvent(cluster=7, proc=11), SubmitEvent(cluster=7, proc=1)
    assert starts_told(read_tail(str(tmp_path / "none")), 7, 1) == 0
    assert starts_told(tail_of(style, begun, gone, other, begun), 7, 1) == 2
    # A log may have had a job of this number before, of another queue.
    assert (
        starts_told(
            tail_of(style, begun, submitted, begun, gone),
            7,
            1,
        )
        == 1
    )


@STYLES
def test_a_log_tells_which_jobs_of_a_late_cluster_it_has(tmp_path: Path, style: Style) -> None:
    path = write(
        tmp_path / "log",
        SubmitEvent(cluster=7, proc=0),
        ClusterSubmitEvent(cluster=7, proc=-1),
        SubmitEvent(cluster=7, proc=1),
        SubmitEvent(cluster=17, proc=2),
        SubmitEvent(cluster=7, proc=12),
        style=style,
    )
    # What came before the cluster was of another one of its number.
    assert submissions_told(read_tail(str(path)), 7) == {1, 12}
    assert submissions_told(read_tail(str(path)), 17) == {2}
    assert submissions_told(read_tail(str(path)), 1) == set()


@STYLES
def test_an_end_is_told_behind_its_start_alone(style: Style) -> None:
    """Two runs within a second may end with the same bytes."""
    begun = render(ExecuteEvent(cluster=7, proc=1, time=9.0, host="<1.2.3.4:5>"), style)
    ended = render(
        JobEvictedEvent(cluster=7, proc=1, time=9.5, normal=True, requeued=True, return_value=1),
        style,
    )
    other = render(ExecuteEvent(cluster=7, proc=11, time=9.0), style)
    assert tells_of(begun + ended, ended)
    assert tells_of(begun + ended + other, ended)
    assert not tells_of(begun + ended + begun, ended)
    assert tells_of(begun + ended + begun, begun)
    assert requeues_told(begun + ended + other + begun + ended, 7, 1) == 2
    found = last_event(begun + ended + other, 7, 1)
    assert isinstance(found, JobEvictedEvent)
    assert (found.requeued, found.return_value) == (True, 1)


@pytest.mark.parametrize("form", [Format.XML, Format.JSON])
def test_a_log_that_was_torn_or_had_another_form_before_is_read_on(form: Format) -> None:
    style = Style(form)
    torn = render(ExecuteEvent(cluster=7, proc=1), style)[:60] + b"\n"
    text = render(JobTerminatedEvent(cluster=7, proc=1, normal=True), DEFAULT_STYLE)
    whole = render(SubmitEvent(cluster=7, proc=1), style)
    assert isinstance(last_event(torn + text + whole, 7, 1), SubmitEvent)
    assert isinstance(last_event(whole + text, 7, 1), JobTerminatedEvent)
    inside = b'  "Cluster": 7,\n  "Proc": 1,\n  "EventTypeNumber": 5,\n'
    assert isinstance(last_event(whole + inside, 7, 1), SubmitEvent)


@STYLES
def test_a_log_is_read_once_for_all_its_jobs(
    tmp_path: Path, style: Style, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each job that is taken over looks two or three times, and writes itself."""
    path = tmp_path / "log"
    jobs = range(20)
    write(path, *[ExecuteEvent(cluster=7, proc=proc) for proc in jobs], style=style)
    looked = 0
    bytes_of = event_log_tail.EventIndex.append

    def append(index: event_log_tail.EventIndex, data: bytes) -> None:
        nonlocal looked
        looked += len(data)
        bytes_of(index, data)

    monkeypatch.setattr(event_log_tail.EventIndex, "append", append)

    async def take_over() -> None:
        tails = LogTails()
        for proc in jobs:
            said = tails.excerpt(str(path), 7, proc)
            assert starts_told(said, 7, proc) == 1
            with path.open("ab") as file:
                end = render(JobTerminatedEvent(cluster=7, proc=proc, normal=True), style)
                file.write(end[:30])
                file.flush()
                assert last_event(tails.excerpt(str(path), 7, 99), 7, 99) is None
                file.write(end[30:])
            assert isinstance(
                last_event(tails.excerpt(str(path), 7, proc), 7, proc), JobTerminatedEvent
            )
        assert looked == path.stat().st_size
        # Another log of its name is another log.
        path.unlink()
        write(path, *[JobAbortedEvent(cluster=7, proc=1, reason="r")] * 200, style=style)
        assert isinstance(last_event(tails.excerpt(str(path), 7, 1), 7, 1), JobAbortedEvent)
        assert tails.excerpt(str(tmp_path), 7, 1) == b""

    asyncio.run(take_over())


@STYLES
def test_what_a_log_says_of_a_job_is_what_all_of_it_says(style: Style) -> None:
    log = tail_of(
        style,
        *[ExecuteEvent(cluster=cluster, proc=proc) for cluster in (7, 17) for proc in (1, 11)],
        ClusterSubmitEvent(cluster=7, proc=-1),
        JobEvictedEvent(cluster=7, proc=1, normal=True, requeued=True, return_value=1),
        ExecuteEvent(cluster=7, proc=1),
        JobAbortedEvent(cluster=7, proc=11, reason="r"),
    )
    text = render(JobTerminatedEvent(cluster=7, proc=1, normal=True), DEFAULT_STYLE)
    for whole in (log, text + log, log[40:], log + text[:-3] + log, text + log[:-9] + text):
        for cluster, proc in ((7, 1), (7, 11), (17, 1), (7, -1), (7, 2)):
            said = event_log_tail.EventIndex(whole).excerpt(cluster, proc)
            assert last_event(said, cluster, proc) == last_event(whole, cluster, proc)
            for told in (starts_told, requeues_told, tells_of_start):
                assert told(said, cluster, proc) == told(whole, cluster, proc)


@pytest.mark.parametrize("digits", ["9" * 5000, "0" * 5000 + "7"])
def test_numbers_of_endless_digits_are_no_job_s(digits: str) -> None:
    """Their user can have written them, and every reader after him would fail."""
    event = "000 (%s.%s.000) 2024-01-01 00:00:00 Job submitted\n...\n"
    odd = event % (7, digits) + event % (digits, 1)
    log = (odd + event % ("007", "002")).encode()
    assert {proc for proc, _ in heads_of_cluster(log, 7)} == {2}
    assert [head.number for head in heads_of(log, 7, 2)] == [b"000"]
    assert heads_of(log, 7, 3) == []
    for line in odd.splitlines():
        read_head(line.encode())
    assert tells_of(log, (event % (digits, digits)).encode()) is False


class Searched(bytes):
    """A log that counts how much of it was searched for the ends of events."""

    searched = 0

    def find(self, wanted: bytes, begin: int = 0, *_: int) -> int:  # type: ignore[override]
        found = bytes.find(self, wanted, begin)
        self.searched += (found if found >= 0 else len(self)) - begin
        return found


@pytest.mark.parametrize("line", [b"001 (001.000.000) x\n", b"001 (001.000.000) x\n...\n"])
def test_a_log_is_looked_through_once_however_many_events_do_not_end(line: bytes) -> None:
    """Its user can have written it, and a schedd that starts reads it before it serves."""
    log = Searched(line * 2000)
    assert len(heads_of(log, 1, 0)) == 2000
    assert log.searched <= 2 * len(log)


def test_what_a_log_has_not_finished_is_short() -> None:
    """It is read for every job that the log may tell of."""
    ended = render(JobAbortedEvent(cluster=7, proc=1, reason="r"), DEFAULT_STYLE)
    index = event_log_tail.EventIndex(ended + b"001 (007.002.000) x\n" * 50_000)
    assert isinstance(last_event(index.excerpt(7, 1)[: len(ended)], 7, 1), JobAbortedEvent)
    assert len(index.excerpt(7, 3)) <= 1 << 16
    index.append(b"001 (007.002.000) x\n...\n")
    assert index.excerpt(7, 3) == b""
    assert heads_of(index.excerpt(7, 2), 7, 2)[-1].number == b"001"


@pytest.mark.parametrize(
    "event",
    [
        b"001 (007.%d.000) x\n...\n",
        b'{\n  "Cluster": 7,\n  "Proc": %d,\n  "EventTypeNumber": 1\n}\n',
    ],
)
def test_of_very_many_events_the_last_ones_are_known(event: bytes) -> None:
    count = 70_000
    log = b"".join(event % proc for proc in range(count))
    index = event_log_tail.EventIndex(log)
    assert index.excerpt(7, 0) == b""
    assert index.excerpt(7, count - 1) == event % (count - 1)
    assert [head.number for head in heads_of(log, 7, count - 1)] == [b"001"]
    assert index.cost < 20 << 20


def test_a_log_of_many_names_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / "log", ExecuteEvent(cluster=7, proc=1))

    async def take_over() -> None:
        tails = LogTails()
        for number in range(5):
            (tmp_path / f"name{number}").symlink_to("log")
            assert starts_told(tails.excerpt(str(tmp_path / f"name{number}"), 7, 1), 7, 1) == 1
        assert len(tails._known) == 1

    asyncio.run(take_over())


def test_an_end_that_was_torn_does_not_say_what_the_next_event_says() -> None:
    """Nor is what follows it searched for each of many torn ones."""
    torn = b"004 (007.001.000) x\n"
    ended = b"004 (007.001.000) x\n\t(0) Job terminated and was requeued\n...\n"
    assert requeues_told(torn * 3 + ended, 7, 1) == 1
    assert requeues_told(ended * 3 + torn, 7, 1) == 3
    assert requeues_told(torn, 7, 1) == 0


@STYLES
@pytest.mark.parametrize(
    ("events", "told", "told_of_removed"),
    [
        ([], False, False),
        ([SubmitEvent], True, True),
        ([SubmitEvent, JobHeldEvent], True, True),
        ([SubmitEvent, JobAbortedEvent], False, True),
        ([SubmitEvent, ExecuteEvent, JobTerminatedEvent], False, False),
        ([SubmitEvent, ExecuteEvent, JobTerminatedEvent, SubmitEvent], True, True),
    ],
)
def test_a_log_tells_the_submission_of_a_job_unless_that_was_an_earlier_one_of_its_number(
    style: Style, events: list[type[Event]], *, told: bool, told_of_removed: bool
) -> None:
    tail = tail_of(style, SubmitEvent(cluster=7, proc=11), *(e(cluster=7, proc=1) for e in events))
    assert submission_told(tail, 7, 1) is told
    assert submission_told(tail, 7, 1, removed=True) is told_of_removed
