"""What a machine is and what it is doing, as far as ads and policy ask.

Plain data; `services/facts.py` gathers it. Static facts are read once at start, Readings at every
poll.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MachineFacts:
    """What does not change while the startd runs. Memory is MiB, cache and disk KiB."""

    host: str = "localhost"
    arch: str = "X86_64"
    operating_system: str = "LINUX"
    os_name: str = "Linux"
    os_long_name: str = "Linux"
    os_short_name: str = "Linux"
    os_major_version: int = 0
    os_version: int = 0
    cores: int = 1
    memory_mib: int = 1024
    cpu_family: int = 0
    cpu_model: int = 0
    cpu_cache_kib: int = 0
    cpu_flags: frozenset[str] = frozenset()
    microarchitecture: str = "x86_64-v1"
    uname: Mapping[str, str] = field(default_factory=dict)
    hardware_address: str = "00:00:00:00:00:00"
    subnet_mask: str = "255.0.0.0"
    has_docker: bool = False
    has_singularity: bool = False
    has_sshd: bool = False
    # Whether the disk below the execute directory turns; None if nobody knows.
    scratch_turns: bool | None = None
    # What the machine's programs can do, as attributes: its Java and its virtual machines.
    programs: Mapping[str, object] = field(default_factory=dict)
    # Kinds of URL that the machine's own plug-ins (FILETRANSFER_PLUGINS) serve.
    url_methods: tuple[str, ...] = ()
    # Kinds of URL whose trial (METHOD_TEST_URL) failed, with whoever serves them.
    broken_url_methods: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Readings:
    """What is measured at every poll. Disk and memory in KiB, times in seconds."""

    load: float = 0.0
    jobs_load: float = 0.0
    keyboard_idle: int = 0
    console_idle: int = 0
    disk_kib: int = 0
    disk_total_kib: int = 0
    virtual_memory_kib: int = 0
    clock_minutes: int = 0
    clock_day: int = 0
    volume: str = "0"
    # Why no job can be started here now; empty if one can.
    trouble: str = ""


PUBLISHED_FLAGS = {
    "ssse3": "has_ssse3",
    "sse4_1": "has_sse4_1",
    "sse4_2": "has_sse4_2",
    "avx": "has_avx",
    "avx2": "has_avx2",
    "avx512f": "has_avx512f",
    "avx512dq": "has_avx512dq",
    "avx512_vnni": "has_avx512_vnni",
}
"""Processor features by their kernel name, and the attribute that says so."""

_LEVELS = (
    ("x86_64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
    ("x86_64-v3", {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}),
    ("x86_64-v2", {"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"}),
)


def microarchitecture(flags: frozenset[str]) -> str:
    """Return the x86-64 level of a processor with these features."""
    # A level includes the ones below it.
    needed: set[str] = set()
    best = "x86_64-v1"
    for name, features in reversed(_LEVELS):
        needed |= features
        if needed <= flags:
            best = name
    return best
