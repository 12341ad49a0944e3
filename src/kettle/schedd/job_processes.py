"""Which process on this machine is a job's that runs beside the schedd, and what its kin carry.

Noted in the job's ad, so that a later schedd, or a pool that is taken down after its daemons were
killed, ends what an earlier schedd began and nothing that took its number since. Pure: who is
looked for and ended is the callers'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kettle.classad import ClassAd
from kettle.classad.text import read_count
from kettle.named_tuples import NamedTuple
from kettle.policy.ancestors import ancestor_mark
from kettle.policy.attribute_protection import JOB_PARENT, JOB_PID, JOB_PID_BIRTH
from kettle.records.queue_log import replay
from kettle.schedd.job_machine import Attributes
from kettle.schedd.queue.job_ids import JobId

_NAMES = (JOB_PID, JOB_PID_BIRTH, JOB_PARENT)
# How a line of the queue's log begins that sets an attribute, and what it has where it is ours.
_SETTING = b"103 "
_OURS = b" KettleJob"


class JobProcess(NamedTuple):
    """A process: its number, when it began in the kernel's ticks, and the schedd that began it.

    `parent` is 0 where an earlier version did not note it.
    """

    pid: int
    birth: int
    parent: int

    def note(self) -> Attributes:
        """Return what says so in the job's ad."""
        return dict(zip(_NAMES, map(str, self), strict=True))

    def marks(self, job: JobId | str) -> list[str]:
        """Return what the environment has of everything that it began, in either universe."""
        if not self.parent:
            return []
        return [ancestor_mark(self.parent, self.pid), job_mark(job, self.parent)]


# What a job's ad says when the process is gone.
NO_PROCESS: Mapping[str, str] = dict.fromkeys(_NAMES, "undefined")


def noted_process(ad: ClassAd) -> JobProcess | None:
    """Return the process that a job beside the schedd had when its ad was last written."""
    process = JobProcess(*(ad.integer(name) or 0 for name in _NAMES))
    return process if process.pid and process.birth else None


def read_noted(queue_log: Iterable[bytes]) -> dict[str, JobProcess]:
    """Return the processes that the lines of a queue's log note, by their jobs' `cluster.proc`.

    Raises StorageError for a log that lost something (`replay`).
    """
    table = _Noted()
    replay(filter(_matters, queue_log), table)
    noted = {
        job: JobProcess(*(read_count(text) or 0 for text in each))
        for job, each in table.texts.items()
    }
    return {job: process for job, process in noted.items() if process.pid and process.birth}


def _matters(line: bytes) -> bool:
    """Whether a line may change what is noted: most of a long queue's log does not."""
    return not line.startswith(_SETTING) or _OURS in line


class _Noted:
    """A queue's log as far as it tells of processes."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Know nothing yet."""

    def destroy_ad(self, key: str) -> None:
        """Forget a job."""
        self.texts.pop(key, None)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Remember one of the three."""
        if name in _NAMES:
            self.texts.setdefault(key, [""] * len(_NAMES))[_NAMES.index(name)] = text

    def delete_attribute(self, key: str, name: str) -> None:
        """Forget one."""
        self.set_attribute(key, name, "")


def program_mark(schedd: int) -> str:
    """Return what the environment of each scheduler-universe job of a schedd has."""
    return ancestor_mark(schedd, schedd)


def job_mark(job: JobId | str, schedd: int) -> str:
    """Return what everything that a scheduler-universe job starts has in its environment.

    Limit: what leaves its family and throws this away ends with its job only where no older job of
    its account runs in this universe; else with the last that it could be of.
    """
    return f"{program_mark(schedd)}{job}:"
