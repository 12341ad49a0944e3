"""Slips of the pen in what a job asks of machines: names of attributes that are nearly right.

Part of the check of a description (`check.py`); which names are slips is `attributes/slips.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.attributes.slips import nearest_of_machines
from kettle.errors import ConfigError
from kettle.submit.literals import asked_names

if TYPE_CHECKING:
    from kettle.submit.build import Submission

# Limit: names of one expression that are looked at.
_MOST_NAMES = 200
_COMMANDS = ("requirements", "rank")


def find_slips(submission: Submission) -> Iterator[tuple[str, str, str]]:
    """Yield the command, the name that nobody has, and the nearest one that somebody has."""
    made_up = {name.lower() for name in submission.cluster.names()}
    own = made_up | {name.removeprefix("request") for name in made_up}
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
            if scope.lower() not in ("", "target") or name.lower() in own:
                continue
            nearest = nearest_of_machines(name)
            if nearest:
                yield variable.name, name, nearest
