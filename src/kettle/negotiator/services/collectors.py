"""Questions to the collectors: the first one that answers is believed."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.errors import WireError
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.addresses import find_collectors
from kettle.wire.commands import Command
from kettle.wire.known_ads import KnownAds
from kettle.wire.messages.collector import Query

# Limit: how long the collector may take to answer.
QUERY_SECONDS = 60.0


async def ask_collectors(
    runtime: Runtime, command: Command, query: ClassAd, known: KnownAds
) -> list[ClassAd]:
    """Return the ads that a query finds; `known` has what may be taken over from earlier answers.

    WireError if no collector answers.
    """
    problem: Exception = WireError("no collector is configured, or its address is unknown")
    for address in find_collectors(runtime.config, runtime.files):
        try:
            stream = await runtime.network.connect(address, command)
            try:
                await stream.send(Query(query))
                reader = await stream.receive(QUERY_SECONDS)
                return known.read(reader)
            finally:
                stream.close()
        except (WireError, OSError) as error:
            problem = error
    raise WireError(f"no collector answers: {problem}")
