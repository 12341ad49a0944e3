"""What the jobs of a cluster have in common in their events is what each of them says."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.records.event_kinds import SubmitEvent
from kettle.runtime.storage.event_logs import LOG_NAMES, EventLogs
from kettle.schedd.notices import NOTE_NAMES, NOTED_NAMES, add_notes
from kettle.schedd.services.events import Common

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
