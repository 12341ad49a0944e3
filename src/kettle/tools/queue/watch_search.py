"""Which logs `condor_watch_q` follows: those that options name, and those of jobs at a schedd."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from kettle.errors import KettleError
from kettle.runtime.account_names import login_name
from kettle.tools.queue.watch_jobs import Found

if TYPE_CHECKING:
    from kettle.classad import ClassAd

_ATTRIBUTES = (
    "ClusterId",
    "Owner",
    "UserLog",
    "DAGManNodesLog",
    "JobBatchName",
    "Iwd",
    "DAG_NodesTotal",
    "OtherJobRemoveRequirements",
    "TotalSubmitProcs",
)


@dataclass(frozen=True)
class Wanted:
    """The jobs that options name."""

    users: Sequence[str] = ()
    clusters: Sequence[int] | None = None
    least: int | None = None
    files: Sequence[str] | None = None
    batches: Sequence[str] = ()
    pool: str = ""
    schedd: str = ""

    def constraint(self) -> str:
        """Return the condition on jobs: one's own where nothing is named; empty for logs alone."""
        from kettle.classad.text import equals

        users = self.users
        if not users and self.clusters is None and self.files is None and not self.batches:
            users = [login_name()]
        tests = [equals("Owner", user) for user in users]
        tests += [f"ClusterId == {cluster}" for cluster in self.clusters or ()]
        tests += [equals("JobBatchName", name) for name in self.batches]
        return " || ".join(tests)


Ask = Callable[[], "Sequence[ClassAd]"]


def asker(wanted: Wanted, environment: Mapping[str, str], complaints: TextIO) -> Ask:
    """Return what asks the schedd for the jobs; its failure is a warning and no jobs."""
    constraint = wanted.constraint()

    def ask() -> Sequence[ClassAd]:
        if not constraint:
            return []
        from kettle.client.jobs import query_jobs
        from kettle.tools.reach import Reach

        try:
            reach = Reach(environment, pool=wanted.pool, name=wanted.schedd)
            schedd = reach.schedd().address
            return list(
                query_jobs(reach.connector, schedd, constraint=constraint, projection=_ATTRIBUTES)
            )
        except KettleError as error:
            complaints.write(
                "WARNING: Was not able to query to discover job event logs due to: "
                f"{str(error).strip()}\n"
            )
            return []

    return ask


def find_logs(wanted: Wanted, ads: Sequence[ClassAd], complaints: TextIO) -> Found:
    """Return the logs of the files and jobs that are wanted."""
    found = Found(least=wanted.least, named=wanted.clusters is not None)
    for file in wanted.files or ():
        found.logs[os.path.abspath(file)] = False
    silent = set()
    for ad in ads:
        cluster = ad.integer("ClusterId") or 0
        if not _take_job(found, cluster, ad) and cluster not in silent:
            silent.add(cluster)
            complaints.write(
                f"WARNING: Cluster {cluster} does not have a job event log file "
                "(set log=<path> in the submit description)\n"
            )
    clusters = {ad.integer("ClusterId") or 0 for ad in ads} if wanted.batches else set()
    if wanted.clusters is not None or clusters:
        found.clusters = frozenset(clusters.union(wanted.clusters or ()))
    count_nodes(found, ads)
    return found


def _take_job(found: Found, cluster: int, ad: ClassAd) -> bool:
    """Note what a job's ad says; tell whether it names a log."""
    found.batches[cluster] = ad.string("JobBatchName")
    size = ad.integer("TotalSubmitProcs")
    if size is not None:
        found.sizes[cluster] = size
    log = ad.string("DAGManNodesLog")
    if log is not None:
        found.dag_batches[log] = found.batches[cluster]
    log = log or ad.string("UserLog")
    if log is None:
        return False
    if not os.path.isabs(log):
        log = os.path.abspath(os.path.join(ad.string("Iwd") or "", log))
    found.logs[log] = False
    if ad.lookup("OtherJobRemoveRequirements") is not None:
        found.dagmans.add(cluster)
        found.logs.setdefault(log.replace(".dagman.log", ".nodes.log"), True)
    return True


def count_nodes(found: Found, ads: Sequence[ClassAd]) -> None:
    """Note how many nodes the DAGs have whose DAGMan knows it by now."""
    for ad in ads:
        batch, nodes = ad.string("JobBatchName"), ad.integer("DAG_NodesTotal")
        if batch is not None and nodes:
            found.nodes[batch] = nodes
            found.counted.add(ad.integer("ClusterId") or 0)
