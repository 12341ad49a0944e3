"""Tables of jobs where they are not the reference's."""

from __future__ import annotations

from collections.abc import Sequence

from kettle.classad import ClassAd
from kettle.tools.printing.masks import Mask
from kettle.tools.queue.tables import Layout, hold_code_table, idle_table


def rows(mask: Mask, ads: Sequence[ClassAd]) -> list[list[str]]:
    mask.measure(ads)
    return [mask.render(ad).split() for ad in ads]


def test_a_job_that_is_held_for_no_known_reason_counts_once() -> None:
    job = {"ClusterId": 1, "ProcId": 0, "Owner": "al", "JobStatus": 5, "HoldReason": "r"}
    mask, shown = hold_code_table([ClassAd(job), ClassAd({**job, "ProcId": 1})])
    assert rows(mask, shown) == [
        ["al", "?", "1", "1.0", "[?????????]", "r"],
        ["al", "?", "1", "1.1", "[?????????]", "r"],
    ]


def test_a_large_number_is_shown_as_it_is() -> None:
    job = {"ClusterId": 1, "ProcId": 0, "Owner": "al", "JobUniverse": 5, "RequestMemory": 1 << 31}
    [row] = rows(idle_table(Layout()), [ClassAd(job)])
    assert row == ["1.0", "al", "Vanilla", "2147483648", "0", "undefined"]
