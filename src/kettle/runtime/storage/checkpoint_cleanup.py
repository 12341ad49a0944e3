"""Checkpoints at a URL that nobody wants any more: what is to be deleted waits in the spool.

Only a manifest says what lies at the URL. One that is not needed is moved, out of the job's folder,
to `SPOOL/checkpoint-cleanup/OWNER/`, where the job's ad is put beside it; `condor_manifest` deletes
what it lists and then the manifest itself. Whatever fails stays there, and `condor_preen` tries
again. Everything below OWNER is the owner's, and is done with the owner's rights.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.octets import AS_IS
from kettle.runtime.process.inheritance import without_inheritance
from kettle.transfer.checkpoints import JOB_AD, MANIFEST_STEM, places_of, was_checkpoint
from kettle.transfer.plan import check_name
from kettle.wire.codec import is_private_attribute

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.process.privileges import Account, Privileges

FOLDER = "checkpoint-cleanup"
"""Where the manifests are, in the spool."""


class Waiting(NamedTuple):
    """Checkpoints of a job that are to be deleted: where their manifests are, and which."""

    folder: str
    first: int
    last: int


def set_aside(
    privileges: Privileges,
    account: Account,
    spool: str,
    folder: str,
    job: ClassAd,
    keep: Collection[int] = (),
) -> Waiting | None:
    """Move the manifests in a job's `folder` but those to keep; return what is to be deleted.

    None if nothing is, also from before. OSError or RefusedError if they cannot be moved.
    """
    owner = job.string("Owner") or ""
    check_name(owner, code=13)
    if "/" in owner:
        raise RefusedError(f"{owner!r} is no name of an owner")
    target = os.path.join(spool, FOLDER, owner, os.path.basename(folder))
    with privileges.as_account(account):
        moving = [name for name in _names(folder) if was_checkpoint(name) not in {None, *keep}]
        if not moving:
            return look_at(target) if os.path.isdir(target) else None
    _make_owners_folder(privileges, account, spool, owner)
    with privileges.as_account(account):
        os.makedirs(target, mode=0o700, exist_ok=True)
        for name in moving:
            os.rename(os.path.join(folder, name), os.path.join(target, name))
        _write_ad(os.path.join(target, JOB_AD), job)
        return look_at(target)


def look_at(folder: str) -> Waiting:
    """Return which checkpoints are to be deleted whose manifests are in a folder."""
    numbers = [number for name in _names(folder) if (number := was_checkpoint(name)) is not None]
    return Waiting(folder, min(numbers, default=0), max(numbers, default=-1))


def deletion_command(job: ClassAd, waiting: Waiting | None) -> list[str] | None:
    """Return the command that deletes checkpoints of a job; None without any, or without a place.

    With no manifest in the folder it removes the folder.
    """
    destination = job.string("CheckpointDestination")
    if not destination or waiting is None:
        return None
    place = places_of(destination, job.string("GlobalJobId") or "")
    stem = os.path.join(waiting.folder, MANIFEST_STEM)
    program = [sys.executable, "-P", "-m", "kettle.tools.jobs.condor_manifest"]
    numbers = [str(waiting.first), str(waiting.last)]
    return [*program, "deleteFilesStoredAt", place, stem, *numbers]


def deletion_environment(environment: Mapping[str, str], home: str) -> dict[str, str]:
    """Return what that command and its plug-ins have of a daemon's environment."""
    return {**without_inheritance(environment), "HOME": home}


async def delete(runtime: Runtime, account: Account, command: Sequence[str], limit: float) -> int:
    """Run such a command as the owner, and kill it after `limit` seconds; return its status.

    OSError if it cannot be started.
    """
    environment = deletion_environment(os.environ, account.home)
    with runtime.privileges.as_account(account):
        child = runtime.processes.spawn(
            command, environment=environment, cwd="/", new_session=True, name="condor_manifest"
        )
    try:
        async with asyncio.timeout(limit):
            return await child.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError), runtime.privileges.as_root():
            os.killpg(child.pid, signal.SIGKILL)
        return await child.wait()


def _make_owners_folder(privileges: Privileges, account: Account, spool: str, owner: str) -> None:
    """Make the folder of an owner; the one of all owners is whose the spool is."""
    above = os.path.join(spool, FOLDER)
    facts = os.stat(spool)
    for path, uid, gid in (
        (above, facts.st_uid, facts.st_gid),
        (os.path.join(above, owner), account.uid, account.gid),
    ):
        with privileges.as_root(), contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o755)
            if privileges.can_switch:
                os.chown(path, uid, gid)


def _write_ad(path: str, job: ClassAd) -> None:
    """Write a job's ad, without its secrets, for whoever deletes later."""
    lines = [line for line in job.lines() if not is_private_attribute(line.partition(" ")[0])]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o644), "w", encoding="utf-8", errors=AS_IS) as file:
        file.write("\n".join([*lines, ""]))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
