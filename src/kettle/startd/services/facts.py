"""Reading the machine: what it is, and what it is doing now.

Numbers only; what they mean is `facts.py`, `ads.py` and the policy. Reads /proc and /sys; asks
nobody. The execute directory is looked at in `execute_folder.py`.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import time
from collections.abc import Callable, Sequence

from kettle.attributes.version import parse_os_release
from kettle.config import Config
from kettle.config.knobs.startd import StartdKnobs
from kettle.runtime.process.memory import read_meminfo
from kettle.runtime.storage.mounts import machine_mounts
from kettle.startd.facts import MachineFacts, Readings, microarchitecture
from kettle.startd.services.execute_folder import FolderFacts

_UNKNOWN_FOLDER = FolderFacts()


def read_facts(config: Config, host: str) -> MachineFacts:
    """Read what does not change."""
    uname = os.uname()
    release = _read_os_release()
    cpu = _read_cpuinfo()
    flags = frozenset(cpu.get("flags", "").split())
    name = (release.get("NAME") or "Linux").split()[0]
    major, _, minor = (release.get("VERSION_ID") or "0").partition(".")
    number = int(major) if major.isdecimal() else 0
    part = int(minor) if minor.isdecimal() else 0
    return MachineFacts(
        host=host,
        arch={"x86_64": "X86_64", "aarch64": "aarch64"}.get(uname.machine, uname.machine.upper()),
        operating_system=config.get("OPSYS") or platform.system().upper(),
        os_name=name,
        os_long_name=(release.get("PRETTY_NAME") or name).partition(" (")[0],
        os_short_name=name,
        os_major_version=number,
        os_version=number * 100 + part,
        cores=len(os.sched_getaffinity(0)),
        memory_mib=read_meminfo().get("MemTotal", 0) // 1024,
        cpu_family=_whole(cpu.get("cpu family")),
        cpu_model=_whole(cpu.get("model")),
        cpu_cache_kib=_whole((cpu.get("cache size") or "0").split()[0]),
        cpu_flags=flags,
        microarchitecture=microarchitecture(flags),
        uname={
            "machine": uname.machine,
            "node": uname.nodename,
            "release": uname.release,
            "system": uname.sysname,
            "version": uname.version,
        },
        has_docker=_runs(config, "DOCKER", "docker"),
        has_singularity=_runs(config, "SINGULARITY", "apptainer", "singularity"),
        has_sshd=_runs(config, "SSHD", "/usr/sbin/sshd"),
        scratch_turns=find_whether_it_turns(config.value(StartdKnobs.EXECUTE)),
    )


def find_whether_it_turns(folder: str, devices: str = "/sys/dev/block") -> bool | None:
    """Tell whether the disk below a folder turns; None if it cannot be known.

    What has no device of its own, such as a file system in memory, does not turn. A part of a disk
    is as the whole.
    """
    if machine_mounts().is_far(folder):
        return None
    try:
        device = os.stat(folder).st_dev
    except OSError:
        return None
    if os.major(device) == 0:
        return False
    place = f"{devices}/{os.major(device)}:{os.minor(device)}"
    for path in (f"{place}/queue/rotational", f"{place}/../queue/rotational"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            return file.read(1) == "1"
    return None


def read_readings(
    config: Config, now: float, folder: FolderFacts = _UNKNOWN_FOLDER, trouble: str = ""
) -> Readings:
    """Measure what changes, but for the jobs' load: memory, idle times, the clock.

    What is known of EXECUTE, the `folder`, is told by who looks at it, and what is wrong with it.
    """
    reserved = config.value(StartdKnobs.RESERVED_DISK) * 1024
    memory = read_meminfo()
    wall = time.localtime(now)
    load = 0.0
    with contextlib.suppress(OSError):
        load = os.getloadavg()[0]
    console = _idle_since(_newest_console(config.words("CONSOLE_DEVICES")), now)
    terminals = max(_touched("/dev", _is_terminal), _touched("/dev/pts", _is_pseudo_terminal))
    return Readings(
        load=load,
        keyboard_idle=min(console, _idle_since(terminals, now)),
        console_idle=console,
        disk_kib=max(0, folder.free_kib - reserved),
        disk_total_kib=folder.total_kib,
        virtual_memory_kib=memory.get("MemTotal", 0) + memory.get("SwapTotal", 0),
        clock_minutes=wall.tm_hour * 60 + wall.tm_min,
        clock_day=(wall.tm_wday + 1) % 7,
        volume=folder.volume,
        trouble=trouble,
    )


def _read_os_release() -> dict[str, str]:
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            return parse_os_release(file.read())
    except OSError:
        return {}


def _read_cpuinfo() -> dict[str, str]:
    """Return the first processor's facts."""
    found: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if not line.strip():
                    break
                name, _, value = line.partition(":")
                found[name.strip()] = value.strip()
    except OSError:
        pass
    return found


def _idle_since(newest: float, now: float) -> int:
    """Return the seconds since a device was read last; all of time where none ever was.

    Compat: the Unix time where there is no such device, as the reference publishes. It finds
    terminals in utmp, which nobody writes any more; ours are looked at themselves, as the
    reference does with STARTD_HAS_BAD_UTMP (test_where_nobody_can_sit_all_of_time_is_idle).
    """
    return max(0, int(now - newest))


def _newest_console(devices: Sequence[str]) -> float:
    """Return when one of CONSOLE_DEVICES was read last, 0 if there is none, or it is no device."""
    newest = 0.0
    for name in devices:
        with contextlib.suppress(OSError, ValueError):
            facts = os.stat(os.path.join("/dev", name.removeprefix("/dev/")))
            # What shares the major number of /dev/null is nothing that somebody types at.
            if os.major(facts.st_rdev) != os.major(os.stat(os.devnull).st_rdev):
                newest = max(newest, facts.st_atime)
    return newest


def _touched(folder: str, counts: Callable[[str], bool]) -> float:
    """Return when a device of this folder that counts was last read, 0 if none ever was."""
    newest = 0.0
    # A terminal that is closed while we look ends the look: there are others.
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if counts(entry.name):
                newest = max(newest, entry.stat(follow_symlinks=False).st_atime)
    return newest


def _is_terminal(name: str) -> bool:
    """Whether a device of /dev is a terminal: no serial line, nor whoever asks's own."""
    return name.startswith("tty") and name != "tty" and not name.startswith("ttyS")


def _is_pseudo_terminal(name: str) -> bool:
    """Whether a device of /dev/pts is a terminal, not what makes them."""
    return name != "ptmx"


def _whole(text: str | None) -> int:
    return int(text) if text and text.strip().isdecimal() else 0


def _runs(config: Config, knob: str, *programs: str) -> bool:
    configured = config.get(knob)
    names = [configured] if configured else list(programs)
    return any(shutil.which(name) is not None for name in names if name)
