"""What a connection begins with."""

from __future__ import annotations

import pytest

from kettle.wire.codec import Writer
from kettle.wire.commands import Command
from kettle.wire.frames import encode_header
from kettle.wire.shared_port import FIRST_BYTES, is_web_request

WORD = Writer().integer(Command.QUERY_STARTD_ADS).getvalue()


@pytest.mark.parametrize(
    ("begin", "web"),
    [
        (b"GET / HTTP/1.1\r\n", True),
        (b"DELETE /a HTTP/1.1", True),
        (b"GETTING / HTTP/1.1", False),
        (b"get / HTTP/1.1\r\n", False),
        (bytes.fromhex("160301020001000100fc0303aa"), True),
        (bytes.fromhex("160305020001000100fc0303aa"), False),
        (bytes.fromhex("150301020001000100fc0303aa"), False),
        (encode_header(len(WORD), last=True) + WORD, False),
    ],
)
def test_http_and_tls_are_known_by_their_first_bytes(begin: bytes, web: bool) -> None:
    assert len(begin) >= FIRST_BYTES
    assert is_web_request(begin[:FIRST_BYTES]) is web
