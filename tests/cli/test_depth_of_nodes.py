"""Where the nodes of DAGs stand in `condor_q -dag -nobatch`, and how far to the right."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.tools.queue.batches import find_depth, job_id, sort_under_dags


def job(cluster: int, parent: int | None = None, proc: int = 0) -> ClassAd:
    ad = ClassAd({"ClusterId": cluster, "ProcId": proc})
    if parent is not None:
        ad["DAGManJobId"] = parent
    return ad


def test_a_node_is_as_deep_as_there_are_graphs_above_it() -> None:
    ads = [job(1), job(2, 1), job(3, 2), job(4, 99), job(5, 5), job(6, 7), job(7, 6)]
    shown = {(ad.integer("ClusterId") or 0, 0): ad for ad in ads}
    assert [find_depth(ad, shown) for ad in ads] == [0, 1, 2, 0, 0, 0, 0]


def test_later_jobs_of_nodes_keep_the_places_of_their_ids() -> None:
    """Recorded from condor_q -jobads of 25.14.1."""
    graph = [*(job(2, 1, proc) for proc in range(3)), job(3, 1), job(4, 3), job(4, 3, 1), job(5)]
    ids = [job_id(ad) for ad in sort_under_dags([job(1), *graph, job(6, 1, 2), job(6, 1, 3)])]
    nodes = [(1, 0), (2, 0), (3, 0), (4, 0), (6, 2)]
    assert ids == [*nodes, (2, 1), (2, 2), (4, 1), (5, 0), (6, 3)]
