"""`SubmitResult`: what came of a submission."""

from __future__ import annotations

from typing import Any

from kettle.compat.classad2 import ClassAd


class SpooledJobs:
    """The ads of jobs whose input has still to be sent."""

    def __init__(self) -> None:
        self.ads: list[Any] = []


class SubmitResult:
    """The cluster and its jobs, as they were put into the queue."""

    def __init__(
        self,
        clusterID: int,  # noqa: N803 - the wheel's names
        procID: int,  # noqa: N803
        num_procs: int,
        clusterAd: ClassAd,  # noqa: N803
        spooled_proc_ads: SpooledJobs | None,
    ) -> None:
        self._cluster = clusterID
        self._first_proc = procID
        self._num_procs = num_procs
        self._clusterad = clusterAd
        self.spooled = spooled_proc_ads

    def cluster(self) -> int:
        """Return the cluster's number."""
        return self._cluster

    def clusterad(self) -> ClassAd:
        """Return what the jobs have in common."""
        return self._clusterad

    def first_proc(self) -> int:
        """Return the number of the first job in the cluster."""
        return self._first_proc

    def num_procs(self) -> int:
        """Return how many jobs there are."""
        return self._num_procs

    def __str__(self) -> str:
        return (
            f"Submitted {self._num_procs} jobs into cluster {self._cluster},{self._first_proc} :\n"
            f"{self._clusterad}"
        )

    def __repr__(self) -> str:
        return (
            f"SubmitResult(cluster={self._cluster}, first_proc={self._first_proc}, "
            f"num_procs={self._num_procs}, clusterad={self._clusterad})"
        )

    def __int__(self) -> int:
        return self._cluster
