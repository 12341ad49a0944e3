"""Changes to the queue that take effect together, and reading as if they already had.

One connection has at most one open transaction. Nothing of it is seen by anybody else before the
queue commits it; a connection that ends without a commit leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from kettle.classad import ClassAd
from kettle.records import queue_log
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of, parse_key

# One change: operation, key, attribute (or type), text (or target type).
Change = tuple[int, str, str, str]


# What a change, and a new ad, take besides their texts.
_CHANGE_BYTES = 200
_NEW_AD_BYTES = 600

_SETS_OR_DELETES = frozenset((queue_log.SET_ATTRIBUTE, queue_log.DELETE_ATTRIBUTE))


# Jobs of which the same attributes become the same texts.
Alike = tuple[Sequence[JobId], Mapping[str, str]]


class Ads(Protocol):
    """What a transaction reads through to."""

    def ad(self, key: str) -> ClassAd | None:
        """Return the committed ad of a key."""


class Transaction:
    """Changes in order, and what they make of each ad."""

    __slots__ = (
        "_base",
        "_destroyed",
        "_fresh",
        "_overlay",
        "_stale",
        "alike",
        "changes",
        "durable",
        "makes_cluster",
        "size",
    )

    def __init__(self, base: Ads) -> None:
        self._base = base
        # Key → attribute in lower case → (name, text), text None for deleted; None: ad destroyed.
        self._overlay: dict[str, dict[str, tuple[str, str | None]] | None] = {}
        # New jobs: what is set in them is nearly never read before the commit, so their overlays
        # are made only when somebody asks. A submission of 100,000 jobs would not fit otherwise.
        self._fresh: dict[str, None] = {}
        self._stale = False
        # Cluster → the procs that are taken out.
        self._destroyed: dict[int, set[int]] = {}
        self.changes: list[Change] = []
        # Comes after `changes`; nothing reads through it before the commit.
        self.alike: list[Alike] = []
        # About what the changes take in memory, in bytes.
        self.size = 0
        # Whether whoever commits waits for the disk.
        self.durable = True
        self.makes_cluster = False

    def __bool__(self) -> bool:
        return bool(self.changes or self.alike)

    def new_ad(self, key: str, my_type: str = "", target_type: str = "") -> None:
        """Make an empty ad."""
        self.changes.append((queue_log.NEW_AD, key, my_type, target_type))
        self.size += _NEW_AD_BYTES
        if key.endswith(".-1"):
            self.makes_cluster = True
            self._overlay[key] = {}
        else:
            self._overlay.pop(key, None)
            self._fresh[key] = None
            self._stale = True

    def destroy_ad(self, key: str) -> None:
        """Forget an ad."""
        self.changes.append((queue_log.DESTROY_AD, key, "", ""))
        self._fresh.pop(key, None)
        self._overlay[key] = None
        cluster, proc = parse_key(key) or (0, -1)
        if proc >= 0:
            self._destroyed.setdefault(cluster, set()).add(proc)

    def destroyed_jobs(self, cluster: int) -> AbstractSet[int]:
        """Return the procs of a cluster that this transaction takes out."""
        return self._destroyed.get(cluster, frozenset())

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute an expression, in old syntax."""
        self.changes.append((queue_log.SET_ATTRIBUTE, key, name, text))
        self.size += len(name) + len(text) + _CHANGE_BYTES
        if key in self._fresh:
            self._stale = True
            return
        overlay = self._overlay.get(key)
        if overlay is None:
            overlay = self._overlay[key] = {}
        overlay[name.lower()] = (name, text)

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute; removing a missing one is recorded all the same."""
        self.changes.append((queue_log.DELETE_ATTRIBUTE, key, name, ""))
        self.size += len(name) + _CHANGE_BYTES
        if key in self._fresh:
            self._stale = True
            return
        overlay = self._overlay.get(key)
        if overlay is None:
            overlay = self._overlay[key] = {}
        overlay[name.lower()] = (name, None)

    def update(self, key: str, attributes: Mapping[str, str | None]) -> None:
        """Set every attribute to its text, or take it away where that is None.

        What a job shares with its cluster is taken away by being undefined in the job's own ad.
        """
        for name, text in attributes.items():
            if text is not None:
                self.set_attribute(key, name, text)
            elif self._is_shared(key, name):
                self.set_attribute(key, name, "undefined")
            else:
                self.delete_attribute(key, name)

    def update_alike(self, jobs: Sequence[JobId], attributes: Mapping[str, str]) -> None:
        """Set attributes of many queued jobs to the same texts: one change, however many they are.

        It has to be the last one: what is done to these jobs afterwards would come before it.
        """
        if jobs and attributes:
            self.alike.append((jobs, attributes))

    def _is_shared(self, key: str, name: str) -> bool:
        ad = self._base.ad(key)
        return ad is not None and ad.parent is not None and name in ad.parent

    def exists(self, key: str) -> bool:
        """Tell whether the ad would be there after the commit."""
        if key in self._fresh:
            return True
        if key in self._overlay:
            return self._overlay[key] is not None
        return self._base.ad(key) is not None

    def created(self, key: str) -> bool:
        """Tell whether this transaction makes the ad."""
        if key in self._fresh:
            return self._base.ad(key) is None
        return self._overlay.get(key) is not None and self._base.ad(key) is None

    def text(self, cluster: int, proc: int, name: str) -> str | None:
        """Return a job's or cluster's attribute as it would be after the commit.

        A job's own value counts before its cluster's.
        """
        key, lower = key_of(cluster, proc), name.lower()
        self._look_at_fresh(key)
        changed = (self._overlay.get(key) or {}).get(lower)
        if changed is not None and changed[1] is not None:
            return changed[1]
        shared = None
        if proc >= 0:
            shared = (self._overlay.get(key_of(cluster, CLUSTER_PROC)) or {}).get(lower)
        ad = self._base.ad(key)
        if changed is None and ad is not None and (shared is None or _is_own(ad, lower)):
            return ad.text(name)
        if proc < 0:
            return None
        if shared is not None:
            return shared[1]
        common = self._base.ad(key_of(cluster, CLUSTER_PROC))
        return None if common is None else common.text(name)

    def overlay_of(self, key: str) -> Iterator[tuple[str, str | None]]:
        """Yield the changed attributes of an ad: name and text, None for a removed one."""
        self._look_at_fresh(key)
        return iter((self._overlay.get(key) or {}).values())

    def keys(self) -> Iterator[str]:
        """Yield the keys of every ad that is touched, in the order of the first touch."""
        yield from dict.fromkeys(change[1] for change in self.changes)

    def own_names(self, names: frozenset[str]) -> dict[str, set[str]]:
        """Return which of `names` (in lower case) are set in each new job, in one pass."""
        found: dict[str, set[str]] = {key: set() for key in self._fresh}
        for op, key, name, _ in self.changes:
            if op == queue_log.SET_ATTRIBUTE and key in found:
                lower = name.lower()
                if lower in names:
                    found[key].add(lower)
        return found

    def _look_at_fresh(self, key: str) -> None:
        """Make the overlays of new jobs, because one of them is read."""
        if not self._stale or key not in self._fresh:
            return
        for fresh in self._fresh:
            self._overlay[fresh] = {}
        for op, changed, name, text in self.changes:
            if changed in self._fresh and op in _SETS_OR_DELETES:
                value = text if op == queue_log.SET_ATTRIBUTE else None
                overlay = self._overlay[changed]
                assert overlay is not None
                overlay[name.lower()] = (name, value)
        self._stale = False


def _is_own(ad: ClassAd, lower: str) -> bool:
    """Tell whether the ad itself, without its cluster, has the attribute."""
    return lower in ad.table
