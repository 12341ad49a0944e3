"""Asking programs what a machine has: MACHINE_RESOURCE_INVENTORY_<tag>.

Each is run once, before the machine is divided into slots. What its answer means is
`machine.parse_inventory`'s to say; one that fails, or takes too long, finds nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from kettle.config import Config
from kettle.runtime.process.processes import Processes
from kettle.startd.machine import Found, inventories, parse_inventory
from kettle.startd.services.asking import ask_program

# How long a program may look around; the startd waits for it.
LOOK_SECONDS = 60.0


async def take_inventory(
    processes: Processes, config: Config, complain: Callable[[str], None]
) -> dict[str, Found]:
    """Run every configured program and return what it found, by the tag of the resource."""
    found = {}
    for tag, command in inventories(config):
        try:
            said = await ask_program(
                processes.spawn, shlex.split(command), seconds=LOOK_SECONDS, name="inventory"
            )
            found[tag] = parse_inventory(tag, said)
        except (OSError, ValueError) as error:
            complain(f"MACHINE_RESOURCE_INVENTORY_{tag} finds nothing: {error}")
            found[tag] = Found(0.0, ())
    return found
