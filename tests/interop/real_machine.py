"""The real HTCondor on one of the machines of `interop.machines`: configuration, start, tools."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from interop.machines import Machine, wait_for
from interop.real_pool import PEER_CONDOR, peer_root

REAL = """\
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
NETWORK_INTERFACE={address}
NETWORK_HOSTNAME={host}
UID_DOMAIN={host}
TRUST_DOMAIN={host}
USE_SHARED_PORT=false
SEC_DEFAULT_AUTHENTICATION=REQUIRED
SEC_DEFAULT_ENCRYPTION=REQUIRED
SEC_DEFAULT_INTEGRITY=REQUIRED
SEC_DEFAULT_AUTHENTICATION_METHODS=FS, IDTOKENS
SEC_TOKEN_SYSTEM_DIRECTORY=$(LOCAL_DIR)/tokens
SEC_PASSWORD_DIRECTORY=$(LOCAL_DIR)/passwords
SEC_TOKEN_POOL_SIGNING_KEY_FILE=$(SEC_PASSWORD_DIRECTORY)/POOL
SEC_PASSWORD_FILE=$(SEC_PASSWORD_DIRECTORY)/POOL
ALLOW_READ=*@{host}
ALLOW_WRITE=*@{host}
ALLOW_DAEMON=condor@{host}, root@{host}, condor@password
ALLOW_NEGOTIATOR=$(ALLOW_DAEMON)
ALLOW_ADMINISTRATOR=$(ALLOW_DAEMON)
NUM_CPUS=2
MEMORY=4096
UPDATE_INTERVAL=5
NEGOTIATOR_INTERVAL=3
NEGOTIATOR_MIN_INTERVAL=1
NEGOTIATOR_CYCLE_DELAY=1
SCHEDD_INTERVAL=5
RUNBENCHMARKS=False
START=true
{extra}
"""


def furnish(machine: Machine, root: Path) -> None:
    """Have the folder of the real programs be a machine's root directory, on that machine alone."""
    machine.ok("env", f"KETTLE_PEER_ROOT={root}", str(PEER_CONDOR), "furnish")
    machine.take_names(str(root))


class Real:
    """The real HTCondor on one of the machines."""

    def __init__(self, machine: Machine, extra: str) -> None:
        self.machine = machine
        self.root = peer_root()
        furnish(machine, self.root)
        self.name = f"kettle-{machine.name}-{os.getpid()}"
        self.folder = self.root / "tmp" / self.name
        for folder in ("log", "spool", "execute", "lock", "run", "user"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "condor_config").write_text(
            REAL.format(name=self.name, address=machine.address, host=machine.name, extra=extra)
        )
        self._in_chroot("chown", "-R", "condor", f"/tmp/{self.name}")
        for name in ("tokens", "passwords"):
            (self.folder / name).mkdir(mode=0o700)
        (self.folder / "execute").chmod(0o1777)
        (self.folder / "user").chmod(0o777)

    def _in_chroot(self, *words: str) -> str:
        setting = f"CONDOR_CONFIG=/tmp/{self.name}/condor_config"
        return self.machine.ok("chroot", str(self.root), "env", "-C", "/", setting, *words)

    def tool(self, *words: str, user: str = "") -> str:
        """Run a real program there, as root or as the user who submits jobs."""
        if user:
            line = f"cd /tmp/{self.name}/user; {' '.join(words)}"
            return self._in_chroot("su", user, "-s", "/bin/bash", "-c", line)
        return self._in_chroot(*words)

    def start(self, token: Path | None = None) -> None:
        if token is not None:
            shutil.copyfile(token, self.folder / "tokens/pool")
            (self.folder / "tokens/pool").chmod(0o600)
        self._in_chroot("condor_master", "-pidfile", f"/tmp/{self.name}/master.pid")

    def stop(self) -> None:
        with suppress(OSError, ValueError):
            pid = int((self.folder / "master.pid").read_text())
            os.kill(pid, 3)
            wait_for(lambda: not Path(f"/proc/{pid}").exists(), 30, "the real master stays")

    def logs(self) -> str:
        """The ends of its daemons' logs."""
        return "\n".join(
            f"== {path.name}\n{path.read_text(errors='replace')[-2500:]}"
            for path in sorted((self.folder / "log").glob("*Log"))
        )


@contextmanager
def real_on(machine: Machine, extra: str) -> Iterator[Real]:
    real = Real(machine, extra)
    try:
        yield real
    except BaseException:
        print(real.logs())
        raise
    finally:
        real.stop()
        shutil.rmtree(real.folder, ignore_errors=True)


CENTRE = """\
COLLECTOR_HOST={address}:9618
DAEMON_LIST=MASTER, COLLECTOR, NEGOTIATOR, SCHEDD, STARTD
ALLOW_READ=*@{host}, member@pool
ALLOW_ADVERTISE_MASTER=$(ALLOW_DAEMON), member@pool
ALLOW_ADVERTISE_STARTD=$(ALLOW_DAEMON), member@pool
ALLOW_ADVERTISE_SCHEDD=$(ALLOW_DAEMON), member@pool
"""


def make_real_token(real: Real, path: Path) -> None:
    levels = ("READ", "ADVERTISE_MASTER", "ADVERTISE_STARTD", "ADVERTISE_SCHEDD")
    words = [word for level in levels for word in ("-authz", level)]
    text = real.tool("condor_token_create", "-identity", "member@pool", *words)
    path.write_text(text)
    path.chmod(0o600)
