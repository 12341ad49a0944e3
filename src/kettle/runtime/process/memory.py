"""The machine's memory, as the kernel tells of it."""

from __future__ import annotations

from kettle.runtime.storage.small_files import read_small


def read_meminfo() -> dict[str, int]:
    """Return the sizes of /proc/meminfo in KiB; empty where it cannot be read."""
    try:
        text = read_small("/proc/meminfo").decode("ascii", errors="replace")
    except OSError:
        return {}
    found: dict[str, int] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        number = value.split()[:1]
        if number and number[0].isdecimal():
            found[name] = int(number[0])
    return found


def is_memory_short(part: int) -> bool:
    """Whether less than one part in so many of the machine's memory is left; False if unknown."""
    sizes = read_meminfo()
    total, left = sizes.get("MemTotal", 0), sizes.get("MemAvailable")
    return left is not None and left < total // part
