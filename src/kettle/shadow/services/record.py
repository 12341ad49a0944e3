"""What a shadow knows of its job: the ad, the changes for the queue, the events in its logs.

Changes are collected and sent together; the schedd commits them in the order they come. What is
changed, and when, is decided by the shadow (`services/shadow.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import StorageError
from kettle.policy.lease import lease_of, lease_of_run, longest_silence
from kettle.policy.run_rights import rights_of
from kettle.records.event_base import Event
from kettle.records.job_trace import Step
from kettle.runtime.job_tracing import trace
from kettle.shadow import job_events
from kettle.shadow.job_updates import delayed_chirp, from_report
from kettle.wire.messages.shadow_host import UpdateJob

if TYPE_CHECKING:
    from kettle.runtime.storage.event_logs import JobLogs
    from kettle.shadow.services.kept_ads import CommonAd
    from kettle.shadow.services.parts import Host
    from kettle.wire.messages.shadow_host import StartShadow

# How long updates may wait for others of the same job.
UPDATE_DELAY_SECONDS = 2.0
# A renewal of the lease is recorded when so much of it has passed since the last that was.
RECORDED_SHARE = 0.25


class JobRecord:
    """One job's ad in the shadow host."""

    __slots__ = (
        "_flush_timer",
        "_keeping",
        "_lacks_events",
        "_lease_at_start",
        "_lease_sent_at",
        "_logged_sizes",
        "_logs",
        "_pending",
        "cluster",
        "common",
        "host",
        "info",
        "job",
        "last_contact",
        "proc",
        "rights",
        "slot",
    )

    def __init__(self, host: Host, start: StartShadow, common: CommonAd | None) -> None:
        self.host = host
        # What the job's ad is chained to, if its cluster's jobs share it.
        self.common = common
        self.cluster = start.cluster
        self.proc = start.proc
        self.job = start.job
        self.slot = start.slot
        self.rights = rights_of(self.job)
        # What the starter said of itself; until then what the schedd knows.
        self.info = ClassAd({"Name": self.job.string("RemoteHost") or ""})
        # The starter was told of it, and nobody tells it of another.
        self._lease_at_start = longest_silence(lease_of_run(self.job))
        # Both by the steady clock: a lease is no shorter because somebody sets the time.
        self.last_contact = host.steady()
        self._lease_sent_at = host.steady()
        self._logged_sizes: tuple[object, ...] = ()
        self._logs: JobLogs | None = None
        self._pending: dict[str, str] = {}
        self._flush_timer: asyncio.TimerHandle | None = None
        # Who waits for what until the queue has it on disk, in the order in which it was asked.
        self._keeping: list[asyncio.Event] = []
        # Whether a log of the job's was refused an event for good.
        self._lacks_events = False

    @property
    def name(self) -> str:
        """The job's id, as logs show it."""
        return f"{self.cluster}.{self.proc}"

    @property
    def slot_name(self) -> str:
        """The name of the slot the job runs in."""
        return self.info.string("Name") or self.job.string("RemoteHost") or "unknown slot"

    # The job's ad and the queue.

    def set_attributes(self, **values: object) -> None:
        """Set attributes of our copy of the job only."""
        for name, value in values.items():
            self.job[name] = value

    def update(self, changes: dict[str, str]) -> None:
        """Change the job here and, soon, in the queue; values are expression texts."""
        for name, text in changes.items():
            self.job.insert_text(name, text)
        self._pending.update(changes)
        if self._pending and self._flush_timer is None:
            self.flush_within(UPDATE_DELAY_SECONDS)

    def flush_within(self, seconds: float) -> None:
        """Send the waiting updates after so long, with those that come until then."""
        self._disarm()
        loop = asyncio.get_running_loop()
        self._flush_timer = loop.call_later(seconds, self.flush)

    def flush(self) -> None:
        """Send the waiting updates to the schedd; while it reads nothing they go on waiting."""
        self._disarm()
        if self._pending and self.host.control.congested:
            self.flush_within(UPDATE_DELAY_SECONDS)
        elif self._pending:
            self.host.tell_schedd(UpdateJob(self.cluster, self.proc, self.take_pending()))

    async def keep(self) -> None:
        """Return when the queue has the waiting updates, and what came before, on its disk."""
        kept = asyncio.Event()
        self._keeping.append(kept)
        update = UpdateJob(self.cluster, self.proc, self.take_pending(), answered=True)
        self.host.tell_schedd(update)
        await kept.wait()

    def note_kept(self) -> None:
        """Note that the queue has what it was asked first of all that it has not answered yet."""
        if self._keeping:
            self._keeping.pop(0).set()

    @property
    def is_logged(self) -> bool:
        """Whether the job's log tells a later shadow everything that was written into it."""
        return not self._lacks_events and self.host.logs.told.shows(self.job)

    def _disarm(self) -> None:
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None

    def take_pending(self) -> dict[str, str]:
        """Return the waiting updates, which are then no longer waiting."""
        self._disarm()
        changes, self._pending = self._pending, {}
        return changes

    def hear(self) -> None:
        """Note that the starter was heard: the job's lease begins anew."""
        now = self.host.steady()
        self.last_contact = now
        passed = now - self._lease_sent_at
        # No lease is shorter than a second: a job is heard of seven times in less. A longer one
        # that it got meanwhile may be taken away again, and who takes over goes by the first.
        if passed > RECORDED_SHARE and passed > self._lease_at_start * RECORDED_SHARE:
            self._lease_sent_at = now
            self.update({"LastJobLeaseRenewal": str(int(self.host.now()))})

    @property
    def lease_seconds(self) -> int:
        """How long the job may run without being heard of.

        Compat: the reference gives a job up by what its ad says by now, and one whose lease was
        made shorter while it ran may then run twice
        (test_a_lease_that_is_made_shorter_is_waited_for_as_long_as_the_starter_knows_it).
        """
        return max(longest_silence(lease_of(self.job)), self._lease_at_start)

    # Logging.

    def log(self, text: str) -> None:
        """Write a line to the shadow's log."""
        self.host.log(f"({self.name}) {text}")

    def log_detail(self, text: str) -> None:
        """Write a line that D_FULLDEBUG asks for."""
        self.host.runtime.log.full(f"({self.name}) {text}")

    def trace(self, step: Step, detail: str = "") -> None:
        """Leave a line of the job's step in the log, where that is wanted."""
        trace(self.host.runtime.log, self.job, step, detail)

    def write_event(self, event: Event) -> None:
        """Write an event into the job's logs; one that cannot be written is a line in ours."""
        job_events.stamp(event, self.cluster, self.proc, self.host.now())
        try:
            if self._logs is None:
                logs = self.host.logs
                self._logs = logs.logs_of(self.job, self.host.nodes_mask(self.job))
            self.host.logs.write(self.job, event, self._logs)
        except StorageError as error:
            self._lacks_events = True
            self.log(f"ERROR: {error}")

    def forget_logs(self) -> None:
        """Look again where events go: somebody changed the job's ad."""
        self._logs = None

    @contextlib.contextmanager
    def events_together(self) -> Iterator[None]:
        """Write the events of what is done inside in one piece; a log that fails is a line."""
        try:
            with self.host.logs.together():
                yield
        except StorageError as error:
            self._lacks_events = True
            self.log(f"ERROR: {error}")

    def changes_of(self, ad: ClassAd) -> dict[str, str]:
        """Return what a starter's report changes in the queue's ad of the job."""
        host, changes = self.host, from_report(ad)
        if self.rights.delayed:
            changes |= delayed_chirp(ad, host.chirp_prefix, host.protected)
        return changes

    def note_report(self, ad: ClassAd) -> dict[str, str]:
        """Take over what a starter measured; return what has changed for the queue.

        A job is as large as it was ever found, its program's size at first: one that ended before
        it was measured is not of size 0.
        """
        changes = self.changes_of(ad)
        if (ad.integer("ImageSize") or 0) < (self.job.integer("ImageSize") or 0):
            changes.pop("ImageSize", None)
        self.update(changes)
        if ad.lookup("ImageSize") is not None:
            event = job_events.image_size_event(self.job)
            sizes = (event.size_kb, event.memory_mb, event.resident_kb, event.proportional_kb)
            if sizes != self._logged_sizes:
                self._logged_sizes = sizes
                self.write_event(event)
        return changes
