"""What a pool's folder is and says of it: where things lie, whether it is up, where it stands.

Nothing is changed here: a pool is made in `making.py`, started and stopped in `running.py`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping

import kettle
from kettle.errors import KettleError
from kettle.octets import AS_IS
from kettle.pool.location import Alone, Location, read_mark
from kettle.pool.settings import (
    is_configuration_of_a_pool,
    is_configuration_of_the_machine,
    read_given,
)
from kettle.runtime.account_names import account_home

# Where the pool of the whole machine is, unless somebody says otherwise.
SYSTEM_FOLDER = "/var/lib/kettle/system"
# Where root's own pool is if root's home is closed to the accounts that jobs run as.
_ROOT_FOLDER = "/var/lib/kettle/personal"
# What a pool's daemons inherit from whoever starts it; the rest of the environment stays outside.
_INHERITED = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SHELL", "KETTLE_PROFILE",
)  # fmt: skip
# Limit: what is read of a configuration that we wrote, with what its user gave.
_LARGEST_CONFIGURATION = 1024 * 1024
# Limit: how long a master that was killed may take to be gone before it counts as running.
_GOES_SECONDS = 5.0
_LOOK_SECONDS = 0.01
# What a user's settings must say for the daemons' folders to be anywhere but in the pool's.
_MOVES = re.compile(
    r"^\s*(?:(?:\w+\.)?(?:LOG|SPOOL|EXECUTE|LOCK|LOCAL_DIR|LOCAL_CONFIG_\w+)\s*[=@]"
    r"|@?include\b|use\b)",
    re.IGNORECASE | re.MULTILINE,
)
_LOG_LINE = re.compile(r"^[ \t]*LOG[ \t]*=[ \t]*(/\S*)[ \t]*$", re.IGNORECASE | re.MULTILINE)


def default_folder(environment: Mapping[str, str]) -> str:
    """Return where a personal pool lies if nobody says otherwise.

    $KETTLE_DIR, else the XDG state folder. For root, if jobs, which run as another account, could
    not go there (root's home is closed), /var/lib/kettle/personal.
    """
    named = environment.get("KETTLE_DIR")
    if named:
        return os.path.abspath(named)
    state = environment.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        home = environment.get("HOME") or account_home(os.getuid())
        if not home:
            raise KettleError("this account has no home folder", hint="set $HOME, or $KETTLE_DIR")
        state = os.path.join(home, ".local", "state")
    folder = os.path.join(state, "kettle")
    if os.getuid() == 0 and closed_parent(folder) is not None:
        return _ROOT_FOLDER
    return folder


def closed_parent(folder: str) -> str | None:
    """Return the first folder on the way to this one that other accounts cannot go through."""
    return next(filter(_is_closed, _parents(folder)), None)


def _parents(folder: str) -> Iterator[str]:
    path = os.path.dirname(folder)
    while True:
        yield path
        if path == "/":
            return
        path = os.path.dirname(path)


def _is_closed(folder: str) -> bool:
    """Whether other accounts cannot go through a folder; one that is not there yet is ours."""
    try:
        return not os.stat(folder).st_mode & 0o001
    except OSError:
        return False


class PoolFolder:
    """The folder of one pool. `location` is where it is to stand, if not where it stood."""

    def __init__(
        self, folder: str, environment: Mapping[str, str], location: Location | None
    ) -> None:
        self.folder = os.path.abspath(folder)
        self._outside = environment
        self._location = location
        self._log_folder = ""

    @property
    def config_file(self) -> str:
        """The configuration that CONDOR_CONFIG must name to use the pool."""
        return os.path.join(self.folder, "condor_config")

    @property
    def log_folder(self) -> str:
        """Where the daemons' logs are: in the folder, unless its user's settings say otherwise."""
        if not self._log_folder:
            text = self._settings_of_the_user()
            if not _MOVES.search(text):
                found = os.path.join(self.folder, "log")
            else:
                found = self._places().get("LOG") or ""
                if not found:
                    # The configuration is broken; daemons may run with what it was.
                    named = _LOG_LINE.findall(text)
                    found = named[-1] if named else os.path.join(self.folder, "log")
            if not self.exists():
                return found
            self._log_folder = os.path.abspath(found)
        return self._log_folder

    def forget_settings(self) -> None:
        """Read again, when they are asked for, what settings say that have changed."""
        self._log_folder = ""

    def find_places_elsewhere(self) -> dict[str, str]:
        """Return those folders of the daemons that are not in the pool's, by their settings."""
        if not _MOVES.search(self._settings_of_the_user()):
            return {}
        inside = os.path.join(os.path.realpath(self.folder), "")
        return {
            name: path
            for name, path in self._places().items()
            if os.path.isdir(path) and not os.path.realpath(path).startswith(inside)
        }

    def _places(self) -> dict[str, str]:
        """Return where the configuration has the daemons' folders; nothing if it is broken."""
        # Loaded here: few pools have folders elsewhere.
        from kettle.config import load_config
        from kettle.runtime.storage.files import SystemSources

        try:
            config = load_config(SystemSources(), self.environment(), subsystem="MASTER")
            found = {name: config.get(name) for name in ("LOG", "SPOOL", "EXECUTE", "LOCK")}
        except (KettleError, OSError):
            return {}
        return {name: path for name, path in found.items() if path}

    def _settings_of_the_user(self) -> str:
        """Return what was given with the pool and what lies in its config.d, unread."""
        return f"{read_given(self.read_configuration())}\n{self.read_beside()}"

    def read_beside(self) -> str:
        """Return the text of what lies in the pool's config.d; empty where nothing does."""
        texts = []
        for path in self.files_beside():
            with (
                contextlib.suppress(OSError),
                open(path, encoding="utf-8", errors=AS_IS) as file,
            ):
                texts.append(file.read(_LARGEST_CONFIGURATION))
        return "\n".join(texts)

    def files_beside(self) -> list[str]:
        """Return the paths of what lies in the pool's config.d, in the order of their names."""
        folder = os.path.join(self.folder, "config.d")
        try:
            return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        except OSError:
            return []

    def environment(self) -> dict[str, str]:
        """Return the environment in which this pool's daemons (and tools) run."""
        kept = {name: self._outside[name] for name in _INHERITED if name in self._outside}
        kept.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        kept["CONDOR_CONFIG"] = self.config_file
        kept["PYTHONPATH"] = _python_path(self._outside)
        return kept

    def exists(self) -> bool:
        """Whether there is a pool in the folder, up or not."""
        return is_configuration_of_a_pool(self.read_configuration())

    def is_system(self) -> bool:
        """Whether the folder holds the pool of the whole machine."""
        return is_configuration_of_the_machine(self.read_configuration())

    def read_configuration(self) -> str:
        """Return the text of the pool's configuration, empty where there is none."""
        try:
            with open(self.config_file, encoding="utf-8", errors=AS_IS) as file:
                return file.read(_LARGEST_CONFIGURATION)
        except OSError:
            return ""

    def is_up(self) -> bool:
        """Whether the pool is up, as far as we may know.

        The lock is no business of those who only use the pool of the machine: they could keep it.
        They go by the master's address.
        """
        if self.master_pid() is not None:
            return True
        if os.access(os.path.join(self.log_folder, "InstanceLock"), os.W_OK):
            return False
        return os.path.exists(os.path.join(self.log_folder, ".master_address"))

    @property
    def location(self) -> Location:
        """Where it stands among other machines, or is to stand."""
        if self._location is not None:
            return self._location
        return read_mark(self.read_configuration()) if self.exists() else Alone()

    def master_pid(self) -> int | None:
        """Return the pid of the running master; None if the pool is down, or not ours.

        One that runs since before LOG was changed goes on in the folder where it began, and one
        whose lock somebody has deleted works there all the same. One that was killed is waited for:
        it has its lock for a moment more, in which its daemons still answer as if it were up.
        """
        found, deadline = self._find_master(), time.monotonic() + _GOES_SECONDS
        while found is not None and _is_killed(found) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
            found = self._find_master()
        return found

    def _find_master(self) -> int | None:
        folders = dict.fromkeys((self.log_folder, os.path.join(self.folder, "log")))
        locked = filter(None, map(self._master_in, folders))
        return next(locked, None) or self._unlocked_master(folders)

    def _unlocked_master(self, folders: Iterable[str]) -> int | None:
        """Return the pid of a master that works in one of these and has no lock there."""
        # Loaded here: a pool that is up has its lock.
        from kettle.pool.processes import find_master

        try:
            owner = os.stat(self.config_file).st_uid
        except OSError:
            owner = os.geteuid()
        return next(filter(None, (find_master(folder, owner) for folder in folders)), None)

    def _master_in(self, log_folder: str) -> int | None:
        try:
            fd = os.open(os.path.join(log_folder, "InstanceLock"), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            text = os.pread(fd, 32, 0).decode("ascii", errors="replace").strip()
            return int(text) if text.isdecimal() else None
        else:
            return None
        finally:
            os.close(fd)


def _is_killed(pid: int) -> bool:
    # Loaded here: a pool that is down has no use for it.
    from kettle.runtime.process.liveness import is_killed

    return is_killed(pid)


def _python_path(outside: Mapping[str, str]) -> str:
    """Return a path on which this very package is found, wherever it was imported from."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(kettle.__file__)))
    others = [part for part in outside.get("PYTHONPATH", "").split(os.pathsep) if part]
    return os.pathsep.join([here, *(os.path.abspath(part) for part in others)])
