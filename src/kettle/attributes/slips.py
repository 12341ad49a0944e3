"""Names that are nearly those of machines' and jobs' attributes: slips of the pen in expressions.

Sites give their machines and jobs attributes of their own, so that a name is told of only where it
is much like one that every machine, or every job, has.
"""

from __future__ import annotations

from functools import cache

from kettle.attributes.job import Job
from kettle.attributes.machine import Machine
from kettle.nearest import Nearest

# How alike two names are of which one is a slip: Memry and Memory, not HasFoo and HasVM.
_LIKE = 0.82
# What machines and jobs of HTCondor have that Kettle's need not.
_OTHERS = (
    *("CUDACapability", "CurrentTime", "HasDockerURL", "HasSandboxImage", "HasSIF", "IsWakeable"),
    *("Microarch", "NumJobs"),
)


@cache
def known_names() -> frozenset[str]:
    """Return, in lower case, what machines and jobs are known to have."""
    return frozenset(name.lower() for name in (*_names(Machine), *_names(Job), *_OTHERS))


def nearest_of_machines(name: str) -> str:
    """Return the attribute of machines that a name is a slip for, empty for none."""
    return "" if name.lower() in known_names() else _nearest(Machine).of(name)


def nearest_of_jobs(name: str) -> str:
    """Return the attribute of jobs that a name is a slip for, empty for none."""
    return "" if name.lower() in known_names() else _nearest(Job).of(name)


def _names(table: type) -> list[str]:
    return [name for name in vars(table) if name[:1].isupper()]


@cache
def _nearest(table: type) -> Nearest:
    return Nearest(_names(table), cutoff=_LIKE)
