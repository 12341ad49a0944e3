"""A pool of the real HTCondor, for tests that talk to it.

The real programs are looked for in the folder that `.ci/peer-condor setup` makes
($KETTLE_PEER_ROOT, else /var/cache/kettle-peer), which needs root. Where they are not, the tests
that need them are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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

PEER_CONDOR = Path(__file__).resolve().parents[2] / ".ci/peer-condor"
# Limit: how much of a failed pool's logs a report shows.
TAIL_LINES = 40


def inside(root: Path) -> list[str]:
    """Return what runs the rest of a command line inside the folder, as root."""
    return ["env", f"KETTLE_PEER_ROOT={root}", str(PEER_CONDOR), "in"]


def peer_root() -> Path:
    """Return the folder with the real programs, or skip."""
    root = Path(os.environ.get("KETTLE_PEER_ROOT", "/var/cache/kettle-peer"))
    if os.geteuid() != 0:
        pytest.skip("the real HTCondor is run by root only")
    if not (root / "usr/sbin/condor_master").exists():
        pytest.skip(f"the real HTCondor is not in {root}: .ci/peer-condor setup puts it there")
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
            self.argv(*command),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    def argv(self, *command: str) -> list[str]:
        """Return what runs a real tool as root inside the pool's configuration."""
        return [
            *inside(self.root),
            "env",
            f"CONDOR_CONFIG=/tmp/{self.name}/condor_config",
            *command,
        ]

    def start(self) -> None:
        extra = self.folder.with_suffix(".extra")
        extra.write_text(self.extra)
        # Whatever becomes of this process, the pool does not outlive it.
        command = ["setpriv", "--pdeathsig", "KILL", PEER_CONDOR, "serve", self.name, str(extra)]
        self._process = subprocess.Popen(command, env=self._environment)
        deadline = time.monotonic() + START_SECONDS
        while not (self.folder / "log/MasterLog").exists():
            assert time.monotonic() < deadline, f"no master; see {self.folder}/said"
            time.sleep(0.05)

    def wait_for_its_ads(self) -> None:
        """Wait for a slot, or for the schedd of a pool that has a list of daemons."""
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
        subprocess.run([PEER_CONDOR, "stop", self.name], env=self._environment, check=True)
        self._process.kill()
        self._process.wait()
        self.folder.with_suffix(".extra").unlink()

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "KETTLE_PEER_ROOT": str(self.root)}

    def print_logs(self) -> None:
        """Write the end of every log to standard output, for the report of a failed test."""
        for path in sorted((self.folder / "log").glob("*Log")):
            tail = path.read_text(errors="replace").splitlines()[-TAIL_LINES:]
            sys.stdout.write(f"--- the real {path.name}\n" + "\n".join(tail) + "\n")


@contextmanager
def real_pool(name: str, extra: str = "", *, alone: bool = True) -> Iterator[RealPool]:
    """Start a pool of the real HTCondor and stop it afterwards; skips where there is none.

    `extra` is appended to its configuration; with a DAEMON_LIST there, no slot is waited for. One
    that is not `alone` is the real part of a mixed pool: nothing is waited for.
    """
    pool = RealPool(peer_root(), name, extra)
    try:
        pool.start()
        if alone:
            pool.wait_for_its_ads()
        yield pool
    except BaseException:
        pool.print_logs()
        raise
    finally:
        pool.stop()
        shutil.rmtree(pool.folder, ignore_errors=True)
