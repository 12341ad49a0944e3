"""Variables of an environment that are secrets: nothing of them may reach an ad, a job or a log.

Who has the value of one may act as somebody: as the user of a scheduler-universe job, or as a
daemon of its family. A pure table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SECURITY_SESSION: Final = "CONDOR_SECURITY_SESSION"
"""The session by which a scheduler-universe job is known to its schedd, as the job's user."""

INHERIT: Final = "CONDOR_INHERIT"
"""Pid and address of the daemon that started this one."""

PRIVATE_INHERIT: Final = "CONDOR_PRIVATE_INHERIT"
"""The keys of the sessions with the daemon that started this one, and with its family."""

PARENT_PIPE: Final = "KETTLE_PARENT_PIPE"
"""The descriptor of the pipe that ends with the master; a name the reference's ignore."""

SECRET_VARIABLES: Final = frozenset({SECURITY_SESSION, INHERIT, PRIVATE_INHERIT, PARENT_PIPE})


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without these variables."""
    return {name: value for name, value in environment.items() if name not in SECRET_VARIABLES}
