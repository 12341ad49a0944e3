"""Which attributes of a queued job nobody but the schedd may change, and why.

Pure: the lists of the configuration, and one table that every road into a job's ad asks: queue
management (`schedd/queue/attribute_rules.py`, where a super user is allowed more), what another
manager made of an exported job (`schedd/queue/imports.py`), a running job's own `set_job_attr`,
under a shadow or beside the schedd (`decide_by_job`), and what a shadow host reports of its jobs
(`may_report`). Source: wire notes, Attribute protection rules.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from kettle.classad import parse_expression, unparse
from kettle.errors import ClassAdSyntaxError, RefusedError
from kettle.policy.job_words import is_jobs_to_set, is_of_a_resource, is_of_a_run
from kettle.policy.lease import RUN_LEASE
from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.wire.codec import is_private_attribute


class Guard(Enum):
    """How an attribute of a queued job stands to a change."""

    FREE = "may be changed"
    IMMUTABLE = "is never changed"
    SECURE = "is the schedd's to say; another's value is passed over"
    PROTECTED = "is changed by those who asked for the right to"
    PRIVATE = "is a secret"
    STATE = "is what actions change"


class Protection(Protocol):
    """The configured lists, in lower case."""

    @property
    def immutable(self) -> frozenset[str]:
        """SYSTEM_IMMUTABLE_JOB_ATTRS and IMMUTABLE_JOB_ATTRS."""
        ...

    @property
    def protected(self) -> frozenset[str]:
        """SYSTEM_PROTECTED_JOB_ATTRS and PROTECTED_JOB_ATTRS."""
        ...

    @property
    def secure(self) -> frozenset[str]:
        """SYSTEM_SECURE_JOB_ATTRS and SECURE_JOB_ATTRS."""
        ...


@dataclass(frozen=True, slots=True)
class ProtectedNames:
    """The lists by themselves."""

    immutable: frozenset[str]
    protected: frozenset[str]
    secure: frozenset[str]


def read_protected_names(words: Callable[[str], Iterable[str]]) -> ProtectedNames:
    """Return the lists; `words` gives the words of a knob."""

    def names(kind: str) -> frozenset[str]:
        knobs = (f"SYSTEM_{kind}_JOB_ATTRS", f"{kind}_JOB_ATTRS")
        return frozenset(word.lower() for knob in knobs for word in words(knob))

    return ProtectedNames(names("IMMUTABLE"), names("PROTECTED"), names("SECURE"))


# By these a later schedd finds the process, of a job beside it, that a crash left running, and
# ends it: whoever could set them could have any process of the schedd's account killed.
JOB_PID = "KettleJobPid"
JOB_PID_BIRTH = "KettleJobPidBirth"
JOB_PARENT = "KettleJobParent"
# Until when a job whose runs fail waits, as long as this schedd lives; `kettle why` tells of it.
RESTS_UNTIL = "KettleRestsUntil"
# The log that an export began to write for this job, until it is known whether that came to be.
EXPORT_UNDER_WAY = "KettleExportUnderWay"
# What the access point notes in a job's ad for itself, in lower case.
NOTES = frozenset(
    name.lower()
    for name in (
        SCHEDD_EVENTS,
        SHADOW_EVENTS,
        JOB_PID,
        JOB_PID_BIRTH,
        JOB_PARENT,
        RESTS_UNTIL,
        EXPORT_UNDER_WAY,
        RUN_LEASE,
    )
)
# How far a cluster has come that makes its jobs later, in lower case: set back, it would make jobs
# once more that have run, or run. Compat: the reference lets their owner, and then jobs run twice
# (test_nobody_sets_back_how_far_a_cluster_has_come).
_COUNTED = frozenset(("jobmaterializenextprocid", "jobmaterializenextrow"))
# By what a job is known in the logs of all daemons, and to the startd that runs it. Compat: the
# reference lets the owner say another, that of somebody else's job, too
# (test_nobody_gives_a_job_another_global_name).
GLOBAL_NAME = "globaljobid"
# With it, what the job machine owns.
_STATE = NOTES | {"jobstatus", "lastjobstatus"}

# Limit: one expression that a job sets of its own ad.
MAX_EXPRESSION = 64 * 1024
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,255}")


def guard_of(name: str, lists: Protection) -> Guard:
    """Return how an attribute stands; the first of several reasons in the order of the table."""
    lower = name.lower()
    if lower in lists.immutable or lower in _COUNTED or lower == GLOBAL_NAME:
        return Guard.IMMUTABLE
    if lower in lists.secure:
        return Guard.SECURE
    if lower in lists.protected:
        return Guard.PROTECTED
    if is_private_attribute(name):
        return Guard.PRIVATE
    return Guard.STATE if lower in _STATE else Guard.FREE


def is_attribute_name(name: str) -> bool:
    """Tell whether a job's word can be the name of an attribute of its ad."""
    return _NAME.fullmatch(name) is not None


def may_set(name: str, lists: Protection) -> bool:
    """Tell whether a running job may set this attribute of its own ad (chirp set_job_attr).

    The names of its own invention, and of those that mean something the ones that `job_words`
    leaves to it.

    Compat: the reference refuses the configured lists only; there a machine says where its job's
    output is written next, or which program runs elsewhere (tests/unit/policy/test_job_words.py).
    """
    if not is_attribute_name(name) or not is_jobs_to_set(name.lower()):
        return False
    return guard_of(name, lists) is Guard.FREE


def may_report(name: str, lists: Protection) -> bool:
    """Tell whether a shadow host may change this attribute of a job that it runs.

    What belongs to a run, which is a table; of all else what the job itself may set. The host has
    its user's rights only, so the user may be at its other end: what is immutable or secure stays.
    """
    lower = name.lower()
    if not is_attribute_name(name) or not (is_of_a_run(lower) or is_of_a_resource(lower)):
        return may_set(name, lists)
    guard = guard_of(name, lists)
    if guard in {Guard.PROTECTED, Guard.PRIVATE}:
        # Against users; a shadow writes down how its run went.
        return is_of_a_run(lower)
    return guard in {Guard.FREE, Guard.STATE}


def decide_by_job(name: str, text: str, lists: Protection) -> str:
    """Return what is stored when a running job sets an attribute of its own ad to `text`.

    Raises RefusedError: EACCES for what it may not set or for too long a text, EINVAL for what is
    no expression.
    """
    if not may_set(name, lists) or len(text) > MAX_EXPRESSION:
        raise RefusedError(f"a job may not set {name[:80]!r}", code=errno.EACCES)
    try:
        return unparse(parse_expression(text, old=True), old=True)
    except ClassAdSyntaxError as error:
        raise RefusedError(f"the value of {name}: {error}", code=errno.EINVAL) from error


def may_set_delayed(name: str, patterns: str) -> bool:
    """Tell whether a delayed chirp update may set an attribute, by its name.

    `patterns` is CHIRP_DELAYED_UPDATE_PREFIX: names, or beginnings of names with a star, in any
    case. The starter asks it of the job's request, and the shadow of the starter's report.
    """
    lowered = name.lower()
    return any(
        lowered.startswith(pattern[:-1]) if pattern.endswith("*") else lowered == pattern
        for pattern in patterns.lower().replace(",", " ").split()
    )
