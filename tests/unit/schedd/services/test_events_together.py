"""What the jobs of a cluster have in common in their events is what each of them says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.records.event_kinds import SubmitEvent
from kettle.runtime.storage.event_logs import LOG_NAMES, EventLogs
from kettle.schedd.notices import NOTE_NAMES, NOTED_NAMES, add_notes
from kettle.schedd.queue.clusters_alike import Common

LOGS = EventLogs(Config.from_text(""))
COMMON = {"Iwd": '"/home"', "UserLog": '"log"', "Owner": '"ann"', "SubmitEventNotes": '"hello"'}


def cluster(texts: dict[str, str], owns: list[dict[str, str]]) -> list[ClassAd]:
    ad = ClassAd()
    for name, text in {**COMMON, **texts}.items():
        ad.insert_text(name, text)
    jobs = []
    for proc, own in enumerate(owns):
        job = ClassAd({"ProcId": proc}, parent=ad)
        for name, text in own.items():
            job.insert_text(name, text)
        jobs.append(job)
    return jobs


def notes_of(ad: ClassAd) -> SubmitEvent:
    return add_notes(SubmitEvent(host="<here>"), ad)


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"UserLog": 'strcat("log.", ProcId)'},
        {"JobBatchName": 'strcat("batch.", ProcId)'},
        {"SubmitEventNotesAttrs": '"ProcId Owner"'},
        {"SubmitEventNotesAttrs": '"JobBatchName"', "JobBatchName": '"b"'},
        {"UserLogUseXML": "ProcId == 1", "DAGManNodesLog": '"nodes"'},
    ],
)
@pytest.mark.parametrize(
    "own",
    [
        {},
        {"UserLog": '"/own/log"', "SubmitEventUserNotes": '"mine"'},
        {"SubmitEventNotesAttrs": '"Owner"'},
        {"Iwd": '"/elsewhere"', "DAGNodeName": '"A"'},
    ],
)
def test_a_job_s_events_say_what_its_own_ad_says(
    texts: dict[str, str], own: dict[str, str]
) -> None:
    jobs = cluster(texts, [{}, own, {}]) + cluster({"UserLog": '"other"'}, [{}, own])
    logs = Common(LOG_NAMES, LOGS.logs_of)
    notes = Common(NOTE_NAMES, notes_of, NOTED_NAMES)
    for job in jobs:
        assert logs.of(job) == LOGS.logs_of(job)
        assert notes.of(job) == notes_of(job)


def test_what_jobs_have_in_common_is_made_once() -> None:
    made = []

    def make(ad: ClassAd) -> int:
        made.append(ad)
        return len(made)

    logs = Common(LOG_NAMES, make)
    assert [logs.of(job) for job in cluster({}, [{}] * 5)] == [1] * 5


class Asked(dict[str, object]):
    """The attributes of an ad, and which were asked for."""

    def __init__(self, table: dict[str, object]) -> None:
        super().__init__(table)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> object:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        self.names.add(name)
        return super().get(name, default)


def asked_of(make: Callable[[ClassAd], object], **texts: str) -> set[str]:
    """Return the attributes that are looked at."""
    (ad,) = (job.parent for job in cluster(texts, [{}]))
    assert ad is not None
    table = Asked(dict(ad.table))
    ad.table = table  # type: ignore[assignment]
    make(ad)
    return table.names


def test_the_names_that_are_compared_are_those_that_are_looked_at() -> None:
    assert asked_of(LOGS.logs_of) == LOG_NAMES
    assert asked_of(notes_of) == NOTE_NAMES | {NOTED_NAMES}
    assert asked_of(notes_of, SubmitEventNotesAttrs='"Own"') > NOTE_NAMES | {NOTED_NAMES}


def test_an_event_that_many_jobs_share_is_rendered_for_each_before_the_next() -> None:
    event = SubmitEvent(host="<here>")
    written = []
    for proc, job in enumerate(cluster({}, [{}, {}])):
        event.cluster, event.proc, event.time = 1, proc, 0.0
        written += LOGS.prepare(job, event)
    event.proc = 7
    assert [b"(001.000.000)" in written[0][1], b"(001.001.000)" in written[1][1]] == [True, True]
