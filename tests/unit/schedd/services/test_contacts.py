"""How many startds the schedd speaks to at once, also after a reconfiguration."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from kettle.schedd.services.claims import ClaimCommands


def test_the_limit_of_startds_spoken_to_is_the_configurations_of_the_moment() -> None:
    spoken: list[str] = []

    async def connect(address: str, *rest: object, **named: object) -> None:
        spoken.append(address)
        await asyncio.Event().wait()

    async def main() -> None:
        settings = SimpleNamespace(most_startd_contacts=2)
        runtime = SimpleNamespace(network=SimpleNamespace(connect=connect))
        schedd: Any = SimpleNamespace(settings=settings, runtime=runtime)
        commands = ClaimCommands(schedd, SimpleNamespace())  # type: ignore[arg-type]
        asked = []

        async def ask(count: int) -> int:
            """Ask more startds; tell how many of these were spoken to."""
            before = len(spoken)
            for _ in range(count):
                claim: Any = SimpleNamespace(id="<1.2.3.4:5>#1#1#x", startd_address="<1.2.3.4:5>")
                asked.append(asyncio.ensure_future(commands._ask(claim, SimpleNamespace())))  # type: ignore[arg-type]
            for _ in range(5):
                await asyncio.sleep(0)
            return len(spoken) - before

        assert await ask(5) == 2
        settings.most_startd_contacts = 4
        assert await ask(5) == 4
        settings.most_startd_contacts = 0
        assert await ask(9) == 9
        for each in asked:
            each.cancel()

    asyncio.run(main())
