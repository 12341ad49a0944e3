"""Words between a schedd and its shadow hosts, on an inherited socket pair.

Kettle's own: no other implementation ever hears them. Each message is a word and an ad whose
attributes are named in the class. Acknowledgement is by state only: updates of one job are
committed in the order they come. The schedd's side is `schedd`, the host's `shadow`.
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
    """{ClusterId, ProcId, Job = [ad with ClaimId], StartdAddress, Slot = [ad], Reconnect}."""


class SignalShadow(HostMessage, word=2):
    """{ClusterId, ProcId, Signal, Reason, ReasonCode, ReasonSubCode}.

    Signal is Remove, Hold, Vacate, VacateFast, Suspend or Continue.
    """


class SetAttributes(HostMessage, word=3):
    """{ClusterId, ProcId, Attributes = [changed job attributes]}."""


class StopHost(HostMessage, word=4):
    """{How}: graceful, fast or peaceful."""


class UpdateJob(HostMessage, word=11):
    """{ClusterId, ProcId, Attributes = [to commit]}."""


class ShadowExited(HostMessage, word=12):
    """{ClusterId, ProcId, ExitReason, ClaimReusable, Attributes = [to commit]}."""


class HostReady(HostMessage, word=13):
    """{}: the host is ready for shadows."""


WORDS: dict[int, type[HostMessage]] = {
    int(kind.word): kind
    for kind in (
        StartShadow,
        SignalShadow,
        SetAttributes,
        StopHost,
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
