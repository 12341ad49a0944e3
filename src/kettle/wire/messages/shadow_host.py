"""Words between a schedd and its shadow hosts, on an inherited socket pair.

Kettle's own: no other implementation ever hears them. Each message is a word, an ad whose
attributes are named in the class, and where a job's ad or attributes travel, further ads beside it
(not nested in it: so their expressions are neither parsed nor printed on the way).
Acknowledgement is by state only: updates of one job are committed in the order they come. The
schedd's side is `schedd`, the host's `shadow`.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader
from kettle.wire.messages.fields import Message, ad


class HostMessage(Message):
    """A word and an ad."""

    content: ClassAd = ad(private=True)


class StartShadow(HostMessage, word=1):
    """{ClusterId, ProcId, StartdAddress, Reconnect}, the job's ad with ClaimId, the slot's ad.

    With CommonAd, the number of a KeepAd, the job's ad is what it has beside that kept one. The
    slot's ad is empty where the job asks for nothing of it.
    """

    job: ClassAd = ad(private=True)
    slot: ClassAd = ad(private=True)


class SignalShadow(HostMessage, word=2):
    """{ClusterId, ProcId, Signal, Reason, ReasonCode, ReasonSubCode}.

    Signal is Remove, TransferAndRemove, Hold, Vacate, VacateFast, Suspend or Continue.
    """


class SetAttributes(HostMessage, word=3):
    """{ClusterId, ProcId}, and the changed attributes of the job."""

    attributes: ClassAd = ad(private=True)


class StopHost(HostMessage, word=4):
    """{How}: graceful, fast or peaceful."""


class KeepAd(HostMessage, word=5):
    """{Number}, and an ad that messages to come name by that number."""

    kept: ClassAd = ad(private=True)


class DropAd(HostMessage, word=6):
    """{Number}: no further message names that ad."""


class UpdateJob(HostMessage, word=11):
    """{ClusterId, ProcId}, and attributes to commit; one that is `undefined` is removed."""

    attributes: ClassAd = ad(private=True)


class ShadowExited(HostMessage, word=12):
    """{ClusterId, ProcId, ExitReason, ClaimReusable}, and attributes to commit."""

    attributes: ClassAd = ad(private=True)


class HostReady(HostMessage, word=13):
    """{}: the host is ready for shadows."""


WORDS: dict[int, type[HostMessage]] = {
    int(kind.word): kind
    for kind in (
        StartShadow,
        SignalShadow,
        SetAttributes,
        StopHost,
        KeepAd,
        DropAd,
        UpdateJob,
        ShadowExited,
        HostReady,
    )
    if kind.word is not None
}


def read_host_message(reader: Reader) -> HostMessage:
    """Read one message; an unknown word is a RemoteProtocolError."""
    number = reader.integer()
    kind = WORDS.get(number)
    if kind is None:
        raise RemoteProtocolError(f"{number} is not a word between schedd and shadow host")
    return kind.read(reader)
