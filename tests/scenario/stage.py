"""What scenarios of the collector and the negotiator leave behind is taken down when they end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.testing.world import World, WorldDaemon, run_in_world

_opened: list[Stream] = []
_started: list[WorldDaemon] = []  # type: ignore[type-arg]


async def connect(client: Runtime, address: str, command: int) -> Stream:
    """Open a connection that is closed at the latest when the scenario ends."""
    stream = await client.network.connect(address, command)
    _opened.append(stream)
    return stream


def stopped_at_the_end(daemon: WorldDaemon) -> None:  # type: ignore[type-arg]
    """Have a daemon shut down when the scenario ends."""
    _started.append(daemon)


def play(folder: Path, scenario: Callable[[World], Awaitable[None]]) -> None:
    """Run a scenario in a world of its own."""

    async def whole(world: World) -> None:
        try:
            await scenario(world)
        finally:
            for daemon in reversed(_started):
                await daemon.stop("fast")
            for stream in _opened:
                stream.close()
            _opened.clear()
            _started.clear()

    run_in_world(folder, whole)
