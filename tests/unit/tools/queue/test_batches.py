"""The rows of condor_q: which jobs share one."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.tools.queue.batches import find_batches


def job(cluster: int, proc: int, owner: str, batch: str | None = None) -> ClassAd:
    ad = ClassAd({"ClusterId": cluster, "ProcId": proc, "Owner": owner, "JobStatus": 1})
    if batch is not None:
        ad["JobBatchName"] = batch
    return ad


def rows(*ads: ClassAd) -> list[tuple[str, str, int]]:
    return [(batch.owner, batch.name, batch.present) for batch in find_batches(ads)]


def test_a_cluster_is_one_row_named_after_its_first_job() -> None:
    ads = [job(1, 0, "ann", "x"), job(1, 1, "bob", "x"), job(1, 2, "cid")]
    assert rows(*ads) == [("ann", "x", 3)]


def test_clusters_share_a_row_if_name_and_owner_are_the_same() -> None:
    ads = [job(1, 0, "ann", "x"), job(2, 0, "ann", "x"), job(3, 0, "bob", "x"), job(4, 0, "bob")]
    assert rows(*ads) == [("ann", "x", 2), ("bob", "x", 1), ("bob", "ID: 4", 1)]


def test_what_stands_for_a_batch_is_no_part_of_its_ids() -> None:
    # As condor_q -jobads of 25.14.1 shows them: 0.0 where no other job is there.
    graphs = [job(1, 0, "ann"), job(1, 1, "ann"), job(9, 0, "ann", "x"), job(9, 1, "ann", "x")]
    for ad in graphs:
        ad["JobUniverse"] = 7
    nodes = [job(3, 0, "bob"), job(11, 2, "cid")]
    for ad in nodes:
        ad["DAGManJobId"] = 1
    found = find_batches([*graphs, *nodes])
    assert [(batch.name, batch.ids, batch.idle) for batch in found] == [
        ("DAG: 1", "3.0 ... 11.2", 3),
        ("x", "0.0", 1),
    ]


def test_a_job_that_names_itself_or_a_circle_is_in_one_row() -> None:
    ads = [job(2, 0, "ann"), job(3, 0, "bob"), job(4, 0, "cid"), job(5, 0, "ann")]
    for ad, above in zip(ads, (2, 4, 3, 4), strict=True):
        ad["DAGManJobId"] = above
    assert rows(*ads) == [("ann", "ID: 2", 1), ("bob", "ID: 3", 3)]


def test_nodes_of_several_graphs_in_one_cluster_are_in_the_rows_of_theirs() -> None:
    graphs = [job(1, 0, "ann"), job(2, 0, "ann")]
    for ad in graphs:
        ad["JobUniverse"] = 7

    def shown(*above: int) -> list[tuple[str, str]]:
        nodes = [job(3, number, "ann") for number in range(len(above))]
        for ad, dag in zip(nodes, above, strict=True):
            if dag:
                ad["DAGManJobId"] = dag
        return [(batch.name, batch.ids) for batch in find_batches([*graphs, *nodes])]

    # As condor_q -jobads of 25.14.1 shows them.
    assert shown(2, 1) == [("DAG: 1", "3.1"), ("DAG: 2", "3.0")]
    assert shown(0, 2, 1) == [("DAG: 1", "3.2"), ("DAG: 2", "3.1"), ("ID: 3", "3.0")]
    assert shown(9, 1) == [("DAG: 1", "3.1"), ("DAG: 2", "0.0"), ("ID: 3", "3.0")]
    assert shown(1, 0, 9) == [("DAG: 1", "3.0-2"), ("DAG: 2", "0.0")]
    # It dies of the first of these, and has 3.2 of the second in the row of 3.1.
    assert shown(1, 2) == [("DAG: 1", "3.0"), ("DAG: 2", "3.1")]
    assert shown(0, 1, 0) == [("DAG: 1", "3.1"), ("DAG: 2", "0.0"), ("ID: 3", "3.0-2")]
