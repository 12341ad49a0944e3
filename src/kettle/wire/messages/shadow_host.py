"""Words between a schedd and its shadow hosts, on an inherited socket pair.

Kettle's own: no other implementation ever hears them. Expressions travel as text, so they are
neither parsed nor printed on the way. Updates of one job are committed in the order they come;
only those that ask for it are answered, when they are on disk. The schedd's side is `schedd`, the
host's `shadow`.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader
from kettle.wire.messages.fields import Message, ad, boolean, integer, string, texts


class HostMessage(Message):
    """A word and what it is about."""


class JobMessage(HostMessage):
    """A word about one job."""

    cluster: int = integer()
    proc: int = integer()


class StartShadow(JobMessage, word=1):
    """Begin a shadow, or take over a job that runs: its ad with ClaimId, and the slot's ad.

    With `common`, the number of a KeepAd, the job's ad is what it has beside that kept one. The
    slot's ad is empty where the job asks for nothing of it.
    """

    startd_address: str = string()
    job: ClassAd = ad(private=True)
    slot: ClassAd = ad(private=True)
    reconnect: bool = boolean(default=False)
    common: int = integer(default=0)


class SignalShadow(JobMessage, word=2):
    """What a user or a policy wants of a running job.

    `signal`: Remove, TransferAndRemove, Forget, Hold, Release (of a hold before it was carried
    out), Vacate, VacateFast, Suspend, Continue.
    """

    signal: str = string()
    reason: str = string(default="")
    code: int = integer(default=0)
    subcode: int = integer(default=0)


class SetAttributes(JobMessage, word=3):
    """The changed attributes of a job."""

    attributes: dict[str, str] = texts()


class StopHost(HostMessage, word=4):
    """`how` is graceful, fast or peaceful."""

    how: str = string()


class KeepAd(HostMessage, word=5):
    """An ad that messages to come name by its number, which is not 0."""

    number: int = integer()
    kept: ClassAd = ad(private=True)


class DropAd(HostMessage, word=6):
    """No further message names that ad."""

    number: int = integer()


class UpdateKept(JobMessage, word=7):
    """What the first of a job's updates said that wants an answer and has none yet is on disk."""


class UpdateJob(JobMessage, word=11):
    """Attributes to commit; one that is `undefined` is removed. `answered` wants an UpdateKept."""

    attributes: dict[str, str] = texts()
    answered: bool = boolean(default=False)


class ShadowExited(JobMessage, word=12):
    """How a run ended (`ShadowExit`), whether its claim may run another job, the last update."""

    reason: int = integer()
    reusable: bool = boolean(default=False)
    attributes: dict[str, str] = texts(default_factory=dict)


class HostReady(HostMessage, word=13):
    """The host is ready for shadows, which listen at its address (a sinful string)."""

    address: str = string(default="")


class TransferRecord(JobMessage, word=14):
    """What URL plug-ins did for a run, for the epoch history; `kind` is the kind of record."""

    kind: str = string()
    record: ClassAd = ad()


class HostTrouble(HostMessage, word=15):
    """What keeps a host from its work, or its log from telling of that: a sentence."""

    text: str = string()


WORDS: dict[int, type[HostMessage]] = {
    int(kind.word): kind
    for kind in (
        StartShadow,
        SignalShadow,
        SetAttributes,
        StopHost,
        KeepAd,
        DropAd,
        UpdateKept,
        UpdateJob,
        ShadowExited,
        HostReady,
        TransferRecord,
        HostTrouble,
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
