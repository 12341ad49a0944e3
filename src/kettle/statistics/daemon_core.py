"""What every daemon's ad says about its own process (DaemonCore's names in the reference).

A `Reading` is taken by the runtime; here two of them become attributes. The duty cycle is how much
of its time a daemon was at work: its loop's thread on a processor, over the time that passed.
Compat: the reference counts all time outside its wait for events, which a loop in C does not tell;
time that a call waits for a disk is missing here (test_the_duty_cycle_is_time_on_a_processor).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

# What `SelfFigures.attributes` yields for every daemon.
NAMES = (
    "MonitorSelfTime",
    "MonitorSelfAge",
    "MonitorSelfCPUUsage",
    "MonitorSelfImageSize",
    "MonitorSelfResidentSetSize",
    "MonitorSelfRegisteredSocketCount",
    "MonitorSelfSecuritySessions",
    "MonitorSelfUserCpuTime",
    "MonitorSelfSysCpuTime",
    "DaemonCoreDutyCycle",
    "RecentDaemonCoreDutyCycle",
)

# A duty is told over at least so many seconds: a daemon that has just begun has done nothing but
# work, which is no sign of too much of it (CURB_MATCHMAKING).
_LEAST_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A process at one moment: epoch seconds, seconds on a processor, KiB, counts."""

    moment: float
    loop_seconds: float
    user_seconds: float
    system_seconds: float
    image_kib: int
    resident_kib: int
    sockets: int
    sessions: int


class SelfFigures:
    """The readings of one daemon, and what its ad says of them."""

    def __init__(self, started: Reading, *, window_seconds: int, quantum_seconds: int) -> None:
        self._first = started
        self._newest = started
        self._quantum = max(1, quantum_seconds)
        self._marks: deque[Reading] = deque(
            [started], maxlen=max(1, window_seconds // self._quantum)
        )
        self._cpu_percent = 0.0

    def add(self, reading: Reading) -> None:
        """Take a new reading."""
        spent = _cpu(reading) - _cpu(self._newest)
        passed = reading.moment - self._newest.moment
        if passed > 0:
            self._cpu_percent = max(0.0, 100 * spent / passed)
        if reading.moment - self._marks[-1].moment >= self._quantum:
            self._marks.append(reading)
        self._newest = reading

    def attributes(self) -> dict[str, object]:
        """Return the attributes of the newest reading."""
        newest = self._newest
        return {
            "MonitorSelfTime": int(newest.moment),
            "MonitorSelfAge": max(0, int(newest.moment - self._first.moment)),
            "MonitorSelfCPUUsage": self._cpu_percent,
            "MonitorSelfImageSize": newest.image_kib,
            "MonitorSelfResidentSetSize": newest.resident_kib,
            "MonitorSelfRegisteredSocketCount": newest.sockets,
            "MonitorSelfSecuritySessions": newest.sessions,
            # The reference's collector alone says these two; our figures of all daemons need them.
            "MonitorSelfUserCpuTime": int(newest.user_seconds),
            "MonitorSelfSysCpuTime": int(newest.system_seconds),
            "DaemonCoreDutyCycle": _duty(self._first, newest),
            "RecentDaemonCoreDutyCycle": _duty(self._marks[0], newest),
        }


def _cpu(reading: Reading) -> float:
    return reading.user_seconds + reading.system_seconds


def _duty(since: Reading, until: Reading) -> float:
    passed = until.moment - since.moment
    if passed <= 0:
        return 0.0
    worked = until.loop_seconds - since.loop_seconds
    return min(1.0, max(0.0, worked / max(_LEAST_SECONDS, passed)))
