"""Long work is done by a forked child on the state of one moment, while the daemon goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.errors import KettleError
from kettle.runtime import life
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.process.snapshot import (
    LIFE_SECONDS,
    ForkedSnapshots,
    InlineSnapshots,
    Part,
    note_progress,
)
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.transport import SocketTransport
from kettle.runtime.storage.files import Files
from kettle.wire.codec import Writer

KEY = bytes(range(32))


class Forking:
    """Snapshots of this process, with a connection to ask over."""

    async def __aenter__(self) -> Forking:
        self.files = Files()
        self.processes = SystemProcesses()
        self.processes.start()
        self.snapshots = ForkedSnapshots(self.files, self.processes, most=1)
        self.streams: list[Stream] = []
        return self

    async def __aexit__(self, *_: object) -> None:
        for stream in self.streams:
            stream.close()
        self.processes.stop()
        await self.files.synchronizer.idle()

    def pair(self, *, encrypted: bool = True) -> tuple[Stream, Stream]:
        ours, theirs = (Stream(SocketTransport(one)) for one in socket.socketpair())
        self.streams += [ours, theirs]
        if encrypted:
            ours.start_encryption(KEY)
            theirs.start_encryption(KEY)
        return ours, theirs


def numbers(count: int, *, said: str = "") -> object:
    def parts(encrypted: bool) -> Iterator[Part]:
        for number in range(count):
            yield b"", False
            yield Writer(encrypted).integer(number).string(said).getvalue(), True
        # One message in three parts.
        writer = Writer(encrypted)
        yield writer.integer(count).getvalue(), False
        yield Writer(encrypted).integer(os.getpid()).getvalue(), False
        yield Writer(encrypted).string("end").getvalue(), True

    return parts


async def read(stream: Stream, count: int) -> int:
    """Read such an answer and return who sent it."""
    for number in range(count):
        message = await stream.receive()
        assert message.integer() == number
        message.string()
    message = await stream.receive()
    assert message.integer() == count
    pid = message.integer()
    assert message.string() == "end"
    return pid


@pytest.mark.parametrize("encrypted", [True, False])
def test_a_long_answer_comes_from_a_child_that_ends_and_closes_the_connection(
    encrypted: bool,
) -> None:
    async def scenario() -> None:
        async with Forking() as one:
            ours, theirs = one.pair(encrypted=encrypted)
            # What was said before counts in the connection's state.
            await ours.send(ours.writer().integer(7))
            assert (await theirs.receive()).integer() == 7
            parts = numbers(5000, said="x" * 500)
            await one.snapshots.answer(ours, parts, ads=5000)  # type: ignore[arg-type]
            assert ours.closed
            assert ours.kept
            assert await read(theirs, 5000) != os.getpid()
            with pytest.raises(KettleError):
                await theirs.receive()
            (child,) = one.processes.children() or [None]
            if child is not None:
                assert await child.wait() == 0
            assert one.snapshots.running == 0

    life.run(scenario())


def test_a_short_answer_and_one_too_many_are_sent_by_the_daemon_itself() -> None:
    async def scenario() -> None:
        async with Forking() as one:
            ours, theirs = one.pair()
            await one.snapshots.answer(ours, numbers(10), ads=10)  # type: ignore[arg-type]
            assert await read(theirs, 10) == os.getpid()
            assert not ours.closed
            one.snapshots.running = 1
            await one.snapshots.answer(ours, numbers(10), ads=10**6)  # type: ignore[arg-type]
            assert await read(theirs, 10) == os.getpid()

    life.run(scenario())


def test_a_child_sees_the_moment_of_its_fork_and_a_failure_is_told(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Forking() as one:
            state = ["before"]
            path = tmp_path / "seen"

            def make() -> object:
                state.append("at the moment")
                return lambda: path.write_text(" ".join(state))

            running = asyncio.ensure_future(one.snapshots.run(make, "writes"))  # type: ignore[arg-type]
            await asyncio.sleep(0)
            state.append("after")
            await running
            assert path.read_text() == "before at the moment"

            def fail() -> None:
                raise OSError(28, "No space left on device")

            with pytest.raises(KettleError, match=r"writes: .*No space left"):
                await one.snapshots.run(lambda: fail, "writes")

            def fail_oddly() -> None:
                # Bytes of a file's name, or of an ad, that are no text; and half of a character.
                raise KettleError("cannot write \udcff\ud83d")

            with pytest.raises(KettleError, match=r"writes: cannot write \\udcff\\ud83d"):
                await one.snapshots.run(lambda: fail_oddly, "writes")

    life.run(scenario())


def test_a_process_without_a_name_has_children_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("setproctitle.getproctitle", lambda: "")
    path = tmp_path / "seen"

    async def scenario() -> None:
        async with Forking() as one:
            await one.snapshots.run(lambda: path.touch, "writes")

    life.run(scenario())
    assert path.exists()


def test_work_that_takes_too_long_does_nothing_any_more_when_that_is_said(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Forking() as one:

            def work() -> None:
                (tmp_path / "pid").write_text(str(os.getpid()))
                signal.pause()

            with pytest.raises(KettleError, match="status -14"):
                await one.snapshots.run(lambda: work, "hangs", 1)
            with pytest.raises(ProcessLookupError):
                os.kill(int((tmp_path / "pid").read_text()), 0)

    life.run(scenario())


def test_work_that_goes_on_is_not_ended_and_the_daemon_never(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Forking() as one:
            path = tmp_path / "seconds"

            def work() -> None:
                first = signal.alarm(7)
                note_progress()
                path.write_text(f"{first} {signal.alarm(7)}")

            await one.snapshots.run(lambda: work, "goes on")
            assert all(int(word) > LIFE_SECONDS - 60 for word in path.read_text().split())

    life.run(scenario())
    before, _ = signal.getitimer(signal.ITIMER_REAL)
    note_progress()
    assert signal.getitimer(signal.ITIMER_REAL)[0] <= before


def test_a_child_that_cannot_settle_ends_and_never_is_a_second_daemon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("kettle.runtime.process.kernel.die_with_parent", refuse)

    async def scenario() -> None:
        async with Forking() as one:
            with pytest.raises(KettleError, match="status 1"):
                await one.snapshots.run(lambda: lambda: None, "writes")

    life.run(scenario())


def test_the_loop_goes_on_between_slices_of_an_answer_that_the_daemon_sends() -> None:
    async def scenario() -> None:
        async with Forking() as one:
            ours, theirs = one.pair()
            turns = 0

            async def count() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            counting = asyncio.ensure_future(count())
            reading = asyncio.ensure_future(read(theirs, 20_000))
            snapshots = InlineSnapshots()
            await snapshots.answer(ours, numbers(20_000), ads=20_000)  # type: ignore[arg-type]
            await reading
            counting.cancel()
            assert turns > 5

    life.run(scenario())
