"""Reaching a daemon behind something: the shared port's word, the connection broker's ads.

Who asks whom, and what happens when, is `wire.shared_port` and `wire.ccb`. Source: wire notes,
Shared-port forwarding, CCB.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages.fields import Message, ad, integer, listed, string

# Limit: additional strings of one shared-port word, as the reference reads at most.
MAXIMUM_EXTRA = 100


class SharedPortConnect(Message, word=Command.SHARED_PORT_CONNECT):
    """Ask for the daemon behind a shared port; no reply. `deadline_seconds` -1 means none."""

    shared_port_id: str = string()
    client_name: str = string()
    deadline_seconds: int = integer()
    extra: list[str] = listed(string(), maximum=MAXIMUM_EXTRA)


class SharedPortPassSocket(Message, word=Command.SHARED_PORT_PASS_SOCK):
    """An accepted connection follows as a descriptor, with one byte."""


class CcbAd(Message, command=Command.CCB_REGISTER):
    """The content of every broker message: an ad whose Command says which it is."""

    ad: ClassAd = ad(private=True)


class CcbReverseConnect(Message, command=Command.CCB_REVERSE_CONNECT):
    """First message of a reversed connection: {ClaimId, RequestID, MyAddress}."""

    ad: ClassAd = ad(private=True)

    def write(self, writer: Writer) -> None:
        """Append the command and the ad: this message is always bare."""
        writer.integer(Command.CCB_REVERSE_CONNECT)
        self.write_fields(writer)

    @classmethod
    def read_bare(cls, reader: Reader) -> CcbReverseConnect | None:
        """Read the first message of a connection; None if it is another command's."""
        return cls.read(reader) if reader.integer() == Command.CCB_REVERSE_CONNECT else None
