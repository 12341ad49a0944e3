"""Peers that lie: slots that are none, sizes beyond belief, names and jobs of others."""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kettle.classad import ClassAd, parse_old_ad
from kettle.client.connector import Connector
from kettle.config import load_config
from kettle.pool.personal import PersonalPool
from kettle.runtime.storage.files import SystemSources
from kettle.testing.pool_fixture import personal_pool
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Update
from pool_jobs import (
    ask_queue,
    daemon_pid,
    log_text,
    run_as,
    run_tool,
    submit,
    submit_as,
    wait_until,
)

TRUE = "executable = /bin/true\ntransfer_executable = false\n"
OPEN = "ALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)\nALLOW_READ = *\n"
HOLD = ("HoldReasonCode", "HoldReasonSubCode", "HoldReason")
DAEMONS = ("collector", "negotiator", "schedd", "startd")


def pids(pool: PersonalPool) -> dict[str, int]:
    return {name: daemon_pid(pool, f"condor_{name}") for name in DAEMONS}


class Liar:
    """Listens as a startd would, and answers everybody with the same bytes, or with nothing."""

    def __init__(self, answer: bytes | None) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._kept: list[socket.socket] = []
        self.address = f"<127.0.0.1:{self._listener.getsockname()[1]}?noUDP>"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def callers(self) -> int:
        """How many have asked for something."""
        return len(self._kept)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                self._kept.append(caller)
                if self._answer is not None:
                    caller.recv(1 << 16)
                    caller.sendall(self._answer)
                    caller.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Leave."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for caller in self._kept:
            caller.close()


@contextlib.contextmanager
def liar(answer: bytes | None) -> Iterator[Liar]:
    one = Liar(answer)
    try:
        yield one
    finally:
        one.close()


def honest_ad(pool: PersonalPool) -> ClassAd:
    code, said, complaint = run_tool(pool, "condor_status", "-l")
    assert code == 0, complaint
    return parse_old_ad(said.strip().splitlines())


def advertise(pool: PersonalPool, name: str, address: str, **changed: object) -> None:
    """Tell the collector of a slot as its startd would, with a claim id that nobody minted."""
    ad = honest_ad(pool)
    for attribute, value in {"Name": name, "MyAddress": address, "StartdIpAddr": address}.items():
        ad[attribute] = value
    ad["Machine"] = name.partition("@")[2]
    for attribute, text in changed.items():
        ad.insert_text(attribute, str(text))
    claim = f'{address}#1#1#[Encryption="YES";Integrity="YES";CryptoMethods="AES";]{"ab" * 32}'
    private = ClassAd({"ClaimId": claim, "Capability": claim})
    config = load_config(SystemSources(), pool.environment(), subsystem="TOOL")
    _, said, _ = run_tool(pool, "condor_status", "-collector", "-af", "MyAddress")
    with Connector(config).connect(said.strip(), Command.UPDATE_STARTD_AD) as stream:
        stream.send(Update(ad, private))


SIZES = {
    "larger than numbers": {"Memory": "9223372036854775807", "Cpus": "9223372036854775807"},
    "less than nothing": {"Memory": "-1", "Cpus": "-5", "Disk": "-9223372036854775808"},
    "no numbers": {"Memory": '"much"', "Cpus": "{1,2}", "Disk": "error"},
    "beyond all": {"Memory": "1.0e308", "Cpus": 'real("INF")', "Disk": "0.0/0.0"},
    "without end": {"Memory": "MY.Cpus", "Cpus": "MY.Memory", "Requirements": "MY.Requirements"},
}


def test_slots_of_absurd_sizes_are_no_use_and_no_harm(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, "NUM_CPUS = 2\n") as pool, liar(None) as startd:
        before = pids(pool)
        for number, sizes in enumerate(SIZES.values()):
            advertise(pool, f"slot1@absurd{number}", startd.address, **sizes)
        wait_until(lambda: len(names(pool)) == 1 + len(SIZES), 20)
        assert run_tool(pool, "condor_status")[0] == 0
        assert run_tool(pool, "condor_status", "-total")[0] == 0
        submit(pool, work, f"{TRUE}queue 2\n").wait_for(5, 120)
        assert pids(pool) == before


def names(pool: PersonalPool) -> list[str]:
    return run_tool(pool, "condor_status", "-af", "Name")[1].split()


GARBAGE = {"silence": None, "noise": os.urandom(4000), "zeros": bytes(4000), "a page": b"HTTP/1.1 "}


def test_startds_that_do_not_honour_their_claims_keep_no_job(tmp_path: Path, work: Path) -> None:
    with (
        personal_pool(tmp_path, "NUM_CPUS = 4\n") as pool,
        contextlib.ExitStack() as stack,
    ):
        before = pids(pool)
        liars = [stack.enter_context(liar(answer)) for answer in GARBAGE.values()]
        for number, one in enumerate(liars):
            advertise(pool, f"slot1@liar{number}", one.address, Memory=1 << 20)
        wait_until(lambda: len(names(pool)) == 1 + len(liars), 20)
        # Jobs that are offered to them first, and one that they have nothing to do with.
        jobs = submit(pool, work / "jobs", f"{TRUE}rank = Memory\nqueue 4\n")
        wait_until(lambda: all(one.callers for one in liars), 60)
        honest = 'requirements = !regexp("liar", Machine)\n'
        submit(pool, work / "other", f"{TRUE}{honest}queue\n").wait_for(5, 60)
        jobs.wait_for(5, 120)
        said = Path(pool.log_folder, "SchedLog").read_text()
        for one in liars:
            assert f"No claim {one.address}" in said
        assert set(jobs.count_events(1).values()) == {1}
        assert pids(pool) == before


@pytest.mark.root
def test_names_and_jobs_of_others_are_refused_with_a_sentence(
    tmp_path: Path, work: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    account = make_account("liar")
    with personal_pool(tmp_path, OPEN) as pool:
        home = work / "home"
        submit_as(pool, account, home, f"{TRUE}queue\n")
        name = honest_ad(pool).string("Name")
        (home / "ad").write_text(f'MyType = "Machine"\nName = "{name}"\nMemory = 1\n')
        code, complaint = run_as(account, home, pool, "condor_advertise", "UPDATE_STARTD_AD", "ad")
        assert code != 0
        assert "DENIED" in complaint
        assert (honest_ad(pool).integer("Memory") or 0) > 1
        for owner in ("root", "nobody", "nosuch"):
            (home / "sub").write_text(f'executable = /bin/true\n+Owner = "{owner}"\nqueue\n')
            code, complaint = run_as(account, home, pool, "condor_submit", "sub")
            assert code == 1
            assert f"{account.pw_name}@" in complaint
            assert f"cannot submit jobs of {owner}" in complaint


@pytest.mark.root
def test_a_job_whose_owner_has_no_account_any_more_waits_and_says_why(
    tmp_path: Path, work: Path
) -> None:
    """The name service may know him again; that it is held after minutes is told elsewhere."""
    name = f"ktgone{os.getpid() % 100000}"
    subprocess.run(["useradd", "--no-create-home", name], check=True)
    try:
        with personal_pool(tmp_path, OPEN) as pool:
            submit_as(pool, pwd.getpwnam(name), work / "home", f"{TRUE}hold = true\nqueue\n")
            mine = ("-allusers", "-constraint", f'Owner == "{name}"', "-af", "ClusterId")
            (cluster,) = run_tool(pool, "condor_q", *mine)[1].split()
            subprocess.run(["userdel", "--force", name], check=True)
            assert run_tool(pool, "condor_release", "-all")[0] == 0
            why = f"there is no account '{name}' on this machine, and none is lent to {name}@"

            def tell() -> str:
                return run_tool(pool, "kettle", "why", f"{cluster}.0")[1]

            wait_until(lambda: why in tell(), 30, tell)
            assert why in log_text(pool, "SchedLog")
            submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)
    finally:
        subprocess.run(["userdel", "--force", name], check=False, capture_output=True)


def test_a_job_bigger_than_every_slot_waits_and_is_told_what_would_help(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, "NUM_CPUS = 2\nMEMORY = 1000\n") as pool:
        large = submit(pool, work / "large", f"{TRUE}request_memory = 900TB\nqueue\n")
        wide = submit(pool, work / "wide", f"{TRUE}request_cpus = 1000\nqueue\n")
        submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)
        for jobs, helps in ((large, "RequestMemory <= "), (wide, "RequestCpus <= 2")):
            assert ask_queue(pool, str(jobs.cluster), "JobStatus") == [["1"]]
            code, said, _ = run_tool(pool, "condor_q", "-better-analyze", str(jobs.cluster))
            assert code == 0
            assert "No machines matched the job's constraints" in said
            assert helps in run_tool(pool, "kettle", "why", f"{jobs.cluster}.0")[1]
