"""The NEGOTIATE dialog, negotiator to schedd: header, requests, matches, rejections.

The connection stays open between cycles; every round begins with a message {416, header}. What is
offered to whom is decided in `matchmaking`, what is asked for in `schedd`. Source: wire notes,
NEGOTIATE.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader
from kettle.wire.commands import Command, NegotiationWord
from kettle.wire.messages.fields import Message, ad, integer, optional, secret, string


class Negotiate(Message, command=Command.NEGOTIATE):
    """Begin a round for a submitter: {Owner, AutoClusterAttrs, SubmitterTag, ...}; no reply."""

    header: ClassAd = ad()


class SendResourceRequestList(Message, word=NegotiationWord.SEND_RESOURCE_REQUEST_LIST):
    """Ask for up to `maximum` requests, each its own message, NO_MORE_JOBS when they run out."""

    maximum: int = integer()


class SendJobInfo(Message, word=NegotiationWord.SEND_JOB_INFO):
    """Ask for one request: the older form."""


class PermissionAndAd(Message, word=NegotiationWord.PERMISSION_AND_AD):
    """A match: claim ids (the slot's, then those of slots to preempt, by blanks) and its ad."""

    claim_ids: str = secret()
    slot: ClassAd = ad()


class RejectedWithReason(Message, word=NegotiationWord.REJECTED_WITH_REASON):
    """No match: `text |autocluster|cluster.proc|`; diagnostics if the request wanted them."""

    reason: str = string()
    diagnostics: ClassAd | None = optional(ad())


class Rejected(Message, word=NegotiationWord.REJECTED):
    """No match for the last request."""


class EndNegotiate(Message, word=NegotiationWord.END_NEGOTIATE):
    """The round is over; the schedd waits for the next command on this connection."""


class JobInfo(Message, word=NegotiationWord.JOB_INFO):
    """Schedd to negotiator: one request; _condor_RESOURCE_COUNT says how many alike."""

    request: ClassAd = ad()


class NoMoreJobs(Message, word=NegotiationWord.NO_MORE_JOBS):
    """Schedd to negotiator: no further requests."""


FROM_NEGOTIATOR: dict[int, type[Message]] = {
    int(kind.word): kind
    for kind in (
        SendResourceRequestList,
        SendJobInfo,
        PermissionAndAd,
        RejectedWithReason,
        Rejected,
        EndNegotiate,
    )
    if kind.word is not None
}
FROM_SCHEDD: dict[int, type[Message]] = {
    int(kind.word): kind for kind in (JobInfo, NoMoreJobs) if kind.word is not None
}


def read_word(table: dict[int, type[Message]], reader: Reader) -> Message:
    """Read one message of the dialog; an unexpected word is a RemoteProtocolError."""
    number = reader.integer()
    kind = table.get(number)
    if kind is None:
        raise RemoteProtocolError(f"{number} is not a word of this side of NEGOTIATE")
    return kind.read(reader)
