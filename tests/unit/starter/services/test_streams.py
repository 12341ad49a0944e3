"""What a job streams arrives, also at a shadow that came back, or its loss holds the job."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from pathlib import Path

import pytest

from kettle.attributes.codes import HoldReasonCode
from kettle.errors import ConnectionLost
from kettle.runtime.clock import SystemClock
from kettle.runtime.sockets.stream import Stream
from kettle.shadow.services.files import FILE_CALLS, RemoteFiles
from kettle.starter.launch import CannotLaunch, LaunchPlan, StandardFile
from kettle.starter.limits import Excess
from kettle.starter.services.shadow import ShadowLink
from kettle.starter.services.streams import StreamedFiles
from kettle.wire.messages.syscalls import Write, read_syscall


def plan(stdin: str = "", stdout: str = "") -> LaunchPlan:
    nothing = StandardFile("/dev/null")
    return LaunchPlan(
        argv=("/bin/true",),
        program="/bin/true",
        cwd="/",
        environment={},
        stdin=StandardFile(stdin, stream=True) if stdin else nothing,
        stdout=StandardFile(stdout, stream=True) if stdout else nothing,
        stderr=nothing,
    )


class Shadow:
    """A shadow's end of the line; after `answers` calls it is gone, its last one done."""

    def __init__(self, folder: Path, answers: int = 1000) -> None:
        self.ours, theirs = Stream.pair()
        self._stream = Stream.over(theirs)
        self._files = RemoteFiles(str(folder))
        self._answers = answers
        self.seen: list[str] = []
        self.wrote = asyncio.Event()
        self.task = asyncio.ensure_future(self._serve())

    async def _serve(self) -> None:
        with contextlib.suppress(ConnectionLost):
            while True:
                call = read_syscall(await self._stream.receive())
                self.seen.append(type(call).__name__)
                reply = FILE_CALLS[type(call)](self._files, call)
                if len(self.seen) > self._answers:
                    break
                await self._stream.send(reply)
                if isinstance(call, Write):
                    self.wrote.set()
        self._stream.close()


def test_what_a_full_disk_does_not_take_holds_the_job(tmp_path: Path) -> None:
    async def main() -> None:
        shadow, told = Shadow(tmp_path), list[Excess]()
        streams = StreamedFiles(ShadowLink(shadow.ours, SystemClock()), told.append)
        job = os.dup((await streams.open(plan(stdout="/dev/full")))[1])
        streams.close_child_ends()
        os.write(job, b"lost")
        os.close(job)
        await streams.finish()
        text = "cannot write the stream /dev/full: No space left on device"
        assert told == [Excess(text, HoldReasonCode.UnableToOpenOutputStream, errno.ENOSPC)]
        shadow.ours.close()
        await shadow.task

    asyncio.run(main())


def test_a_stream_that_cannot_be_opened(tmp_path: Path) -> None:
    async def main() -> None:
        shadow = Shadow(tmp_path)
        streams = StreamedFiles(ShadowLink(shadow.ours, SystemClock()), [].append)
        with pytest.raises(CannotLaunch) as raised:
            await streams.open_remote(plan(stdout="nodir/s"))
        why = "cannot open the stream nodir/s: No such file or directory"
        assert raised.value.message == f"unable to establish standard output stream: {why}"
        assert raised.value.code == HoldReasonCode.UnableToOpenOutputStream
        assert raised.value.subcode == 0
        shadow.ours.close()
        await shadow.task

    asyncio.run(main())


def test_streams_go_on_where_they_were_at_a_shadow_that_came_back(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"what the job reads")

    async def main() -> None:
        told: list[Excess] = []
        # It opens, and takes the first piece; the second one it takes without saying so.
        first = Shadow(tmp_path, answers=2)
        link = ShadowLink(first.ours, SystemClock())
        link.lease_seconds = 60.0
        streams = StreamedFiles(link, told.append)
        job = os.dup((await streams.open(plan(stdout="out")))[1])
        streams.close_child_ends()
        os.write(job, b"one ")
        await first.wrote.wait()
        assert (tmp_path / "out").read_bytes() == b"one "
        os.write(job, b"two ")
        await first.task
        assert (tmp_path / "out").read_bytes() == b"one two "
        second = Shadow(tmp_path)
        link.reconnect(second.ours)
        os.write(job, b"three")
        os.close(job)
        await streams.finish()
        assert (tmp_path / "out").read_bytes() == b"one two three"
        assert told == []
        assert second.seen[:3] == ["Open", "Lseek", "Write"]
        assert "Fsync" in second.seen
        link.close()
        await second.task

    asyncio.run(main())


def test_an_input_that_cannot_be_read_holds_the_job(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()

    async def main() -> None:
        shadow = Shadow(tmp_path)
        told: asyncio.Future[Excess] = asyncio.get_running_loop().create_future()
        streams = StreamedFiles(ShadowLink(shadow.ours, SystemClock()), told.set_result)
        job = os.dup((await streams.open(plan(stdin="in")))[0])
        streams.close_child_ends()
        excess = await told
        assert os.read(job, 1) == b""
        os.close(job)
        assert excess.code == HoldReasonCode.UnableToOpenInputStream
        assert excess.subcode == errno.EISDIR
        await streams.finish()
        shadow.ours.close()
        await shadow.task

    asyncio.run(main())
