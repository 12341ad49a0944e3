"""What the last event of a cluster says, and which numbers of a job an event's ad has.

Source: observed of 25.14.1's JobEventLog.
"""

from __future__ import annotations

import pytest

from kettle.records.event_cluster import ClusterRemoveEvent
from kettle.records.event_forms import event_ad, event_from_ad
from kettle.records.event_kinds import GenericEvent
from kettle.records.event_log import parse_event


@pytest.mark.parametrize(
    ("word", "completion"),
    [
        ("Complete", 1), ("Paused", 2), ("Incomplete", 0), ("Error -4", -4),
        ("Error 4", -1), ("Error", -1), ("Nonsense", 0), ("", 0),
    ],
)  # fmt: skip
def test_how_the_making_of_jobs_ended(word: str, completion: int) -> None:
    text = (
        "036 (006.-01.-01) 2023-06-05 10:00:01 Cluster removed\n"
        f"\tMaterialized 3 jobs from 4 items.\t{word}\n\tA note\n"
    )
    event = parse_event(text)
    assert isinstance(event, ClusterRemoveEvent)
    assert (event.jobs, event.items, event.completion, event.notes) == (3, 4, completion, "A note")


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        ((6, -1, -1), ["Cluster"]),
        ((6, 0, -1), ["Cluster", "Proc"]),
        ((6, -1, 0), ["Cluster", "Subproc"]),
        ((-1, -1, -1), []),
        ((0, 0, 0), ["Cluster", "Proc", "Subproc"]),
    ],
)
def test_a_number_below_zero_stands_for_none(ids: tuple[int, int, int], names: list[str]) -> None:
    cluster, proc, subproc = ids
    ad = event_ad(GenericEvent(cluster=cluster, proc=proc, subproc=subproc, info="x"))
    assert [name for name in ("Cluster", "Proc", "Subproc") if name in ad] == names
    again = event_from_ad(ad)
    assert again is not None
    assert (again.cluster, again.proc, again.subproc) == ids
