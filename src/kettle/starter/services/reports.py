"""What a starter says of itself, of its job's use of the machine, and of the job's end.

Numbers come from `services/use.py` and `services/sandbox.py`, their arithmetic and names are
`usage.py`'s and `outcome.py`'s. When something is said is decided in `service.py` and
`services/ending.py`.
"""

from __future__ import annotations

import contextlib

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.policy.lease import longest_silence
from kettle.runtime import tasks
from kettle.starter import outcome, syscalls
from kettle.starter.place import SHOWN, add_shown
from kettle.starter.services.parts import Starter
from kettle.starter.usage import Usage, final_figures, update_ad
from kettle.wire.messages import short_way
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import RepeatedCall

NO_UPDATE = -1
"""As `_condor_JOBINFO_MAXINTERVAL`: no further update is promised."""
# An update renews the job's lease, so that two that are lost do no harm; nobody is asked more often
# than the second number says, however short a lease is.
_UPDATES_PER_LEASE = 3
_LEAST_PAUSE_SECONDS = 1.0


class JobReports:
    """The reports about one job. `state` is JobState; empty before its program began."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self.usage = Usage()
        self.state = ""

    # ---- before the program begins ------------------------------------------------------------

    def info_with_slot(self) -> ClassAd:
        """Return who runs the job and where, with the whole ad of the slot."""
        starter = self._starter
        ad = starter.place.info()
        add_shown(ad, starter.job, starter.slot)
        lines = starter.place.text_of(starter.slot).splitlines()
        # As text: nobody here needs the nested ad taken apart.
        ad.insert_text("SlotAd", "[ " + "; ".join(lines) + " ]")
        return ad

    def provisioned(self) -> ClassAd:
        """Return what the slot has for the job."""
        ad = self._starter.place.provisioned.copy()
        ad["_condor_JOBINFO_MAXINTERVAL"] = NO_UPDATE
        return ad

    def beginning(self, *, transfers: bool) -> RepeatedCall:
        """Return the one call of the short way before the program.

        It is every job's of a claim, but of those that want more of the slot in their logs.
        """
        starter = self._starter
        repeated = starter.place.repeated
        shows = SHOWN in starter.job
        call = None if shows else repeated.get(transfers)
        if call is None:
            info = starter.place.info()
            add_shown(info, starter.job, starter.slot)
            info.update(self.provisioned())
            info[short_way.BEGINS] = True
            if transfers:
                info[short_way.NO_INPUT] = True
            call = RepeatedCall(calls.RegisterStarterInfo(info))
            if not shows:
                repeated[transfers] = call
        return call

    # ---- while it runs ------------------------------------------------------------------------

    def begin(self) -> None:
        """The program has begun."""
        if not self.usage.started_at:
            self.usage = Usage(started_at=self._starter.world.clock.now())
        self.usage = self.usage.observe(self._starter.jobs.use.first_sample())
        self.state = "Running"

    def note(self) -> None:
        """Note what the job uses now, for the next report."""
        self.usage = self.usage.observe(self._starter.jobs.use.sample())

    def update(self) -> ClassAd:
        """Return the present update ad."""
        starter = self._starter
        child = starter.jobs.child
        now = starter.world.clock.now()
        ad = update_ad(self.usage, child.pid if child else 0, self.state, now)
        for name, text in starter.delayed.items():
            ad.insert_text(name, text)
        return ad

    async def send_periodically(self) -> None:
        """Measure and report until this is cancelled."""
        starter = self._starter
        settings = starter.world.settings
        delay = float(settings.initial_update_interval)
        while True:
            await starter.shadow.wait_for_news(self._soon_enough(delay))
            delay = float(settings.update_interval)
            with tasks.reported("An update of the job's usage"):
                self.note()
            with tasks.reported("An update of the job"):
                await self.send_update()
            # Only now: a shadow that answers has not started the job anew, however late we ask.
            if starter.shadow.lease_is_over:
                starter.orders.lose_for_good()
                return

    def _soon_enough(self, delay: float) -> float:
        """Return when the next update is due at the latest: several times a lease."""
        silence = longest_silence(self._starter.shadow.lease_seconds)
        return min(delay, max(_LEAST_PAUSE_SECONDS, silence / _UPDATES_PER_LEASE))

    def _add_stream_times(self, ad: ClassAd) -> None:
        if self._starter.transfers:
            ad.update(self._starter.keeper.stream_times())

    async def send_update(self) -> None:
        """Tell shadow and startd what the job uses now."""
        starter = self._starter
        ad = self.update()
        self._add_stream_times(ad)
        starter.control.tell_usage(ad, starter.world.address)
        full = ClassAd(parent=ad)
        full["_condor_JOBINFO_MAXINTERVAL"] = 10 * starter.world.settings.update_interval
        with contextlib.suppress(ConnectionLost):
            await starter.shadow.call_once(lambda: syscalls.must(calls.RegisterJobInfo(full)))

    # ---- the end ------------------------------------------------------------------------------

    def final(self, status: int | None) -> ClassAd:
        """Return the final update: usage and how the job ended, from its wait status."""
        starter = self._starter
        now = starter.world.clock.now()
        usage = self.usage
        if starter.jobs.child is not None:
            usage = usage.observe(starter.jobs.use.final_sample())
        seen = starter.keeper.surveyed()
        self.usage = usage = usage._replace(disk_kib=seen.kib + starter.private_kib)
        self.state = "Exited"
        ad = self.update()
        for name, text in final_figures(usage, now, seen.files).items():
            ad.insert_text(name, text)
        self._add_stream_times(ad)
        ad["StarterIpAddr"] = starter.world.address
        if status is not None:
            core_dumped = bool(starter.keeper.core)
            ad.update(outcome.exit_attributes(status, core_dumped=core_dumped))
        ad.update(outcome.vacate_attributes(starter.vacate))
        return ad
