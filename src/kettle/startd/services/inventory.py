"""Asking programs what a machine has: MACHINE_RESOURCE_INVENTORY_<tag>.

Each is run once, before the machine is divided into slots. What its answer means is
`machine.parse_inventory`'s to say; one that fails, or takes too long, finds nothing.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from collections.abc import Callable

from kettle.config import Config
from kettle.runtime.process.inheritance import without_inheritance
from kettle.runtime.process.processes import Processes
from kettle.startd.machine import Found, inventories, parse_inventory

# How long a program may look around; the startd waits for it.
LOOK_SECONDS = 60.0
# Limit: what is read of an answer.
MAX_ANSWER = 1024 * 1024


async def take_inventory(
    processes: Processes, config: Config, complain: Callable[[str], None]
) -> dict[str, Found]:
    """Run every configured program and return what it found, by the tag of the resource."""
    found = {}
    for tag, command in inventories(config):
        try:
            found[tag] = parse_inventory(tag, await _ask(processes, command))
        except (OSError, ValueError) as error:
            complain(f"MACHINE_RESOURCE_INVENTORY_{tag} finds nothing: {error}")
            found[tag] = Found(0.0, ())
    return found


async def _ask(processes: Processes, command: str) -> str:
    """Run a program and return what it printed; OSError or ValueError if it did not work."""
    with tempfile.TemporaryFile() as answer:
        child = processes.spawn(
            shlex.split(command),
            environment=without_inheritance(os.environ),
            cwd="/",
            fds={1: answer.fileno()},
            name="inventory",
        )
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                status = await child.wait()
        except TimeoutError:
            child.signal(9)
            await child.wait()
            raise ValueError(f"it took longer than {LOOK_SECONDS:.0f} s") from None
        if status != 0:
            raise ValueError(f"it ended with wait status {status}")
        answer.seek(0)
        return answer.read(MAX_ANSWER).decode("utf-8", "replace")
