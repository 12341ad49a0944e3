"""What the chirp server says to a job, byte by byte as the reference's starter says it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.classad import ClassAd
from kettle.starter.services.chirp import ChirpServer
from kettle.starter.services.chirp_door import ChirpDoor
from kettle.starter.services.parts import Starter
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply

LINE = "1 2 33188 1 0 0 0 26 4096 8 1 2 3\n"


class Paper:
    """What would be sent to the job."""

    def __init__(self) -> None:
        self.said = b""

    def write(self, data: bytes) -> None:
        self.said += data

    async def drain(self) -> None:
        """Nobody reads."""


class Shadow:
    """Answers calls from a table, and notes them."""

    def __init__(self, answers: dict[type[Call], Reply]) -> None:
        self.answers = answers
        self.asked: list[Call] = []

    async def call(self, make: Callable[[], Any]) -> Any:
        """Run a dialog of one call."""
        dialog = make()
        call = next(dialog).message
        self.asked.append(call)
        reply = self.answers.get(type(call), call.answer(0))
        writer = Writer()
        reply.write(writer)
        try:
            next(dialog)
            dialog.send(Reader(writer.getvalue()))
        except StopIteration as end:
            return end.value
        raise AssertionError("the dialog goes on")


def ask(line: str, data: bytes = b"", **answers: Reply) -> tuple[bytes, list[Call]]:
    """Return what a job hears, and what the shadow was asked."""
    shadow = Shadow({getattr(calls, name): reply for name, reply in answers.items()})
    starter = SimpleNamespace(
        settings=SimpleNamespace(chirp_io=True, chirp_updates=True, chirp_delayed=True),
        job=ClassAd({"WantIOProxy": True}),
        call=shadow.call,
    )
    server = ChirpServer(cast(Starter, starter), ChirpDoor())
    paper = Paper()

    async def answered() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        await server._answer(line + "\n", reader, cast(asyncio.StreamWriter, paper))

    asyncio.run(answered())
    return paper.said, shadow.asked


def test_who_opens_a_file_is_told_at_once_what_it_is() -> None:
    opened, facts = calls.Open(0, 0, "f").answer(7), calls.Fstat(7).answer(0, result=LINE)
    said, asked = ask("open f r 0", Open=opened, Fstat=facts)
    assert said == b"7\n" + LINE.encode()
    assert asked == [calls.Open(0, 0, "f"), calls.Fstat(7)]
    said, _ = ask("open f r 0", Open=opened, Fstat=calls.Fstat(7).answer(-1, errno=5))
    assert said == b"7\n\n"
    said, asked = ask("open f r 0", Open=calls.Open(0, 0, "f").answer(-1, errno=2))
    assert (said, len(asked)) == (b"-3\n", 1)


def test_facts_of_a_file_are_a_number_and_a_line() -> None:
    for verb, kind in ("stat", calls.Stat), ("lstat", calls.Lstat):
        said, _ = ask(f"{verb} f", **{kind.__name__: kind("f").answer(0, result=LINE)})
        assert said == b"0\n" + LINE.encode()


def test_a_listing_is_its_length_and_the_text_that_an_empty_line_closes() -> None:
    said, _ = ask("getdir d", GetDir=calls.GetDir("d").answer(6, result="a\nbc\n\n"))
    assert said == b"6\na\nbc\n\n"


def test_a_file_that_is_put_has_two_answers_and_an_empty_one_has_one() -> None:
    opened = calls.Open(0, 0, "f").answer(7)
    said, asked = ask("putfile f 420 5", b"hello", Open=opened, Write=calls.Write(7, b"").answer(5))
    assert said == b"0\n5\n"
    assert asked[1:] == [calls.Write(7, b"hello"), calls.Close(7)]
    said, asked = ask("putfile f 420 0", Open=opened)
    assert said == b"0\n"
    assert asked[1:] == [calls.Close(7)]
    said, _ = ask("putfile f 420 5", Open=calls.Open(0, 0, "f").answer(-1, errno=13))
    assert said == b"-2\n"


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("fchown 7 1 2", calls.Fchown(7, 1, 2)),
        ("fchmod 7 416", calls.Fchmod(7, 416)),
        ("ftruncate 7 22", calls.Ftruncate(7, 22)),
    ],
)
def test_an_open_file_is_changed(line: str, call: Call) -> None:
    assert ask(line) == (b"0\n", [call])


def test_a_file_is_looked_up_and_the_version_told() -> None:
    found = calls.GetFileInfo("f").answer(0, result="remote:/home/f")
    assert ask("lookup f", GetFileInfo=found)[0] == b"14\nremote:/home/f"
    assert ask("version") == (b"2\n", [])


@pytest.mark.parametrize(
    ("code", "said"), [(39, b"-15\n"), (26, b"-10\n"), (110, b"-17\n"), (4, b"-11\n"), (7, b"-8\n")]
)
def test_an_error_has_the_references_number(code: int, said: bytes) -> None:
    assert ask("rmdir d", Rmdir=calls.Rmdir("d").answer(-1, errno=code))[0] == said
