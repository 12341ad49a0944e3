"""Checkpoints at a URL that nobody wants any more: what is to be deleted waits in the spool.

Only a manifest says what lies at the URL. One that is not needed is moved, out of the job's folder,
to `SPOOL/checkpoint-cleanup/OWNER/`, where the job's ad is put beside it; `condor_manifest` deletes
what it lists and then the manifest itself. Whatever fails stays there, and `condor_preen` tries
again. Everything below OWNER is the owner's, and is done with the owner's rights. What cannot be
moved there stays in the spool, where the schedd gives the job's folder another name.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.named_tuples import NamedTuple
from kettle.octets import AS_IS
from kettle.runtime.process.inheritance import without_inheritance
from kettle.runtime.storage.small_files import AT_EASE, read_regular
from kettle.transfer.checkpoints import JOB_AD, places_of, was_checkpoint
from kettle.transfer.plan import check_name
from kettle.transfer.spool_names import own_name
from kettle.wire.codec import is_private_attribute

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.process.privileges import Account, Privileges

FOLDER = "checkpoint-cleanup"
"""Where the manifests are, in the spool."""
# Manifests that are moved before others have their turn.
_AT_ONCE = 50
# Limit: jobs of one number whose checkpoints wait, and the ad that is beside them.
_MOST_ALIKE = 100
_LONGEST_AD = 64 << 20
# What tells a job from others of its number, in lower case.
_GLOBAL_NAME = "globaljobid"


class Unwanted(NamedTuple):
    """Checkpoints of a job that are to be deleted: their place, and where their manifests are."""

    place: str
    folder: str


def set_aside(
    privileges: Privileges,
    account: Account,
    spool: str,
    folder: str,
    job: ClassAd,
    keep: Collection[int] = (),
) -> Generator[None, None, str | None]:
    """Move the manifests in a job's `folder` but those to keep, some at a step.

    Returns the folder where what is to be deleted waits, also from before, or None. OSError or
    RefusedError if they cannot be moved. The rights are the process's: no step keeps the owner's.
    """
    # Guests of two domains may have one name, and are two.
    owner = job.string("User" if account.lent else "Owner") or ""
    check_name(owner, code=13)
    if "/" in owner:
        raise RefusedError(f"{owner!r} is no name of an owner")
    target = os.path.join(spool, FOLDER, owner, own_name(os.path.basename(folder)))
    with privileges.as_account(account):
        target = _folder_of(target, job)
        moving = [name for name in _names(folder) if was_checkpoint(name) not in {None, *keep}]
        if not moving:
            return target if os.path.isdir(target) else None
    _make_owners_folder(privileges, account, spool, owner)
    with privileges.as_account(account):
        _prepare(target, job)
    for start in range(0, len(moving), _AT_ONCE):
        yield
        with privileges.as_account(account):
            for name in moving[start : start + _AT_ONCE]:
                _move(folder, target, name, job)
    return target


def _folder_of(target: str, job: ClassAd) -> str:
    """Return where a job's unwanted checkpoints wait: `target`, unless another's wait there.

    A job of an older queue may have had its number. RefusedError where too many had.
    """
    name = job.text(_GLOBAL_NAME)
    for number in range(_MOST_ALIKE):
        folder = f"{target}.{number}" if number else target
        if _global_name(folder) in {None, name}:
            return folder
    raise RefusedError(f"checkpoints of {_MOST_ALIKE} other jobs wait in {target} and its like")


def _global_name(folder: str) -> str | None:
    """Return whose checkpoints wait in a folder; None if nobody can say."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | AT_EASE
        data = read_regular(os.open(os.path.join(folder, JOB_AD), flags), _LONGEST_AD)
    except OSError:
        return None
    for line in data.decode("utf-8", AS_IS).split("\n"):
        name, _, text = line.partition(" = ")
        if name.lower() == _GLOBAL_NAME:
            return text
    return None


def _prepare(target: str, job: ClassAd) -> None:
    """Make the folder of a job's unwanted checkpoints; a manifest is not without the ad in it."""
    os.makedirs(target, mode=0o700, exist_ok=True)
    _write_ad(target, job)


def _move(folder: str, target: str, name: str, job: ClassAd) -> None:
    path = os.path.join(folder, name)
    try:
        os.rename(path, os.path.join(target, name))
    except FileNotFoundError:
        # A deletion that found no more there may have removed the folder meanwhile.
        _prepare(target, job)
        os.rename(path, os.path.join(target, name))


def unwanted(job: ClassAd, folder: str | None) -> Unwanted | None:
    """Return what is to be deleted of a job's checkpoints; None without any, or without a place."""
    destination = job.string("CheckpointDestination")
    if not destination or folder is None:
        return None
    return Unwanted(places_of(destination, job.string("GlobalJobId") or ""), folder)


def deletion_command(batch: Iterable[Unwanted]) -> list[str]:
    """Return the command that deletes checkpoints of jobs, all by one process.

    Of a job that has no manifest in its folder it removes the folder.
    """
    program = [sys.executable, "-P", "-m", "kettle.tools.jobs.condor_manifest"]
    return [*program, "deleteFilesListedIn", *(word for each in batch for word in each)]


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
        with privileges.as_root():
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, 0o755)
            if privileges.can_switch and uid != 0:
                _give(path, uid, gid)


def _give(path: str, uid: int, gid: int) -> None:
    """Give somebody a folder that root has just made, or made and was killed before it gave it."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(folder).st_uid == 0 and not os.listdir(folder):
            os.fchown(folder, uid, gid)
    finally:
        os.close(folder)


def _write_ad(target: str, job: ClassAd) -> None:
    """Put a job's ad, without its secrets, into the folder, for whoever deletes later.

    The owner may have put anything there: it is written anew beside the folder, and takes the
    place of what is there.
    """
    lines = [line for line in job.lines() if not is_private_attribute(line.partition(" ")[0])]
    aside = f"{target}{JOB_AD}.{os.getpid()}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(aside)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | AT_EASE
    try:
        with open(os.open(aside, flags, 0o644), "w", encoding="utf-8", errors=AS_IS) as file:
            file.write("\n".join([*lines, ""]))
        os.rename(aside, os.path.join(target, JOB_AD))
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
