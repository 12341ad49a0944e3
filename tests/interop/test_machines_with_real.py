"""Pools of several machines, Kettle's and the real HTCondor's mixed, joined by tokens alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from interop.machines import Machine, network, slots_of, submit, tool, wait_for
from interop.real_pool import peer_root

pytestmark = pytest.mark.interop

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


class Real:
    """The real HTCondor on one of the machines."""

    def __init__(self, machine: Machine, extra: str) -> None:
        self.machine = machine
        self.root = peer_root()
        machine.take_names(str(self.root))
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


MEMBER = """\
COLLECTOR_HOST={centre}:9618
DAEMON_LIST=MASTER, SCHEDD, STARTD
"""


@pytest.fixture(scope="module")
def joined() -> Iterator[tuple[Machine, Real]]:
    """Our centre, and a machine with HTCondor that joined it for both."""
    peer_root()
    with network("joined") as made:
        centre = made.add("centre")
        centre.kettle("up", "--host")
        token = made.folder / "token"
        centre.kettle("token", "--for", "both", "--output", str(token))
        with real_on(made.add("real"), MEMBER.format(centre=centre.address)) as real:
            real.start(token)
            wait_for(lambda: "slot1@real" in slots_of(centre), 60, real.logs)
            yield centre, real


def test_our_jobs_run_on_a_real_machine_that_joined_with_our_token(
    joined: tuple[Machine, Real],
) -> None:
    centre, real = joined
    (centre.folder / "in.txt").write_text("brought along\n")
    jobs = submit(
        centre,
        "away",
        "executable = /bin/sh\narguments = \"-c 'cat in.txt; hostname > where'\"\n"
        "transfer_executable = false\ntransfer_input_files = in.txt\noutput = away.out\n"
        'requirements = Machine == "real"\nqueue\n',
    )
    wait_for(lambda: "005" in jobs.events(), 90, lambda: jobs.describe() + real.logs())
    assert (centre.folder / "away.out").read_text() == "brought along\n"
    assert (centre.folder / "where").read_text() == "real\n"
    said = tool(centre, "condor_status", "-af", "Machine", "AuthenticatedIdentity")
    assert "real both@members.centre" in said


def test_a_real_schedd_that_joined_is_negotiated_with_by_its_own_session(
    joined: tuple[Machine, Real],
) -> None:
    centre, real = joined
    user = real.folder / "user"
    (user / "job.sub").write_text(
        "executable=/bin/hostname\ntransfer_executable=false\noutput=job.out\nlog=job.log\n"
        'request_memory=16\nshould_transfer_files=yes\nrequirements = Machine == "centre"\nqueue\n'
    )
    real.tool("condor_submit", "job.sub", user="tester")
    log = user / "job.log"
    wait_for(
        lambda: log.exists() and "Normal termination (return value 0)" in log.read_text(),
        90,
        lambda: real.logs() + (centre.folder / "pool/log/NegotiatorLog").read_text()[-3000:],
    )
    assert (user / "job.out").read_text() == "centre\n"


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


@pytest.fixture(scope="module")
def entered() -> Iterator[tuple[Real, Machine, Machine]]:
    """A real centre, and two machines of ours that joined it: one for both, one walled."""
    peer_root()
    with network("entered") as made:
        machine = made.add("cm")
        extra = CENTRE.format(address=machine.address, host=machine.name)
        with real_on(machine, extra) as real:
            real.start()
            wait_for(lambda: _has_slot(real), 60, real.logs)
            token = made.folder / "token"
            make_real_token(real, token)
            both, walled = made.add("both"), made.add("walled")
            walled.build_wall()
            words = ("up", "--join", machine.address, "--token-file", str(token))
            both.kettle(*words, "--role", "both")
            walled.kettle(*words, "--behind-firewall")
            yield real, both, walled


def _has_slot(real: Real) -> bool:
    with suppress(AssertionError):
        return "slot1@cm" in real.tool("condor_status", "-af", "Name")
    return False


def test_our_execution_points_serve_a_real_pool_also_behind_a_wall(
    entered: tuple[Real, Machine, Machine],
) -> None:
    real, _, _ = entered
    user = real.folder / "user"
    (user / "job.sub").write_text(
        "executable=/bin/hostname\ntransfer_executable=false\noutput=$(where).out\nlog=job.log\n"
        "request_memory=16\nshould_transfer_files=yes\n"
        'requirements = Machine == "$(where)"\nqueue where in (both, walled)\n'
    )
    real.tool("condor_submit", "job.sub", user="tester")
    log = user / "job.log"
    wait_for(
        lambda: log.exists() and log.read_text().count("Normal termination (return value 0)") == 2,
        90,
        real.logs,
    )
    for name in ("both", "walled"):
        assert (user / f"{name}.out").read_text() == f"{name}\n"


def test_our_access_point_has_its_jobs_matched_by_a_real_negotiator(
    entered: tuple[Real, Machine, Machine],
) -> None:
    real, both, _ = entered
    jobs = submit(
        both,
        "home",
        "executable = /bin/hostname\ntransfer_executable = false\noutput = cm.out\n"
        'requirements = Machine == "cm"\nqueue\n',
    )
    wait_for(lambda: jobs.events().count("005") == 1, 90, lambda: jobs.describe() + real.logs())
    assert (both.folder / "cm.out").read_text() == "cm\n"


def test_what_keeps_us_out_of_a_real_pool_is_said_in_one_sentence(
    entered: tuple[Real, Machine, Machine],
) -> None:
    real, _, _ = entered
    network_of_both = entered[1]
    token = network_of_both.folder / "narrow"
    words = ("-identity", "member@pool", "-authz", "READ")
    token.write_text(real.tool("condor_token_create", *words))
    done = network_of_both.run(
        "kettle", "up", "--dir", "other", "--join", real.machine.address, "--token-file", str(token)
    )
    assert done.code == 1
    assert "it refuses ADVERTISE_MASTER, ADVERTISE_STARTD" in done.complaint
    assert done.complaint.count("\n") == 1
    assert not (network_of_both.folder / "other").exists()
