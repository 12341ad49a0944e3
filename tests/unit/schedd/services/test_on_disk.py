"""Actions wait for the journal, together and in order."""

from __future__ import annotations

import asyncio

from kettle.errors import StorageError
from kettle.schedd.services.on_disk import LATEST_SECONDS, OnDisk
from kettle.testing.virtual_loop import run_virtually


class Journal:
    """A journal whose flush takes a second."""

    def __init__(self) -> None:
        self.story: list[str] = []

    async def flush(self) -> None:
        self.story.append("flush")
        await asyncio.sleep(1)
        self.story.append("flushed")


def on_disk(journal: Journal) -> OnDisk:
    return OnDisk(journal)  # type: ignore[arg-type]


def test_actions_of_one_moment_share_a_flush_and_keep_their_order() -> None:
    journal = Journal()
    waiting = on_disk(journal)

    async def main() -> None:
        for name in "ab":
            waiting.then(lambda name=name: journal.story.append(name))
        await asyncio.sleep(0.5)
        # The flush on its way may have begun before this was committed.
        waiting.then(lambda: journal.story.append("c"))
        assert waiting.pending
        await asyncio.sleep(3)
        assert not waiting.pending

    run_virtually(main())
    assert journal.story == ["flush", "flushed", "a", "b", "flush", "flushed", "c"]


def test_an_action_that_fails_does_not_keep_the_next_from_being_done() -> None:
    journal = Journal()
    waiting = on_disk(journal)

    def fail() -> None:
        raise StorageError("no room")

    def stumble() -> None:
        raise KeyError("a fault of ours")

    async def main() -> None:
        waiting.then(fail)
        waiting.then(stumble)
        waiting.then(lambda: journal.story.append("next"))
        await waiting.settle()

    run_virtually(main())
    assert journal.story[-1] == "next"


def test_who_settles_waits_for_what_is_under_way_already() -> None:
    journal = Journal()
    waiting = OnDisk(journal)  # type: ignore[arg-type]

    async def main() -> None:
        waiting.then(lambda: journal.story.append("a"))
        await asyncio.sleep(0.5)
        await waiting.settle()
        assert journal.story == ["flush", "flushed", "a"]
        assert not waiting.pending

    run_virtually(main())


def test_who_settles_does_not_wait_for_what_is_asked_for_later() -> None:
    journal = Journal()
    waiting = on_disk(journal)

    async def main() -> None:
        def go_on() -> None:
            asyncio.get_running_loop().call_later(0.4, waiting.then, go_on)

        go_on()
        await asyncio.sleep(0.5)
        waiting.then(lambda: journal.story.append("ours"))
        began = asyncio.get_running_loop().time()
        async with asyncio.timeout(60):
            await waiting.settle()
        assert "ours" in journal.story
        assert asyncio.get_running_loop().time() - began <= 2
        assert waiting.pending

    run_virtually(main())


def test_who_is_cancelled_while_it_settles_takes_nobody_s_turn() -> None:
    journal = Journal()
    waiting = on_disk(journal)

    async def main() -> None:
        waiting.then(lambda: journal.story.append("a"))
        settling = asyncio.ensure_future(waiting.settle())
        await asyncio.sleep(0.5)
        settling.cancel()
        await asyncio.sleep(1)
        assert journal.story == ["flush", "flushed", "a"]

    run_virtually(main())


def test_what_nobody_waits_for_is_flushed_once_before_long() -> None:
    journal = Journal()
    waiting = on_disk(journal)

    async def main() -> None:
        for _ in range(3):
            waiting.soon()
            await asyncio.sleep(0.1)
        assert journal.story == []
        await asyncio.sleep(LATEST_SECONDS)
        assert journal.story == ["flush"]
        await asyncio.sleep(10)
        assert journal.story == ["flush", "flushed"]

    run_virtually(main())


def test_a_flush_that_somebody_waits_for_serves_what_nobody_waits_for() -> None:
    journal = Journal()
    waiting = on_disk(journal)

    async def main() -> None:
        waiting.soon()
        waiting.then(lambda: None)
        await asyncio.sleep(10)

    run_virtually(main())
    assert journal.story == ["flush", "flushed"]


def test_what_is_committed_while_a_flush_is_on_its_way_is_flushed_too() -> None:
    journal = Journal()
    waiting = on_disk(journal)

    async def main() -> None:
        waiting.then(waiting.soon)
        await asyncio.sleep(0.5)
        waiting.soon()
        await asyncio.sleep(10)

    run_virtually(main())
    assert journal.story.count("flushed") == 2
