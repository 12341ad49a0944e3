"""The table of what a job's log may tell: HTCondor's own logs do, and each wrong order is found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from kettle.records.event_base import Event
from kettle.records.event_cluster import FileTransferEvent
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_log import EVENTS
from kettle.testing.event_order import find_disorder

_RECORDED = Path(__file__).parents[2] / "data" / "event_logs"
_LOGS = sorted(path for path in _RECORDED.rglob("*") if path.suffix in (".log", ".xml"))
# What stands for the stages of a transfer of input and of output in a story.
_INPUT, _OUTPUT = 402, 405


def make(story: str | Iterable[int], *, proc: int = 0) -> list[Event]:
    """Return events of these numbers, a second apart."""
    numbers = [int(word) for word in story.split()] if isinstance(story, str) else story
    events: list[Event] = []
    for number in numbers:
        if number in (_INPUT, _OUTPUT):
            events.append(FileTransferEvent(kind=number % 100))
        else:
            events.append(EVENTS[number]())
        events[-1].proc, events[-1].time = proc, 100.0 + len(events)
    return events


@pytest.mark.parametrize("path", _LOGS, ids=lambda path: path.name)
def test_what_htcondor_wrote_is_in_order(path: Path) -> None:
    jobs: dict[tuple[int, int], list[Event]] = {}
    for event in AnyFormReader(year=2026).feed(path.read_bytes()):
        jobs.setdefault((event.cluster, event.proc), []).append(event)
    assert jobs
    beside = path.parent.name == "beside"
    assert {find_disorder(job, beside=beside) for job in jobs.values()} == {""}


@pytest.mark.parametrize(
    "story",
    [
        pytest.param("0 1 6 5", id="a run"),
        pytest.param("0 402 402 1 6 405 405 4 402 402 1 405 405 5", id="with files, evicted once"),
        pytest.param("0 4 1 5", id="evicted before its program began"),
        pytest.param("0 1 4 4 1 5", id="evicted twice, once before its program began"),
        pytest.param("0 13 1 5", id="submitted on hold"),
        pytest.param("0 12 12 13 1 5", id="held by a policy, then by its user"),
        pytest.param("0 1 13 4 1 5", id="released before its run had left"),
        pytest.param("0 1 12 13 1 5", id="held by its policy"),
        pytest.param("0 1 10 11 10 4 1 5", id="suspended"),
        pytest.param("0 1 22 22 23 22 24 4 1 5", id="lost, found, lost and given up"),
        pytest.param("0 1 22 24 22 24 4 1 5", id="its shadow died between 024 and 004"),
        pytest.param("0 22 23 22 24 1 5", id="lost and given up before its program began"),
        pytest.param("0 1 22 9", id="removed while it was lost"),
        pytest.param("0 46 5", id="its output was there"),
        pytest.param("0 28 1 28 33 7 28 12 28 9 28", id="with what goes with any event"),
    ],
)
def test_these_lives_there_are(story: str) -> None:
    assert find_disorder(make(story)) == ""


@pytest.mark.parametrize(
    ("story", "found"),
    [
        ("1 0 5", "001 follows nothing"),
        ("0 0 1 5", "000 follows 000"),
        ("0 5", "005 follows 000"),
        ("0 5 1", "005 follows 000"),
        ("0 402 5", "005 follows 040"),
        ("0 3 1 5", "003 follows 000"),
        ("0 6 1 5", "006 follows 000"),
        ("0 405 1 5", "040 follows 000"),
        ("0 1 402 5", "040 follows 001"),
        ("0 1 1 5", "001 follows 001"),
        ("0 1 4 5", "005 follows 004"),
        ("0 10 1 5", "010 follows 000"),
        ("0 1 11 5", "011 follows 001"),
        ("0 1 23 5", "023 follows 001"),
        ("0 1 24 4 1 5", "024 follows 001"),
        ("0 1 22 6 23 5", "006 follows 022"),
        ("0 1 22 5", "005 follows 022"),
        ("0 1 22 1 5", "001 follows 022"),
        ("0 1 22 23 24 4 1 5", "024 follows 023"),
        ("0 1 22 24 1 5", "001 follows 024"),
        ("0 1 22 24 23 5", "023 follows 024"),
        ("0 12 1 5", "001 follows 012"),
        ("0 13 12 1 5", "001 follows 012"),
        ("0 12 4 13 1 5", "004 follows 012"),
        ("0 12 22 13 1 5", "022 follows 012"),
        ("0 1 5 12", "012 follows 005"),
        ("0 1 5 5", "005 follows 005"),
        ("0 1 5 9", "009 follows 005"),
        ("0 9 33", "033 follows 009"),
        ("0 9 1 5", "001 follows 009"),
        ("33 0 9", "033 follows nothing"),
        ("0 46 1 5", "001 follows 046"),
    ],
)
def test_what_cannot_follow_is_found(story: str, found: str) -> None:
    assert find_disorder(make(story)).partition(",")[0] == found


def test_what_is_found_says_where_the_job_was() -> None:
    assert find_disorder(make("0 12 1 5")) == "001 follows 012, when it is on hold"


def test_a_job_beside_its_schedd_may_start_again_without_a_word() -> None:
    assert find_disorder(make("0 1 1 5"), beside=True) == ""
    assert find_disorder(make("0 12 1 5"), beside=True)


def test_only_a_job_that_stayed_in_the_queue_is_removed_after_its_end_and_only_once() -> None:
    assert find_disorder(make("0 1 5 9"), removed_after_end=True) == ""
    assert find_disorder(make("0 1 5 9 9"), removed_after_end=True)


def test_a_time_that_goes_back_is_found_unless_the_clock_did() -> None:
    events = make("0 1 5")
    events[1].time = 50.0
    assert find_disorder(events) == "001 is 51.000 seconds older than 000"
    assert find_disorder(events, clock_set_back=True) == ""


@pytest.mark.parametrize("story", ["35 36", "35 37 37 38 36", "35 38 36"])
def test_a_cluster_has_an_order_of_its_own(story: str) -> None:
    assert find_disorder(make(story, proc=-1)) == ""


@pytest.mark.parametrize("story", ["36 35", "38 35", "35 36 37", "35 1 36"])
def test_what_cannot_follow_in_a_cluster_s_own_events_is_found(story: str) -> None:
    assert find_disorder(make(story, proc=-1))
