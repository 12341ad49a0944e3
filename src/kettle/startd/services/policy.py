"""Looking at the owner's expressions and at the clock, and telling slots what has become due.

When an expression counts as an event is `slot_policy.py`'s, what the event does is the table's.
A slot is looked at when something has happened to it, all of them every POLLING_INTERVAL (while no
slot is claimed, every UPDATE_INTERVAL), and at the moment when a timer of one runs out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from kettle.config.knobs.collector import CollectorKnobs
from kettle.config.knobs.startd import StartdKnobs
from kettle.errors import KettleError
from kettle.policy.kill_signals import wished_seconds
from kettle.runtime import tasks
from kettle.startd import ads, claim_machine, slot_policy
from kettle.startd import slot_events as ev
from kettle.startd.machine import SlotRecord
from kettle.startd.retirement import Grants, seconds_until_soft_kill, vacate_seconds
from kettle.startd.services.parts import Startd
from kettle.startd.slot_machine import Phase

# Limit: events one look may raise for one slot; the table has no longer chain.
_CHAIN = 8
# Where a slot is from job to job of a claim; while the claim is not asked to leave, no timer runs
# there but that of its lease, which begins anew when a job ends.
_SETTLED = frozenset((Phase.CLAIMED_IDLE, Phase.CLAIMED_BUSY, Phase.CLAIMED_CLEANING))
_NO_TIMERS = slot_policy.Timers()
# A timer that ran out a moment ago is looked at again this soon at the earliest.
_SHORTEST_WAIT = 0.02


class PolicyWatch:
    """Raises the events that nobody sends."""

    def __init__(self, startd: Startd) -> None:
        self._startd = startd
        # Slots that something has happened to since they were last looked at.
        self._changed: dict[str, SlotRecord] = {}
        self._soon: asyncio.Handle | None = None
        # When all were last looked at, when they are next, both in the loop's time.
        self._looked_at = 0.0
        self._due_at = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to look."""
        self._looked_at = asyncio.get_running_loop().time()
        self._wait_for(self._startd.machine)

    def stop(self) -> None:
        """Look no more."""
        for handle in (self._soon, self._timer):
            if handle is not None:
                handle.cancel()

    def note(self, record: SlotRecord) -> None:
        """Something has happened to a slot."""
        self._changed[record.name] = record
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_soon(self._look_at_changed)

    def is_settled(self, record: SlotRecord) -> bool:
        """Whether a look at a slot that only changed its Activity would find what it found before.

        So it is with expressions that are plain true or false where jobs begin and end: nothing but
        time can make anything due, and the timer that runs comes before the lease is over.
        """
        slot = record.slot
        if self._timer is None or slot.phase not in _SETTLED or slot.leaving_code:
            return False
        left = self._seconds_left(record)
        if left is not None and asyncio.get_running_loop().time() + left < self._due_at:
            return False
        verdict = ads.constant_verdict(self._startd.runtime.config, record)
        return (
            verdict is not None
            and verdict.want_vacate == slot.want_vacate
            and slot_policy.decide_event(slot, verdict, _NO_TIMERS) is None
        )

    def _look_at_changed(self) -> None:
        """An event concerns its slot; what else policies look at is seen at the next interval."""
        self._soon = None
        changed, self._changed = self._changed, {}
        self._try(changed.values())
        self._wait_for(changed.values())

    def _look_at_all(self) -> None:
        self._looked_at, self._due_at = asyncio.get_running_loop().time(), float("inf")
        self._try(self._startd.machine)
        self._wait_for(self._startd.machine)

    def _try(self, records: Iterable[SlotRecord]) -> None:
        for record in list(records):
            # The others are looked at, and all again: a policy that is watched no more lets jobs
            # stay for ever.
            with tasks.reported(f"The policy of {record.short_name}"):
                try:
                    self.look((record,))
                except KettleError as error:
                    self._startd.runtime.log(f"the policy cannot be evaluated: {error}")

    def look(self, records: Iterable[SlotRecord]) -> None:
        """Evaluate the policy of these slots and let what is due happen to them."""
        slots = self._startd.machine.slots
        for record in list(records):
            for _ in range(_CHAIN):
                if slots.get(record.name) is not record:
                    break
                event = self._due_event(record)
                if event is None or not self._startd.apply(record, event):
                    break

    # ---- when to look again -------------------------------------------------------------------

    def _wait_for(self, records: Iterable[SlotRecord]) -> None:
        """Look again when something may become due for one of these by time alone."""
        loop, config = asyncio.get_running_loop(), self._startd.runtime.config
        now, due_at = loop.time(), self._due_at
        if self._timer is None:
            due_at = self._looked_at + config.value(CollectorKnobs.UPDATE_INTERVAL)
        for record in records:
            if record.slot.phase.state in {"Claimed", "Preempting"}:
                often = config.value(StartdKnobs.POLLING_INTERVAL)
                due_at = min(due_at, self._looked_at + often)
            left = None
            # One slot's trouble leaves the others their timer.
            with tasks.reported(f"The timers of {record.short_name}"):
                left = self._seconds_left(record)
            if left is not None:
                due_at = min(due_at, now + max(left, _SHORTEST_WAIT))
        if self._timer is not None and due_at < self._due_at:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._due_at = due_at
            self._timer = loop.call_at(due_at, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._look_at_all()

    def _seconds_left(self, record: SlotRecord) -> float | None:
        """Return until when time alone changes nothing about a slot; None if it never does."""
        left = [one for one in self.timers(record) if one is not None]
        return min(left, default=None)

    # ---- one slot -----------------------------------------------------------------------------

    def _due_event(self, record: SlotRecord) -> ev.Event | None:
        verdict = ads.constant_verdict(self._startd.runtime.config, record)
        if verdict is None:
            verdict = slot_policy.read_verdict(self._truth(record))
        if record.pool is not None and record.slot.phase is Phase.UNCLAIMED_IDLE:
            verdict = replace(verdict, run_benchmarks=False)
        if record.slot.want_vacate != verdict.want_vacate:
            record.slot = record.slot._replace(want_vacate=verdict.want_vacate)
        return slot_policy.decide_event(record.slot, verdict, self.timers(record))

    def _truth(self, record: SlotRecord) -> slot_policy.Truth:
        """Return how to evaluate the slot's expressions in its own ad, with its job."""
        ad, job = self._startd.slot_ad(record, policy=True), record.job

        def truth(name: str) -> bool | None:
            attribute = {"IS_OWNER": "IsOwner", "START": "Start"}.get(name, name)
            value = ad.evaluate(attribute, job if name != "IS_OWNER" else None)
            return bool(value) if isinstance(value, (int, float)) else None

        return truth

    def grants(self, record: SlotRecord) -> Grants:
        """Return what machine and job grant for leaving."""
        startd = self._startd
        ad, job, drain = startd.slot_ad(record), record.job, startd.machine.drain
        if record.accepted_while_draining or (drain is not None and drain.how_fast > 0):
            retirement: object = 0
        else:
            retirement = ad.evaluate("MaxJobRetirementTime", job)
        vacate = ad.evaluate("MachineMaxVacateTime", job)
        if startd.stopping == "peaceful":
            retirement = float("inf")
        return Grants(
            _number(retirement) or 0.0,
            _number(job.real("MaxJobRetirementTime")) if job is not None else None,
            600.0 if (seconds := _number(vacate)) is None else seconds,
            wished_seconds(job, ad) if job is not None else None,
        )

    def timers(self, record: SlotRecord) -> slot_policy.Timers:
        """Return the seconds left of every limit that counts in the slot's phase."""
        runtime = self._startd.runtime
        slot, now, config = record.slot, runtime.clock.steady(), runtime.config
        since = now - slot.entered_activity_at
        lease = None if record.claim is None else claim_machine.lease_left(record.claim, now)
        if slot.phase is Phase.MATCHED_IDLE:
            limit = config.value(StartdKnobs.MATCH_TIMEOUT)
            return slot_policy.Timers(match_left=limit - since, lease_left=lease)
        if slot.phase is Phase.CLAIMED_RETIRING or (
            slot.phase in {Phase.CLAIMED_SUSPENDED, Phase.CLAIMED_CLEANING} and slot.leaving_code
        ):
            left = seconds_until_soft_kill(self.grants(record), record.ran_seconds(now))
            return slot_policy.Timers(retirement_left=left, lease_left=lease)
        if slot.phase is Phase.PREEMPTING_VACATING:
            seconds = vacate_seconds(self.grants(record), record.ran_seconds(now))
            return slot_policy.Timers(vacate_left=seconds - since, lease_left=lease)
        if slot.phase is Phase.PREEMPTING_KILLING:
            limit = config.value(StartdKnobs.KILLING_TIMEOUT)
            left = slot_policy.killing_left(slot, limit, now)
            return slot_policy.Timers(killing_left=left, lease_left=lease)
        return slot_policy.Timers(lease_left=lease)


def _number(value: object) -> float | None:
    """Return a number of seconds; None for what is none, NaN among it."""
    return float(value) if isinstance(value, (bool, int, float)) and value == value else None
