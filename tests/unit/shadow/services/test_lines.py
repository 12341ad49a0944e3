"""The lines to starters that wait for another job of their claim."""

from __future__ import annotations

from typing import cast

import pytest

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.runtime.sockets.stream import Stream
from kettle.shadow.services.lines import IdleLines
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages.rpc import Call
from kettle.wire.messages.syscalls import GetJobInfo, RegisterStarterInfo


class _Line:
    """What a connection is to those who only look it up."""


def _body(call: Call) -> bytes:
    writer = Writer()
    call.write(writer)
    return writer.getvalue()


def test_what_a_starter_says_again_at_the_beginning_of_a_job_is_read_once() -> None:
    lines = IdleLines()
    one, other = (cast("Stream", _Line()) for _ in range(2))
    said = [_body(RegisterStarterInfo(ClassAd({"Name": name}))) for name in ("slot1", "slot2")]

    def read(line: Stream, body: bytes) -> RegisterStarterInfo:
        call = lines.read_first_call(line, Reader(body))
        assert isinstance(call, RegisterStarterInfo)
        return call

    first = read(one, said[0])
    assert read(one, said[0]) is first
    assert read(other, said[0]) is not first
    # Another word of it counts at once.
    assert read(one, said[1]).info.string("Name") == "slot2"
    assert read(one, said[0]).info.string("Name") == "slot1"


def test_other_first_calls_are_read_each_time_and_wrong_ones_refused() -> None:
    lines, line = IdleLines(), cast("Stream", _Line())
    body = _body(GetJobInfo())
    first, second = (lines.read_first_call(line, Reader(body)) for _ in range(2))
    assert isinstance(first, GetJobInfo)
    assert first is not second
    with pytest.raises(RemoteProtocolError):
        lines.read_first_call(line, Reader(b"\xff" * 8))
