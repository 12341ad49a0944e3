"""Looks at what a running job uses, and reports when that is more than its slot has.

Judging is `limits.py`. The first look comes late enough that a short job never pays for one; after
that the pace follows the job's growth, and a walk over a large sandbox is not made more often than
it can be afforded.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from kettle.runtime import tasks
from kettle.runtime.process.cgroups import Group
from kettle.runtime.process.memory import is_memory_short
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.storage.free_space import read_free_kib, read_inodes
from kettle.runtime.storage.small_files import read_small
from kettle.starter import limits
from kettle.starter.limits import Excess

_FIRST_LOOK_SECONDS = 0.5
# Limit: walks over the sandbox may take one part in so many of a core.
_WALK_SHARE = 20


class Measured(Protocol):
    """What the job uses, as far as it is looked at here."""

    def resident_bytes(self, enough: int | None) -> int:
        """Return the memory of all processes; exact where it could be more than `enough`."""
        ...

    def saw(self, memory: int) -> None:
        """Note the memory of all processes at this moment, in bytes."""
        ...


class ResourceWatch:
    """One job's use of memory and disk against its limits."""

    def __init__(
        self,
        rules: limits.LimitRules,
        group: Group | None,
        memory: limits.Allowance,
        disk: limits.Allowance,
        execute: str = "",
        *,
        held: bool = True,
    ) -> None:
        """`memory` is in bytes, `disk` in KiB; `execute` is on the disk that has a reserve.

        `held` is whether the kernel holds the limit of memory, where there is a group.
        """
        self._rules = rules
        self._held = held
        self._execute = execute
        self._reserve = limits.ReserveWatch()
        self._inodes = limits.ReserveWatch(limits.EATEN_INODES)
        self._group = group
        self._memory_allowance = memory
        self._disk_allowance = disk
        self._oom_kills = group.oom_kills() if group is not None else 0
        self._peak = 0
        self._memory = self._disk = self._files = 0
        self.disk_kib = 0

    def killed_by_kernel(self) -> Excess | None:
        """Return what to say if the kernel has killed for want of memory since the start."""
        if self._group is None or self._group.oom_kills() <= self._oom_kills:
            return None
        known = self._group.memory_bytes()
        peak = max(self._peak, known[1] if known else 0)
        limit = self._memory_allowance.limit
        return limits.judge_oom_kill(peak, limit, always_hold=self._rules.always_hold)

    def judge_end(self, left_kib: int) -> Excess | None:
        """Judge a job whose processes are gone: what killed it, and what it has left on disk.

        A job that fills its disk between two looks and exits would else send more than it may have.
        """
        allowed = self._allowed_disk(left_kib)
        excess = limits.judge_disk(left_kib, self._disk_allowance.limit, allowed)
        return self.killed_by_kernel() or excess

    async def watch(
        self,
        use: Measured,
        measure_disk: Callable[[], tuple[int, int]],
        on_excess: Callable[[Excess], None],
        note: Callable[[], None],
    ) -> None:
        """Look until the job uses too much; being cancelled is the usual end.

        What it uses is to be noted (`note`) at the first look, and then ever more rarely: that
        costs more than a look, and what changes for long is seen by reports.
        """
        loop = asyncio.get_running_loop()
        delay, walked_until = _FIRST_LOOK_SECONDS, 0.0
        looked_at = loop.time()
        for look in itertools.count(1):
            await asyncio.sleep(delay)
            now = loop.time()
            passed, looked_at = now - looked_at, now
            excess, delay = None, self._rules.polling_seconds
            # A look that fails must not be the last one: the job goes on.
            with tasks.reported("A look at what the job uses"):
                excess, delay = self._look_at_memory(use, passed)
                if excess is None and self._disk_matters and now >= walked_until:
                    excess, soon = self._look_at_disk(measure_disk, passed, now)
                    delay = min(delay, soon)
                    walked_until = loop.time() + (loop.time() - now) * _WALK_SHARE
                if look & (look - 1) == 0:
                    note()
            if excess is not None:
                on_excess(excess)
                return

    def _look_at_memory(self, use: Measured, passed: float) -> tuple[Excess | None, float]:
        most = self._rules.polling_seconds
        known = self._group.memory_bytes() if self._group is not None else None
        if known is not None:
            self._peak = max(self._peak, known[0])
            use.saw(known[0])
            # Who the kernel kills may be one process of many.
            killed = self.killed_by_kernel()
            if self._held or killed is not None:
                return killed, min(most, 1.0)
        limit = self._memory_allowance.limit
        used = known[0] if known is not None else use.resident_bytes(limit)
        before, self._memory = self._memory, used
        # Who keeps to his part never asks how others are.
        short = limit is not None and used > limit and is_memory_short(limits.MEMORY_PART)
        allowed = self._memory_allowance.of_now(short=short)
        soon = limits.seconds_to_next_look(used, before, passed, allowed, most)
        return limits.judge_memory(used, limit, allowed), soon

    @property
    def _disk_matters(self) -> bool:
        return self._disk_allowance.limit is not None or self._rules.reserved_disk_kib > 0

    def _look_at_disk(
        self, measure: Callable[[], tuple[int, int]], passed: float, now: float
    ) -> tuple[Excess | None, float]:
        self.disk_kib, files = measure()
        before, self._disk = self._disk, self.disk_kib
        limit, room = self._disk_allowance.limit, self._room_kib()
        allowed = self._allowed_disk(self._disk)
        excess = limits.judge_disk(self._disk, limit, allowed)
        if room is not None:
            excess = excess or self._reserve.judge(now, self._disk, limit, room)
            if excess is None and self._reserve.is_to_be_told(now):
                tasks.report(
                    f"The disk of {self._execute} has {-room} KiB less free than RESERVED_DISK"
                    " keeps, and the job here takes none of it: it is not held"
                )
            end = self._disk + max(0, room)
            allowed = end if allowed is None else min(allowed, end)
        most = self._rules.polling_seconds
        soon = limits.seconds_to_next_look(self._disk, before, passed, allowed, most)
        if excess is not None:
            return excess, soon
        excess, sooner = self._look_at_inodes(files, passed, now)
        return excess, min(soon, sooner)

    def _look_at_inodes(self, files: int, passed: float, now: float) -> tuple[Excess | None, float]:
        before, self._files = self._files, files
        most = self._rules.polling_seconds
        inodes = read_inodes(self._execute) if self._rules.reserved_disk_kib > 0 else None
        if inodes is None:
            return None, most
        excess = self._inodes.judge(now, files, inodes.used, inodes.room)
        end = files + max(0, inodes.room)
        return excess, limits.seconds_to_next_look(files, before, passed, end, most)

    def _allowed_disk(self, used: int) -> int | None:
        """Return what the sandbox may have now; the disk is short when so little is left."""
        allowance = self._disk_allowance
        if allowance.limit is None or used <= allowance.limit:
            return allowance.of_now(short=False)
        free = read_free_kib(self._execute)
        kept = max(self._rules.reserved_disk_kib, allowance.more)
        return allowance.of_now(short=free is not None and free < kept)

    def _room_kib(self) -> int | None:
        """Return what is free beyond the reserve; None without a reserve."""
        if self._rules.reserved_disk_kib <= 0:
            return None
        free = read_free_kib(self._execute)
        return None if free is None else free - self._rules.reserved_disk_kib


class SlotGroup:
    """The control group of a starter's slot: made for its first job, there until it ends."""

    def __init__(
        self,
        privileges: Privileges,
        group: Group | None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`tell` is told, once each, what the kernel does not let us have here, and why."""
        self._privileges = privileges
        self._group = group
        self._tell = tell
        self._told: set[str] = set()
        self._made = False
        self._limits: object = None
        # Whether the kernel holds the limit of memory.
        self.holds_memory = False

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)

    def ready(self, wanted: limits.Limits) -> Group | None:
        """Return the group with these limits, empty counts and nothing inside; None without.

        The next job may have one where it cannot be made for this one.
        """
        if self._group is None:
            return None
        try:
            with self._privileges.as_root():
                self._prepare(self._group, wanted)
        except OSError as error:
            self._limits = None
            self._tell_once(
                "The control group of the slot cannot be made: "
                f"{error.strerror} (errno {error.errno}); the job runs without one"
            )
            return None
        return self._group

    def _prepare(self, group: Group, wanted: limits.Limits) -> None:
        if self._made:
            if group.forget_peaks():
                self._limits = None
        else:
            group.make()
            # Whoever was here before us is of a job that is over; the startd has seen it go.
            group.kill()
            self._made = True
        if wanted != self._limits:
            refused = group.limit(wanted)
            self._limits = wanted
            self.holds_memory = "memory" not in refused
            for name, error in refused.items():
                # Where it has no controller for something, as none for swap, it refuses nothing.
                if error.errno != errno.ENOENT:
                    self._tell_once(f"The kernel does not take the {name} limit: {error.strerror}")

    def close(self) -> None:
        """Remove the group."""
        if self._group is not None and self._made:
            with self._privileges.as_root():
                self._group.remove()


@lru_cache(maxsize=1)
def machine_pids() -> int:
    """Return how many processes the machine can have, 0 if it does not say."""
    try:
        return int(read_small("/proc/sys/kernel/threads-max"))
    except (OSError, ValueError):
        return 0
