"""Recorded starters' calls, answered by our shadow and compared with the real one's answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.shadow.services.calls import answer
from kettle.testing.world import World, run_in_world
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Shape
from kettle.wire.messages.syscalls import read_syscall
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd

DAEMONS = Path(__file__).parents[1] / "data" / "vectors" / "daemons"
FILES = ["activate_claim_and_syscalls", "activate_then_vacated_fast", "reconnect"]


def payload(message: dict[str, Any]) -> bytes:
    return b"".join(bytes.fromhex(packet["payload"]) for packet in message["packets"])


def conversations(name: str) -> list[list[tuple[bytes, bytes]]]:
    """The calls and answers of each recorded connection; the execution side is the server."""
    found = []
    for connection in json.loads((DAEMONS / f"{name}.json").read_text())["connections"]:
        messages = connection["messages"]
        # Two messages set the connection up: an activation, or a request to reconnect.
        said = [(m["dir"].startswith("server"), payload(m)) for m in messages[2:]]
        pairs = []
        while len(said) >= 2:
            (from_starter, call), (_, reply), *said = said
            assert from_starter
            pairs.append((call, reply))
        if pairs:
            found.append(pairs)
    return found


async def idle(starter: StarterEnd, _: ClassAd) -> None:
    await asyncio.sleep(1_000_000)


@pytest.mark.parametrize("name", FILES)
def test_recorded_calls_get_the_answers_that_the_real_shadow_gave(
    name: str, tmp_path: Path
) -> None:
    async def scenario(world: World) -> int:
        place = ExecutionPoint(world, idle)
        await place.start()
        here = ScheddEnd(world, tmp_path)
        await here.start()
        compared = 0
        try:
            for pairs in conversations(name):
                await here.run(place)
                await asyncio.sleep(1)
                shadow = here.host.shadows[(7, 3)]
                for sent, expected in pairs:
                    call = read_syscall(Reader(sent))
                    reply = await answer(shadow, call)
                    if comparable(call):
                        writer = Writer()
                        reply.write(writer)
                        assert writer.getvalue() == expected, type(call).__name__
                        compared += 1
                await here.signal("Remove", "done")
                shadow.stream.close() if shadow.stream else None
                await here.ended()
        finally:
            await here.close()
            await place.network.close()
        return compared

    compared: int = run_in_world(tmp_path, scenario)
    assert compared > 3


def comparable(call: Call) -> bool:
    """The job's ad differs, and our guidance is deliberately another one.

    Compat: the reference sends a starter to wait five seconds ("RetryReqest"), or on without
    a word about the transfer ("CarryOn"); we wait for the transfer and say "StartJob".
    """
    if isinstance(call, calls.GetJobInfo):
        return False
    if isinstance(call, calls.RequestGuidance):
        return call.request.string("RequestType") != "JobEnvironment"
    return True


@pytest.mark.parametrize("name", FILES)
def test_recorded_calls_and_answers_are_encoded_to_the_same_bytes(name: str) -> None:
    for pairs in conversations(name):
        for sent, expected in pairs:
            call = read_syscall(Reader(sent))
            writer = Writer()
            call.write(writer)
            assert writer.getvalue() == sent
            if call.reply is not Shape.PRIVATE_AD:
                back = Writer()
                call.read_answer(Reader(expected)).write(back)
                assert back.getvalue() == expected
