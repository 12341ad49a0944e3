"""The file of the broker's ids: where it is, what is read from it, when it is written anew."""

from __future__ import annotations

import pytest

from kettle.collector.broker_ids import KeptId, decode_ids, encode_ids, ids_path, is_bloated
from kettle.wire.sinful import Sinful


@pytest.mark.parametrize(
    ("configured", "address", "path"),
    [
        ("", "<10.0.0.1:9618>", "/spool/10.0.0.1-9618.ccb_reconnect"),
        ("", "<10.0.0.1:9618?sock=collector>", "/spool/10.0.0.1-collector.ccb_reconnect"),
        ("", "<[fe80::1]:9618>", "/spool/fe80--1-9618.ccb_reconnect"),
        ("/x/mine.ccb_reconnect", "<10.0.0.1:9618>", "/x/mine.ccb_reconnect"),
        ("/x/mine", "<10.0.0.1:9618>", "/x/mine.ccb_reconnect"),
    ],
)
def test_where_the_file_is(configured: str, address: str, path: str) -> None:
    assert ids_path(configured, "/spool", Sinful.parse(address)) == path


def test_what_was_written_is_read() -> None:
    ids = [KeptId("10.0.0.7", 3, "18446744073709551615"), KeptId("fe80::1", 12, "7")]
    assert encode_ids(ids) == b"10.0.0.7 3 18446744073709551615\nfe80::1 12 7\n"
    assert decode_ids(encode_ids(ids)) == ids
    assert decode_ids(encode_ids([KeptId("", 3, "1")])) == [KeptId("-", 3, "1")]


def test_the_last_line_of_an_id_counts_and_what_is_no_line_is_passed_over() -> None:
    good = b"10.0.0.7 3 44\n10.0.0.8 4 55\n"
    bad = b"\n10.0.0.7 three 44\n1 2\n\xff\xfe 5 6 7\n" + b"x" * 200 + b" 8 9\n"
    bad += b"10.0.0.7 9999999999999999999 4\n10.0.0.7 -3 4\n"
    again = b"10.0.0.9 3 66\n"
    assert decode_ids(good + bad + again) == [
        KeptId("10.0.0.9", 3, "66"),
        KeptId("10.0.0.8", 4, "55"),
    ]


def test_a_line_that_was_cut_off_is_no_id() -> None:
    assert decode_ids(b"10.0.0.7 3 44\n10.0.0.8 4 5") == [KeptId("10.0.0.7", 3, "44")]


def test_a_file_is_written_anew_when_most_of_it_is_forgotten() -> None:
    assert not is_bloated(300, 100)
    assert is_bloated(301, 100)
