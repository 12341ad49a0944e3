"""Ads to a collector, from a tool or a program: one connection for all of them.

Source: wire notes, Updates.
"""

from __future__ import annotations

from collections.abc import Sequence

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful

ACKNOWLEDGED = 1


def send_ads(
    connector: Connector, address: Sinful | str, command: Command, ads: Sequence[ClassAd]
) -> int:
    """Send ads; return how many went out, and were acknowledged where the command asks for that.

    Raises as `Connector.connect`.
    """
    sent = 0
    with connector.connect(address, command) as stream:
        for ad in ads:
            writer = stream.writer()
            if sent:
                writer.integer(command)
            stream.send(writer.ad(ad, private=True))
            if (
                command == Command.UPDATE_STARTD_AD_WITH_ACK
                and stream.receive().integer() != ACKNOWLEDGED
            ):
                break
            sent += 1
    return sent
