"""Which attribute of a job may be set by whom, and to what.

Pure: a verdict on one attribute. The verdict may be a refusal with the errno the protocol answers,
silence (the schedd sets it itself, so the client's value is passed over), or the text to store.
Source: wire notes, Attribute protection rules (R069).
"""

from __future__ import annotations

import errno
import re

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd, is_expression
from kettle.classad.text import LONG_FORMULA, is_long_formula, quote_line, read_old_string
from kettle.errors import RefusedError
from kettle.policy.attribute_protection import GLOBAL_NAME, NOTES, Guard, guard_of
from kettle.records.queue_log import is_key
from kettle.schedd.queue.actors import Actor
from kettle.schedd.settings import QueueSettings
from kettle.wire.codec import is_private_attribute
from kettle.wire.security.identity import is_one_word

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Limit: one expression; a longer one is no expression anybody wrote.
LONGEST_TEXT = 1024 * 1024
LONGEST_NAME = 256
# Of a value that is refused.
_SHOWN = 1000

_UNDEFINED = "undefined"
_GROUP = "accountinggroup"
# The reserved ones are of no job: nothing could be done to it.
_STATUSES = frozenset(str(number) for number in range(JobStatus.IDLE, JobStatus.SUSPENDED + 1))
_NEW_STATUSES = frozenset((str(int(JobStatus.IDLE)), str(int(JobStatus.HELD))))


def check_shape(name: str, text: str, cluster: int = 0, proc: int = 0) -> None:
    """Raise RefusedError (EINVAL) for what can be no attribute of the queue, or of a job.

    Every road into the queue asks this: submitters, editors, digests and imports.

    Compat: the reference stores `undefined` for a text that does not parse, and says that all went
    well (test_a_text_that_does_not_parse_is_refused_at_the_commit); of an empty one it does not say
    what is wrong (test_an_edit_is_refused_in_the_reference_s_words).
    """
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        said = f"Got invalid attribute named {name[:LONGEST_NAME]}{_of(cluster, proc)}"
        raise RefusedError(said, code=errno.EINVAL)
    if is_broken(text):
        said = f"Received invalid attribute value '{text[:_SHOWN]}'{_of(cluster, proc)}; ignoring"
        raise RefusedError(said, code=errno.EINVAL)
    if not text:
        raise RefusedError(f"the value of {name} is not one expression", code=errno.EINVAL)
    if len(text) > LONGEST_TEXT:
        said = f"the value of {name} has {len(text):,} characters, {LONGEST_TEXT:,} are allowed"
        raise RefusedError(said, code=errno.EINVAL)
    if is_long_formula(text):
        said = f"the value of {name} {LONG_FORMULA}"
        raise RefusedError(said, code=errno.EINVAL)
    if not is_expression(text):
        raise RefusedError(f"the value of {name}, {text[:80]!r}, does not parse", code=errno.EINVAL)
    if name.lower() == _GROUP:
        _check_group(text)


def _of(cluster: int, proc: int) -> str:
    return f" for job {cluster}.{proc}" if cluster else ""


def is_broken(text: str) -> bool:
    """Whether a value has a line's end in it, which no line of the queue log can have."""
    return "\n" in text or "\r" in text


def decide_new(
    cluster: int, proc: int, name: str, text: str, actor: Actor, settings: QueueSettings
) -> str | None:
    """Return the text to store in an ad that is being submitted; None to pass the value over.

    Raises RefusedError where the submitter must not say that.
    """
    lower = name.lower()
    if lower in _IDENTITY:
        return _decide_identity(lower, text, actor, settings)
    if lower == "clusterid" and text != str(cluster):
        raise RefusedError(f"ClusterId of cluster {cluster} cannot be {text}", code=errno.EINVAL)
    if lower == "procid" and proc >= 0 and text != str(proc):
        raise RefusedError(f"ProcId of job {cluster}.{proc} cannot be {text}", code=errno.EINVAL)
    if lower == "jobstatus" and text not in _NEW_STATUSES:
        # A new job is idle or held, whoever submits it; of anything else clients are not told.
        return None
    if lower in settings.secure or lower in NOTES or lower == GLOBAL_NAME:
        # An ad that was copied from another queue may have such notes, and its name there; they
        # mean nothing here.
        return None
    if is_private_attribute(name) and not actor.super_user:
        raise RefusedError(f"{name} is private", code=errno.EACCES)
    return text


def decide_change(
    name: str,
    text: str,
    actor: Actor,
    settings: QueueSettings,
    *,
    protected_allowed: bool,
    job: str = "",
) -> str | None:
    """Return the text to store in a `job` that is already queued; None to pass the value over.

    That the actor may change this job at all was decided before. Raises RefusedError.
    """
    how = guard_of(name, settings)
    if how is Guard.IMMUTABLE:
        said = f"Attempt to edit immutable attribute {name} in job {job}"
        raise RefusedError(said, code=errno.EACCES)
    if how is Guard.SECURE:
        return None
    if how is Guard.PROTECTED and not protected_allowed:
        raise RefusedError(f"{name} is protected", code=errno.EACCES)
    if how is Guard.PRIVATE and not actor.super_user:
        raise RefusedError(f"{name} is private", code=errno.EACCES)
    if how is Guard.STATE and not actor.super_user:
        raise RefusedError(f"{name} is changed by actions, not by hand", code=errno.EACCES)
    if name.lower() == "jobstatus" and text not in _STATUSES:
        # Compat: the reference takes any number (test_no_job_gets_a_status_that_there_is_not).
        raise RefusedError(f"JobStatus cannot be {text[:_SHOWN]}", code=errno.EINVAL)
    return text


def decide_removal_in_new(name: str, settings: QueueSettings) -> str | None:
    """Return None to pass the removal of an attribute over, in an ad that is being submitted.

    Raises RefusedError for what says whose the job is.
    """
    lower = name.lower()
    if lower in _IDENTITY:
        raise RefusedError(f"{name} of a job cannot be removed", code=errno.EACCES)
    return None if lower in settings.secure or lower == GLOBAL_NAME else name


def _check_group(text: str) -> None:
    """Raise RefusedError for a group that nobody can keep accounts of.

    What depends on other attributes is not looked at: the negotiator passes over such a submitter.

    Compat: the reference's schedd takes any, and its negotiator passes it over. There the job is
    idle for ever, and nobody is told why (test_a_group_with_blanks_is_refused_on_every_road).
    """
    ad = ClassAd()
    ad.insert_text("AccountingGroup", text)
    group = ad.string("AccountingGroup")
    if group and not is_key(group):
        raise RefusedError(
            f"AccountingGroup {group[:80]!r} cannot be charged: its name has blanks",
            code=errno.EINVAL,
        )


_IDENTITY = frozenset(("owner", "user", "osuser"))


def _decide_identity(lower: str, text: str, actor: Actor, settings: QueueSettings) -> str | None:
    if lower == "osuser" or text.lower() == _UNDEFINED:
        wanted = actor.owner if lower == "owner" else ""
    else:
        read = read_old_string(text)
        if read is None:
            raise RefusedError(f"{lower} is to be a string, not {text[:80]}", code=errno.EACCES)
        wanted = read
    if wanted and not is_one_word(wanted):
        raise RefusedError(
            f"{lower} cannot be {wanted[:80]!r}: a name has no blanks", code=errno.EINVAL
        )
    allowed = {actor.owner, actor.user, ""}
    if wanted not in allowed and not actor.super_user:
        raise RefusedError(f"{actor.user} cannot submit jobs of {wanted}", code=errno.EACCES)
    if lower != "owner":
        # User and OsUser follow from Owner.
        return None
    owner = wanted.partition("@")[0]
    if owner == "root" and not settings.root_may_own:
        raise RefusedError("root cannot own jobs", code=errno.EACCES)
    return quote_line(owner)
