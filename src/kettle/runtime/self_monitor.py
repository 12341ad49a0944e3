"""What this process costs: reading itself in /proc, for the ads that its daemon sends.

A reading is taken when an ad is made and the last one is old; nothing is timed or sampled in
between, so a daemon that nobody asks spends nothing on it. What becomes of readings is decided in
`kettle.statistics.daemon_core`.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.config.knobs.collector import CollectorKnobs
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.statistics.daemon_core import Reading, SelfFigures

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.config import Config

# How old a reading may be before another is taken.
_FRESH_SECONDS = 5.0
_QUANTUMS = {
    "COLLECTOR": CollectorKnobs.STATISTICS_WINDOW_QUANTUM_COLLECTOR,
    "DC": ScheddKnobs.STATISTICS_WINDOW_QUANTUM_DC,
    "SCHEDD": ScheddKnobs.STATISTICS_WINDOW_QUANTUM_SCHEDD,
}
_PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


def read_window(config: Config, daemon: str) -> tuple[int, int]:
    """Return how long "recent" is and in which steps, in seconds, for one of _QUANTUMS."""
    window = config.value(ScheddKnobs.DCSTATISTICS_WINDOW_SECONDS) if daemon == "DC" else 0
    if window <= 0:
        window = config.value(ScheddKnobs.STATISTICS_WINDOW_SECONDS)
    quantum = config.value(_QUANTUMS[daemon])
    return window, quantum or config.value(ScheddKnobs.STATISTICS_WINDOW_QUANTUM)


def describe_host(ad: ClassAd, config: Config) -> None:
    """Add what the ads of daemons say of their host."""
    for name, knob in (("DetectedCpus", "DETECTED_CPUS"), ("DetectedMemory", "DETECTED_MEMORY")):
        number = config.integer(knob)
        if number is not None:
            ad[name] = number
    network = config.get("PRIVATE_NETWORK_NAME")
    if network:
        ad["PrivateNetworkName"] = network


class SelfMonitor:
    """The figures of this process; `sessions` says how many security sessions it has."""

    def __init__(
        self, config: Config, now: Callable[[], float], sessions: Callable[[], int]
    ) -> None:
        self._now = now
        self._sessions = sessions
        window, quantum = read_window(config, "DC")
        self._figures = SelfFigures(self._read(), window_seconds=window, quantum_seconds=quantum)
        # The first reading is of a daemon that has not started.
        self._read_at = float("-inf")

    def attributes(self) -> dict[str, object]:
        """Return the attributes for a daemon's ad, as of now or a few seconds ago."""
        if self._now() - self._read_at >= _FRESH_SECONDS:
            reading = self._read()
            self._figures.add(reading)
            self._read_at = reading.moment
        return self._figures.attributes()

    def _read(self) -> Reading:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        image_kib, resident_kib = _read_memory()
        return Reading(
            moment=self._now(),
            loop_seconds=time.thread_time(),
            user_seconds=usage.ru_utime,
            system_seconds=usage.ru_stime,
            image_kib=image_kib,
            resident_kib=resident_kib,
            sockets=_count_sockets(),
            sessions=self._sessions(),
        )


def _read_memory() -> tuple[int, int]:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = file.read().split()
        return int(pages[0]) * _PAGE_KIB, int(pages[1]) * _PAGE_KIB
    except (OSError, ValueError, IndexError):
        return 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _count_sockets() -> int:
    count = 0
    try:
        for name in os.listdir("/proc/self/fd"):
            try:
                count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
            except OSError:
                continue
    except OSError:
        return 0
    return count
