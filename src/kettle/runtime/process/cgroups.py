"""Control groups: the one way to hold all processes of a job, whatever they do to hide.

Version 2 where its tree can be written, version 1 (freezer, memory, cpu, pids, each a tree of its
own) where that is what the machine has; nothing where neither is ours to write, and
then process trees and measurements are all there is (`processes.py`). Which limits a job gets is
decided in `starter/limits.py`; names are the manual's.

A process enters by being started from inside: the caller's thread goes in, spawns, and comes back.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from kettle.octets import to_bytes
from kettle.runtime.process.kept_files import KeptFiles
from kettle.runtime.process.signalling import send_signal
from kettle.runtime.storage.small_files import read_small

# The trees of version 1 that we work with; without the first there is no tracking, and no group.
_V1_TRACKING = "freezer"
_V1_CONTROLLERS = (_V1_TRACKING, "memory", "cpu", "pids")
_V2_CONTROLLERS = ("memory", "cpu", "pids")
# How the names of slots' groups begin.
_PREFIX = "condor"
# Limit: looks at a freeze under way. It is done within microseconds but for what the kernel holds
# fast, which cannot fork either; nobody's loop waits for it.
_FREEZE_LOOKS = 100
# What the kernel takes for whoever writes it.
_MYSELF = b"0"


class Limits(Protocol):
    """What a group may use; None is no limit. Sizes in bytes."""

    @property
    def memory(self) -> int | None:
        """Return how much memory it may have."""
        ...

    @property
    def soft_memory(self) -> int | None:
        """Return how much it keeps when others need some."""
        ...

    @property
    def memory_and_swap(self) -> int | None:
        """Return how much memory and swap it may have together."""
        ...

    @property
    def cpu_shares(self) -> int | None:
        """Return its weight when the cores are all busy."""
        ...

    @property
    def pids(self) -> int | None:
        """Return how many processes and threads it may have."""
        ...


@dataclass(frozen=True)
class Hierarchy:
    """Where groups can be made: for each controller the folder that stands for our own group.

    `version` 2 has one folder, under the key ``unified``.
    """

    version: int
    folders: Mapping[str, str]

    def group(self, path: str) -> Group:
        """Return the group at a relative path like ``htcondor/slot1``; it need not exist."""
        return GroupV2(self, path) if self.version == 2 else GroupV1(self, path)


class Group(ABC):
    """One control group; its folders may or may not exist."""

    def __init__(self, hierarchy: Hierarchy, path: str) -> None:
        self._folders = {
            name: os.path.join(folder, path) for name, folder in hierarchy.folders.items()
        }
        self._own = dict(hierarchy.folders)
        self._members = "cgroup.procs"
        self._entrance = "cgroup.procs"
        self._kept = KeptFiles()
        # The way in and the way back for each folder, as descriptors of `_kept`.
        self._ways: list[tuple[int, int]] = []
        # What there was of memory at `mark_memory`; None: what was counted since tells nothing.
        self._marked: int | None = None

    def make(self) -> None:
        """Make the group; OSError if the kernel refuses. One that exists is taken over."""
        for folder in self._folders.values():
            os.makedirs(folder, exist_ok=True)

    def remove(self) -> None:
        """Remove the group if it is empty."""
        self._ways = []
        self._kept.close()
        for folder in self._folders.values():
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Be inside, so that what is started meanwhile is too; OSError if we cannot go in or out.

        Nothing inside may await.
        """
        if not self._ways:
            self._ways = [
                (
                    self._kept.to_write(f"{folder}/{self._entrance}"),
                    self._kept.to_write(f"{self._own[name]}/{self._entrance}"),
                )
                for name, folder in self._folders.items()
            ]
        inside: list[int] = []
        try:
            for way_in, way_back in self._ways:
                os.pwrite(way_in, _MYSELF, 0)
                inside.append(way_back)
            yield
        finally:
            _leave(inside)

    def pids(self) -> list[int]:
        """Return the processes inside, at this moment."""
        folder = next(iter(self._folders.values()))
        return [int(word) for word in _read(os.path.join(folder, self._members)).split()]

    def kill(self) -> bool:
        """Kill everything that is inside now, what forks meanwhile too; whether nothing was.

        Never waits: what was killed needs a moment to go, after which the caller looks again.
        """
        pids = self.pids()
        if not pids:
            return True
        if os.getpid() in pids:
            # The kernel refused us a way back: the others only, or nobody could tell their end.
            _kill_each(pids)
        else:
            self._kill_all()
        return False

    def _kill_all(self) -> None:
        _kill_each(self.pids())

    @abstractmethod
    def limit(self, limits: Limits) -> dict[str, OSError]:
        """Set the limits; return why the kernel does not hold those that it does not hold.

        By the name of each that was wanted, `memory` for instance; ENOENT where it has no
        controller for it.
        """

    @abstractmethod
    def forget_peaks(self) -> bool:
        """Let peaks begin anew for the next job; whether its limits have to be set again."""

    @abstractmethod
    def memory_bytes(self) -> tuple[int, int] | None:
        """Return what is used now and at most since the last job, None if it is not counted."""

    @abstractmethod
    def oom_kills(self) -> int:
        """Return how many processes the kernel has killed for want of memory."""

    @abstractmethod
    def mark_memory(self) -> None:
        """Begin to count how memory grows."""

    def growth_bytes(self, *, without_cache: bool = False) -> int:
        """Return by how much memory was more than at the mark, at most; 0 if that is not known.

        It counts page cache. `without_cache` takes off the cache that is there now, and nothing of
        what went meanwhile. That costs as much as ten other words of the kernel's.
        """
        if self._marked is None:
            return 0
        other = max(self._marked, self._cache_bytes()) if without_cache else self._marked
        return max(0, (self._highest() or 0) - other)

    @abstractmethod
    def _highest(self) -> int | None:
        """Return the highest since the mark; None if it is not counted."""

    @abstractmethod
    def _cache_bytes(self) -> int:
        """Return what nobody's processes have of what is counted now."""


class GroupV1(Group):
    """A group of version 1: one folder for each controller."""

    def __init__(self, hierarchy: Hierarchy, path: str) -> None:
        super().__init__(hierarchy, path)
        # One thread moves itself a hundred times cheaper than a process is moved.
        self._entrance = "tasks"

    def make(self) -> None:
        """Make the group; one that somebody froze and died would hold whoever enters it."""
        super().make()
        state = self._file(_V1_TRACKING, "state")
        if state is not None and _read(state).strip() != "THAWED":
            _try_write(state, "THAWED")
        self.mark_memory()

    def _file(self, controller: str, name: str) -> str | None:
        folder = self._folders.get(controller)
        return None if folder is None else os.path.join(folder, f"{controller}.{name}")

    def limit(self, limits: Limits) -> dict[str, OSError]:
        """Set the limits; memory and swap together may not be less than memory on the way."""
        both = self._file("memory", "memsw.limit_in_bytes")
        if both is not None:
            _try_write(both, "-1")
        memory, soft, swap = limits.memory, limits.soft_memory, limits.memory_and_swap
        return _set(
            ("memory", self._file("memory", "limit_in_bytes"), memory, "-1"),
            ("memory and swap", both, swap, "-1"),
            ("soft memory", self._file("memory", "soft_limit_in_bytes"), soft, "-1"),
            ("cpu", self._file("cpu", "shares"), limits.cpu_shares, "1024"),
            ("pids", self._file("pids", "max"), limits.pids, "max"),
        )

    def forget_peaks(self) -> bool:
        """Let the memory peak begin anew."""
        with contextlib.suppress(OSError):
            for path in self._peaks[:1]:
                self._kept.write(path, "0")
        return False

    def mark_memory(self) -> None:
        """Let both peaks begin anew, of all memory and of the kernel's own.

        Who is not root may, once root has.
        """
        self._marked = None
        with contextlib.suppress(OSError):
            for path in self._peaks:
                self._kept.write(path, "0")
            self._marked = self._highest()

    @cached_property
    def _peaks(self) -> tuple[str, ...]:
        names = ("max_usage_in_bytes", "kmem.max_usage_in_bytes")
        paths = (self._file("memory", name) for name in names)
        return tuple(path for path in paths if path is not None)

    def _highest(self) -> int | None:
        try:
            # What the kernel needs for itself counts nowhere else, nor does it here.
            total, kernel = map(self._kept.number, self._peaks)
        except (OSError, ValueError):
            return None
        return total - kernel

    def _cache_bytes(self) -> int:
        path = self._file("memory", "stat")
        return 0 if path is None else _count(self._kept.read(path), "total_cache")

    def memory_bytes(self) -> tuple[int, int] | None:
        """Return memory without the page cache that could go, and the peak."""
        path, peak = self._file("memory", "stat"), self._file("memory", "max_usage_in_bytes")
        if path is None or peak is None:
            return None
        facts = dict(line.split(" ", 1) for line in _read(path).splitlines())
        used = int(facts.get("total_rss", 0)) + int(facts.get("total_shmem", 0))
        return used, int(_read(peak) or 0)

    def oom_kills(self) -> int:
        """Return the kernel's count of this group."""
        path = self._file("memory", "oom_control")
        return 0 if path is None else _count(self._kept.read(path), "oom_kill")

    def _kill_all(self) -> None:
        state = self._file(_V1_TRACKING, "state")
        assert state is not None
        # What cannot run cannot fork; the signals take effect when it is thawed.
        _try_write(state, "FROZEN")
        for _ in range(_FREEZE_LOOKS):
            if _read(state).strip() != "FREEZING":
                break
        super()._kill_all()
        _try_write(state, "THAWED")


class GroupV2(Group):
    """A group of version 2: one folder for all controllers."""

    def _path(self, name: str) -> str:
        return os.path.join(self._folders["unified"], name)

    def make(self) -> None:
        """Make the group with the controllers that our own group may pass on."""
        folder = self._folders["unified"]
        above = os.path.dirname(folder)
        os.makedirs(above, exist_ok=True)
        for parent in (os.path.dirname(above), above):
            for name in _V2_CONTROLLERS:
                _try_write(os.path.join(parent, "cgroup.subtree_control"), f"+{name}")
        os.makedirs(folder, exist_ok=True)
        _try_write(self._path("memory.oom.group"), "1")

    def limit(self, limits: Limits) -> dict[str, OSError]:
        """Set the limits; swap is counted apart in this version."""
        swap = limits.memory_and_swap
        if swap is not None and limits.memory is not None:
            swap = max(0, swap - limits.memory)
        weight = None if limits.cpu_shares is None else max(1, min(10_000, limits.cpu_shares))
        return _set(
            ("memory", self._path("memory.max"), limits.memory, "max"),
            ("memory and swap", self._path("memory.swap.max"), swap, "max"),
            ("pids", self._path("pids.max"), limits.pids, "max"),
            ("cpu", self._path("cpu.weight"), weight, "100"),
        )

    def forget_peaks(self) -> bool:
        """Make the group anew, which has no limits then.

        What is written to memory.peak, where the kernel takes it, counts only for who wrote it.
        """
        if self.pids():
            return False
        self.remove()
        self.make()
        return True

    def memory_bytes(self) -> tuple[int, int] | None:
        """Return memory without the page cache, and the peak."""
        facts = dict(line.split(" ", 1) for line in _read(self._path("memory.stat")).splitlines())
        if not facts:
            return None
        used = int(facts.get("anon", 0)) + int(facts.get("shmem", 0))
        return used, int(_read(self._path("memory.peak")) or used)

    def oom_kills(self) -> int:
        """Return the kernel's count of this group."""
        return _count(_read(self._path("memory.events")), "oom_kill")

    def mark_memory(self) -> None:
        """Take what was the highest until now as what there was: no less can have been."""
        self._marked = self._highest()

    def _highest(self) -> int | None:
        try:
            return self._kept.number(self._path("memory.peak"))
        except (OSError, ValueError):
            return None

    def _cache_bytes(self) -> int:
        # Limit: this version tells what the kernel has for itself, not what it had.
        text = self._kept.read(self._path("memory.stat"))
        return _count(text, "file") + _count(text, "kernel")

    def _kill_all(self) -> None:
        if not _try_write(self._path("cgroup.kill"), "1"):
            super()._kill_all()


def find_hierarchy(
    mounts: str = "/proc/self/mounts", own: str = "/proc/self/cgroup"
) -> Hierarchy | None:
    """Return where this process can make groups, None if nowhere.

    Version 2 is taken if it has the memory controller, or if there is no version 1 to write to.
    """
    mine = _own_groups(_read(own))
    first: dict[str, str] = {}
    second = ""
    for line in _read(mounts).splitlines():
        words = line.split(" ")
        if len(words) < 4:
            continue
        if words[2] == "cgroup2":
            second = _writable(words[1], mine.get("", "/"))
        elif words[2] == "cgroup":
            for controller in set(words[3].split(",")).intersection(_V1_CONTROLLERS):
                folder = _writable(words[1], mine.get(controller, "/"))
                if folder:
                    first[controller] = folder
    has_memory = second and "memory" in _read(os.path.join(second, "cgroup.controllers")).split()
    if second and (has_memory or _V1_TRACKING not in first):
        return Hierarchy(2, {"unified": second})
    if _V1_TRACKING in first:
        # Controllers may share a tree, and the one that tracks comes first.
        order = [name for name in _V1_CONTROLLERS if name in first]
        return Hierarchy(1, {name: first[name] for name in order})
    return None


def _own_groups(text: str) -> dict[str, str]:
    """Return our own group's path for each controller; the empty name is version 2."""
    found = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for name in controllers.split(","):
            found[name] = path
    return found


def _writable(mount: str, path: str) -> str:
    """Return the folder of our own group, or the tree's root where that is not seen from here."""
    for folder in (os.path.join(mount, path.lstrip("/")).rstrip("/"), mount):
        if os.access(folder, os.W_OK) and os.access(os.path.join(folder, "cgroup.procs"), os.W_OK):
            return folder
    return ""


def group_name(execute: str, slot: str) -> str:
    """Return how a slot's group is called: the execute folder and the slot."""
    return f"{_PREFIX}{execute.rstrip('/').replace('/', '_')}_{slot.partition('@')[0]}"


def leftovers(hierarchy: Hierarchy, base: str, execute: str) -> list[Group]:
    """Return the groups of all slots that once used this execute folder."""
    pattern = re.compile(re.escape(group_name(execute, "")) + r"slot\d+(_\d+)?")
    names: set[str] = set()
    for folder in hierarchy.folders.values():
        with contextlib.suppress(OSError):
            names.update(os.listdir(os.path.join(folder, base)))
    return [hierarchy.group(f"{base}/{name}") for name in sorted(names) if pattern.fullmatch(name)]


def _leave(ways: list[int]) -> None:
    """Take each way back, whatever becomes of the others."""
    if ways:
        try:
            os.pwrite(ways.pop(), _MYSELF, 0)
        finally:
            _leave(ways)


def thaw(pids: Iterable[int]) -> None:
    """Let jobs' processes go on that version 1 froze for somebody who died meanwhile.

    Nothing where groups are not ours to write.
    """
    hierarchy = find_hierarchy()
    folder = hierarchy.folders.get(_V1_TRACKING) if hierarchy is not None else None
    if folder is None:
        return
    own = _own_groups(_read("/proc/self/cgroup")).get(_V1_TRACKING, "").rstrip("/")
    groups = {_own_groups(_read(f"/proc/{pid}/cgroup")).get(_V1_TRACKING, "") for pid in pids}
    for group in groups:
        if os.path.basename(group).startswith(_PREFIX):
            _try_write(f"{folder}{group.removeprefix(own)}/{_V1_TRACKING}.state", "THAWED")


def _kill_each(pids: Iterable[int]) -> None:
    for pid in pids:
        if pid != os.getpid():
            send_signal(pid, signal.SIGKILL)


def _or_none(value: int | None) -> int:
    return -1 if value is None else value


def _count(text: str, name: str) -> int:
    for line in text.splitlines():
        word, _, value = line.partition(" ")
        if word == name and value.isdecimal():
            return int(value)
    return 0


def _read(path: str) -> str:
    try:
        return read_small(path).decode("utf-8", "replace")
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, to_bytes(text))
    finally:
        os.close(descriptor)


def _set(*limits: tuple[str, str | None, int | None, str]) -> dict[str, OSError]:
    """Write each limit, or that there is none; return why those that are wanted are not held.

    Each is its name, its file, where there is one, what is wanted, and the word for no limit.
    """
    refused = {}
    for name, path, value, none in limits:
        try:
            if path is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            _write(path, none if value is None else str(value))
        except OSError as error:
            if value is not None:
                refused[name] = error
    return refused


def _try_write(path: str, text: str) -> bool:
    try:
        _write(path, text)
    except OSError:
        return False
    return True
