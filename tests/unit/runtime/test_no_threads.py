"""Where the system grants no thread, work fails or is done more slowly; nothing ends by it."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import uvloop

from kettle.errors import ConnectionLost
from kettle.runtime.process.aside import ThreadedAside
from kettle.runtime.sockets.transport import connect_socket
from kettle.runtime.storage.durable import WorkerSynchronizer


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Run in the loop that daemons have."""

    async def whole() -> None:
        await main()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(whole())


def test_an_action_fails_with_the_reason_and_the_next_one_may_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        aside = ThreadedAside()
        with pytest.raises(OSError, match="no thread: Resource temporarily unavailable"):
            await aside.run(lambda: 1)
        monkeypatch.undo()
        assert await aside.run(lambda: 2) == 2

    run(main)


def test_files_are_synced_all_the_same(tmp_path: Path) -> None:
    async def main() -> None:
        worker = WorkerSynchronizer()
        with (tmp_path / "file").open("wb") as file:
            await worker.sync(file.fileno())
            await asyncio.gather(*(worker.sync(file.fileno()) for _ in range(3)))
        with pytest.raises(OSError, match="Bad file descriptor"):
            await worker.sync(os.open(tmp_path / "file", os.O_RDONLY) + 1000)
        await worker.idle()

    run(main)


def test_connections_are_made_and_refused() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            transport = await connect_socket("127.0.0.1", port, 5)
            server.accept()[0].close()
            transport.close()
        with pytest.raises(ConnectionLost, match="Connection refused"):
            await connect_socket("127.0.0.1", port, 5)
        with pytest.raises(ConnectionLost, match="no thread"):
            await connect_socket("a.name.to.be.looked.up", port, 5)

    run(main)


def test_connecting_makes_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            before = len(os.listdir("/proc/self/task"))
            transport = await connect_socket("127.0.0.1", server.getsockname()[1], 5)
            assert len(os.listdir("/proc/self/task")) == before
            transport.close()

    run(main)
