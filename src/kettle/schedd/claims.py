"""A claim as the schedd sees it: requested, idle in hand, running a job, on its way out.

One table for one claim, and the book of all claims. The startd's half is
`kettle.startd.claim_machine`. Requests, shadows and releases are effects that the shell performs;
which job a claim runs next is the scheduler's choice. Source: wire notes, Claims; execution points
Claimed State and Leases (R080).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from kettle.choices import Choice
from kettle.classad import ClassAd
from kettle.errors import ImpossibleTransition
from kettle.schedd.job_machine import Attributes
from kettle.schedd.matched_slots import Allowances
from kettle.schedd.queue.job_ids import JobId
from kettle.wire.security.claim_id import public_claim_id


class Phase(Choice):
    """Where a claim is in its life."""

    REQUESTING = "Requesting"
    IDLE = "Idle"
    RUNNING = "Running"
    # The startd gave the claim up while its job's shadow has not ended yet.
    LOST = "Lost"
    GONE = "Gone"


class Accepted:
    """The startd granted the claim."""


class Refused:
    """The startd did not grant the claim, or was not reached."""


class JobGiven:
    """A job was chosen for the claim, and its start is in the queue; it will be on disk."""


class NoJob:
    """Nothing waits that the claim could run."""


class ShadowEnded:
    """The job's shadow has ended; the claim may take another job."""


class ShadowEndedForGood:
    """The job's shadow has ended, and the claim takes no further job."""


class GivenUp:
    """The startd released the claim."""


ClaimEvent = (
    type[Accepted]
    | type[Refused]
    | type[JobGiven]
    | type[NoJob]
    | type[ShadowEnded]
    | type[ShadowEndedForGood]
    | type[GivenUp]
)


class Effect(Choice):
    """What follows from a transition."""

    CHOOSE_JOB = "choose the next job"
    START_SHADOW = "start a shadow"
    RELEASE = "tell the startd that the claim is not needed"
    FORGET_JOB = "let the reserved job wait again"
    FORGET = "know the claim's session no more"


@dataclass(slots=True, eq=False)
class Claim:
    """One claim; `id` is the secret, `public_id` what may be shown."""

    id: str
    startd_address: str
    slot: ClassAd
    submitter: str
    autocluster: int
    job: JobId | None
    since: float
    # Whom it was claimed for: the slot, and a starter that stays for more jobs, are this user's.
    user: str = ""
    phase: Phase = Phase.REQUESTING
    jobs_started: int = 0
    # What its jobs get of it, once the first one starts: the slot it was granted stays the same.
    attributes: Attributes | None = None
    # What jobs may count against that get what is left of the slot; one for the whole chain.
    allowances: Allowances = field(default_factory=Allowances)
    story: list[str] = field(default_factory=list)

    @property
    def public_id(self) -> str:
        """What may be shown of the id."""
        return public_claim_id(self.id)


@dataclass(frozen=True, slots=True)
class Row:
    """One edge of a claim's life."""

    source: Phase
    event: ClaimEvent
    target: Phase
    effects: tuple[Effect, ...]


# fmt: off
TRANSITIONS = (
    #   from              on                  to                do
    Row(Phase.REQUESTING, Accepted,           Phase.IDLE,       (Effect.CHOOSE_JOB,)),
    Row(Phase.REQUESTING, Refused,            Phase.GONE,       (Effect.FORGET_JOB, Effect.FORGET)),
    Row(Phase.REQUESTING, GivenUp,            Phase.GONE,       (Effect.FORGET_JOB, Effect.FORGET)),
    Row(Phase.IDLE,       JobGiven,           Phase.RUNNING,    (Effect.START_SHADOW,)),
    Row(Phase.IDLE,       NoJob,              Phase.GONE,       (Effect.RELEASE,)),
    Row(Phase.IDLE,       GivenUp,            Phase.GONE,       (Effect.FORGET_JOB, Effect.FORGET)),
    Row(Phase.RUNNING,    ShadowEnded,        Phase.IDLE,       (Effect.CHOOSE_JOB,)),
    Row(Phase.RUNNING,    ShadowEndedForGood, Phase.GONE,       (Effect.RELEASE,)),
    Row(Phase.RUNNING,    GivenUp,            Phase.LOST,       ()),
    Row(Phase.LOST,       ShadowEnded,        Phase.GONE,       (Effect.FORGET,)),
    Row(Phase.LOST,       ShadowEndedForGood, Phase.GONE,       (Effect.FORGET,)),
    Row(Phase.LOST,       GivenUp,            Phase.LOST,       ()),
)
# fmt: on

_BY_EDGE = {(row.source, row.event): row for row in TRANSITIONS}

# Limit: transitions that a claim remembers for explanations.
_LONGEST_STORY = 20


def step(claim: Claim, event: ClaimEvent, now: float) -> tuple[Effect, ...]:
    """Apply one event to a claim and return what is to be done; ImpossibleTransition is a bug."""
    row = _BY_EDGE.get((claim.phase, event))
    if row is None:
        raise ImpossibleTransition(
            f"claim {claim.public_id}: {event.__name__} in {claim.phase.value}"
            f" after {', '.join(claim.story)}"
        )
    claim.phase = row.target
    claim.since = now
    claim.story.append(f"{event.__name__} -> {row.target.value}")
    del claim.story[:-_LONGEST_STORY]
    return row.effects


class Claims:
    """Every claim of the schedd, by secret id and by the job it runs or is wanted for."""

    def __init__(self) -> None:
        self.by_id: dict[str, Claim] = {}
        self.by_job: dict[JobId, Claim] = {}
        # Requests that a startd has and has not answered.
        self.in_contact = 0
        # The first granted slot of each startd whose slots are claimed.
        self._machines: WeakValueDictionary[str, ClassAd] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self.by_id)

    def add(self, claim: Claim) -> None:
        """Enter a claim in the book."""
        self.by_id[claim.id] = claim
        if claim.job is not None:
            self.by_job[claim.job] = claim

    def rename(self, claim: Claim, claim_id: str) -> None:
        """Follow a claim whose id the startd changed while granting it."""
        self.by_id.pop(claim.id, None)
        claim.id = claim_id
        self.by_id[claim_id] = claim

    def shared(self, startd_address: str, slot: ClassAd) -> ClassAd:
        """Return a slot's ad as what it has beside that of another slot of its machine.

        The slots of a machine differ in a tenth of their attributes, and each claim keeps its ad.
        """
        base = self._machines.get(startd_address)
        if base is None or not base.table.keys() <= slot.table.keys():
            # Nothing of another ad may show through.
            base = self._machines[startd_address] = slot.copy()
        own = ClassAd(parent=base)
        for name, text in slot.own_texts():
            if base.text(name) != text:
                own.insert_text(name, text)
        return own

    def assign(self, claim: Claim, job: JobId | None) -> None:
        """Note which job the claim is for now."""
        if claim.job is not None:
            self.by_job.pop(claim.job, None)
        claim.job = job
        if job is not None:
            self.by_job[job] = claim

    def remove(self, claim: Claim) -> None:
        """Strike a claim out."""
        if self.by_id.get(claim.id) is claim:
            del self.by_id[claim.id]
        self.assign(claim, None)

    def count(self, phase: Phase, keep: Callable[[Claim], bool] | None = None) -> int:
        """Return how many claims are in a phase."""
        return sum(
            1
            for claim in self.by_id.values()
            if claim.phase is phase and (keep is None or keep(claim))
        )
