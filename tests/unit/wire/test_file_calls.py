"""Calls on files, byte by byte as they are seen between a real starter and a real shadow."""

from __future__ import annotations

import errno

import pytest

from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply

LINE = "65024 16089728 33188 1 1000 1000 0 26 4096 8 100000 200000 1795445709\n"
ZERO = bytes(8)
# -1 and ENOENT.
NOTHING_THERE = b"\xff" * 8 + (2).to_bytes(8, "big")


def number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def written(reply: Reply) -> bytes:
    writer = Writer()
    reply.write(writer)
    return writer.getvalue()


FACTS = [calls.Stat("f"), calls.Lstat("f"), calls.Fstat(3), calls.Statfs("f"), calls.Fstatfs(3)]


@pytest.mark.parametrize("call", FACTS, ids=lambda call: type(call).__name__)
def test_facts_of_a_file_take_so_many_bytes_however_long_their_line(call: Call) -> None:
    raw = ZERO + LINE.encode() + bytes(1024 - len(LINE))
    assert written(call.answer(0, result=LINE)) == raw
    assert call.read_answer(Reader(raw)).result == LINE
    with pytest.raises(RemoteProtocolError):
        call.read_answer(Reader(raw[:-1]))


@pytest.mark.parametrize("call", FACTS, ids=lambda call: type(call).__name__)
def test_a_file_that_is_not_there_has_an_error_and_no_facts(call: Call) -> None:
    assert written(call.answer(-1, errno=2)) == NOTHING_THERE
    reply = call.read_answer(Reader(NOTHING_THERE))
    assert (reply.value, reply.errno) == (-1, 2)


@pytest.mark.parametrize("call", [calls.GetDir("d"), calls.GetLongDir("d")])
def test_a_listing_is_a_text_whose_length_comes_first(call: Call) -> None:
    raw = number(9) + b"one\ntwo\n\n\0"
    assert written(call.answer(9, result="one\ntwo\n\n")) == raw
    reply = call.read_answer(Reader(raw))
    assert (reply.value, reply.result) == (9, "one\ntwo\n\n")


@pytest.mark.parametrize(
    ("call", "raw"),
    [
        (calls.PutFile("f", 0o600, 5), number(294) + b"f\0" + number(384) + number(5)),
        (calls.GetFile("f"), number(293) + b"f\0"),
        (calls.WhoAmI(100), number(297) + number(100)),
        (calls.WhoAreYou("h", 7), number(298) + b"h\0" + number(7)),
        (calls.Readlink("l", 9), number(72) + b"l\0" + number(9)),
        (calls.Sread(3, 6, 1, 2, 5), number(299) + b"".join(map(number, (3, 6, 1, 2, 5)))),
        (
            calls.Swrite(3, 1, 2, 5, b"ab"),
            number(291) + b"".join(map(number, (3, 2, 1, 2, 5))) + b"ab",
        ),
        (calls.Pread(3, 6, 1), number(289) + b"".join(map(number, (3, 6, 1)))),
        (calls.Pwrite(3, 1, b"ab"), number(290) + b"".join(map(number, (3, 2, 1))) + b"ab"),
        (calls.Utime("f", 1, 2), number(242) + b"f\0" + number(1) + number(2)),
        (calls.Symlink("to", "l"), number(111) + b"to\0l\0"),
        (calls.SetJobAttr("1", "A"), number(286) + b"1\0A\0"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Call) else "",
)
def test_a_call_has_its_arguments_in_this_order(call: Call, raw: bytes) -> None:
    writer = Writer()
    call.write(writer)
    assert writer.getvalue() == raw
    assert calls.read_syscall(Reader(raw)) == call


def test_a_file_is_put_in_two_steps_of_the_same_shape() -> None:
    call = calls.PutFile("f", 0o600, 5)
    for value in (13, 5):
        assert written(call.answer(value)) == number(value)
    assert written(call.answer(-1, errno=2)) == NOTHING_THERE


@pytest.mark.parametrize(
    ("code", "on_the_wire"),
    [(errno.ENOTEMPTY, 41), (errno.ENAMETOOLONG, 38), (errno.ENOSYS, 40), (errno.ETXTBSY, 43),
     (errno.EDEADLK, 36), (errno.ENOLCK, 39), (errno.EACCES, 13), (errno.EDQUOT, 122)],
)  # fmt: skip
def test_errors_have_numbers_of_their_own_on_the_wire(code: int, on_the_wire: int) -> None:
    raw = b"\xff" * 8 + number(on_the_wire)
    call = calls.Rmdir("d")
    assert written(call.answer(-1, errno=code)) == raw
    assert call.read_answer(Reader(raw)).errno == code
