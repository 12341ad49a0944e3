"""The server of a few pages: what it answers, and what it does not let happen."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
from collections.abc import Awaitable, Callable

import pytest

from kettle.runtime import life, tasks
from kettle.runtime.sockets import web_page
from kettle.runtime.sockets.web_page import Page, WebPages


async def make_page() -> Page:
    return Page(200, "hello\n")


async def fail() -> Page:
    raise RuntimeError("a bug")


def serve(work: Callable[[str, int], Awaitable[None]]) -> None:
    """Run something against a server."""

    async def main() -> None:
        pages = WebPages({"/hello": make_page, "/bug": fail}, ("vm",))
        host, port = await pages.listen("127.0.0.1", 0)
        try:
            await work(host, port)
        finally:
            await pages.close()

    asyncio.run(main())


async def ask(host: str, port: int, data: bytes) -> str:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(data)
        return (await reader.read()).decode()
    finally:
        writer.close()


def answer_to(data: bytes) -> str:
    answers = []

    async def work(host: str, port: int) -> None:
        answers.append(await ask(host, port, data))

    serve(work)
    return answers[0]


def test_a_page_is_answered_with_its_length_and_the_connection_closed() -> None:
    answer = answer_to(b"GET /hello?x=1 HTTP/1.1\r\nHost: vm:80\r\n\r\n")
    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert "Content-Length: 6\r\n" in answer
    assert "Connection: close\r\n" in answer
    assert answer.endswith("\r\n\r\nhello\n")


def test_head_gets_the_head_alone() -> None:
    answer = answer_to(b"HEAD /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert answer.endswith("\r\n\r\n")


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (b"GET /other HTTP/1.1\r\n\r\n", 404),
        (b"POST /hello HTTP/1.1\r\n\r\n", 405),
        (b"nonsense\r\n\r\n", 400),
        (b"GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
        (b"GET /hello HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", 431),
        (b"GET /hello HTTP/1.1\r\nHost: [::1]:9\r\n\r\n", 200),
    ],
)
def test_what_is_no_request_for_a_page_gets_its_code(request_text: bytes, status: int) -> None:
    assert answer_to(request_text).startswith(f"HTTP/1.1 {status} ")


def test_a_bug_in_a_page_costs_its_answer_only() -> None:
    said: list[str] = []
    tasks.set_reporter(said.append)
    try:

        async def work(host: str, port: int) -> None:
            assert "500 Internal" in await ask(host, port, b"GET /bug HTTP/1.1\r\n\r\n")
            assert "200 OK" in await ask(host, port, b"GET /hello HTTP/1.1\r\n\r\n")

        serve(work)
    finally:
        tasks.set_reporter(None)
    assert said == ["The page /bug: RuntimeError: a bug"]


def test_who_says_nothing_is_sent_away_and_keeps_nobody_else_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web_page, "REQUEST_SECONDS", 0.2)
    monkeypatch.setattr(web_page, "MAX_CONNECTIONS", 3)

    async def work(host: str, port: int) -> None:
        silent = [await asyncio.open_connection(host, port) for _ in range(2)]
        assert "200 OK" in await ask(host, port, b"GET /hello HTTP/1.1\r\n\r\n")
        for reader, writer in silent:
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
            writer.close()
        assert "200 OK" in await ask(host, port, b"GET /hello HTTP/1.1\r\n\r\n")

    serve(work)


def test_any_number_who_say_nothing_close_the_door_to_nobody() -> None:
    async def work(host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.ExitStack() as stack:
            silent = []
            for number in range(100):
                one = stack.enter_context(socket.socket())
                one.setblocking(False)
                await loop.sock_connect(one, (host, port))
                silent.append(one)
                if number % 20 == 0:
                    assert "200 OK" in await ask(host, port, b"GET /hello HTTP/1.1\r\n\r\n")
            assert await loop.sock_recv(silent[0], 1) == b""
            with pytest.raises(BlockingIOError):
                silent[-1].recv(1)

    serve(work)


def test_who_is_sent_away_in_the_middle_of_a_request_is_no_trouble(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web_page, "MAX_CONNECTIONS", 2)
    troubles: list[dict[str, object]] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: troubles.append(what))
        pages = WebPages({"/hello": make_page}, ("vm",))
        host, port = await pages.listen("127.0.0.1", 0)
        others = [await asyncio.open_connection(host, port) for _ in range(6)]
        for _, writer in others:
            writer.write(b"GET /hello HTTP/1.1\r\nX: ")
            await writer.drain()
        await ask(host, port, b"GET /hello HTTP/1.1\r\nHost: vm\r\n\r\n")
        for _, writer in others:
            writer.close()
        await pages.close()

    # What daemons run on: it refuses to write to what is closed.
    life.run(main())
    gc.collect()
    assert troubles == []
