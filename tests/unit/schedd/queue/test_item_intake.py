"""Item rows that come part by part."""

from __future__ import annotations

import errno
import os

import pytest

from kettle.errors import StorageError
from kettle.schedd.queue import item_intake
from kettle.schedd.queue.ad_sizes import MOST_CHARACTERS
from kettle.schedd.queue.item_intake import ItemIntake
from kettle.submit.item_lines import MOST_ITEM_BYTES, MOST_ITEMS, MOST_ROW_BYTES
from kettle.wire.channel import Channel
from kettle.wire.codec import Reader
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import MemoryItems, Schedd


def begin(schedd: Schedd, data: bytes, cluster: int = 1) -> tuple[ItemIntake, int]:
    connection = schedd.client().connection
    client_cluster = connection.handle(_request(calls.NewCluster()))
    assert client_cluster.reply is not None
    call = calls.SendMaterializeData(cluster, 0, data)
    return connection.begin_items(_request(call)), cluster


def _request(call: calls.Call) -> Reader:
    writer = Channel(os.urandom).writer()
    call.write(writer)
    return Reader(writer.getvalue())


def test_rows_are_kept_in_the_order_in_which_their_parts_come() -> None:
    schedd = Schedd()
    intake, _ = begin(schedd, b"a\nb")
    for part in (b"b\nc", b"\n"):
        intake.take(part)
    reply = intake.end().reply
    assert (reply.value, reply.result) == (0, ("/spool/1.items", 3))  # type: ignore[union-attr]
    assert schedd.spool.files["/spool/1.items"] == b"a\nbb\nc\n"


@pytest.mark.parametrize("bound", ["MOST_ITEMS", "MOST_ITEM_BYTES"])
def test_rows_beyond_a_bound_are_read_to_their_end_and_refused(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_intake, bound, 4)
    schedd = Schedd()
    intake, _ = begin(schedd, b"\n\n\n\n")
    intake.take(b"\n")
    intake.take(b"\n")
    reply = intake.end().reply
    assert (reply.value, reply.errno) == (-1, errno.EFBIG)  # type: ignore[union-attr]
    assert not schedd.spool.files


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("pieces", ["bytes", "halves", "whole"])
@pytest.mark.parametrize(
    ("bound", "row", "before"),
    [
        ("MOST_ITEMS", b"\n", b""),
        ("MOST_ITEM_BYTES", b"a", b""),
        ("MOST_ROW_BYTES", b"a", b""),
        # Where the row stands among others, and whether it ends, is the same.
        ("MOST_ROW_BYTES", b"a", b"b\nccc\n"),
        ("MOST_ROW_BYTES", b"a", b"eeee\n\n"),
    ],
)
@pytest.mark.parametrize("behind", [b"", b"\ndd\n"])
def test_what_is_at_a_bound_is_kept_and_one_more_is_refused(
    bound: str,
    row: bytes,
    before: bytes,
    behind: bytes,
    pieces: str,
    more: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = 8
    if bound == "MOST_ROW_BYTES":
        data = before + row * (most + more) + behind
    else:
        data = row * (most + more)
    monkeypatch.setattr(item_intake, bound, most)
    schedd = Schedd()
    apart = {"bytes": 1, "halves": (len(data) + 1) // 2, "whole": len(data)}[pieces]
    intake, _ = begin(schedd, data[:apart])
    for start in range(apart, len(data), apart):
        intake.take(data[start : start + apart])
    reply = intake.end().reply
    assert reply is not None
    if more > 0:
        assert (reply.value, reply.errno) == (-1, errno.EFBIG)
        assert not schedd.spool.files
    else:
        assert (reply.value, reply.result) == (0, ("/spool/1.items", data.count(b"\n")))
        assert schedd.spool.files["/spool/1.items"] == data


def test_rows_that_are_refused_are_told_with_every_bound() -> None:
    said: list[str] = []
    call = calls.SendMaterializeData(7, 0, b"")
    intake = ItemIntake(call, lambda _cluster: MemoryItems({}, "7"), said.append)
    intake.take(b"a" * (MOST_ROW_BYTES + 1))
    bounds = f"{MOST_ITEMS} of them in {MOST_ITEM_BYTES} bytes, each of {MOST_ROW_BYTES}"
    assert said == [f"Refusing the items of cluster 7: a cluster may have {bounds}"]


def test_an_item_is_no_longer_than_an_ad() -> None:
    assert MOST_ROW_BYTES == MOST_CHARACTERS


def test_rows_of_a_cluster_that_is_none_are_refused() -> None:
    schedd = Schedd()
    intake, _ = begin(schedd, b"a\n", cluster=7)
    intake.take(b"b\n")
    reply = intake.end().reply
    assert (reply.value, reply.errno) == (-1, errno.ENOENT)  # type: ignore[union-attr]
    assert not schedd.spool.files


def test_a_full_disk_is_said_behind_the_last_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: MemoryItems, _data: bytes) -> None:
        raise StorageError("no room", errno=errno.ENOSPC)

    monkeypatch.setattr(MemoryItems, "write", refuse)
    schedd = Schedd()
    intake, _ = begin(schedd, b"a\n")
    intake.take(b"b\n")
    reply = intake.end().reply
    assert (reply.value, reply.errno) == (-1, errno.ENOSPC)  # type: ignore[union-attr]
    assert not schedd.spool.files


def test_rows_that_break_off_leave_nothing() -> None:
    schedd = Schedd()
    intake, _ = begin(schedd, b"a\n")
    intake.drop()
    assert not schedd.spool.files


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_message_is_taken_by_parts_from_where_it_has_begun(encrypted: bool) -> None:
    ours, theirs = Channel(os.urandom), Channel(os.urandom)
    if encrypted:
        for one in (ours, theirs):
            one.start_encryption(bytes(32))
    writer = ours.writer()
    calls.SendMaterializeData(3, 0, b"a" * 100).write(writer)
    first = ours.encode_part(writer.getvalue(), last=False)
    theirs.receive(first)
    assert theirs.next_message() is None
    assert calls.begins_item_data(theirs.begun)
    part, is_last = theirs.next_part() or (b"", True)
    assert (len(part), is_last) == (124, False)
    assert theirs.next_part() is None
    theirs.receive(ours.encode_part(b"b" * 10, last=False) + ours.encode_part(b"c", last=True))
    assert theirs.next_part() == (b"b" * 10, False)
    assert theirs.next_part() == (b"c", True)
    # What follows is a message by itself.
    writer = ours.writer()
    calls.NewCluster().write(writer)
    theirs.receive(ours.encode(writer))
    assert theirs.begun == b""
    message = theirs.next_message()
    assert message is not None
    assert message.integer() == 10002


def test_no_other_message_is_taken_by_parts() -> None:
    theirs = Channel(os.urandom)
    writer = theirs.writer()
    calls.SetJobFactory(1, 0, "", "x" * 100).write(writer)
    assert not calls.begins_item_data(writer.getvalue()[:64])
    assert not calls.begins_item_data(b"")
    assert not calls.begins_item_data((10039).to_bytes(8, "big") + bytes(15))
