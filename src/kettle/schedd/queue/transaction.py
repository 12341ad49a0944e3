"""Changes to the queue that take effect together, and reading as if they already had.

One connection has at most one open transaction. Nothing of it is seen by anybody else before the
queue commits it; a connection that ends without a commit leaves nothing behind.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Protocol

from kettle.classad import ClassAd, is_expression
from kettle.classad.text import without_line_ends
from kettle.errors import RefusedError
from kettle.patterns import late_pattern
from kettle.records import queue_log
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of, parse_key

# One change: operation, key, attribute (or type), text (or target type).
Change = tuple[int, str, str, str]


_SET = queue_log.SET_ATTRIBUTE

# What a change, and a new ad, take besides their texts.
CHANGE_BYTES = 200
_NEW_AD_BYTES = 600

# Jobs of which the same attributes become the same texts.
Alike = tuple[Sequence[JobId], Mapping[str, str]]


class Ads(Protocol):
    """What a transaction reads through to."""

    def ad(self, key: str) -> ClassAd | None:
        """Return the committed ad of a key."""


class Transaction:
    """Changes in order, and what they make of each ad."""

    __slots__ = (
        "__weakref__",
        "_base",
        "_clusters",
        "_destroyed",
        "_fresh",
        "_fresh_read",
        "_overlay",
        "_read",
        "alike",
        "changes",
        "durable",
        "makes_cluster",
        "size",
        "taken",
    )

    def __init__(self, base: Ads) -> None:
        self._base = base
        # Key → attribute in lower case → (name, text), text None for deleted; None: ad destroyed.
        # Made when somebody reads, from the changes since: nearly nobody reads before the commit.
        self._overlay: dict[str, dict[str, tuple[str, str | None]] | None] = {}
        self._read = 0
        # New jobs: their overlays are made only when one of them is read. A submission of 100,000
        # jobs would not fit otherwise.
        self._fresh: dict[str, None] = {}
        self._fresh_read = 0
        # The keys of new clusters' ads.
        self._clusters: set[str] = set()
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
        # Whether the journal has it, or there was nothing to take: no later failure undoes it.
        self.taken = False

    def __bool__(self) -> bool:
        return bool(self.changes or self.alike)

    def new_ad(self, key: str, my_type: str = "", target_type: str = "") -> None:
        """Make an empty ad."""
        self.changes.append((queue_log.NEW_AD, key, my_type, target_type))
        self.size += _NEW_AD_BYTES
        if key.endswith(".-1"):
            self.makes_cluster = True
            self._clusters.add(key)
        else:
            self._fresh[key] = None

    def destroy_ad(self, key: str) -> None:
        """Forget an ad."""
        self.changes.append((queue_log.DESTROY_AD, key, "", ""))
        self._fresh.pop(key, None)
        self._clusters.discard(key)
        cluster, proc = parse_key(key) or (0, -1)
        if proc >= 0:
            self._destroyed.setdefault(cluster, set()).add(proc)

    def destroyed_jobs(self, cluster: int) -> AbstractSet[int]:
        """Return the procs of a cluster that this transaction takes out."""
        return self._destroyed.get(cluster, frozenset())

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute an expression, in old syntax; one that no log can have is undefined."""
        if len(text) > queue_log.LONGEST_TEXT:
            text = "undefined"
        self.changes.append((queue_log.SET_ATTRIBUTE, key, name, text))
        self.size += len(name) + len(text) + CHANGE_BYTES

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute; removing a missing one is recorded all the same."""
        self.changes.append((queue_log.DELETE_ATTRIBUTE, key, name, ""))
        self.size += len(name) + CHANGE_BYTES

    def update(self, key: str, attributes: Mapping[str, str | None]) -> None:
        """Set every attribute to its text, or take it away where that is None.

        What a job shares with its cluster is taken away by being undefined in the job's own ad. The
        texts may come from peers, with line ends in their strings: the log has blanks instead. What
        does not parse would spoil every answer that it stands in, and becomes undefined.
        """
        changes, is_plain = self.changes, _PLAIN.fullmatch
        for name, text in attributes.items():
            if text is not None:
                stored = text if is_plain(text) is not None else _storable(text)
                changes.append((_SET, key, name, stored))
                self.size += len(name) + len(stored) + CHANGE_BYTES
            elif self._is_shared(key, name):
                self.set_attribute(key, name, "undefined")
            else:
                self.delete_attribute(key, name)

    def update_alike(self, jobs: Sequence[JobId], attributes: Mapping[str, str]) -> None:
        """Set attributes of many queued jobs to the same texts: one change, however many they are.

        It has to be the last one: what is done to these jobs afterwards would come before it.
        """
        if jobs and attributes:
            texts = {name: _storable(text) for name, text in attributes.items()}
            self.alike.append((jobs, texts))

    def forget_lost(self) -> None:
        """Drop changes of ads that are neither committed nor made here: others destroyed them.

        What is asked of a job is checked when it is asked; the job may leave before the commit.
        RefusedError (EEXIST) for an ad that is made though it is there: a job would run twice.
        """
        base, seen = self._base, ""
        made: set[str] = set()
        gone: set[str] = set()
        lost: set[str] = set()
        for op, key, _, _ in self.changes:
            if op == queue_log.NEW_AD:
                if (key in made or base.ad(key) is not None) and key not in gone:
                    raise RefusedError(f"{key} is in the queue already", code=errno.EEXIST)
                made.add(key)
                gone.discard(key)
                continue
            if op == queue_log.DESTROY_AD:
                gone.add(key)
            if key != seen:
                seen = key
                if key not in made and base.ad(key) is None:
                    lost.add(key)
        if lost:
            self.changes = [change for change in self.changes if change[1] not in lost]
            self._read = self._fresh_read = 0

    def _is_shared(self, key: str, name: str) -> bool:
        ad = self._base.ad(key)
        return ad is not None and ad.parent is not None and name in ad.parent

    def exists(self, key: str) -> bool:
        """Tell whether the ad would be there after the commit.

        One that is changed here may have been destroyed by others since.
        """
        if key in self._fresh or key in self._clusters:
            return True
        self._catch_up()
        if key in self._overlay and self._overlay[key] is None:
            return False
        return self._base.ad(key) is not None

    def text(self, cluster: int, proc: int, name: str) -> str | None:
        """Return a job's or cluster's attribute as it would be after the commit.

        A job's own value counts before its cluster's.
        """
        key, lower = key_of(cluster, proc), name.lower()
        changed = self._changed(key).get(lower)
        if changed is not None and changed[1] is not None:
            return changed[1]
        shared = None
        if proc >= 0:
            shared = self._changed(key_of(cluster, CLUSTER_PROC)).get(lower)
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
        return iter(self._changed(key).values())

    def keys(self) -> Iterator[str]:
        """Yield the keys of every ad that is touched, in the order of the first touch."""
        yield from dict.fromkeys(change[1] for change in self.changes)

    def own_texts(self, names: frozenset[str]) -> dict[str, dict[str, str]]:
        """Return each new job's own texts of `names` (in lower case), in one pass."""
        found: dict[str, dict[str, str]] = {key: {} for key in self._fresh}
        for op, key, name, text in self.changes:
            if key not in found or (lower := name.lower()) not in names:
                continue
            if op == queue_log.SET_ATTRIBUTE:
                found[key][lower] = text
            else:
                found[key].pop(lower, None)
        return found

    def new_jobs(self) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
        """Yield each new job's key and its own attributes: lower-case name to name and text.

        As they are when this is asked for, one job after the other: all of them at once would be
        more than their submission takes.
        """
        where: dict[str, list[int]] = {key: [] for key in self._fresh}
        for number, change in enumerate(self.changes):
            found = where.get(change[1])
            if found is not None:
                found.append(number)
        for key, numbers in where.items():
            own: dict[str, tuple[str, str]] = {}
            for number in numbers:
                op, _, name, text = self.changes[number]
                if op == queue_log.SET_ATTRIBUTE:
                    own[name.lower()] = (name, text)
                elif op == queue_log.DELETE_ATTRIBUTE:
                    own.pop(name.lower(), None)
            yield key, own

    def _changed(self, key: str) -> Mapping[str, tuple[str, str | None]]:
        """Return the changed attributes of an ad by their names in lower case."""
        self._catch_up()
        if key in self._fresh:
            self._catch_up_with_fresh()
        return self._overlay.get(key) or {}

    def _catch_up(self) -> None:
        """Make the overlays of all ads but new jobs from the changes since they were read."""
        fresh, overlays = self._fresh, self._overlay
        for op, key, name, text in self.changes[self._read :]:
            if op == queue_log.NEW_AD:
                overlays.pop(key, None)
                if key.endswith(".-1"):
                    overlays[key] = {}
            elif op == queue_log.DESTROY_AD:
                overlays[key] = None
            elif key not in fresh:
                self._note(key, op, name, text)
        self._read = len(self.changes)

    def _catch_up_with_fresh(self) -> None:
        """Make the overlays of all new jobs, because one of them is read."""
        for op, key, name, text in self.changes[self._fresh_read :]:
            if key not in self._fresh:
                continue
            if op == queue_log.NEW_AD:
                self._overlay[key] = {}
            elif op != queue_log.DESTROY_AD:
                self._note(key, op, name, text)
        self._fresh_read = len(self.changes)

    def _note(self, key: str, op: int, name: str, text: str) -> None:
        overlay = self._overlay.get(key)
        if overlay is None:
            overlay = self._overlay[key] = {}
        overlay[name.lower()] = (name, text if op == queue_log.SET_ATTRIBUTE else None)


def _is_own(ad: ClassAd, lower: str) -> bool:
    """Tell whether the ad itself, without its cluster, has the attribute."""
    return lower in ad.table


# What the queue has as it is, seen in one call: a job sets some 90 texts, and most are such.
_PLAIN: Final = late_pattern(
    r'-?[1-9][0-9]{0,16}|"[^"\\\0\n]{0,10000}"|undefined|(?:0|[1-9][0-9]{0,16})(?:\.[0-9]{1,16})?'
    "|true|false"
)


def _storable(text: str) -> str:
    """Return what the queue has for a text that may be a peer's."""
    if len(text) > queue_log.LONGEST_TEXT:
        return "undefined"
    if "\n" in text:
        text = without_line_ends(text)
    return text if is_expression(text) else "undefined"
