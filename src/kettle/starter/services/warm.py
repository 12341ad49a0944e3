"""Imported by the startd's zygote last: does once what every starter would do again.

Reads the configuration, and makes the cipher and the address code run once, so that what they set
up on their first use is there before any fork. Nothing is opened and nothing is kept but memory.
"""

from __future__ import annotations

import contextlib
import encodings.ascii
import encodings.idna  # noqa: F401 - resolving any address needs it
from secrets import token_bytes

from kettle.classad import ClassAd
from kettle.errors import KettleError
from kettle.starter.services.entry import warm
from kettle.transfer.plan import parse_remaps
from kettle.wire.channel import Channel
from kettle.wire.messages.syscalls import RegisterJobInfo


def _rehearse() -> None:
    """Send one encrypted message to nobody."""
    sender = Channel(token_bytes)
    sender.start_encryption(bytes(32))
    writer = sender.writer()
    RegisterJobInfo(ClassAd({"JobState": "Running", "ImageSize": 1})).write(writer)
    receiver = Channel.restore(sender.export(), token_bytes)
    receiver.receive(sender.encode(writer))
    # Patterns are compiled on their first use.
    parse_remaps("a=b;c=d")


_rehearse()
# What is wrong with the configuration the startd itself says.
with contextlib.suppress(KettleError):
    warm(0)
