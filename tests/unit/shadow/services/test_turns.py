"""A transfer's turn as the job's ad tells it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.shadow.services.turns import Turn


@pytest.mark.parametrize(
    ("direction", "name"), [("Input", "TransferInQueued"), ("Output", "TransferOutQueued")]
)
def test_when_a_transfer_began_to_wait_is_a_date(direction: str, name: str) -> None:
    changes: dict[str, str] = {}

    async def connect(*rest: object, **named: object) -> None:
        raise ConnectionError("not here")

    async def main() -> None:
        host = SimpleNamespace(
            now=lambda: 1_795_000_000.5,
            steady=lambda: 12.0,
            bytes_to_queue=0,
            schedd_address="<127.0.0.1:1>",
            runtime=SimpleNamespace(network=SimpleNamespace(connect=connect)),
        )
        run: Any = SimpleNamespace(
            host=host,
            job=ClassAd({"Iwd": "/x", "Owner": "u"}),
            name="1.0",
            write_event=lambda event: None,
            update=changes.update,
            flush=lambda: None,
            log=lambda text: None,
        )
        turn = Turn(run, direction)
        turn.size = 1
        assert await turn.take()

    asyncio.run(main())
    assert changes[name] == "1795000000"
