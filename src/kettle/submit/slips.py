"""Slips of the pen in what a job asks of machines: names of attributes that are nearly right.

Part of the check of a description (`check.py`). Sites give their machines attributes of their own,
so that a name is told of only where it is much like one that every machine or job has.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from kettle.attributes.job import Job
from kettle.attributes.machine import Machine
from kettle.errors import ConfigError
from kettle.nearest import Nearest
from kettle.submit.job import asked_names

if TYPE_CHECKING:
    from kettle.submit.build import Submission

# How alike two names are of which one is a slip: Memry and Memory, not HasFoo and HasVM.
_LIKE = 0.82
# Limit: names of one expression that are looked at.
_MOST_NAMES = 200
_COMMANDS = ("requirements", "rank")
# What machines and jobs of HTCondor have that Kettle's need not.
_OTHERS = (
    *("CUDACapability", "CurrentTime", "HasDockerURL", "HasSandboxImage", "HasSIF", "IsWakeable"),
    *("Microarch", "NumJobs"),
)


def find_slips(submission: Submission) -> Iterator[tuple[str, str, str]]:
    """Yield the command, the name that nobody has, and the nearest one that somebody has."""
    made_up = {name.lower() for name in submission.cluster.names()}
    known = _known()[0] | made_up | {name.removeprefix("request") for name in made_up}
    for command in _COMMANDS:
        variable = submission.macros.variable_of(command)
        if variable is None:
            continue
        try:
            names = asked_names(submission.macros.expand(variable.text))
        except ConfigError:
            continue
        for asked in sorted(names)[:_MOST_NAMES]:
            scope, _, name = asked.rpartition(".")
            if scope.lower() not in ("", "target") or name.lower() in known:
                continue
            nearest = _known()[1].of(name)
            if nearest:
                yield variable.name, name, nearest


@cache
def _known() -> tuple[frozenset[str], Nearest]:
    words = {name for table in (Machine, Job) for name in vars(table) if name[:1].isupper()}
    words.update(_OTHERS)
    machine = [name for name in vars(Machine) if name[:1].isupper()]
    return frozenset(map(str.lower, words)), Nearest(machine, cutoff=_LIKE)
