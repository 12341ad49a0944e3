"""The load that jobs make: what a slot's job used of the cores within the last minute.

As the reference has it (test_load.py); whose the rest is `load_shares.py` says.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

# Seconds that are averaged.
_SECONDS = 60


@dataclass(slots=True)
class SlotLoad:
    """What is known of a slot's load."""

    # The cores that its job kept busy in each of the last seconds.
    cores: deque[float] = field(default_factory=lambda: deque([0.0] * _SECONDS, _SECONDS))
    # CondorLoadAvg, and the slot's share of the others' load.
    of_job: float = 0.0
    of_owner: float = 0.0
    # Of which process, and how much it and those below it had worked when they were looked at.
    pid: int = 0
    worked_seconds: float = 0.0
    looked_at: float = 0.0

    def observe(self, pid: int, worked_seconds: float, now: float, longest: float) -> None:
        """Take in how much a job has worked; `pid` 0 is none. `longest` is how much is filled."""
        passed = max(1.0, now - self.looked_at)
        busy = 0.0
        if pid and pid == self.pid:
            busy = max(0.0, worked_seconds - self.worked_seconds) / passed
        self.cores.extend([busy] * min(_SECONDS, int(min(passed, longest) + 0.5)))
        self.pid, self.worked_seconds, self.looked_at = pid, worked_seconds, now

    def settle(self, real_cores: int, machine_load: float) -> None:
        """Say what the job's use of the cores is as load: its part of what waits for cores, too."""
        share = sum(self.cores) / _SECONDS / real_cores
        self.of_job = min(share * max(real_cores, machine_load), machine_load)
