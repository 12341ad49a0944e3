"""What the machine says about itself: the macros that the configuration language detects.

Reads /proc, /etc/os-release and the account database; asks no name server, because a resolver
that hangs must not hang every tool. Which of these facts is an ad's attribute is decided elsewhere.
"""

from __future__ import annotations

# The names and numbers that `socket` makes of these take a tool's start 3 ms.
import _socket
import os
import pwd
from collections.abc import Mapping

from kettle.attributes.version import parse_os_release
from kettle.runtime.account_names import account_name

# Only a route is looked up for these, nothing is sent: documentation addresses (RFC 5737, 3849).
_FAR_AWAY = ((_socket.AF_INET, "192.0.2.1"), (_socket.AF_INET6, "2001:db8::1"))
# What a batch system says in of how many processors we may use; observed of the reference.
# Compat: OMP_NUM_THREADS, which its library takes for the number that there are, is none of these
# (test_a_batch_system_may_limit_the_processors).
_LIMITS_OF_CPUS = ("OMP_THREAD_LIMIT", "SLURM_CPUS_ON_NODE")
# Limit: no machine has more processors than this has digits.
_MOST_DIGITS = 10


def read_machine_facts() -> Mapping[str, str]:
    """Return the detected macros by name."""
    system = os.uname()
    facts = {
        "UTSNAME_SYSNAME": system.sysname,
        "UTSNAME_NODENAME": system.nodename,
        "UTSNAME_RELEASE": system.release,
        "UTSNAME_VERSION": system.version,
        "UTSNAME_MACHINE": system.machine,
        "UNAME_ARCH": system.machine,
        "UNAME_OPSYS": system.sysname,
        "ARCH": {"x86_64": "X86_64", "i686": "INTEL"}.get(system.machine, system.machine),
        "PID": str(os.getpid()),
        "PPID": str(os.getppid()),
        "REAL_UID": str(os.getuid()),
        "REAL_GID": str(os.getgid()),
        "CondorIsAdmin": "true" if os.getuid() == 0 else "false",
        "USERNAME": account_name(os.getuid()),
    }
    full_name = system.nodename or "localhost"
    facts["FULL_HOSTNAME"] = full_name
    facts["HOSTNAME"] = full_name.partition(".")[0]
    facts.update(_operating_system())
    facts.update(_size())
    facts.update(_addresses())
    home = _condor_home()
    if home:
        facts["TILDE"] = home
    return facts


def _condor_home() -> str:
    try:
        return pwd.getpwnam("condor").pw_dir
    except KeyError:
        return ""


def _operating_system() -> dict[str, str]:
    release: Mapping[str, str] = {}
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            release = parse_os_release(file.read())
    except OSError:
        pass
    system = os.uname().sysname
    name = release.get("NAME", system)
    short = name.split()[0] if name else "Linux"
    number = release.get("VERSION_ID", "")
    major, _, minor = number.partition(".")
    major = major if major.isdecimal() else "0"
    minor = minor.partition(".")[0]
    return {
        "OPSYS": system.upper(),
        "OPSYSLEGACY": system.upper(),
        "OPSYSNAME": short,
        "OPSYSSHORTNAME": short,
        "OPSYSMAJORVER": major,
        "OPSYSVER": f"{major}{int(minor) if minor.isdecimal() else 0:02d}",
        "OPSYSANDVER": f"{short}{major}",
        "OPSYSLONGNAME": release.get("PRETTY_NAME", name).partition(" (")[0],
    }


def _size() -> dict[str, str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1024 * 1024)
    facts = {
        "DETECTED_CORES": str(cores or 1),
        "DETECTED_CPUS": str(cores or 1),
        "DETECTED_PHYSICAL_CPUS": str(cores or 1),
        "DETECTED_MEMORY": str(memory),
    }
    limit = min(filter(None, map(_number_in_environment, _LIMITS_OF_CPUS)), default=cores or 1)
    if limit < (cores or 1):
        # Else it is its default, which mentions what was detected.
        facts["DETECTED_CPUS_LIMIT"] = str(limit)
    return facts


def _number_in_environment(name: str) -> int:
    """Return the number that a variable is, 0 where it is none."""
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() and len(text) < _MOST_DIGITS else 0


def _addresses() -> dict[str, str]:
    found: dict[str, str] = {}
    for family, far_away in _FAR_AWAY:
        try:
            probe = _socket.socket(family, _socket.SOCK_DGRAM)
        except OSError:
            continue
        name = "IPV4_ADDRESS" if family == _socket.AF_INET else "IPV6_ADDRESS"
        try:
            probe.connect((far_away, 9))
            found[name] = str(probe.getsockname()[0])
        except OSError:
            continue
        finally:
            probe.close()
    address = found.get("IPV4_ADDRESS") or found.get("IPV6_ADDRESS") or "127.0.0.1"
    found["IP_ADDRESS"] = address
    found["IP_ADDRESS_IS_IPV6"] = "true" if ":" in address else "false"
    return found
