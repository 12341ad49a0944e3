"""As whom the daemons of a pool that root starts work, and what of its folder is theirs.

The rule is `runtime.privileges`': CONDOR_IDS, else the account `condor`, else root. A personal pool
that names no ids is written ROOT_IDS (`making.py`), so only a pool of the machine looks for
`condor`. Here is what making a pool must know: whether its account can reach Python at all, and
giving it the folders that the daemons write to. Keys and tokens stay root's: the daemons read them
with root's rights.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable

import kettle
from kettle.errors import NotFoundError, StorageError, UsageError
from kettle.runtime.process.privileges import Account, Privileges, find_account, first_closed

CONDOR = "condor"
MAKE_CONDOR = (
    "useradd --system --user-group --no-create-home --home-dir /var/lib/condor "
    "--shell /usr/sbin/nologin condor"
)
# As whom the daemons of root's own pool work: root, said so that nobody is looked for.
ROOT_IDS = "0.0"


def daemon_account(condor_ids: str | None) -> Account:
    """Return as whom daemons work that this process starts; KettleError for bad CONDOR_IDS."""
    return Privileges.find(condor_ids).daemon


def system_account(condor_ids: str | None) -> Account:
    """Return the account of the machine's pool; UsageError says how to make it."""
    if os.getuid() != 0:
        raise UsageError(
            "only root can start the pool of the whole machine",
            hint="sudo kettle up --system; without --system the pool is yours alone",
        )
    if not condor_ids:
        try:
            find_account(CONDOR)
        except NotFoundError:
            raise UsageError(
                "the pool of the whole machine runs as the account condor, and there is none",
                hint=MAKE_CONDOR,
            ) from None
    account = daemon_account(condor_ids)
    if account.uid == 0:
        raise UsageError(
            "the pool of the whole machine does not run as root", hint="change CONDOR_IDS"
        )
    closed = closed_to_python(account)
    if closed is not None:
        raise UsageError(
            f"{closed} is closed to the account {account.name}, and Python and Kettle are in there",
            hint="install Kettle where everybody can read, such as /opt/kettle",
        )
    return account


def closed_to_python(account: Account) -> str | None:
    """Return a folder on the way to Python or to this package that is closed to an account."""
    places = (sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(kettle.__file__)))
    return next(filter(None, (first_closed(account, place) for place in places)), None)


def give_folders(account: Account, folders: Iterable[str]) -> None:
    """Make an account the owner of folders, and of what is in them of their owner's so far.

    What belongs to somebody else in there, such as the sandbox of a job, stays as it is. No link
    is followed: the owner so far may still write there. StorageError if it cannot be done.
    """
    try:
        for folder in folders:
            before = os.lstat(folder)
            if before.st_uid != account.uid and stat.S_ISDIR(before.st_mode):
                _give(folder, before.st_uid, account)
    except OSError as error:
        raise StorageError(
            f"cannot give {error.filename or 'a folder'} to {account.name}: {error.strerror}"
        ) from error


def _give(folder: str, before: int, account: Account) -> None:
    for _, folders, names, descriptor in os.fwalk(folder):
        # Folders were given by name already when they come themselves; all but the first one.
        if os.fstat(descriptor).st_uid not in {before, account.uid}:
            folders.clear()
            continue
        for name in (*folders, *names):
            if os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_uid == before:
                os.chown(name, account.uid, account.gid, dir_fd=descriptor, follow_symlinks=False)
    os.chown(folder, account.uid, account.gid, follow_symlinks=False)
