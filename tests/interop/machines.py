"""Machines of their own on one host: network, host and mount namespaces, joined by a bridge.

Each machine has its own address, host name and /tmp, so what authenticates by the file system
works within one machine alone. Needs root, and iproute2's `ip` (and `tc` for a firewall); where
that is not to be had, the tests are skipped, and say so.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NETWORK = "10.77.0"


def _call(*words: str, check: bool = True) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 or not check, f"{words}: {done.stderr}"
    return done.stdout


def _hold(*namespaces: str) -> subprocess.Popen[bytes]:
    """Start a process that does nothing but keep new namespaces alive."""
    words = ["unshare", *namespaces, "sh", "-c", "echo; exec sleep infinity"]
    # An interrupted test must still find its machines, to take them down.
    holder = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
    assert holder.stdout is not None
    holder.stdout.readline()
    holder.stdout.close()
    return holder


@dataclass
class Done:
    """What a command on a machine came to."""

    code: int
    said: str
    complaint: str


@dataclass
class Machine:
    """One machine: run commands on it, wall it, cut its line."""

    name: str
    address: str
    holder: subprocess.Popen[bytes]
    switch: subprocess.Popen[bytes]
    folder: Path
    environment: dict[str, str]
    pools: list[str] = field(default_factory=list)

    @property
    def inside(self) -> list[str]:
        """The words before a command that runs on this machine."""
        return ["nsenter", "-t", str(self.holder.pid), "-n", "-u", "-m"]

    def run(self, *words: str, limit: float = 90.0, user: str = "") -> Done:
        """Run a command in the machine's folder."""
        who = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        done = subprocess.run(
            [*self.inside, *who, "env", "-C", str(self.folder), *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def ok(self, *words: str, limit: float = 90.0) -> str:
        """Run a command that succeeds; return what it said."""
        done = self.run(*words, limit=limit)
        assert done.code == 0, f"{self.name}: {words}: {done.said}{done.complaint}"
        return done.said

    def kettle(self, *words: str) -> str:
        """Run `kettle` on the machine's pool."""
        return self.ok("kettle", *words)

    def take_names(self, root: str) -> None:
        """Have the programs below a root directory know the names that this machine knows."""
        for name in ("hosts", "resolv.conf"):
            target = os.path.join(root, "etc", name)
            if os.path.isfile(target):
                _call(*self.inside, "mount", "--bind", str(self.folder / name), target)

    def build_wall(self) -> None:
        """Drop every connection that begins outside; what begins here goes on."""
        inside = self.inside
        _call(*inside, "ip", "link", "add", "nowhere", "type", "veth", "peer", "name", "nothing")
        _call(*inside, "tc", "qdisc", "add", "dev", "eth0", "ingress")
        match = ["u32", "match", "ip", "protocol", "6", "0xff"]
        # Of the TCP header's flags: SYN without ACK.
        match += ["match", "u8", "0x02", "0x12", "at", "33"]
        sink = ["action", "mirred", "egress", "redirect", "dev", "nowhere"]
        words = ["tc", "filter", "add", "dev", "eth0", "parent", "ffff:", "protocol", "ip"]
        _call(*inside, *words, *match, *sink)

    def kill(self, *names: str) -> None:
        """Kill every process of these names in one moment, as if it had never been."""
        found = []
        for pid in processes_in(self.holder.pid):
            with suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].split()
                if words and os.path.basename(words[0].decode()) in names:
                    found.append(pid)
        assert found, f"{self.name} runs none of {names}"
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def cut_line(self) -> None:
        """Pull the cable out of the switch."""
        self._set_port("down")

    def mend_line(self) -> None:
        """Put the cable back."""
        self._set_port("up")

    def _set_port(self, state: str) -> None:
        switch = ["nsenter", "-t", str(self.switch.pid), "-n"]
        _call(*switch, "ip", "link", "set", f"p-{self.name}", state)


class Network:
    """Machines on one switch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machines: list[Machine] = []
        self._switch = _hold("--net")
        switch = ["nsenter", "-t", str(self._switch.pid), "-n"]
        _call(*switch, "ip", "link", "add", "switch", "type", "bridge")
        _call(*switch, "ip", "link", "set", "switch", "up")
        self._programs = _write_programs(folder / "bin")

    def add(self, name: str) -> Machine:
        """Add a machine."""
        number = len(self.machines) + 1
        folder = self.folder / name
        for place in (folder, folder / "tmp"):
            place.mkdir(parents=True)
            place.chmod(0o1777)
        holder = _hold("--net", "--uts", "--mount", "--propagation", "private")
        environment = {
            "PATH": f"{self._programs}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(folder),
            "KETTLE_DIR": str(folder / "pool"),
            "LANG": "C.UTF-8",
        }
        address = f"{NETWORK}.{number}"
        machine = Machine(name, address, holder, self._switch, folder, environment)
        self.machines.append(machine)
        pid, port = str(holder.pid), f"p-{name}"
        switch = ["nsenter", "-t", str(self._switch.pid), "-n"]
        veth = ["type", "veth", "peer", "name", "eth0", "netns", pid]
        _call(*switch, "ip", "link", "add", port, *veth)
        _call(*switch, "ip", "link", "set", port, "master", "switch", "up")
        inside = machine.inside
        _call(*inside, "ip", "link", "set", "lo", "up")
        _call(*inside, "ip", "addr", "add", f"{address}/24", "dev", "eth0")
        _call(*inside, "ip", "link", "set", "eth0", "up")
        _call(*inside, "ip", "route", "add", "default", "dev", "eth0")
        hosts = folder / "hosts"
        hosts.write_text(f"127.0.0.1 localhost\n{address} {name}\n")
        # No name server is to be reached from here: one that refuses is better than silence.
        (folder / "resolv.conf").write_text("nameserver 127.0.0.1\n")
        machine.take_names("/")
        _call(*inside, "mount", "--bind", str(folder / "tmp"), "/tmp")
        _call(*inside, "sh", "-c", f"echo {name} > /proc/sys/kernel/hostname")
        return machine

    def end(self) -> None:
        """Take everything down; what still runs on a machine is killed."""
        for machine in self.machines:
            with suppress(subprocess.TimeoutExpired):
                machine.run("kettle", "down", "--fast")
        for machine in self.machines:
            for pid in processes_in(machine.holder.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            machine.holder.wait(10)
        self._switch.kill()
        self._switch.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)


def processes_in(holder: int) -> list[int]:
    """Return the processes that live in the network namespace of a machine."""
    space = os.readlink(f"/proc/{holder}/ns/net")
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError):
                if os.readlink(f"/proc/{name}/ns/net") == space:
                    found.append(int(name))
    return found


def _write_programs(folder: Path) -> Path:
    folder.mkdir(parents=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for name, entry in project["project"]["scripts"].items():
        module, _, function = entry.partition(":")
        script = folder / name
        script.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT / 'src')!r})\n"
            f"from {module} import {function}\nsys.exit({function}())\n"
        )
        script.chmod(0o755)
    return folder


@contextmanager
def network(name: str) -> Iterator[Network]:
    """Make a network without machines and remove it afterwards; skips where that cannot be."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "tc", "unshare", "nsenter"))):
        pytest.skip("machines of their own need root and the programs ip, tc, unshare, nsenter")
    folder = Path(f"/var/tmp/kettle-{name}-{os.getpid()}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    try:
        _call("unshare", "--net", "--uts", "--mount", "true")
        made = Network(folder)
    except (AssertionError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"no namespaces for machines of their own: {error}")
    try:
        yield made
    finally:
        made.end()


def wait_for(done: Callable[[], bool], seconds: float, what: Callable[[], str] | str) -> None:
    """Wait until something holds; fail with what is said then."""
    deadline = time.monotonic() + seconds
    while not done():
        said = what if isinstance(what, str) else ""
        if time.monotonic() > deadline:
            raise AssertionError(said or (what() if callable(what) else what))
        time.sleep(0.2)


@dataclass
class Jobs:
    """A cluster that was submitted on a machine."""

    machine: Machine
    log: Path

    def events(self) -> list[str]:
        """The numbers of the events so far."""
        if not self.log.exists():
            return []
        return [line[:3] for line in self.log.read_text().splitlines() if line[:3].isdigit()]

    def wait(self, event: str, count: int, seconds: float) -> None:
        """Wait for so many events of a kind."""
        wait_for(lambda: self.events().count(event) >= count, seconds, self.describe)

    def describe(self) -> str:
        """What is known where the jobs are."""
        text = self.log.read_text() if self.log.exists() else "no event"
        queue = self.machine.run("condor_q", "-nobatch").said
        return text + queue + self.machine.run("kettle", "status").said


def submit(machine: Machine, name: str, text: str) -> Jobs:
    """Submit a description on a machine, with an event log."""
    log = machine.folder / f"{name}.log"
    log.unlink(missing_ok=True)
    (machine.folder / f"{name}.sub").write_text(f"log = {log}\nrequest_memory = 16\n{text}")
    config = f"CONDOR_CONFIG={machine.folder}/pool/condor_config"
    machine.ok("env", config, "condor_submit", f"{name}.sub")
    return Jobs(machine, log)


def tool(machine: Machine, *words: str) -> str:
    """Run a classic tool on the machine's pool."""
    return machine.ok("env", f"CONDOR_CONFIG={machine.folder}/pool/condor_config", *words)


def slots_of(machine: Machine) -> dict[str, str]:
    """Return the addresses of all slots that a machine sees, by name."""
    said = tool(machine, "condor_status", "-json", "-attributes", "Name,MyAddress")
    ads = json.loads(said) if said.strip() else []
    return {ad["Name"]: ad["MyAddress"] for ad in ads}
