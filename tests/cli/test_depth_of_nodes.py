"""How far the nodes of DAGs stand to the right in `condor_q -dag -nobatch`."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.tools.queue.batches import find_depth


def job(cluster: int, parent: int | None = None) -> ClassAd:
    ad = ClassAd({"ClusterId": cluster, "ProcId": 0})
    if parent is not None:
        ad["DAGManJobId"] = parent
    return ad


def test_a_node_is_as_deep_as_there_are_graphs_above_it() -> None:
    ads = [job(1), job(2, 1), job(3, 2), job(4, 99), job(5, 5), job(6, 7), job(7, 6)]
    shown = {(ad.integer("ClusterId") or 0, 0): ad for ad in ads}
    assert [find_depth(ad, shown) for ad in ads] == [0, 1, 2, 0, 0, 0, 0]
