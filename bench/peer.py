"""The real HTCondor in a chroot, as what stands beside Kettle in a bench.

$KETTLE_PEER_ROOT names the chroot; without it, or without root, there is no peer and its figures
are left out.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CONFIG = """\
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
ALLOW_ADVERTISE_STARTD=*
SEC_DEFAULT_AUTHENTICATION_METHODS=FS
MAX_JOBS_PER_SUBMISSION=2000000
MAX_JOBS_PER_OWNER=2000000
"""
_START_SECONDS = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


def machine() -> dict[str, object]:
    """Describe the machine, and how busy it is with other things."""
    return {
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "taken": time.strftime("%Y-%m-%d %H:%M:%S"),
        "load": os.getloadavg()[0],
        "piece_ms": round(piece_of_python() * 1000, 2),
    }


def piece_of_python() -> float:
    """Return the CPU seconds of a fixed piece of Python: 3.0 ms where both cores are quiet."""
    best = 1.0
    for _ in range(5):
        began = time.process_time()
        numbers = {str(number): number for number in range(20_000)}
        "".join(numbers)
        best = min(best, time.process_time() - began)
    return best


def daemon_cpu(pid: int) -> float:
    """Return the CPU seconds of a daemon so far, with those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def tools_cpu() -> float:
    """Return the CPU seconds of all tools that this process has run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def find_daemon(title: bytes, folder: str) -> int:
    """Return the daemon whose command line begins so and whose working folder is in `folder`."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                line = Path(f"/proc/{name}/cmdline").read_bytes()
                where = os.readlink(f"/proc/{name}/cwd")
            except OSError:
                continue
            if line.startswith(title) and b":" not in line[:40] and folder in where:
                return int(name)
    raise SystemExit(f"no {title.decode()} in {folder}")


class PeerPool:
    """A central manager and a schedd of the real HTCondor."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.name = name
        self.folder = root / "tmp" / name

    def start(self, extra: str = "") -> None:
        """Bring it up and wait for its schedd."""
        for folder in ("log", "spool", "execute", "lock", "run", "user"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        (self.folder / "condor_config").write_text(_CONFIG.format(name=self.name) + extra)
        inside = ["chroot", str(self.root)]
        subprocess.run([*inside, "chown", "-R", "condor", f"/tmp/{self.name}"], check=True)
        subprocess.run([*inside, "chown", "-R", "tester", f"/tmp/{self.name}/user"], check=True)
        master = ["condor_master", "-pidfile", f"/tmp/{self.name}/master.pid"]
        subprocess.run([*inside, "env", self._setting, *master], check=True, timeout=30)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            with suppress(subprocess.CalledProcessError):
                if self.run("condor_status", "-schedd", "-af", "Name").strip():
                    return
            time.sleep(0.25)
        raise SystemExit(f"the peer did not come up; see {self.folder}/log")

    @property
    def _setting(self) -> str:
        return f"CONDOR_CONFIG=/tmp/{self.name}/condor_config"

    def argv(self, *command: str) -> list[str]:
        """Return what runs a tool of the peer's."""
        return ["chroot", str(self.root), "env", self._setting, *command]

    def argv_as_tester(self, *command: str) -> list[str]:
        """Return what runs a tool as the user who submits jobs."""
        line = f"cd /tmp/{self.name}/user; {' '.join(command)}"
        return self.argv("su", "tester", "-s", "/bin/bash", "-c", line)

    def run(self, *command: str) -> str:
        """Run a tool and return what it prints."""
        return subprocess.run(
            self.argv(*command), capture_output=True, text=True, timeout=600, check=True
        ).stdout

    def stop(self) -> None:
        """Take it down and remove its folder."""
        pid = int((self.folder / "master.pid").read_text())
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)
            for _ in range(80):
                os.kill(pid, 0)
                time.sleep(0.25)
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def peer_pool(name: str, extra: str = "") -> Iterator[PeerPool | None]:
    """Start a pool of the real HTCondor, if there is one here, and take it down afterwards."""
    root = Path(os.environ.get("KETTLE_PEER_ROOT", ""))
    if os.geteuid() != 0 or not (root / "usr/sbin/condor_master").exists():
        yield None
        return
    pool = PeerPool(root, name)
    pool.start(extra)
    try:
        yield pool
    finally:
        pool.stop()
