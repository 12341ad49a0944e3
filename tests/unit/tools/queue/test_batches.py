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
