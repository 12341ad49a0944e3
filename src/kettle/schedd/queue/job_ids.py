"""Names of jobs: cluster and proc, the keys of the queue log, and lists of ids in requests.

A cluster's own ad stands under proc -1, what nobody may read of it under proc -2, a set of jobs
under proc -100. Source: wire notes, on-disk formats (R065).
"""

from __future__ import annotations

from kettle.errors import RemoteProtocolError
from kettle.named_tuples import NamedTuple
from kettle.transfer.spool_names import folder_name

CLUSTER_PROC = -1
PRIVATE_PROC = -2
JOBSET_PROC = -100

# The key of the one ad that is no job: NextClusterNum and UidDomain.
HEADER_KEY = "0.0"

# Limit: ids in one request; a longer list is better said as a constraint.
MOST_IDS = 1_000_000


class JobId(NamedTuple):
    """A job's name for life; never given again."""

    cluster: int
    proc: int

    def __str__(self) -> str:
        return f"{self.cluster}.{self.proc}"


def spool_folder(job: JobId) -> str:
    """Return the name of a job's own folder below a spool."""
    return folder_name(job.cluster, job.proc)


def key_of(cluster: int, proc: int) -> str:
    """Return the key of an ad in the queue log; a cluster's sorts before its jobs'."""
    return f"0{cluster}.-1" if proc == CLUSTER_PROC else f"{cluster}.{proc}"


def parse_key(key: str) -> tuple[int, int] | None:
    """Return cluster and proc of a key; None if it is not made of two numbers."""
    cluster, _, proc = key.partition(".")
    try:
        return int(cluster), int(proc)
    except ValueError:
        return None


def parse_ids(text: str) -> list[tuple[int, int | None]]:
    """Return the jobs and clusters a request names, as `c.p, c.p, c`; proc None is all of them.

    Raises RemoteProtocolError for anything else.
    """
    ids: list[tuple[int, int | None]] = []
    for word in text.replace(",", " ").split():
        cluster, dot, proc = word.partition(".")
        try:
            ids.append((int(cluster), int(proc) if dot else None))
        except ValueError:
            raise RemoteProtocolError(f"{word[:40]!r} is not a job id") from None
        if len(ids) > MOST_IDS:
            raise RemoteProtocolError(f"more than {MOST_IDS} job ids in one request")
    return ids
