"""As whom files are touched and programs run.

Started as root, a daemon works as the `condor` account (or CONDOR_IDS) and switches for a
moment to the owner of what it touches; started as anybody else everything runs as that one user
and every switch is a no-op. No job process ever has uid 0 (R087): `job_account` never returns
root, and `as_job` makes the switch one that the program cannot undo. What a daemon starts as itself
gives up the way back as well (`for_good`); only who is root at that moment starts a root's program.

Switches are context managers of the calling process; nothing inside them may await.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from kettle.errors import KettleError, NotFoundError
from kettle.runtime.process import kernel


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody a process can run as."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str = "/"
    # No account of the machine's, but one of `lent_accounts`.
    lent: bool = False

    def pack(self) -> bytes:
        """Return it as what a process is told that is started to work as it."""
        return marshal.dumps(
            (self.name, self.uid, self.gid, tuple(self.groups), self.home, self.lent)
        )

    @classmethod
    def unpack(cls, data: bytes) -> Account:
        """Return what the daemon that started us has packed."""
        return cls(*marshal.loads(data))  # noqa: S302 - our own daemon's bytes


def find_account(name: str) -> Account:
    """Look an account up by name; NotFoundError if there is none."""
    try:
        entry = pwd.getpwnam(name)
    except (KeyError, ValueError):  # none has such a name, or a name with NUL or half a character
        raise NotFoundError(f"there is no account {name!r} on this machine") from None
    return _from_entry(entry)


def account_of(uid: int) -> Account:
    """Look an account up by number; one without a name is allowed, with its number as name."""
    try:
        return _from_entry(pwd.getpwuid(uid))
    except KeyError:
        return Account(str(uid), uid, uid, ())


def _from_entry(entry: pwd.struct_passwd) -> Account:
    groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir)


def parse_ids(text: str) -> tuple[int, int]:
    """Read CONDOR_IDS, `uid.gid`; KettleError if it is anything else."""
    uid, dot, gid = text.strip().partition(".")
    if not dot or not uid.isdecimal() or not gid.isdecimal():
        raise KettleError(f"CONDOR_IDS is {text!r}", hint="write it as uid.gid, like 64.64")
    return int(uid), int(gid)


class Privileges:
    """The accounts of this daemon and the switches between them."""

    def __init__(
        self,
        daemon: Account,
        *,
        can_switch: bool,
        minimum_uid: int = 1,
        thread_only: bool = False,
    ) -> None:
        """`thread_only`: `as_root` switches the calling thread alone.

        A process with threads that touch users' files needs that; it switches to nobody else.
        """
        self.daemon = daemon
        self.can_switch = can_switch
        self._seteuid = kernel.set_thread_euid if thread_only else os.seteuid
        self._minimum_uid = max(1, minimum_uid)

    @classmethod
    def find(cls, condor_ids: str | None = None, minimum_uid: int | None = None) -> Privileges:
        """Decide as whom this process works, from CONDOR_IDS and the account `condor`.

        Not root: ourselves. Root without either: root keeps its own files (a pool that root
        starts in a container), and only jobs are switched. `minimum_uid` is JOB_MINIMUM_UID.
        """
        found = cls._find(condor_ids)
        return cls(found.daemon, can_switch=found.can_switch, minimum_uid=minimum_uid or 1)

    @classmethod
    def _find(cls, condor_ids: str | None) -> Privileges:
        if os.getuid() != 0:
            return cls(account_of(os.getuid()), can_switch=False)
        if condor_ids:
            uid, gid = parse_ids(condor_ids)
            known = account_of(uid)
            return cls(Account(known.name, uid, gid, known.groups, known.home), can_switch=True)
        try:
            return cls(find_account("condor"), can_switch=True)
        except NotFoundError:
            return cls(account_of(0), can_switch=True)

    def settle(self) -> None:
        """Become the daemon's account, keeping the way back to root."""
        if self.can_switch:
            os.seteuid(0)
            _switch(self.daemon)

    def job_account(
        self, owner: str, *, fallback: str = "nobody", named_here: bool = False
    ) -> Account:
        """Return as whom a job of `owner` runs: never root, never as the daemons.

        Accounts below JOB_MINIMUM_UID are the system's; only the administrator may name one
        (`named_here`: SLOT1_USER and its like). `fallback` is for all of these, and for strangers.
        Unprivileged, everything runs as ourselves. NotFoundError if not even `fallback` exists.
        """
        if not self.can_switch:
            return self.daemon
        try:
            account = find_account(owner)
        except NotFoundError:
            account = find_account(fallback)
        lowest = 1 if named_here else self._minimum_uid
        if account.uid >= lowest and account.uid != self.daemon.uid:
            return account
        safe = find_account(fallback)
        if safe.uid in {0, self.daemon.uid}:
            raise NotFoundError(f"{fallback!r} is no account that a job may have")
        return safe

    def as_account(self, account: Account) -> AbstractContextManager[None]:
        """Touch files as somebody; nothing inside may await. A no-op without privileges."""
        return _AsAccount(account) if self.can_switch else _NOTHING

    def as_root(self) -> AbstractContextManager[None]:
        """Do what only root can, for a moment; a no-op without privileges."""
        return _AsRoot(self._seteuid) if self.can_switch else _NOTHING

    def leave_keyring(self) -> bool:
        """Leave the session keyring that we share with who started us, for an empty one.

        It is root's where that can be: other accounts may have no more than 200 keys. Whether the
        kernel has done so; who stays in the old one works as well.
        """
        with self.as_root():
            return kernel.join_new_keyring()

    @contextlib.contextmanager
    def as_job(self, account: Account) -> Iterator[None]:
        """Start programs as somebody for good: what is spawned inside cannot come back to root.

        The real uid is switched as well, and only the saved one keeps our way back; exec gives
        that up for the program. Refuses root (R087).
        """
        if not self.can_switch:
            yield
            return
        if account.uid == 0:
            raise KettleError("a job must not run as root")
        uids, gids, groups = os.getresuid(), os.getresgid(), os.getgroups()
        os.seteuid(0)
        try:
            os.setgroups(account.groups)
            os.setresgid(account.gid, account.gid, 0)
            os.setresuid(account.uid, account.uid, 0)
            yield
        finally:
            os.setresuid(0, 0, 0)
            os.setresgid(*gids)
            os.setgroups(groups)
            os.setresuid(*uids)

    def become(self, account: Account) -> None:
        """Become somebody for good, for a forked child that executes nothing; never root (R087)."""
        if not self.can_switch:
            return
        if account.uid == 0:
            raise KettleError("a job's program must not run as root")
        os.seteuid(0)
        os.setgroups(account.groups)
        os.setresgid(account.gid, account.gid, account.gid)
        os.setresuid(account.uid, account.uid, account.uid)


_NOTHING: Final = contextlib.nullcontext()


# Both are classes, as each job enters several: a generator costs three times as much. Who we are is
# looked at when they are entered: they may be made under another account.
class _AsAccount:
    """Is somebody from its beginning to its end."""

    __slots__ = ("_account", "_before")

    def __init__(self, account: Account) -> None:
        self._account = account
        # Effective ids and groups; None inside a switch to the same account, which switches back.
        self._before: tuple[int, int, list[int]] | None = None

    def __enter__(self) -> None:
        uid, gid, account = os.geteuid(), os.getegid(), self._account
        if uid == account.uid != 0 and gid == account.gid:
            return
        self._before = (uid, gid, os.getgroups())
        if uid != 0:
            os.seteuid(0)
        try:
            _switch(account)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        uid, gid, groups = self._before
        os.seteuid(0)
        os.setgroups(groups)
        os.setegid(gid)
        if uid != 0:
            os.seteuid(uid)


class _AsRoot:
    """Is root from its beginning to its end, by what changes the effective uid."""

    __slots__ = ("_before", "_seteuid")

    def __init__(self, seteuid: Callable[[int], None]) -> None:
        self._seteuid = seteuid
        self._before = 0

    def __enter__(self) -> None:
        self._before = os.geteuid()
        if self._before != 0:
            self._seteuid(0)

    def __exit__(self, *_: object) -> None:
        if self._before != 0:
            self._seteuid(self._before)


def for_good() -> AbstractContextManager[None]:
    """Let what is started inside be nobody but the one we work as, whoever we can be besides.

    A daemon's real uid stays root's, and a shell whose real and effective ids differ takes the
    real ones (bash without -p). Does nothing as root itself, or where there is no way back.
    """
    uids = os.getresuid()
    return _NOTHING if uids[1] in {0, uids[0]} else _for_good(uids)


@contextlib.contextmanager
def _for_good(uids: tuple[int, int, int]) -> Iterator[None]:
    gids = os.getresgid()
    os.seteuid(0)
    try:
        # The saved ids are our way back; a program that is executed has none of its own.
        os.setresgid(gids[1], gids[1], 0)
        os.setresuid(uids[1], uids[1], 0)
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(*gids)
        os.setresuid(*uids)


def first_closed(account: Account, path: str) -> str | None:
    """Return the first folder on the way into `path`, itself included, that is closed to somebody.

    None if there is none. By the modes alone: a list of rights beside them is not looked at.
    """
    parts = os.path.realpath(path).split("/")
    for depth in range(1, len(parts) + 1):
        place = "/".join(parts[:depth]) or "/"
        try:
            facts = os.stat(place)
        except OSError:
            return place
        if account.uid == facts.st_uid:
            allowed = facts.st_mode >> 6
        elif facts.st_gid in {account.gid, *account.groups}:
            allowed = facts.st_mode >> 3
        else:
            allowed = facts.st_mode
        if account.uid != 0 and not allowed & 1:
            return place
    return None


def _switch(account: Account) -> None:
    """Change the effective ids; the caller's effective uid must be 0."""
    os.setgroups(account.groups)
    os.setegid(account.gid)
    os.seteuid(account.uid)
