"""A pool of the real HTCondor, for tests that talk to it.

The real programs are looked for in a chroot ($KETTLE_PEER_ROOT, else ~/.cache/kettle-peer), which
needs root. Where they are not, the tests that need them are skipped, and say so.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from kettle.client.connector import Connector
from kettle.config import Config
from kettle.runtime.credentials import SystemClientCredentials
from kettle.wire.sinful import Sinful

START_SECONDS = 60.0

CONFIG = """\
RELEASE_DIR=/usr
BIN=/usr/bin
SBIN=/usr/sbin
LIB=/usr/lib/condor
LIBEXEC=/usr/libexec/condor
SHARE=/usr/share/condor
ETC=/etc/condor
LOCAL_DIR=/tmp/{name}
LOG=$(LOCAL_DIR)/log
SPOOL=$(LOCAL_DIR)/spool
EXECUTE=$(LOCAL_DIR)/execute
LOCK=$(LOCAL_DIR)/lock
RUN=$(LOCAL_DIR)/run
use ROLE: CentralManager
use ROLE: Submit
use ROLE: Execute
CONDOR_HOST=127.0.0.1
NETWORK_INTERFACE=127.0.0.1
USE_SHARED_PORT=false
COLLECTOR_HOST=127.0.0.1:0
COLLECTOR_ADDRESS_FILE=$(LOG)/.collector_address
ALLOW_READ=*
ALLOW_WRITE=*
ALLOW_DAEMON=*
ALLOW_NEGOTIATOR=*
ALLOW_ADMINISTRATOR=*
SEC_DEFAULT_AUTHENTICATION_METHODS=FS,CLAIMTOBE
NUM_CPUS=4
MEMORY=4096
SCHEDD_INTERVAL=2
NEGOTIATOR_INTERVAL=2
NEGOTIATOR_MIN_INTERVAL=1
NEGOTIATOR_CYCLE_DELAY=1
UPDATE_INTERVAL=5
RUNBENCHMARKS=False
ENABLE_RUNTIME_CONFIG=true
SETTABLE_ATTRS_ADMINISTRATOR=*
"""


def peer_root() -> Path:
    """Return the chroot with the real programs, or skip."""
    root = Path(os.environ.get("KETTLE_PEER_ROOT", Path.home() / ".cache/kettle-peer"))
    if os.geteuid() != 0 or not (root / "usr/sbin/condor_master").exists():
        pytest.skip(f"the real HTCondor is not in {root}, or this is not root")
    return root


class PeerCredentials(SystemClientCredentials):
    """Credentials of the account `tester`, whose FS directories lie inside the chroot."""

    def __init__(self, config: Config, root: Path) -> None:
        super().__init__(config)
        self._root = root
        line = next(
            one
            for one in (root / "etc/passwd").read_text().splitlines()
            if one.startswith("tester:")
        )
        self._ids = int(line.split(":")[2]), int(line.split(":")[3])

    def make_directory(self, path: str) -> None:
        os.mkdir(f"{self._root}{path}", 0o700)
        os.chown(f"{self._root}{path}", *self._ids)

    def remove_directory(self, path: str) -> None:
        with suppress(FileNotFoundError):
            os.rmdir(f"{self._root}{path}")

    def user_name(self) -> str:
        return "tester"


class RealPool:
    """A running pool of the real HTCondor."""

    def __init__(self, root: Path, name: str, extra: str = "") -> None:
        self.root = root
        self.name = name
        self.extra = extra
        self.folder = root / "tmp" / name

    @property
    def collector(self) -> Sinful:
        text = (self.folder / "log/.collector_address").read_text()
        return Sinful.parse(text.splitlines()[0])

    def connector(self, *, methods: str = "FS", extra: str = "") -> Connector:
        """Return a connector that authenticates as `tester` and insists on encryption."""
        config = Config.from_text(
            f"SEC_CLIENT_AUTHENTICATION_METHODS={methods}\n"
            "SEC_CLIENT_AUTHENTICATION=REQUIRED\n"
            "SEC_CLIENT_ENCRYPTION=REQUIRED\n"
            f"UID_DOMAIN=test\n{extra}",
            subsystem="TOOL",
        )
        connector = Connector(config)
        connector.setup.credentials = PeerCredentials(config, self.root)
        return connector

    def run(self, *command: str) -> str:
        """Run a real tool as root inside the pool's configuration."""
        done = subprocess.run(
            ["chroot", str(self.root), "env", self._setting, *command],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    @property
    def _setting(self) -> str:
        return f"CONDOR_CONFIG=/tmp/{self.name}/condor_config"

    def start(self) -> None:
        for folder in ("log", "spool", "execute", "lock", "run"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        (self.folder / "condor_config").write_text(CONFIG.format(name=self.name) + self.extra)
        inside = ["chroot", str(self.root)]
        subprocess.run([*inside, "chown", "-R", "condor", f"/tmp/{self.name}"], check=True)
        (self.folder / "execute").chmod(0o1777)
        master = ["condor_master", "-pidfile", f"/tmp/{self.name}/master.pid"]
        subprocess.run([*inside, "env", self._setting, *master], check=True, timeout=30)
        deadline = time.monotonic() + START_SECONDS
        while not (self._has_slot() if "DAEMON_LIST" not in self.extra else self._has_schedd()):
            assert time.monotonic() < deadline, f"no slot appeared; see {self.folder}/log"
            time.sleep(0.25)

    def _has_slot(self) -> bool:
        with suppress(subprocess.CalledProcessError):
            return bool(self.run("condor_status", "-af", "Name").strip())
        return False

    def _has_schedd(self) -> bool:
        with suppress(subprocess.CalledProcessError):
            return bool(self.run("condor_status", "-schedd", "-af", "Name").strip())
        return False

    def run_as_tester(self, *command: str) -> str:
        """Run a real tool as the user who submits jobs."""
        line = " ".join(command)
        return self.run(
            "su", "tester", "-s", "/bin/bash", "-c", f"cd /tmp/{self.name}/user; {line}"
        )

    def stop(self) -> None:
        pid = int((self.folder / "master.pid").read_text())
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)
            for _ in range(80):
                os.kill(pid, 0)
                time.sleep(0.25)
            os.kill(pid, signal.SIGKILL)


@contextmanager
def real_pool(name: str, extra: str = "") -> Iterator[RealPool]:
    """Start a pool of the real HTCondor and stop it afterwards; skips where there is none.

    `extra` is appended to its configuration; with a DAEMON_LIST there, no slot is waited for.
    """
    pool = RealPool(peer_root(), name, extra)
    pool.start()
    try:
        yield pool
    finally:
        pool.stop()
