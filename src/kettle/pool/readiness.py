"""Waiting for a pool to be ready, and hearing meanwhile what is wrong with it.

It is ready when its master has started every daemon, and its collector knows a schedd, a negotiator
and a slot that takes jobs: then a submit would run at once. What a log's line means is
`complaints.py`'s.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from kettle.errors import AuthenticationFailed, AuthorizationDenied, KettleError
from kettle.octets import AS_IS
from kettle.pool.complaints import (
    end_again_and_again,
    find_complaints,
    find_endings,
    find_refusals,
    is_hopeless,
    last_life,
    render_complaints,
)
from kettle.pool.folder import PoolFolder
from kettle.pool.location import is_own_name
from kettle.pool.settings import name_given_lines
from kettle.pool.watched_daemons import WatchedDaemons, ask_master

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.config import Config

POLL_SECONDS = 0.01
# How often the logs of a pool that is not up yet are looked at.
_LOOK_SECONDS = 1.0
# A collector that has not heard us for so long, and says so, will not; nor does a machine that has
# taken no jobs for so long, and says why.
_REFUSED_SECONDS = 3.0
# As much as a daemon has to write to be found.
_PROBE_BYTES = 512
# Limit: how much of a log is read for the end of its daemon's last life.
_TAIL_BYTES = 64 * 1024
# Limit: one message of a service to its manager; longer is none of ours.
_NOTIFICATION_BYTES = 4096
# Limit: the kernel takes names of 107 bytes.
_LONGEST_SOCKET_NAME = 100
# The type of an ad that a job needs, and the daemon that sends it.
_NEEDED_ADS = {"Scheduler": "SCHEDD", "Negotiator": "NEGOTIATOR", "Machine": "STARTD"}
_WITHOUT_MACHINE = "DAEMON_LIST without STARTD makes a pool that has no machine of its own"
# Is told of what goes wrong where that is no reason to give up.
Tells = Callable[[str], object]


class Complaints:
    """What the daemons of a pool write to their logs of what is wrong, from now on."""

    def __init__(self, log_folder: str, config: Config) -> None:
        self._folder = log_folder
        self._config = config
        self._root = config.files[0] if config.files else ""
        # What was complained of at an earlier start does not count.
        self._sizes = {path: _size(path) for path in find_logs(log_folder, config)}

    def __str__(self) -> str:
        """What is said, in a sentence or two."""
        logs = self._read()
        found = find_complaints(logs) or find_endings(logs) or find_refusals(logs)
        full = why_unwritable(self._folder)
        # Where nothing can be written nothing was, and what is there is of another time.
        said = full or render_complaints(found) or "no log says why"
        try:
            with open(self._root, errors=AS_IS) as file:
                return name_given_lines(said, self._root, file.read())
        except OSError:
            return said

    def error(self, what: str) -> KettleError:
        """Return an error that says what is wrong, what the daemons complain of, and where."""
        return KettleError(f"{what}: {self}", hint=f"the logs are in {self._folder}")

    def are_hopeless(self) -> bool:
        """Whether waiting for the pool is in vain."""
        if self._nobody_finds_collector():
            return True
        logs = self._read()
        return is_hopeless(find_complaints(logs)) or end_again_and_again(find_endings(logs))

    def of_last_life(self, daemon: str) -> str:
        """Return what a daemon's log says of how its last life ended, whenever that was."""
        path = self._config.get(f"{daemon}_LOG")
        try:
            with open(path or os.devnull, errors="replace") as file:
                file.seek(max(0, _size(file.name) - _TAIL_BYTES))
                text = last_life(file.read())
        except OSError:
            return ""
        return render_complaints(find_complaints({os.path.basename(path or ""): text}))

    def _nobody_finds_collector(self) -> bool:
        """Whether the collector, whose port nobody knows, can not tell anybody where it is."""
        file = self._config.get("COLLECTOR_ADDRESS_FILE")
        words = self._config.words("COLLECTOR_HOST")
        if not file or os.path.exists(file) or not any(word.endswith(":0") for word in words):
            return False
        return bool(why_unwritable(os.path.dirname(file)))

    def _read(self) -> dict[str, str]:
        logs: dict[str, str] = {}
        for path, size in self._sizes.items():
            with contextlib.suppress(OSError), open(path, errors="replace") as file:
                file.seek(size)
                logs[os.path.basename(path)] = file.read()
        return logs


def why_unwritable(folder: str) -> str:
    """Return why daemons cannot write a file into a folder, as far as we see; empty if they can."""
    # Loaded here: who only asks whether the pool is up need not load it.
    from kettle.runtime.storage.files import PASSING

    path = os.path.join(folder, f".kettle-{os.getpid()}.probe")
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, bytes(_PROBE_BYTES))
        finally:
            os.close(fd)
            os.unlink(path)
    except OSError as error:
        if error.errno in PASSING:
            return f"{folder}: {error.strerror}: the daemons can write no logs and addresses there"
    return ""


def load_pool_config(pool: PoolFolder) -> Config:
    """Return the pool's configuration, as its tools read it; ConfigError if it has none."""
    # Loaded here: who only asks whether the pool is up need not load it.
    from kettle.config import load_config
    from kettle.runtime.storage.files import SystemSources

    return load_config(SystemSources(), pool.environment(), subsystem="TOOL")


def find_logs(folder: str, config: Config) -> list[str]:
    """Return the logs of the master and of every daemon that it starts, there or not.

    The first, in the pool's log folder, has what the master says before it has a log.
    """
    # The master may start this one unasked.
    names = ["MASTER", "SHARED_PORT", *sorted(_daemons(config) - {"MASTER", "SHARED_PORT"})]
    named = (config.get(f"{name}_LOG") for name in names)
    return [os.path.join(folder, "master.out"), *dict.fromkeys(path for path in named if path)]


def _daemons(config: Config) -> set[str]:
    return {word.strip("+").upper() for word in config.words("DAEMON_LIST")} - {""}


def _awaited_ads(config: Config) -> set[str] | None:
    """Return the types of the ads that the collector is to know; None where nobody is asked.

    That is where nobody here has one and nobody here could say so.
    """
    daemons = _daemons(config)
    wanted = {ad_type for ad_type, daemon in _NEEDED_ADS.items() if daemon in daemons}
    return wanted if wanted or "COLLECTOR" in daemons else None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def wait_for_master(
    pid: int, ready: socket.socket, complaints: Complaints, deadline: float
) -> None:
    """Wait until the master says on `ready` that its daemons are up; KettleError if it dies.

    `deadline` is a moment of `time.monotonic`.
    """
    exited = os.pidfd_open(pid)
    status = ""
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise complaints.error(f"the pool is not up in time{status}")
            if complaints.are_hopeless():
                raise complaints.error("the pool does not come up")
            watched: list[socket.socket | int] = [ready, exited]
            found, _, _ = select.select(watched, [], [], min(left, _LOOK_SECONDS))
            if ready in found:
                said = ready.recv(_NOTIFICATION_BYTES).decode("utf-8", AS_IS)
                if said.startswith("READY=1"):
                    return
                # What the master waits for, as it tells whoever manages services.
                status = ", " + said.removeprefix("STATUS=").partition("\n")[0]
            if exited in found:
                # Whoever began it reaps it: until then nobody else has its number.
                raise complaints.error("the master ended")
    finally:
        os.close(exited)


def wait_for_ads(
    pool: PoolFolder,
    config: Config,
    complaints: Complaints,
    deadline: float,
    tell_trouble: Tells | None = None,
) -> bool:
    """Wait until the collector knows everything a job needs; False if the master ends.

    `deadline` is a moment of `time.monotonic`; KettleError when it is past, and when the collector
    goes on refusing to answer, or the machine to take jobs: with `tell_trouble` a pool whose own
    machine takes none is up, and that is told why.
    """
    wanted = _awaited_ads(config)
    if wanted is None:
        return pool.master_pid() is not None
    wait = _AdWait(pool, config, complaints, wanted, tell_trouble)
    while not wait.look():
        wait.check()
        if pool.master_pid() is None:
            return False
        wait.check_time(deadline)
        time.sleep(POLL_SECONDS)
    return True


class _AdWait:
    """A wait for the ads of these types: what is known, and what speaks against waiting on."""

    def __init__(
        self,
        pool: PoolFolder,
        config: Config,
        complaints: Complaints,
        wanted: set[str],
        tell_trouble: Tells | None,
    ) -> None:
        # Loaded here: who only asks whether the pool is up need not load the wire.
        from kettle.client.connector import Connector
        from kettle.client.pool import Pool, make_query

        self._pool, self._config, self._complaints = pool, config, complaints
        self._wanted, self._missing = wanted, wanted
        self._collector = collector = Pool(Connector(config))
        self._query = make_query("Any", projection=("MyType", "Name", "KettleTrouble"))
        self._trouble = _Trouble(tell_trouble)
        names = _daemons(config) - {"MASTER"} | {"SHARED_PORT"}
        self._daemons = WatchedDaemons(
            names, lambda: ask_master(collector), complaints.of_last_life
        )
        # When we were not refused last, and from when on the master is asked what is missing.
        self._heard = time.monotonic()
        self._looks_at = self._heard + _LOOK_SECONDS

    def look(self) -> bool:
        """Ask the collector once; True if nothing is to be waited for any more.

        KettleError for a collector that goes on refusing us.
        """
        from kettle.wire.commands import Command

        try:
            found = self._collector.query(Command.QUERY_ANY_ADS, self._query)
            ads = _own(found, self._pool, self._config)
            self._missing = self._wanted - {ad.string("MyType") or "" for ad in ads}
            self._trouble.hear(ads)
            settled = not self._missing and self._trouble.is_settled()
            if settled and self._daemons.look():
                return True
            self._heard = time.monotonic()
        except (AuthenticationFailed, AuthorizationDenied) as error:
            if time.monotonic() - self._heard > _REFUSED_SECONDS:
                raise self._complaints.error(f"the collector refuses us, {error}") from None
        except KettleError:
            # It may come yet.
            self._heard = time.monotonic()
        return False

    def check(self) -> None:
        """Raise KettleError for what will not be otherwise soon."""
        self._trouble.check()
        self._daemons.check()
        # A collector that refuses us says so itself, and the master would do no better.
        if self._missing and self._looks_at < self._heard:
            self._daemons.look()
            self._daemons.check_none_is_off(_NEEDED_ADS[one] for one in self._missing)
            self._looks_at = time.monotonic() + _LOOK_SECONDS

    def check_time(self, deadline: float) -> None:
        """Raise KettleError if there is no more time."""
        if time.monotonic() > deadline:
            self._daemons.check_at_last()
            types = ", ".join(sorted(self._missing))
            raise self._complaints.error(f"the pool has no {types} ad in time")


class _Trouble:
    """Why the pool's machine takes no jobs, and since when; it may be over soon."""

    def __init__(self, tell: Tells | None) -> None:
        self._tell = tell
        self._said = ""
        self._since = time.monotonic()

    def hear(self, ads: Iterable[ClassAd]) -> None:
        """Hear what the machine says of itself."""
        self._said = next(filter(None, (ad.string("KettleTrouble") for ad in ads)), "")
        if not self._said:
            self._since = time.monotonic()

    def is_settled(self) -> bool:
        """Whether the machine takes jobs, or will not and somebody is told why, which is done."""
        if self._tell is not None and self._lasts:
            self._tell(self._said)
            return True
        return not self._said

    def check(self) -> None:
        """Raise KettleError for a trouble that lasts, where nobody is to be told."""
        if self._tell is None and self._lasts:
            raise KettleError(f"no job can run here: {self._said}", hint=_WITHOUT_MACHINE)

    @property
    def _lasts(self) -> bool:
        return bool(self._said) and time.monotonic() - self._since > _REFUSED_SECONDS


def _own(ads: Iterable[ClassAd], pool: PoolFolder, config: Config) -> list[ClassAd]:
    """Return the ads of the pool's own daemons, of all that its collector knows."""
    location, host = pool.location, config.get("FULL_HOSTNAME") or "localhost"
    return [ad for ad in ads if is_own_name(location, ad.string("Name") or "", host)]


@contextlib.contextmanager
def notification_socket(path: str) -> Iterator[tuple[socket.socket, str]]:
    """Listen for the master's word, as a service manager would.

    A path too long for the name of a socket is replaced by an abstract name.
    """
    fits = len(os.fsencode(path)) < _LONGEST_SOCKET_NAME
    name = path if fits else f"@kettle-{os.getpid()}-{id(path)}"
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
