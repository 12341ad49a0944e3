"""What can happen to a slot, and what the service then has to do.

Events are in the past tense, effects in the imperative. Which event leads where is the table in
`slot_machine.py`; when a policy expression counts as an event is decided in `slot_policy.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from kettle.attributes.codes import VacateReasonCode

# ---- events: what happened, in the past tense -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a slot. `activation` 0 means: not about one activation."""


@dataclass(frozen=True, slots=True)
class OwnerReturned(Event):
    """IS_OWNER evaluates to true."""


@dataclass(frozen=True, slots=True)
class OwnerLeft(Event):
    """IS_OWNER is anything but true."""


@dataclass(frozen=True, slots=True)
class BenchmarksDue(Event):
    """RUNBENCHMARKS evaluates to true."""


@dataclass(frozen=True, slots=True)
class BenchmarksFinished(Event):
    """The benchmark programs are done."""


@dataclass(frozen=True, slots=True)
class MatchNotified(Event):
    """The negotiator says that this slot was matched (MATCH_INFO)."""


@dataclass(frozen=True, slots=True)
class MatchTimedOut(Event):
    """MATCH_TIMEOUT passed without a claim, or the attempt to claim failed."""


@dataclass(frozen=True, slots=True)
class StartBecameFalse(Event):
    """START is false in the slot's own ad."""


@dataclass(frozen=True, slots=True)
class ClaimAccepted(Event):
    """A schedd's claim was accepted."""


@dataclass(frozen=True, slots=True)
class ClaimActivated(Event):
    """A starter was started for a job of the claim."""

    activation: int


@dataclass(frozen=True, slots=True)
class JobEnded(Event):
    """The starter of this activation sent its last update: the job is done, it is not."""

    activation: int


@dataclass(frozen=True, slots=True)
class StarterExited(Event):
    """The starter of this activation and everything it started is gone."""

    activation: int


@dataclass(frozen=True, slots=True)
class SuspendBecameTrue(Event):
    """WANT_SUSPEND and SUSPEND are true."""


@dataclass(frozen=True, slots=True)
class SuspendAsked(Event):
    """The shadow asks for it (SUSPEND_CLAIM)."""


@dataclass(frozen=True, slots=True)
class ContinueBecameTrue(Event):
    """CONTINUE is true."""


@dataclass(frozen=True, slots=True)
class ContinueAsked(Event):
    """The shadow asks for it (CONTINUE_CLAIM)."""


@dataclass(frozen=True, slots=True)
class PreemptBecameTrue(Event):
    """PREEMPT is true, and WANT_SUSPEND or SUSPEND did not come first."""


@dataclass(frozen=True, slots=True)
class BetterClaimArrived(Event):
    """A claim with a higher rank or a better priority waits for this slot."""

    code: int = VacateReasonCode.StartdPreemptingClaimRank


@dataclass(frozen=True, slots=True)
class BetterClaimLeft(Event):
    """The waiting claim is gone again."""


@dataclass(frozen=True, slots=True)
class RetirementOver(Event):
    """The job has had its MaxJobRetirementTime."""


@dataclass(frozen=True, slots=True)
class VacateTimeOver(Event):
    """The longest time for leaving gracefully has passed."""


@dataclass(frozen=True, slots=True)
class KillBecameTrue(Event):
    """KILL is true."""


@dataclass(frozen=True, slots=True)
class KillingTimeOver(Event):
    """KILLING_TIMEOUT passed and the starter still lives."""


@dataclass(frozen=True, slots=True)
class ClaimReleased(Event):
    """The schedd has no more work for the claim."""


@dataclass(frozen=True, slots=True)
class LeaseExpired(Event):
    """Nothing was heard from the schedd for the whole claim lease."""


@dataclass(frozen=True, slots=True)
class VacateAsked(Event):
    """condor_vacate; `fast` skips retirement and vacating."""

    fast: bool = False


@dataclass(frozen=True, slots=True)
class ShutdownStarted(Event):
    """The startd is told to stop; `fast` skips retirement and vacating."""

    fast: bool = False


@dataclass(frozen=True, slots=True)
class DrainStarted(Event):
    """The machine is being drained; `how_fast` 0 graceful, 10 quick, 20 fast."""

    how_fast: int = 0


@dataclass(frozen=True, slots=True)
class AllSlotsDrained(Event):
    """No slot of the machine has a job any more."""


@dataclass(frozen=True, slots=True)
class DrainEnded(Event):
    """Draining was finalised or cancelled."""


@dataclass(frozen=True, slots=True)
class StartBackfillBecameTrue(Event):
    """START_BACKFILL is true and backfill is enabled."""


@dataclass(frozen=True, slots=True)
class EvictBackfillBecameTrue(Event):
    """EVICT_BACKFILL is true."""


@dataclass(frozen=True, slots=True)
class BackfillStarted(Event):
    """The backfill client runs."""


@dataclass(frozen=True, slots=True)
class BackfillExited(Event):
    """The backfill client and its children are gone."""


# ---- effects: what the service has to do, in the imperative -----------------------------------


@dataclass(frozen=True, slots=True)
class Effect:
    """Something to be done; `activation` names the activation it serves, 0 for none."""

    activation: int = 0


@dataclass(frozen=True, slots=True)
class AskJobToLeave(Effect):
    """Send the soft kill; the vacate time starts now."""

    code: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KillJob(Effect):
    """Hard-kill the job; KILLING_TIMEOUT starts now."""

    code: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KillStarterTree(Effect):
    """SIGKILL to everything the starter started, then to the starter (B136)."""


@dataclass(frozen=True, slots=True)
class SuspendJob(Effect):
    """Freeze the job's processes."""


@dataclass(frozen=True, slots=True)
class ContinueJob(Effect):
    """Thaw the job's processes."""


@dataclass(frozen=True, slots=True)
class SwitchClaim(Effect):
    """The waiting claim becomes the current one; the schedd of the old one is told first."""


@dataclass(frozen=True, slots=True)
class DropClaim(Effect):
    """The claim is over: tell its schedd, make a new claim id; a dynamic slot goes away."""


@dataclass(frozen=True, slots=True)
class StartBenchmarks(Effect):
    """Run the benchmark programs."""


@dataclass(frozen=True, slots=True)
class StopBenchmarks(Effect):
    """End the benchmark programs."""


@dataclass(frozen=True, slots=True)
class StartBackfill(Effect):
    """Spawn the backfill client, or join the one that runs."""


@dataclass(frozen=True, slots=True)
class StopBackfill(Effect):
    """Kill the backfill client."""
