"""Making a pool: its folders, its configuration and the key of its tokens, and removing it again.

What the configuration says is `settings.py`'s, as whom root's daemons work `accounts.py`'s.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import stat
import sys
from collections.abc import Iterable

from kettle.errors import ConfigError, StorageError, UsageError
from kettle.octets import AS_IS
from kettle.pool.folder import PoolFolder, closed_parent
from kettle.pool.location import Member
from kettle.pool.processes import have_left
from kettle.pool.settings import (
    PoolSettings,
    check_name,
    keep_to_root,
    read_given,
    render_configuration,
)
from kettle.pool.turns import keep_to_owner, make_path
from kettle.runtime.account_names import account_name
from kettle.runtime.storage.removal import remove_tree

# Folder, mode. Sandboxes must be reachable by the account that jobs run as.
# Keys and tokens are the user's who makes the pool, root's included; what daemons write to belongs
# to the account that they work as.
_FOLDERS = (
    ("log", 0o755),
    ("spool", 0o755),
    ("execute", 0o755),
    ("lock", 0o755),
    ("run", 0o755),
    ("etc", 0o755),
    ("config.d", 0o755),
    ("passwords.d", 0o700),
    ("tokens.d", 0o700),
)
# What tells of jobs is its owner's alone in a personal pool, as its READ is; what others make for
# root's jobs, such as their sandboxes, they reach by name.
_OWN_FOLDERS = {"log": 0o711, "spool": 0o711}
_DAEMONS_FOLDERS = ("log", "spool", "execute", "lock", "run")


class Maker:
    """Makes the pool of a folder, with these settings of its user's, and changes them."""

    def __init__(self, pool: PoolFolder, configuration: str, *, system: bool) -> None:
        self._pool = pool
        self._configuration = configuration
        self._system = system

    def make(self) -> None:
        """Make the folder and its configuration; one that exists keeps both.

        But one of root's that is down and says nowhere as whom its daemons work, as earlier
        versions made them, is told that it is root's. Raises UsageError for a folder that holds
        something else, that jobs could not enter, or that no configuration can name.
        """
        folder = self._pool.folder
        if self._pool.exists():
            _check_unwritable(self._pool)
        else:
            check_name(folder)
            _check_way(folder)
            if self._pool.master_pid() is not None:
                raise UsageError(
                    f"the pool in {folder} is up, and its condor_config is gone",
                    hint="kettle down, and kettle up with the options that it was made with",
                )
            if os.path.isdir(folder) and os.listdir(folder) and not _is_what_is_left(folder):
                raise UsageError(
                    f"{folder} is not empty and holds no personal pool",
                    hint="choose another folder with --dir",
                )
            self._check_reachable()
        if self._is_for_the_machine():
            from kettle.pool.accounts import system_account

            exists = self._pool.exists()
            system_account(self._present_ids() if exists else self._condor_ids())
        try:
            self._make_folders(folder)
            if not self._pool.exists():
                if not isinstance(self._pool.location, Member):
                    self._write_key()
                self._write_configuration()
        except OSError as error:
            raise StorageError(f"cannot make the pool in {folder}: {error.strerror}") from error
        if os.getuid() == 0:
            self._settle_ids()
            self._give_folders()

    def _settle_ids(self) -> None:
        """Have root's own pool keep to root, also one that was made when no ids were written."""
        if self._is_for_the_machine() or self._present_ids() or self._pool.master_pid() is not None:
            return
        from kettle.pool.accounts import ROOT_IDS

        self._replace_configuration(keep_to_root(self._pool.read_configuration(), ROOT_IDS))

    def _make_folders(self, folder: str) -> None:
        make_path(folder)
        if os.getuid() == 0:
            os.chmod(folder, 0o755)  # noqa: S103 - the account of jobs goes through
        else:
            keep_to_owner(folder)
        if self._pool.exists():
            keep_to_owner(self._pool.config_file)
        for name, mode in _FOLDERS:
            path = os.path.join(folder, name)
            os.makedirs(path, exist_ok=True)
            if name in _OWN_FOLDERS and not self._is_for_the_machine():
                os.chmod(path, _OWN_FOLDERS[name])
                _close_records(path)
            else:
                os.chmod(path, mode)

    def _give_folders(self) -> None:
        """What root made becomes the account's that the daemons work as."""
        from kettle.pool.accounts import daemon_account, give_folders

        folders = (os.path.join(self._pool.folder, name) for name in _DAEMONS_FOLDERS)
        give_folders(daemon_account(self._present_ids()), folders)

    def _present_ids(self) -> str | None:
        """Return CONDOR_IDS as the configuration in the folder has it."""
        from kettle.config import load_config
        from kettle.runtime.storage.files import SystemSources

        config = load_config(SystemSources(), self._pool.environment(), subsystem="MASTER")
        return config.get("CONDOR_IDS")

    def _condor_ids(self) -> str | None:
        """Return CONDOR_IDS as whoever makes the pool gives it, with it or in its config.d."""
        from kettle.config import Config

        given = Config.from_text(self._configuration, subsystem="MASTER").get("CONDOR_IDS")
        try:
            beside = Config.from_text(self._pool.read_beside(), subsystem="MASTER")
        except ConfigError:
            # The daemons are told of it, with its file and line.
            return given
        return beside.get("CONDOR_IDS") or given

    def configure(self, text: str | None) -> None:
        """Give the pool these settings of its user's in place of earlier ones; None: keep those.

        Raises UsageError if the pool is up with others, or there.
        """
        if not self._pool.exists():
            self._configuration = text or ""
            return
        written = self._pool.read_configuration()
        self._configuration = read_given(written) if text is None else text
        if written == self._render():
            return
        if self._pool.master_pid() is not None:
            raise UsageError(
                f"the pool in {self._pool.folder} is up with another configuration",
                hint="stop it first: kettle down",
            )
        self._write_configuration()

    def _is_for_the_machine(self) -> bool:
        return self._system or self._pool.is_system()

    def _check_reachable(self) -> None:
        """As root, jobs run as another account, which must be able to reach its sandbox."""
        if os.getuid() != 0:
            return
        closed = closed_parent(self._pool.folder)
        if closed is not None:
            raise UsageError(
                f"{closed} is closed to the account that jobs run as under root",
                hint="choose a folder elsewhere with --dir, such as /var/lib/kettle",
            )

    def _render(self) -> str:
        """Return the text of the pool's configuration."""
        users, ids = self._find_users()
        settings = PoolSettings(
            folder=self._pool.folder,
            users=users,
            domain=socket.gethostname() or "localhost",
            programs=os.path.dirname(os.path.abspath(sys.executable)),
            extra=self._configuration,
            ids=ids,
            system=self._is_for_the_machine(),
            other_account=os.getuid() == 0,
            location=self._pool.location,
        )
        return render_configuration(settings)

    def _find_users(self) -> tuple[tuple[str, ...], str]:
        """Return who governs the pool, and CONDOR_IDS where our settings have to say it.

        A personal pool of root's keeps to root unless it is told otherwise, whether or not there
        is an account `condor`: what jobs write to is root's, and an account that comes or goes
        while the pool is up must not change who its daemons are.
        """
        if os.getuid() != 0:
            return (account_name(os.getuid()),), ""
        from kettle.pool.accounts import ROOT_IDS, daemon_account

        ids = self._condor_ids()
        if not ids and not self._is_for_the_machine():
            # Nobody else's account governs what runs as root.
            return ("root", "condor_pool"), ROOT_IDS
        name = daemon_account(ids).name
        return tuple(dict.fromkeys(("root", "condor", name, "condor_pool"))), ""

    def _write_key(self) -> None:
        """Make the key that this pool's tokens are signed with, if it has none of earlier."""
        from kettle.wire.security.tokens import scramble

        path = os.path.join(self._pool.folder, "passwords.d", "POOL")
        if os.path.exists(path) and os.path.getsize(path) > 0:
            return
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(scramble(secrets.token_bytes(64)))

    def _write_configuration(self) -> None:
        self._replace_configuration(self._render())

    def _replace_configuration(self, text: str) -> None:
        temporary = self._pool.config_file + ".new"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        # Who can write it has its owner's account: an `include command` runs at the next reading.
        with open(os.open(temporary, flags, 0o644), "w", encoding="utf-8", errors=AS_IS) as file:
            if os.getuid() == 0:
                # The daemons' account reads it, whatever the umask.
                os.fchmod(file.fileno(), 0o644)
            file.write(text)
        os.rename(temporary, self._pool.config_file)
        self._pool.forget_settings()

    def discard(self) -> None:
        """Remove the pool but for the logs that its daemons wrote, if any were started.

        A pool can be made in their folder again. Raises UsageError if the pool is up or is none.
        """
        folder = self._pool.folder
        self._check_removable()
        kept = os.path.join(folder, "log")
        if not _has_had_a_master(folder):
            self._remove(folder)
            return
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name == "condor_config"):
            if entry.path == kept:
                continue
            if entry.is_dir(follow_symlinks=False):
                self._remove(entry.path)
            else:
                os.unlink(entry.path)

    def purge(self) -> None:
        """Remove the pool and everything in its folder; UsageError if it is up or is none."""
        if self._pool.master_pid() is None and not os.path.lexists(self._pool.folder):
            return
        self._check_removable()
        self._remove(self._pool.folder)

    def _check_removable(self) -> None:
        folder = self._pool.folder
        if self._pool.master_pid() is not None:
            raise UsageError(f"the pool in {folder} is up", hint="stop it first: kettle down")
        if not self._pool.exists():
            raise UsageError(f"{folder} holds no personal pool, so it is left alone")
        if not have_left({self._pool.log_folder, os.path.join(folder, "log")}):
            raise UsageError(
                f"daemons of the pool in {folder} still run, so it is left alone",
                hint="its LOG may be another than when it was started",
            )

    def _remove(self, folder: str) -> None:
        if not remove_tree(folder):
            raise StorageError(f"cannot remove all of {folder}")


def _has_had_a_master(folder: str) -> bool:
    """Tell whether there is what masters that `kettle up` starts write to first.

    Or the lock, which a master has made anew whose folder was deleted while it ran.
    """
    names = ("master.out", "InstanceLock")
    return any(os.path.isfile(os.path.join(folder, "log", name)) for name in names)


def _check_unwritable(pool: PoolFolder) -> None:
    """Raise UsageError where everybody can write what says how a pool is configured.

    A group may be its user's own: that cannot write it any more from now on.
    """
    loose = find_loose((pool.folder, pool.config_file, *pool.files_beside()))
    if loose is not None:
        raise UsageError(
            f"everybody can write {loose}, and with it rule this pool",
            hint=f"look at what it says, then: chmod go-w {loose}",
        )


def _close_records(folder: str) -> None:
    """Take from others what they could read in histories of a pool that an earlier version made."""
    with os.scandir(folder) as entries:
        names = [entry.path for entry in entries if "history" in entry.name]
    for path in names:
        with contextlib.suppress(OSError):
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                facts = os.fstat(fd)
                if stat.S_ISREG(facts.st_mode) and facts.st_mode & 0o077:
                    os.fchmod(fd, 0o600)
            finally:
                os.close(fd)


def find_loose(paths: Iterable[str]) -> str | None:
    """Return the first of these files and folders that everybody can write."""
    for path in paths:
        with contextlib.suppress(OSError):
            mode = os.stat(path).st_mode
            # In a folder that is sticky, as /tmp is, everybody has his own.
            if mode & 0o002 and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX):
                return path
    return None


def _is_what_is_left(folder: str) -> bool:
    """Tell whether the folder holds nothing but what a pool has.

    That is the logs of one that did not start, or all of one whose condor_config is gone.
    """
    return set(os.listdir(folder)) <= {name for name, _ in _FOLDERS} and _has_had_a_master(folder)


def has_lost_configuration(folder: str) -> bool:
    """Tell whether a folder holds a pool's queue and no configuration."""
    queue = os.path.join(folder, "spool", "job_queue.log")
    return os.path.exists(queue) and not os.path.lexists(os.path.join(folder, "condor_config"))


def _check_way(folder: str) -> None:
    """Raise UsageError if the folder, or what it is to lie in, is there and is no folder."""
    path = folder
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    if not os.path.isdir(path):
        raise UsageError(f"{path} is no folder", hint="choose another folder with --dir")
