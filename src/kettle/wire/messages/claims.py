"""Commands about claims: request, activate, deactivate, suspend, release, alive, drain, CA_.

Between schedd, shadow and startd (and their tools). What a claim does with them is `startd`'s and
`schedd`'s business. Source: wire notes, Schedd and shadow to startd.
"""

from __future__ import annotations

from enum import IntEnum

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages.fields import (
    Message,
    ad,
    boolean,
    integer,
    listed,
    optional,
    secret,
    string,
)

# Limit: claims one request may preempt, and slots one reply may bring.
MAXIMUM_CLAIMS = 10_000


class RequestClaim(Message, command=Command.REQUEST_CLAIM):
    """Claim a slot for a schedd; `preempted` are claims to preempt into a partitionable slot."""

    claim_id: str = secret()
    request: ClassAd = ad(private=True)
    schedd_address: str = string()
    alive_seconds: int = integer()
    preempted: list[str] = listed(secret(), maximum=MAXIMUM_CLAIMS, optional=True)


class RequestClaimCode(IntEnum):
    """The codes a reply to REQUEST_CLAIM is a chain of."""

    REFUSED = 0
    ACCEPTED = 1
    LEFTOVERS_CLEAR = 3
    LEFTOVERS = 5
    CLAIMED_SLOT = 7


class RequestClaimReply(Message, answers=Command.REQUEST_CLAIM):
    """The reply: refused, or accepted with the claimed slots and what is left over.

    On the wire: for each claimed slot int 7, secret claim id, ad; then int 0 or int 1, or int 5 (3
    from peers that do not hide claim ids) with the claim id and ad of the leftover slot.
    """

    accepted: bool = boolean()
    claimed: list[tuple[str, ClassAd]] = listed(secret())
    leftover: tuple[str, ClassAd] | None = optional(secret())

    def write_fields(self, writer: Writer) -> None:
        """Append the chain of codes."""
        for claim_id, slot in self.claimed:
            writer.integer(RequestClaimCode.CLAIMED_SLOT).secret(claim_id).ad(slot)
        if self.leftover is not None:
            writer.integer(RequestClaimCode.LEFTOVERS)
            writer.secret(self.leftover[0]).ad(self.leftover[1])
        else:
            writer.integer(int(self.accepted))

    @classmethod
    def read(cls, reader: Reader, *, finish: bool = True) -> RequestClaimReply:
        """Read the chain of codes."""
        claimed: list[tuple[str, ClassAd]] = []
        leftover: tuple[str, ClassAd] | None = None
        accepted = True
        while True:
            code = reader.integer()
            if code == RequestClaimCode.CLAIMED_SLOT and len(claimed) < MAXIMUM_CLAIMS:
                claimed.append((reader.secret(), reader.ad()))
                continue
            if code in (RequestClaimCode.LEFTOVERS, RequestClaimCode.LEFTOVERS_CLEAR):
                leftover = (reader.secret(), reader.ad())
            elif code in (RequestClaimCode.REFUSED, RequestClaimCode.ACCEPTED):
                accepted = code == RequestClaimCode.ACCEPTED
            else:
                raise RemoteProtocolError(f"REQUEST_CLAIM was answered with code {code}")
            break
        if finish:
            reader.finish()
        return cls(accepted, claimed, leftover)


class ActivateClaim(Message, command=Command.ACTIVATE_CLAIM):
    """Start a job; on success the connection becomes the job's syscall socket.

    `starter_number` is a leftover of old starters: send 2, ignore what comes.
    """

    claim_id: str = secret()
    starter_number: int = integer()
    job: ClassAd = ad(private=True)


class ActivateClaimReply(Message, answers=Command.ACTIVATE_CLAIM):
    """1 started, 0 refused, 2 try again; `failure` only if the request asked for it."""

    code: int = integer()
    failure: ClassAd | None = optional(ad())


class ClaimMessage(Message):
    """A command whose whole content is a claim id."""

    claim_id: str = secret()


class DeactivateClaim(ClaimMessage, command=Command.DEACTIVATE_CLAIM):
    """End the job with its vacate time."""


class DeactivateClaimForcibly(ClaimMessage, command=Command.DEACTIVATE_CLAIM_FORCIBLY):
    """End the job at once."""


class DeactivateClaimJobDone(ClaimMessage, command=Command.DEACTIVATE_CLAIM_JOB_DONE):
    """The job has reported its exit; answered once its starter is reaped."""


class DeactivateClaimFinalTransfer(ClaimMessage, command=Command.DEACTIVATE_CLAIM_FINAL_XFER):
    """End the job after a last transfer of its files."""


class ReactivateClaimCheck(ClaimMessage, command=Command.REACTIVATE_CLAIM_CHECK):
    """Ask whether the claim may start another job."""


class DeactivateClaimReply(Message, answers=Command.DEACTIVATE_CLAIM):
    """{Start: the claim may run another job, [StillCleaning, StarterPID]}."""

    response: ClassAd = ad()


class SuspendClaim(ClaimMessage, command=Command.SUSPEND_CLAIM):
    """Stop the job's processes; no reply."""


class ContinueClaim(ClaimMessage, command=Command.CONTINUE_CLAIM):
    """Let the job's processes go on; no reply."""


class ReleaseClaim(ClaimMessage, command=Command.RELEASE_CLAIM):
    """Give the claim up, in either direction; no reply."""


class Alive(ClaimMessage, command=Command.ALIVE):
    """The claim is still wanted."""


class AliveReply(Message, answers=Command.ALIVE):
    """The alive interval in seconds, or -1: the claim is unknown here."""

    interval_seconds: int = integer()


class MatchInfo(ClaimMessage, command=Command.MATCH_INFO):
    """The negotiator gave this claim id away; no reply."""


class VacateClaim(Message, command=Command.VACATE_CLAIM):
    """Vacate one slot with its vacate time; no reply."""

    slot_name: str = string()


class VacateClaimFast(Message, command=Command.VACATE_CLAIM_FAST):
    """Vacate one slot at once; no reply."""

    slot_name: str = string()


class VacateAllClaims(Message, command=Command.VACATE_ALL_CLAIMS):
    """Vacate every slot with its vacate time; no reply."""


class VacateAllFast(Message, command=Command.VACATE_ALL_FAST):
    """Vacate every slot at once; no reply."""


class StarterVacateJob(Message, command=Command.STARTER_VACATE_JOB):
    """Startd to starter: end the job; answered by int 1."""

    reason: str = string()
    code: int = integer()
    subcode: int = integer()
    graceful: bool = boolean()


class StarterVacateJobReply(Message, answers=Command.STARTER_VACATE_JOB):
    """The starter has heard."""

    code: int = integer(default=1)


class ClaimCommand(Message, command=Command.CA_CMD):
    """{Command: name, ...}: CA_LOCATE_STARTER, CA_RECONNECT_JOB and the claims on demand."""

    request: ClassAd = ad(private=True)


class AuthenticatedClaimCommand(Message, command=Command.CA_AUTH_CMD):
    """As ClaimCommand, by an authenticated peer."""

    request: ClassAd = ad(private=True)


class ClaimCommandReply(Message, answers=Command.CA_CMD):
    """{Result: "Success" or one of the other words, [ErrorString], ...}."""

    response: ClassAd = ad(private=True)


class DrainJobs(Message, command=Command.DRAIN_JOBS):
    """{HowFast, ResumeOnCompletion, DrainReason, [CheckExpr, StartExpr, Deadline]}."""

    request: ClassAd = ad()


class DrainJobsReply(Message, answers=Command.DRAIN_JOBS):
    """{Result, RequestID} or {Result, ErrorString, ErrorCode}."""

    response: ClassAd = ad()


class CancelDrainJobs(Message, command=Command.CANCEL_DRAIN_JOBS):
    """{[RequestID]}; answered as DRAIN_JOBS."""

    request: ClassAd = ad()


class CoalesceSlots(Message, command=Command.COALESCE_SLOTS):
    """{ClaimIdList} and the request to shape the merged slot for."""

    command_ad: ClassAd = ad(private=True)
    request: ClassAd = ad()


class CoalesceSlotsReply(Message, answers=Command.COALESCE_SLOTS):
    """{Result, ClaimId} and the merged slot."""

    response: ClassAd = ad(private=True)
    slot: ClassAd = ad()


class CommandDataSlot(Message, command=Command.COMMAND_DATA_SLOT):
    """{ClaimId} and a request; answered by two ads."""

    command_ad: ClassAd = ad(private=True)
    request: ClassAd = ad()


class CommandDataSlotReply(Message, answers=Command.COMMAND_DATA_SLOT):
    """A result ad and an ad."""

    response: ClassAd = ad(private=True)
    slot: ClassAd = ad()


class Rehome(Message, command=Command.REHOME):
    """{ScheddName, ScheddPool, Cancel, Reboot}."""

    request: ClassAd = ad()


class RehomeReply(Message, answers=Command.REHOME):
    """{Result}."""

    response: ClassAd = ad()


class GiveState(Message, command=Command.GIVE_STATE):
    """Ask for the machine's state."""


class GiveStateReply(Message, answers=Command.GIVE_STATE):
    """The state as a word."""

    state: str = string()


class DrainHowFast(IntEnum):
    """HowFast of DRAIN_JOBS."""

    GRACEFUL = 0
    QUICK = 10
    FAST = 20


class DrainCompletion(IntEnum):
    """ResumeOnCompletion of DRAIN_JOBS."""

    NOTHING = 0
    RESUME = 1
    EXIT = 2
    RESTART = 3
    RECONFIG = 4
