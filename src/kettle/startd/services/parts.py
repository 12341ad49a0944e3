"""What each part of the startd needs of the others.

`service.StartdService` is one; a test may be another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kettle.classad import ClassAd
    from kettle.records.job_trace import Step
    from kettle.runtime.context import Runtime
    from kettle.startd.claim_machine import Claim
    from kettle.startd.machine import Machine, SlotRecord
    from kettle.startd.retirement import Grants
    from kettle.startd.services.starters import Starters
    from kettle.startd.slot_events import Event


class Changes(Protocol):
    """Who tells the collector."""

    def note(self, record: SlotRecord, *, urgent: bool) -> None:
        """A slot has changed; the collector hears of it at once or soon."""
        ...

    def note_all(self) -> None:
        """Everything may have changed."""
        ...


class Policy(Protocol):
    """Who looks at the owner's expressions."""

    def look(self, records: Iterable[SlotRecord]) -> None:
        """Evaluate the policy of these slots and let what is due happen to them."""
        ...

    def grants(self, record: SlotRecord) -> Grants:
        """Return what machine and job grant for leaving."""
        ...


class Startd(Protocol):
    """The startd, as its parts see it."""

    runtime: Runtime
    machine: Machine
    # What the ads of all slots have in common.
    base: ClassAd
    # How the startd is shutting down, empty while it is not.
    stopping: str
    starters: Starters

    @property
    def base_stamp(self) -> tuple[int, int]:
        """Which state of `base` this is: another one whenever it has changed."""
        ...

    @property
    def updates(self) -> Changes:
        """Who tells the collector."""
        ...

    @property
    def policy(self) -> Policy:
        """Who looks at the owner's expressions."""
        ...

    def refresh_base(self) -> None:
        """Put what has changed into the ad that slots share."""
        ...

    def slot_ad(self, record: SlotRecord, *, policy: bool = False) -> ClassAd:
        """Return a slot's ad; with `policy` also the owner's expressions."""
        ...

    def passing_ad(self, record: SlotRecord) -> ClassAd:
        """Return what of a claimed slot's ad is another for each job."""
        ...

    def apply(self, record: SlotRecord, event: Event) -> bool:
        """Give a slot an event; False if it means nothing there (any more)."""
        ...

    def mint(self) -> Claim:
        """Make a new claim id that nobody holds, and its session."""
        ...

    def offer(self, record: SlotRecord) -> None:
        """Give a slot a claim id to advertise."""
        ...

    def retire_session(self, claim: Claim) -> None:
        """Let a claim's session end some time after the claim."""
        ...

    def trace(self, record: SlotRecord, step: Step) -> None:
        """Leave a line of a step of the slot's job in the log, where that is wanted."""
        ...
