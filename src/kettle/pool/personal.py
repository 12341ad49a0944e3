"""A personal pool in one folder: made, started, waited for, stopped, removed.

Everything a pool writes is inside its folder D. It is up while its master holds the lock in
D/log; it is ready when its collector knows a schedd, a negotiator and a slot. Works as root
(jobs then run as another account) and as anybody. What the pool is configured to be is
`settings.py`'s; `kettle up` and `kettle down` are thin shells over this.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import secrets
import select
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self

import kettle
from kettle.errors import KettleError, NotFoundError, StorageError, UsageError
from kettle.pool.complaints import find_complaints, is_hopeless, render_complaints
from kettle.pool.location import Alone, Location, Member, is_own_name, read_mark
from kettle.pool.settings import (
    PoolSettings,
    is_configuration_of_a_pool,
    is_configuration_of_the_machine,
    read_given,
    render_configuration,
)
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
_DAEMONS_FOLDERS = ("log", "spool", "execute", "lock", "run")
# Where the pool of the whole machine is, unless somebody says otherwise.
SYSTEM_FOLDER = "/var/lib/kettle/system"
# What a pool's daemons inherit from whoever starts it; the rest of the environment stays outside.
_INHERITED = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SHELL", "KETTLE_PROFILE",
)  # fmt: skip
# The folder is the daemons' account's: whoever starts the pool follows no link of its making.
_APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
# Limit: what is read of a configuration that we wrote, with what its user gave.
_LARGEST_CONFIGURATION = 1024 * 1024
START_SECONDS = 30.0
STOP_SECONDS = 60.0
# Limit: how long the daemons of a master that died may take to follow it.
_LEAVE_SECONDS = 20.0
_POLL_SECONDS = 0.01
# How often the logs of a pool that is not up yet are looked at.
_LOOK_SECONDS = 1.0
_LOGS = ("master.out", "MasterLog", "CollectorLog", "SchedLog", "StartLog")
_NEEDED_ADS = ("Scheduler", "Negotiator", "Machine")


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
        home = environment.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
        state = os.path.join(home, ".local", "state")
    folder = os.path.join(state, "kettle")
    if os.getuid() == 0 and any(map(_is_closed, _parents(folder))):
        return "/var/lib/kettle/personal"
    return folder


def _is_closed(folder: str) -> bool:
    """Whether other accounts cannot go through a folder; one that is not there yet is ours."""
    try:
        return not os.stat(folder).st_mode & 0o001
    except OSError:
        return False


class PersonalPool:
    """The pool in a folder. As a context manager it is made and started, and purged at the end.

    `configuration` is text appended to the pool's own settings when it is made; `system` makes it
    the pool of the whole machine; `location` is where it stands among other machines, without one
    where it stood, else alone.
    """

    def __init__(
        self,
        folder: str,
        *,
        configuration: str = "",
        environment: Mapping[str, str] | None = None,
        system: bool = False,
        location: Location | None = None,
    ) -> None:
        self._system = system
        # Where the logs ended before this start: what was complained of earlier does not count.
        self._log_sizes: dict[str, int] = {}
        self.folder = os.path.abspath(folder)
        self._configuration = configuration
        self._location = location
        self._outside = dict(os.environ if environment is None else environment)

    def __enter__(self) -> Self:
        self.make()
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop(how="fast")
        self.purge()

    # What it is.

    @property
    def config_file(self) -> str:
        """The configuration that CONDOR_CONFIG must name to use the pool."""
        return os.path.join(self.folder, "condor_config")

    @property
    def log_folder(self) -> str:
        """Where the daemons' logs are."""
        return os.path.join(self.folder, "log")

    def environment(self) -> dict[str, str]:
        """Return the environment in which this pool's daemons (and tools) run."""
        kept = {name: self._outside[name] for name in _INHERITED if name in self._outside}
        kept.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        kept["CONDOR_CONFIG"] = self.config_file
        kept["PYTHONPATH"] = _python_path(self._outside)
        return kept

    def exists(self) -> bool:
        """Whether there is a pool in the folder, up or not."""
        return is_configuration_of_a_pool(self._read_configuration())

    def is_system(self) -> bool:
        """Whether the folder holds the pool of the whole machine."""
        return is_configuration_of_the_machine(self._read_configuration())

    def _read_configuration(self) -> str:
        try:
            with open(self.config_file, encoding="utf-8", errors="replace") as file:
                return file.read(_LARGEST_CONFIGURATION)
        except OSError:
            return ""

    def is_up(self) -> bool:
        """Whether the pool is up, as far as we may know.

        The lock is no business of those who only use the pool of the machine: they could keep it.
        They go by the master's address.
        """
        if os.access(os.path.join(self.log_folder, "InstanceLock"), os.W_OK):
            return self.master_pid() is not None
        return os.path.exists(os.path.join(self.log_folder, ".master_address"))

    @property
    def location(self) -> Location:
        """Where it stands among other machines, or is to stand."""
        if self._location is not None:
            return self._location
        return read_mark(self._read_configuration()) if self.exists() else Alone()

    def master_pid(self) -> int | None:
        """Return the pid of the running master; None if the pool is down, or not ours."""
        try:
            fd = os.open(os.path.join(self.log_folder, "InstanceLock"), os.O_RDWR | os.O_CLOEXEC)
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

    # What is done with it.

    def make(self) -> None:
        """Make the folder and its configuration; one that exists keeps both.

        Raises UsageError for a folder that holds something else, or that jobs could not enter.
        """
        if not self.exists():
            if os.path.isdir(self.folder) and os.listdir(self.folder):
                raise UsageError(
                    f"{self.folder} is not empty and holds no personal pool",
                    hint="choose another folder with --dir",
                )
            self._check_reachable()
        if self._system or self.is_system():
            from kettle.pool.accounts import system_account

            system_account(self._condor_ids())
        try:
            os.makedirs(self.folder, mode=0o755, exist_ok=True)
            if os.getuid() == 0:
                os.chmod(self.folder, 0o755)  # noqa: S103 - the account of jobs goes through
            for name, mode in _FOLDERS:
                path = os.path.join(self.folder, name)
                os.makedirs(path, exist_ok=True)
                os.chmod(path, mode)
            if not self.exists():
                if not isinstance(self.location, Member):
                    self._write_key()
                self._write_configuration()
        except OSError as error:
            raise StorageError(
                f"cannot make the pool in {self.folder}: {error.strerror}"
            ) from error
        self._give_folders()

    def _give_folders(self) -> None:
        """What root made becomes the account's that the daemons work as."""
        if os.getuid() != 0:
            return
        from kettle.config import load_config
        from kettle.pool.accounts import daemon_account, give_folders
        from kettle.runtime.storage.files import SystemSources

        config = load_config(SystemSources(), self.environment(), subsystem="MASTER")
        folders = (os.path.join(self.folder, name) for name in _DAEMONS_FOLDERS)
        give_folders(daemon_account(config.get("CONDOR_IDS")), folders)

    def _condor_ids(self) -> str | None:
        """Return CONDOR_IDS as whoever makes the pool gives it."""
        from kettle.config import Config

        return Config.from_text(self._configuration, subsystem="MASTER").get("CONDOR_IDS")

    def configure(self, text: str | None) -> None:
        """Give the pool these settings of its user's in place of earlier ones; None: keep those.

        Raises UsageError if the pool is up with others, or there.
        """
        if not self.exists():
            self._configuration = text or ""
            return
        written = self._read_configuration()
        self._configuration = read_given(written) if text is None else text
        if written == self._render():
            return
        if self.master_pid() is not None:
            raise UsageError(
                f"the pool in {self.folder} is up with another configuration",
                hint="stop it first: kettle down",
            )
        self._write_configuration()

    def _check_reachable(self) -> None:
        """As root, jobs run as another account, which must be able to reach its sandbox."""
        if os.getuid() != 0:
            return
        for parent in _parents(self.folder):
            if _is_closed(parent):
                raise UsageError(
                    f"{parent} is closed to the account that jobs run as under root",
                    hint="choose a folder elsewhere with --dir, such as /var/lib/kettle",
                )

    def _render(self) -> str:
        """Return the text of the pool's configuration."""
        users, ids = self._find_users()
        settings = PoolSettings(
            folder=self.folder,
            users=users,
            domain=socket.gethostname() or "localhost",
            programs=os.path.dirname(os.path.abspath(sys.executable)),
            extra=self._configuration,
            ids=ids,
            system=self._system or self.is_system(),
            other_account=os.getuid() == 0,
            location=self.location,
        )
        return render_configuration(settings)

    def _find_users(self) -> tuple[tuple[str, ...], str]:
        """Return who governs the pool, and CONDOR_IDS where our settings have to say it.

        An account that cannot reach Python can run nothing: a pool of root's keeps to root then.
        """
        if os.getuid() != 0:
            return (pwd.getpwuid(os.getuid()).pw_name,), ""
        from kettle.pool.accounts import ROOT_IDS, closed_to_python, daemon_account

        account = daemon_account(self._condor_ids())
        users = tuple(dict.fromkeys(("root", "condor", account.name, "condor_pool")))
        given = self._condor_ids() is not None
        system = self._system or self.is_system()
        if given or system or closed_to_python(account) is None:
            return users, ""
        return users, ROOT_IDS

    def _write_key(self) -> None:
        """Make the key that this pool's tokens are signed with."""
        from kettle.wire.security.tokens import scramble

        path = os.path.join(self.folder, "passwords.d", "POOL")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(scramble(secrets.token_bytes(64)))

    def _write_configuration(self) -> None:
        temporary = self.config_file + ".new"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(self._render())
        os.rename(temporary, self.config_file)

    def start(self, *, seconds: float = START_SECONDS) -> None:
        """Start the daemons and return when the pool is ready; nothing happens if it is up.

        Raises KettleError with the tail of what the daemons said if it is not ready in time.
        """
        deadline = time.monotonic() + seconds
        self._log_sizes = {name: self._log_size(name) for name in _LOGS}
        # A master that is being killed holds its lock for a moment more.
        while self.master_pid() is not None:
            if self._wait_for_ads(deadline):
                return
        self._wait_for_the_last_ones(min(deadline, time.monotonic() + _LEAVE_SECONDS))
        with _notification_socket(os.path.join(self.folder, "run", "ready")) as (ready, name):
            self._wait_for_master(self._launch_master(name), ready, deadline)
        if not self._wait_for_ads(deadline):
            raise KettleError(f"the master ended: {self._complaints()}")

    def _wait_for_the_last_ones(self, deadline: float) -> None:
        """Let the daemons of a master that died go: new ones would speak to old ones."""
        while time.monotonic() < deadline and _works_in(self.log_folder):
            time.sleep(_POLL_SECONDS)

    def _launch_master(self, notify: str) -> int:
        environment = self.environment()
        environment["NOTIFY_SOCKET"] = notify
        # -P: the folder that `kettle up` is called in may hold a queue.py, and is no module path.
        output = os.path.join(self.log_folder, "master.out")
        return os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", "-m", "kettle.master", "-f"],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, output, _APPENDING, 0o640),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
        )

    def _wait_for_master(self, pid: int, ready: socket.socket, deadline: float) -> None:
        """Wait until the master says that its daemons are up, or has died."""
        exited = os.pidfd_open(pid)
        try:
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise KettleError(f"the pool is not up in time: {self._complaints()}")
                if is_hopeless(self._find_complaints()):
                    raise KettleError(f"the pool does not come up: {self._complaints()}")
                watched: list[socket.socket | int] = [ready, exited]
                found, _, _ = select.select(watched, [], [], min(left, _LOOK_SECONDS))
                if ready in found and ready.recv(4096).startswith(b"READY=1"):
                    return
                if exited in found:
                    os.waitpid(pid, 0)
                    raise KettleError(f"the master ended: {self._complaints()}")
        finally:
            os.close(exited)

    def _wait_for_ads(self, deadline: float) -> bool:
        """Wait until the collector knows everything a job needs; False if the master ends."""
        # Loaded here: who only asks whether the pool is up need not load the wire.
        from kettle.client.connector import Connector
        from kettle.client.pool import Pool, make_query
        from kettle.config import load_config
        from kettle.runtime.storage.files import SystemSources
        from kettle.wire.commands import Command

        config = load_config(SystemSources(), self.environment(), subsystem="TOOL")
        wanted = [name for name in _NEEDED_ADS if _is_run_here(config.words("DAEMON_LIST"), name)]
        pool = Pool(Connector(config))
        query = make_query("Any", projection=("MyType", "Name"))
        location = self.location
        missing = set(wanted)
        while True:
            with contextlib.suppress(NotFoundError, KettleError):
                ads = pool.query(Command.QUERY_ANY_ADS, query)
                missing = set(wanted) - {
                    ad.string("MyType") or ""
                    for ad in ads
                    if is_own_name(location, ad.string("Name") or "", socket.gethostname())
                }
                if not missing:
                    return True
            if self.master_pid() is None:
                return False
            if time.monotonic() > deadline:
                names = ", ".join(sorted(missing))
                raise KettleError(f"the pool has no {names} ad in time: {self._complaints()}")
            time.sleep(_POLL_SECONDS)

    def stop(self, *, how: str = "graceful", seconds: float = STOP_SECONDS) -> bool:
        """Stop the pool: `graceful` or `fast`, and kill what is left after `seconds`.

        Returns False if it was not up.
        """
        pid = self.master_pid()
        if pid is None:
            return False
        try:
            exited = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        try:
            number = signal.SIGTERM if how == "graceful" else signal.SIGQUIT
            signal.pidfd_send_signal(exited, number)
            if not select.select([exited], [], [], seconds)[0]:
                # The daemons notice that their master is gone and follow it.
                signal.pidfd_send_signal(exited, signal.SIGKILL)
                select.select([exited], [], [], 5.0)
        except ProcessLookupError:
            pass
        finally:
            os.close(exited)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
        return True

    def purge(self) -> None:
        """Remove the pool and everything in its folder; UsageError if it is up or is none."""
        if self.master_pid() is not None:
            raise UsageError(f"the pool in {self.folder} is up", hint="stop it first: kettle down")
        if not os.path.lexists(self.folder):
            return
        if not self.exists():
            raise UsageError(f"{self.folder} holds no personal pool, so it is left alone")
        if not remove_tree(self.folder):
            raise StorageError(f"cannot remove all of {self.folder}")

    def _complaints(self) -> str:
        """Return what daemons wrote to their logs of what is wrong."""
        said = render_complaints(self._find_complaints())
        return said or f"nothing is said in {self.log_folder}"

    def _log_size(self, name: str) -> int:
        try:
            return os.path.getsize(os.path.join(self.log_folder, name))
        except OSError:
            return 0

    def _find_complaints(self) -> Counter[str]:
        logs: dict[str, str] = {}
        for name in _LOGS:
            with (
                contextlib.suppress(OSError),
                open(os.path.join(self.log_folder, name), errors="replace") as file,
            ):
                file.seek(self._log_sizes.get(name, 0))
                logs[name] = file.read()
        return find_complaints(logs)


def _works_in(folder: str) -> bool:
    """Whether any process that we may ask has this working directory."""
    real = os.path.realpath(folder)
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd") == real and int(name) != os.getpid():
                return True
    return False


def _is_run_here(daemons: tuple[str, ...], ad_type: str) -> bool:
    daemon = {"Scheduler": "SCHEDD", "Negotiator": "NEGOTIATOR", "Machine": "STARTD"}[ad_type]
    return daemon in {word.upper() for word in daemons}


def _python_path(outside: Mapping[str, str]) -> str:
    """Return a path on which this very package is found, wherever it was imported from."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(kettle.__file__)))
    others = [part for part in outside.get("PYTHONPATH", "").split(os.pathsep) if part]
    return os.pathsep.join([here, *(os.path.abspath(part) for part in others)])


def _parents(folder: str) -> Iterator[str]:
    path = os.path.dirname(folder)
    while True:
        yield path
        if path == "/":
            return
        path = os.path.dirname(path)


@contextlib.contextmanager
def _notification_socket(path: str) -> Iterator[tuple[socket.socket, str]]:
    """Listen for the master's word, as a service manager would.

    The name of such a socket may be 107 bytes long; a longer one is replaced by an abstract one.
    """
    name = path if len(os.fsencode(path)) < 100 else f"@kettle-{os.getpid()}-{id(path)}"
    with contextlib.suppress(OSError):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        sock.bind(name.replace("@", "\0", 1) if name.startswith("@") else name)
        if not name.startswith("@"):
            # The master may work as another account, and is to be heard as well.
            os.chmod(name, 0o666)  # noqa: S103 - as systemd's is
        try:
            yield sock, name
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
