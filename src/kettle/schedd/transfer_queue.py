"""Whose turn it is to move files: the transfer queue of an access point.

Pure. A shadow that has much to move asks; so many inputs (MAX_CONCURRENT_UPLOADS) and so many
outputs (MAX_CONCURRENT_DOWNLOADS) travel at a time. Of those that wait, the user with the fewest
under way comes first, then the one who asked first. Source: wire notes, Transfer queue
manager, and the manual's transfer queue.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.statistics.counters import Counters, Kind, Row


@dataclass(frozen=True, slots=True)
class Limits:
    """How many transfers run at a time; 0 or less is no limit. Uploads carry jobs' input."""

    uploads: int = 100
    downloads: int = 100
    uploads_of_user: int = 0

    def of(self, *, downloading: bool) -> int:
        """Return the limit of one direction."""
        return self.downloads if downloading else self.uploads


@dataclass(slots=True, eq=False)
class Request:
    """One transfer that waits or runs."""

    user: str
    downloading: bool
    asked_at: float = 0.0
    running: bool = False
    size_bytes: int = 0


ROWS = tuple(
    row
    for way in ("Upload", "Download")
    for row in (
        Row(f"TransferQueueNum{way}ing", f"{way}s that are under way.", Kind.LEVEL),
        Row(f"TransferQueueNumWaitingTo{way}", f"{way}s that wait for their turn.", Kind.LEVEL),
        Row(f"TransferQueue{way}WaitTime", f"Seconds the oldest {way} waits.", Kind.LEVEL),
    )
)
"""What the schedd's ad says of its transfer queue."""


@dataclass(slots=True)
class TransferQueue:
    """All transfers that were asked for, in the order they were."""

    limits: Limits = field(default_factory=Limits)
    requests: list[Request] = field(default_factory=list)
    counters: Counters = field(default_factory=lambda: Counters(ROWS, 0))

    def add(self, request: Request) -> None:
        """Let a transfer wait; `next_turns` says when it may run."""
        self.requests.append(request)

    def remove(self, request: Request) -> None:
        """A transfer is over, or is wanted no more."""
        self.requests.remove(request)

    def asked_by(self, user: str, *, downloading: bool) -> int:
        """Return how many transfers of a direction a user has asked for, waiting or running."""
        mine = (one for one in self.requests if one.user == user)
        return sum(one.downloading is downloading for one in mine)

    def next_turns(self) -> list[Request]:
        """Return the transfers whose turn it is now; they count as running from here on."""
        return [request for way in (False, True) for request in self._next_of(downloading=way)]

    def count(self, *, downloading: bool, running: bool) -> int:
        """Return how many transfers of a direction run, or wait."""
        return sum(
            one.downloading is downloading and one.running is running for one in self.requests
        )

    def measure(self, now: float) -> None:
        """Take the levels of this moment; done at every change, so that no peak is lost."""
        for way, downloading in (("Upload", False), ("Download", True)):
            mine = [one for one in self.requests if one.downloading is downloading]
            waits = [now - one.asked_at for one in mine if not one.running]
            self.counters.set(f"TransferQueueNum{way}ing", len(mine) - len(waits))
            self.counters.set(f"TransferQueueNumWaitingTo{way}", len(waits))
            self.counters.set(f"TransferQueue{way}WaitTime", max(waits, default=0))

    def publish(self, ad: ClassAd, now: float) -> None:
        """Put levels, peaks, limits and what waits into the schedd's ad."""
        self.measure(now)
        self.counters.publish_rows(ad)
        ad["TransferQueueMaxUploading"] = self.limits.uploads
        ad["TransferQueueMaxDownloading"] = self.limits.downloads
        for way, downloading in (("Upload", False), ("Download", True)):
            waiting = sum(
                one.size_bytes
                for one in self.requests
                if one.downloading is downloading and not one.running
            )
            ad[f"FileTransferMBWaitingTo{way}"] = waiting / 1_000_000

    def _next_of(self, *, downloading: bool) -> list[Request]:
        mine = [one for one in self.requests if one.downloading is downloading]
        waiting = [one for one in mine if not one.running]
        under_way = Counter(one.user for one in mine if one.running)
        most = 0 if downloading else self.limits.uploads_of_user
        turns: list[Request] = []
        while not _is_reached(self.limits.of(downloading=downloading), under_way.total()):
            allowed = [one for one in waiting if not _is_reached(most, under_way[one.user])]
            if not allowed:
                break
            # `min` keeps the first of those that are alike, who asked first.
            chosen = min(allowed, key=lambda one: under_way[one.user])
            waiting.remove(chosen)
            under_way[chosen.user] += 1
            chosen.running = True
            turns.append(chosen)
        return turns


def _is_reached(limit: int, number: int) -> bool:
    """Tell whether a limit allows no more; 0 or less is none."""
    return 0 < limit <= number
