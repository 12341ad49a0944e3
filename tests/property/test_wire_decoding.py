"""Decoding survives whatever a peer sends: any prefix, any split, any bytes."""

from __future__ import annotations

import contextlib
import random
from secrets import token_bytes
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.errors import LocalProtocolError, RemoteProtocolError
from kettle.wire.channel import SENT_BODY, Channel
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import (  # noqa: F401 - defining them is what fills the table
    accounting,
    brokering,
    claims,
    collector,
    daemoncore,
    filetransfer,
    negotiate,
    qmgmt,
    queue_queries,
    shadow_host,
    starter_control,
    syscalls,
)
from kettle.wire.messages.fields import MESSAGES, Message
from kettle.wire.safesock import Reassembly
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.sinful import Sinful

CONCRETE = [kind for kind in MESSAGES if kind.fields]
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)
texts = st.text(
    st.characters(blacklist_characters="\0\n", blacklist_categories=["Cs"]), max_size=30
)
integers = st.integers(-(2**63), 2**63 - 1)


@st.composite
def value_of(draw: st.DrawFn, form: str) -> Any:
    """Draw a value for a field of this form."""
    if form == "int":
        return draw(integers)
    if form == "int (boolean)":
        return draw(st.booleans())
    if form == "byte":
        return draw(st.integers(0, 255))
    if form in ("str", "secret"):
        return draw(texts)
    if form == "float":
        return draw(st.floats(-1e30, 1e30).map(lambda one: float(round(one))))
    if form.startswith("ad") and "end" not in form:
        return ClassAd(draw(st.dictionaries(names, integers | texts, max_size=4)))
    return None


@given(st.sampled_from(CONCRETE), st.data(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read_back(
    kind: type[Message], data: st.DataObject, encrypted: bool
) -> None:
    values: dict[str, Any] = {}
    for name, field in kind.fields:
        value = data.draw(value_of(field.form))
        if value is None:
            return
        values[name] = value
    if kind.read.__func__ is not Message.read.__func__:  # type: ignore[attr-defined]
        return
    writer = Writer(encrypted)
    kind(**values).write_fields(writer)
    again = Writer(encrypted)
    kind.read(Reader(writer.getvalue(), encrypted)).write_fields(again)
    assert again.getvalue() == writer.getvalue()


@given(st.sampled_from(CONCRETE), st.binary(max_size=200), st.booleans())
@settings(max_examples=500, deadline=None)
def test_random_bytes_are_a_remote_protocol_error_or_a_message(
    kind: type[Message], body: bytes, encrypted: bool
) -> None:
    with contextlib.suppress(RemoteProtocolError):
        kind.read(Reader(body, encrypted))


@given(st.sampled_from(CONCRETE), st.lists(st.integers(0, 300), max_size=12), texts)
@settings(max_examples=300, deadline=None)
def test_small_counts_and_strings_are_a_remote_protocol_error_or_a_message(
    kind: type[Message], numbers: list[int], text: str
) -> None:
    writer = Writer()
    for number in numbers:
        writer.integer(number).string(text)
    with contextlib.suppress(RemoteProtocolError):
        kind.read(Reader(writer.getvalue()))


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_random_bytes_never_break_the_first_readers(data: bytes) -> None:
    for read in (PolicyAd.read, qmgmt.read_request, syscalls.read_syscall):
        with contextlib.suppress(RemoteProtocolError):
            read(Reader(data))
    channel = Channel(token_bytes)
    channel.receive(data)
    try:
        while channel.next_message() is not None:
            pass
    except RemoteProtocolError:
        pass
    with contextlib.suppress(RemoteProtocolError):
        Reassembly().receive("here", data, 0.0)


@given(st.text(max_size=60))
@settings(deadline=None)
def test_any_text_is_an_address_or_a_remote_protocol_error(text: str) -> None:
    for candidate in (text, f"<1.2.3.4:5?{text}>", "{" + text):
        try:
            address = Sinful.parse(candidate)
        except RemoteProtocolError:
            continue
        assert Sinful.parse(str(address)) == Sinful.parse(str(Sinful.parse(str(address))))


@given(
    st.lists(st.binary(min_size=1, max_size=400), min_size=1, max_size=6),
    st.lists(st.integers(1, 60), min_size=1, max_size=10),
    st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_messages_arrive_whole_however_the_bytes_are_split(
    bodies: list[bytes], cuts: list[int], encrypted: bool
) -> None:
    sender, receiver = Channel(random.Random(1).randbytes), Channel(token_bytes)
    if encrypted:
        sender.start_encryption(bytes(32))
        receiver.start_encryption(bytes(32))
    stream = b"".join(sender.encode(sender.writer().raw(body)) for body in bodies)
    got: list[bytes] = []
    position = turn = 0
    while position < len(stream):
        size = cuts[turn % len(cuts)]
        turn += 1
        receiver.receive(stream[position : position + size])
        position += size
        # The connection may change hands at any byte.
        receiver = Channel.restore(receiver.export(), token_bytes) if encrypted else receiver
        while (message := receiver.next_message()) is not None:
            got.append(message.rest())
    assert got == bodies


@given(st.binary(min_size=1, max_size=200), st.integers(0, 300), st.integers(0, 7))
@settings(deadline=None, max_examples=100)
def test_a_changed_bit_never_goes_unnoticed_on_an_encrypted_channel(
    body: bytes, place: int, bit: int
) -> None:
    sender, receiver = Channel(random.Random(1).randbytes), Channel(token_bytes)
    sender.start_encryption(bytes(32))
    receiver.start_encryption(bytes(32))
    wire = bytearray(sender.encode(sender.writer().raw(body)))
    place %= len(wire)
    wire[place] ^= 1 << bit
    receiver.receive(bytes(wire))
    try:
        message = receiver.next_message()
    except RemoteProtocolError:
        return
    # A changed length makes the packet wait for more; nothing was accepted.
    assert message is None


def test_numbers_beyond_64_bits_are_our_own_mistake() -> None:
    for number in (2**63, -(2**63) - 1):
        try:
            Writer().integer(number)
        except LocalProtocolError:
            continue
        raise AssertionError(number)


@given(
    st.lists(st.binary(max_size=300) | st.just(bytes(SENT_BODY + 5)), max_size=12),
    st.lists(st.integers(1, 700), min_size=1, max_size=5),
    st.booleans(),
    st.none() | st.integers(0, 5000),
)
@settings(deadline=None)
def test_many_messages_at_once_are_the_same_as_one_by_one(
    bodies: list[bytes], cuts: list[int], encrypted: bool, damaged: int | None
) -> None:
    alone, together, receiver, other = (Channel(random.Random(1).randbytes) for _ in range(4))
    if encrypted:
        for channel in (alone, together, receiver, other):
            channel.start_encryption(bytes(32))
    stream = bytearray(b"".join(map(alone.encode_body, bodies)))
    half = len(bodies) // 2
    assert together.encode_bodies(bodies[:half]) + together.encode_bodies(bodies[half:]) == stream
    if damaged is not None and stream:
        stream[damaged % len(stream)] ^= 1
    got: list[bytes | None] = []
    expected: list[bytes | None] = []
    position = turn = 0
    while position < len(stream):
        # A few long ones, so that large messages do not take long.
        size = cuts[turn % len(cuts)] * (1 if len(stream) < 10_000 else 1000)
        for channel in (receiver, other):
            channel.receive(stream[position : position + size])
        turn += 1
        position += size
        got += _all_bodies(receiver)
        expected += _one_by_one(other)
        if None in got or None in expected:
            break
    assert got == expected


def _all_bodies(channel: Channel) -> list[bytes | None]:
    """Return what has come; None at the end tells of an error."""
    found: list[bytes | None] = []
    try:
        while bodies := channel.next_bodies():
            found += bodies
    except RemoteProtocolError:
        found.append(None)
    return found


def _one_by_one(channel: Channel) -> list[bytes | None]:
    found: list[bytes | None] = []
    try:
        while (message := channel.next_message()) is not None:
            found.append(message.rest())
    except RemoteProtocolError:
        found.append(None)
    return found
