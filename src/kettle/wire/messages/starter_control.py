"""Words between a startd and its starters, on an inherited socket pair.

Kettle's own: no other implementation ever hears them. Each message is a word and an ad whose
attributes are named in the class. The startd's side is `startd`, the other `starter`.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader
from kettle.wire.messages.fields import (
    Message,
    ad,
    counted_bytes,
    integer,
    optional,
    secret,
    string,
)

# Limit: the state of a connection is a key, a counter and what was read ahead.
_MAXIMUM_CHANNEL = 16 * 1024 * 1024
# Limit: a name, a home and as many groups as Linux lets somebody have.
_MAXIMUM_ACCOUNT = 1024 * 1024


class ControlMessage(Message):
    """A word and an ad."""

    content: ClassAd = ad(private=True)


class VacateJob(ControlMessage, word=1):
    """{Reason, ReasonCode, ReasonSubCode, Graceful, VacateSeconds, [FinalTransfer]}: end the job.

    Graceful with vacate time; FinalTransfer: its output goes where it would at its own end. Here
    and in KillJob [HoldReason, HoldReasonSubCode]: it is held at once.
    """


class SuspendJob(ControlMessage, word=2):
    """{}: stop the job's processes."""


class ContinueJob(ControlMessage, word=3):
    """{}: let the job's processes go on."""


class KillJob(ControlMessage, word=4):
    """{Reason, ReasonCode, ReasonSubCode}: end the job at once, without its vacate time."""


class ClaimChanged(ControlMessage, word=5):
    """{Attributes = [slot attributes that changed]}: for the job's machine ad."""


class HandConnection(ControlMessage, word=6):
    """{State (hex), Command}: a connection follows as a descriptor (reconnect, peek, ssh)."""


OF_THE_JOB = (
    "JobId",
    "GlobalJobId",
    "JobUniverse",
    "ImageSize",
    "DiskUsage",
    "ExecutableSize",
)
"""What a claimed slot's ad repeats of the job it is to run."""

_PASSING = frozenset(name.lower() for name in OF_THE_JOB) | frozenset(
    ("enteredcurrentactivity", "mycurrenttime", "totalclaimruntime")
)


def is_passing(name: str) -> bool:
    """Whether an attribute of a slot's ad is another one for each job of a claim."""
    lowered = name.lower()
    return lowered in _PASSING or lowered.startswith("totaltime")


class NextActivation(ControlMessage, word=7):
    """{[Asked, Number, …]}: run another job of the same claim; `activation` is a StarterActivation.

    Its connection lies in the socket for descriptors. If the starter asked for this activation, the
    connection is the one it has, and the job the one it asked for: neither travels. If nothing else
    is new since its last activation, none travels at all: the ad has its Number, and what is
    passing in the slot's ad and not of the job.
    """

    activation: bytes = counted_bytes(_MAXIMUM_CHANNEL)


class ActivationRefused(ControlMessage, word=8):
    """{Code, [VacateReasonCode, VacateReason]}: the activation that was asked for is not granted.

    Code is ActivateClaimReply's, or -1 where another starter has to run the job.
    """


class ClaimAnswer(ControlMessage, word=9):
    """{Start}: from now on the claim may run another job after this one, or may not.

    Until it is said, it may.
    """


class StarterStarted(ControlMessage, word=11):
    """{StarterIpAddr}: the starter listens, and what comes before its job's program lasts."""


class JobUsage(ControlMessage, word=12):
    """{usage attributes, [Final]}: what the job uses now; with Final it has ended."""


class JobState(ControlMessage, word=13):
    """{JobState, JobPid, StarterIpAddr}: Running, Suspended, Exited."""


class StarterDone(ControlMessage, word=14):
    """{ExitReason, [ExitCode, ExitSignal, final usage], [Stays]}: the activation is over.

    With Stays the starter waits for another activation of the claim, else it ends.
    """


class AskActivation(ControlMessage, word=15):
    """{}: the shadow of the job before has another one for the same claim.

    `job` is the ad of ACTIVATE_CLAIM, as in a message in the clear.
    """

    job: bytes = counted_bytes(_MAXIMUM_CHANNEL)


class StarterActivation(Message):
    """What a starter is forked with: one activation of a claim, and where the startd stands.

    The connection to the shadow and the control socket travel beside it as descriptors, in this
    order; `channel` is the state of the former. `generation` counts reconfigurations. `machine` is
    what all slots share, where `slot` is only its own part; a starter that asked for its activation
    and has it already gets none. `cores` are the slot's, counted from 0, with blanks between;
    `execute` is the folder of its sandboxes, which not every daemon of a machine has in one place.
    `account` is whose files a local job's are (`Account.pack`); only a schedd says it.
    """

    number: int = integer()
    slot_name: str = string()
    claim_id: str = secret()
    generation: int = integer()
    host: str = string()
    startd_name: str = string()
    peer_user: str = string()
    channel: bytes = counted_bytes(_MAXIMUM_CHANNEL)
    slot: ClassAd = ad(private=True)
    job: ClassAd = ad(private=True)
    cores: str = string()
    execute: str = string()
    account: bytes = counted_bytes(_MAXIMUM_ACCOUNT)
    machine: ClassAd | None = optional(ad(private=True))


WORDS: dict[int, type[ControlMessage]] = {
    int(kind.word): kind
    for kind in (
        VacateJob,
        SuspendJob,
        ContinueJob,
        KillJob,
        ClaimChanged,
        HandConnection,
        NextActivation,
        ActivationRefused,
        ClaimAnswer,
        StarterStarted,
        JobUsage,
        JobState,
        StarterDone,
        AskActivation,
    )
    if kind.word is not None
}


def read_control_message(reader: Reader) -> ControlMessage:
    """Read one message; an unknown word is a RemoteProtocolError."""
    number = reader.integer()
    kind = WORDS.get(number)
    if kind is None:
        raise RemoteProtocolError(f"{number} is not a word between startd and starter")
    return kind.read(reader)
