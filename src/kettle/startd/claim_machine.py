"""What a claim may still do: its lease, its work life, its activations.

A claim is a schedd's right to one slot. Here is decided whether it may be activated, whether it
may run another job afterwards, when its schedd has to be asked for a sign of life, and when the
lease is over (manual, Claimed State and Leases; wire notes, Leases). The slot's state is
`slot_machine.py`; sending and waiting is `services/`.
"""

from __future__ import annotations

from dataclasses import dataclass

from kettle.attributes.codes import VacateReasonCode
from kettle.choices import Choice
from kettle.errors import ImpossibleTransition
from kettle.named_tuples import NamedTuple
from kettle.policy.lease import SHORTEST_SECONDS

# An alive interval below this would be mostly talk (manual, Claimed State and Leases).
LOWEST_ALIVE_INTERVAL_SECONDS = 10
# The startd asks this often within one lease, so that two lost answers do no harm.
ALIVES_PER_LEASE = 3


class ClaimPhase(Choice):
    """Where a claim is in its life."""

    OFFERED = "offered"
    """Its id is advertised; nobody holds it."""
    IDLE = "idle"
    """A schedd holds it; no starter runs."""
    ACTIVE = "active"
    """A starter runs a job for it."""
    CLOSING = "closing"
    """It is broken; the starter may still be ending, and then nothing can be done with it."""


class Holder(NamedTuple):
    """Who holds a claim, as told in the claim request."""

    schedd_address: str = ""
    schedd_name: str = ""
    user: str = ""
    owner: str = ""
    # On whose account: the submitter's name where it is not the user's own.
    accounting_group: str = ""
    # What the negotiator said about the match: groups by name, the concurrency limits counted.
    group: str = ""
    negotiating_group: str = ""
    autoregroup: bool = False
    limits: str = ""
    client_machine: str = ""
    alive_interval_seconds: int = 300
    startd_sends_alives: bool = True


class Claim(NamedTuple):
    """One claim; replaced, never patched. Times are those of the steady clock."""

    claim_id: str
    phase: ClaimPhase = ClaimPhase.OFFERED
    holder: Holder = Holder()
    claimed_at: float = 0.0
    heard_at: float = 0.0
    asked_at: float = 0.0
    lease_seconds: float = 2400.0
    worklife_seconds: float = 1200.0
    rank: float = 0.0
    activation: int = 0
    activations: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One edge: what is done with a claim, the phases it may be in, the one it comes to."""

    name: str
    sources: tuple[ClaimPhase, ...]
    target: ClaimPhase
    doc: str


P = ClaimPhase
# fmt: off
TRANSITIONS = (
    #   what              from                              to         and
    Row("accept",         (P.OFFERED,),                     P.IDLE,    "its lease begins"),
    Row("activate",       (P.IDLE,),                        P.ACTIVE,  "no lease while it runs"),
    Row("end_activation", (P.IDLE, P.ACTIVE),               P.IDLE,    "its lease begins anew"),
    Row("end_activation", (P.CLOSING,),                     P.CLOSING, ""),
    Row("break_off",      (P.IDLE, P.ACTIVE, P.CLOSING),    P.CLOSING, "it takes no further jobs"),
    Row("keep",           (P.CLOSING,),                     P.ACTIVE,  "the better claim is gone"),
)
# fmt: on
_TARGETS = {(source, row.name): row.target for row in TRANSITIONS for source in row.sources}


def _next_phase(claim: Claim, name: str) -> ClaimPhase:
    """Return where the table leads; ImpossibleTransition where it has no row."""
    target = _TARGETS.get((claim.phase, name))
    if target is None:
        raise ImpossibleTransition(f"{name} of a claim that is {claim.phase.value}")
    return target


def lease_for(job_lease_seconds: int | None, alive_interval: int, missed: int) -> float:
    """Return the lease: that of a job that has one, else MAX_CLAIM_ALIVES_MISSED alives (B145).

    An idle claim is lost no sooner than a run: it would be over before its first job begins.
    """
    if job_lease_seconds is not None:
        return float(max(job_lease_seconds, SHORTEST_SECONDS))
    return float(missed * max(alive_interval, LOWEST_ALIVE_INTERVAL_SECONDS))


def accept(claim: Claim, holder: Holder, now: float, *, lease: float, worklife: float) -> Claim:
    """Give an offered claim to a schedd."""
    return claim._replace(
        phase=_next_phase(claim, "accept"),
        holder=holder,
        claimed_at=now,
        heard_at=now,
        asked_at=now,
        lease_seconds=lease,
        worklife_seconds=worklife,
    )


def refusal(claim: Claim | None, now: float, *, shutting_down: bool = False) -> int:
    """Return why ACTIVATE_CLAIM must be refused, a VacateReasonCode; 0 where it may go on."""
    if claim is None:
        return VacateReasonCode.ActivationRefusedClaimNotFound
    if shutting_down:
        return VacateReasonCode.StartdShutdown
    if claim.phase is ClaimPhase.OFFERED:
        return VacateReasonCode.ActivationRefusedUnclaimed
    if claim.phase is ClaimPhase.ACTIVE:
        return VacateReasonCode.ActivationRefusedNotIdle
    if claim.phase is not ClaimPhase.IDLE:
        return VacateReasonCode.ActivationRefusedPreempted
    if claim.activations and not may_run_another(claim, now):
        return VacateReasonCode.ActivationRefusedWorklifeExpired
    return 0


def activate(claim: Claim, activation: int, now: float) -> Claim:
    """A starter runs for the claim."""
    return claim._replace(
        phase=_next_phase(claim, "activate"),
        activation=activation,
        activations=claim.activations + 1,
        heard_at=now,
    )


def end_activation(claim: Claim, now: float) -> Claim:
    """The starter is gone; the lease starts anew."""
    phase = _next_phase(claim, "end_activation")
    return claim._replace(phase=phase, activation=0, heard_at=now, asked_at=now)


def break_off(claim: Claim) -> Claim:
    """The claim takes no further jobs."""
    return claim._replace(phase=_next_phase(claim, "break_off"))


def keep(claim: Claim) -> Claim:
    """The reason to break the claim went away while its job retired (edge 19)."""
    return claim._replace(phase=_next_phase(claim, "keep"))


def hear(claim: Claim, now: float) -> Claim:
    """The schedd gave a sign of life."""
    return claim._replace(heard_at=now)


def may_run_another(claim: Claim, now: float) -> bool:
    """Whether CLAIM_WORKLIFE allows a further job: -1 always, 0 one job only (B138)."""
    if claim.phase in {ClaimPhase.CLOSING, ClaimPhase.OFFERED}:
        return False
    if claim.worklife_seconds < 0:
        return True
    return now - claim.claimed_at < claim.worklife_seconds


def lease_left(claim: Claim, now: float) -> float | None:
    """Return the seconds until the lease is over; None while a starter keeps it.

    While a job runs, contact of starter and shadow counts, and the starter ends by itself.
    """
    if claim.phase is not ClaimPhase.IDLE:
        return None
    return claim.heard_at + claim.lease_seconds - now


def alive_due_at(claim: Claim) -> float | None:
    """Return when the startd next asks the schedd whether it is alive; None if never."""
    if claim.phase is not ClaimPhase.IDLE or not claim.holder.startd_sends_alives:
        return None
    return claim.asked_at + alive_seconds(claim)


def alive_seconds(claim: Claim) -> float:
    """Return how often the schedd of an idle claim is asked whether it is alive.

    Three times a lease, and as often as it wished: a schedd that died with a claim that no job has
    used yet will never come back for it.
    """
    wished = max(claim.holder.alive_interval_seconds, LOWEST_ALIVE_INTERVAL_SECONDS)
    return max(1.0, min(claim.lease_seconds / ALIVES_PER_LEASE, wished))


def ask_alive(claim: Claim, now: float) -> Claim:
    """The question is on its way."""
    return claim._replace(asked_at=now)
