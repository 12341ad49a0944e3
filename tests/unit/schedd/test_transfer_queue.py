"""The transfer queue: so many at a time, everybody's turn comes, and a turn is given back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from kettle.classad import ClassAd
from kettle.runtime.sockets.stream import Stream
from kettle.schedd.queue.actors import UNKNOWN, Actor
from kettle.schedd.services.transfer_queue import TransferQueueCommands, read_limits
from kettle.schedd.transfer_queue import Limits, Request, TransferQueue
from kettle.testing.world import World, run_in_world
from kettle.wire.commands import Command
from kettle.wire.messages.filetransfer import (
    TransferQueueReply,
    TransferQueueReport,
    TransferQueueRequest,
)


def ask(queue: TransferQueue, *users: str, downloading: bool = False) -> list[Request]:
    requests = [Request(user, downloading) for user in users]
    for request in requests:
        queue.add(request)
    return requests


def test_only_so_many_of_each_direction_run_at_a_time() -> None:
    queue = TransferQueue(Limits(2, 1))
    up = ask(queue, "a", "a", "a")
    down = ask(queue, "a", "b", downloading=True)
    assert queue.next_turns() == [up[0], up[1], down[0]]
    assert queue.next_turns() == []
    queue.remove(up[1])
    assert queue.next_turns() == [up[2]]
    assert queue.count(downloading=True, running=False) == 1


def test_whoever_has_fewest_under_way_comes_first_then_who_asked_first() -> None:
    queue = TransferQueue(Limits(3, 0))
    a1, a2, a3, b1, b2 = ask(queue, "a", "a", "a", "b", "b")
    assert queue.next_turns() == [a1, b1, a2]
    queue.remove(a1)
    assert queue.next_turns() == [a3]
    queue.remove(a3)
    assert queue.next_turns() == [b2]


def test_no_user_has_more_than_his_share_of_the_inputs() -> None:
    queue = TransferQueue(Limits(10, 10, uploads_of_user=2))
    up = ask(queue, "a", "a", "a")
    down = ask(queue, "a", "a", "a", downloading=True)
    assert queue.next_turns() == [*up[:2], *down]


def test_without_a_limit_everybody_goes_at_once() -> None:
    queue = TransferQueue(Limits(0, -1))
    assert len(ask(queue, *"aaa") + ask(queue, *"bb", downloading=True)) == 5
    assert len(queue.next_turns()) == 5


class Stage:
    """A schedd that has nothing but the queue."""

    def __init__(self, world: World, text: str) -> None:
        self.world = world
        self.runtime, self.network, _ = world.runtime("SCHEDD", text)
        # Who the peers are found to be.
        self.actor = Actor("condor@family", "condor", super_user=True)
        self.commands = TransferQueueCommands(self.runtime, lambda _: self.actor)

    async def ask(self, user: str = "a") -> Stream:
        """Ask for a turn, and say for whom."""
        runtime, _, _ = self.world.runtime("TOOL", name=user)
        stream = await runtime.network.connect(self.network.address, Command.TRANSFER_QUEUE_REQUEST)
        request = ClassAd({"Downloading": False, "JobId": "1.0", "User": user, "SandboxSize": 1})
        await stream.send(TransferQueueRequest(request))
        return stream


def play(folder: Path, scenario: Callable[[Stage], Awaitable[None]], text: str) -> None:
    async def main(world: World) -> None:
        stage = Stage(world, text)
        await stage.network.listen(9700)
        stage.commands.register()
        stage.network.begin_accepting()
        await scenario(stage)
        await asyncio.sleep(1)
        assert stage.commands.queue.requests == []

    run_in_world(folder, main)


async def went(stream: Stream) -> bool:
    reply = TransferQueueReply.read(await stream.receive(5))
    return reply.answer.integer("Result") == 1


def test_a_client_waits_for_its_turn_on_its_connection(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        first, second, third = [await stage.ask() for _ in range(3)]
        assert await went(first)
        await asyncio.sleep(600)
        # The second one loses patience; the first one reports, and ends properly.
        second.close()
        await first.send(TransferQueueReport("1 2 3 4 5 6 7 8"))
        await asyncio.sleep(600)
        await first.send(TransferQueueReport(""))
        assert await went(third)
        # A client that is killed gives its turn back as well.
        third.close()
        fourth = await stage.ask()
        assert await went(fourth)
        fourth.close()
        first.close()

    play(tmp_path, scenario, "MAX_CONCURRENT_UPLOADS = 1\nMAX_CONCURRENT_UPLOADS_PER_USER = 0\n")


def test_who_is_no_sibling_asks_for_himself_and_not_often(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.actor = Actor("eve@pool", "eve")
        streams = [await stage.ask(f"invented{number}") for number in range(3)]
        assert [await went(one) for one in streams] == [True, True, False]
        assert {one.user for one in stage.commands.queue.requests} == {"eve@pool"}
        # Who is nobody is one user, too.
        stage.actor = UNKNOWN
        streams += [await stage.ask(f"invented{number}") for number in range(3)]
        assert [await went(one) for one in streams[3:]] == [True, True, False]
        # A turn that was given back is another's.
        streams[0].close()
        await asyncio.sleep(1)
        stage.actor = Actor("eve@pool", "eve")
        streams.append(await stage.ask())
        assert await went(streams[-1])
        for stream in streams:
            stream.close()

    play(tmp_path, scenario, "MAX_CONCURRENT_UPLOADS = 20\n")


def test_a_higher_limit_lets_those_go_that_wait(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        first, second = [await stage.ask() for _ in range(2)]
        assert await went(first)
        await asyncio.sleep(10)
        stage.commands.reconfigure(
            read_limits(stage.world.config("SCHEDD", "MAX_CONCURRENT_UPLOADS_PER_USER = 0\n"))
        )
        assert await went(second)
        first.close()
        second.close()

    play(tmp_path, scenario, "MAX_CONCURRENT_UPLOADS = 1\nMAX_CONCURRENT_UPLOADS_PER_USER = 0\n")
