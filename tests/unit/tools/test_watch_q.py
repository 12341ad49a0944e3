"""condor_watch_q: what it follows, and how what it is told about DAGs is shown."""

from __future__ import annotations

import io
from pathlib import Path

from kettle.classad import ClassAd
from kettle.tools.programs import Streams
from kettle.tools.queue import condor_watch_q
from kettle.tools.queue.watch_jobs import Found, Tracker, group_clusters
from kettle.tools.queue.watch_search import Wanted, find_logs
from kettle.tools.queue.watch_table import View, render

SUBMITTED = "000 (7.000.000) 2026-01-02 03:04:05 Job submitted from host: <127.0.0.1:9>\n...\n"


def watched(*words: str) -> tuple[int, str, str]:
    out, complaint = io.StringIO(), io.StringIO()
    where = Streams(io.StringIO(), out, complaint)
    code = condor_watch_q.main(["condor_watch_q", *words], {}, where)
    return code, out.getvalue(), complaint.getvalue()


def test_a_log_that_is_not_there_is_named_and_not_waited_for(tmp_path: Path) -> None:
    code, out, complaint = watched("-files", f"{tmp_path}/nosuch")
    assert complaint == (
        f"WARNING: Could not open event log at {tmp_path}/nosuch for reading, so it will be "
        "ignored. Reason: File path does not exist\nWARNING: No jobs found, exiting...\n"
    )
    assert (code, out) == (0, "")


def test_the_other_logs_are_followed_when_one_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(SUBMITTED)
    logs = [f"{tmp_path}/nosuch", f"{tmp_path}/log"]
    code, out, complaint = watched("-files", *logs, "-exit", "any,idle,3")
    assert code == 3
    assert "1 idle" in out
    assert complaint.count("WARNING") == 1


def ad(cluster: int, **attributes: object) -> ClassAd:
    return ClassAd({"ClusterId": cluster, "Iwd": "/home", "TotalSubmitProcs": 2, **attributes})


def found_in(*ads: ClassAd, **wanted: object) -> tuple[Found, str]:
    complaints = io.StringIO()
    return find_logs(Wanted(**wanted), ads, complaints), complaints.getvalue()  # type: ignore[arg-type]


def test_logs_are_looked_for_where_jobs_write_them() -> None:
    ads = ad(7, UserLog="log"), ad(8, UserLog="/var/log"), ad(9), ad(9)
    found, complaints = found_in(*ads, files=["/first"])
    assert list(found.logs) == ["/first", "/home/log", "/var/log"]
    assert complaints == (
        "WARNING: Cluster 9 does not have a job event log file "
        "(set log=<path> in the submit description)\n"
    )
    assert (found.sizes[7], found.clusters) == (2, None)


def test_clusters_and_batches_bound_what_counts_and_users_do_not() -> None:
    one = ad(7, UserLog="log", JobBatchName="it")
    assert found_in(one, users=["ann"])[0].clusters is None
    assert found_in(one, clusters=[7, 8])[0].clusters == {7, 8}
    assert found_in(one, batches=["it"])[0].clusters == {7}
    assert found_in(one, batches=["it"], clusters=[3])[0].clusters == {3, 7}
    assert found_in(batches=["it"])[0].clusters is None


def test_what_is_asked_of_the_schedd_is_what_the_options_name() -> None:
    assert Wanted(users=["ann"], clusters=[7], batches=["a b"]).constraint() == (
        'Owner == "ann" || ClusterId == 7 || JobBatchName == "a b"'
    )
    assert Wanted(files=["log"]).constraint() == ""
    # Later clusters are of one's own jobs.
    assert Wanted(least=7).constraint().startswith("Owner == ")


def test_nodes_are_of_the_batch_of_their_dag_and_dagman_has_no_row(tmp_path: Path) -> None:
    dag = ad(
        5,
        Iwd=str(tmp_path),
        UserLog="my.dagman.log",
        DAGManNodesLog=f"{tmp_path}/my.nodes.log",
        JobBatchName="my.dag+5",
        OtherJobRemoveRequirements="DAGManJobId == 5",
        DAG_NodesTotal=4,
        TotalSubmitProcs=1,
    )
    found, complaints = found_in(dag)
    tracker = Tracker(found, out := io.StringIO(), decays_from_reading=False)
    # The log of the nodes was not there: it is named, as the reference does.
    assert complaints == ""
    assert out.getvalue().count("WARNING: Could not open event log") == 1
    (tmp_path / "my.nodes.log").write_text(SUBMITTED)
    tracker = Tracker(found, io.StringIO(), decays_from_reading=False)
    assert tracker.update(0.0) == []
    groups = group_clusters(tracker.clusters, "batch", found)
    table = render(groups, found.nodes, View(row_progress=False), (80, 24), 0.0, "now")
    assert table.splitlines()[1].split() == ["my.dag+5", "1", "-", "-", "4", "7.0"]
    assert group_clusters(tracker.clusters, "cluster", found).keys() == {"7"}
    found.dag_batches.clear()
    found.dagmans.add(7)
    assert group_clusters(tracker.clusters, "batch", found) == {}
    found.named = True
    assert group_clusters(tracker.clusters, "batch", found).keys() == {"ID: 7"}


def test_a_log_of_nodes_may_come_later(tmp_path: Path) -> None:
    late = tmp_path / "my.nodes.log"
    found = Found(logs={str(late): True})
    tracker = Tracker(found, out := io.StringIO(), decays_from_reading=False)
    tracker.update(0.0)
    assert (tracker.clusters, tracker.has_logs) == ({}, True)
    late.write_text(SUBMITTED)
    tracker.update(0.0)
    tracker.update(0.0)
    assert (list(tracker.clusters), out.getvalue()) == ([7], "")


def test_a_cluster_has_as_many_jobs_as_the_schedd_says(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(SUBMITTED)
    found, _ = found_in(ad(7, UserLog=str(tmp_path / "log"), JobBatchName="it"))
    tracker = Tracker(found, io.StringIO(), decays_from_reading=False)
    tracker.update(0.0)
    groups = group_clusters(tracker.clusters, "batch", found)
    shown = render(groups, {}, View(), (80, 24), 0.0, "now")
    assert shown.splitlines()[1].split()[:6] == ["it", "1", "-", "-", "2", "7.0"]
