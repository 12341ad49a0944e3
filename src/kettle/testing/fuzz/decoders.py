"""What is tried: every function of ours that reads what somebody else has written.

Each row is a function of bytes and a few samples of what it is made for. A row may raise the errors
of the one tree and nothing else.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import random
from collections.abc import Iterator
from typing import Any

from kettle.classad import ClassAd
from kettle.testing.fuzz.decoder import Decoder, LawError
from kettle.testing.fuzz.dialogs import dialog_rows
from kettle.testing.fuzz.requests import request_rows
from kettle.testing.fuzz.texts import text_rows
from kettle.wire import messages
from kettle.wire.channel import UNACCEPTED_MESSAGE, Channel
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.dialog import Message
from kettle.wire.messages import qmgmt, shadow_host, starter_control, syscalls
from kettle.wire.messages.fields import MESSAGES
from kettle.wire.safesock import HEADER, MAGIC, Reassembly, decode_payload
from kettle.wire.security.authorization import parse_entries
from kettle.wire.security.claim_id import ClaimId, mint_claim_id
from kettle.wire.security.mapfile import parse_mapfile
from kettle.wire.security.methods import password
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.security.tokens import mint_token, parse_token, scope_levels
from kettle.wire.shared_port import read_connect
from kettle.wire.sinful import Sinful, render_address_v1

_KEY = bytes(range(32))
_AD = ClassAd({"MyType": "Machine", "Name": "slot1@here", "Cpus": 4, "Memory": 2.5})


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _channel() -> Channel:
    channel = Channel(random.Random(1).randbytes)  # noqa: S311 - it has to be repeatable
    channel.maximum_message = UNACCEPTED_MESSAGE
    return channel


def _read_frames(data: bytes) -> None:
    channel = _channel()
    for start in range(0, len(data), 1000):
        channel.receive(data[start : start + 1000])
        while channel.next_message() is not None:
            pass


def _read_sealed_frames(data: bytes) -> None:
    channel = _channel()
    channel.start_encryption(_KEY)
    channel.receive(data)
    while (message := channel.next_message()) is not None:
        message.rest()


def _sealed_frames() -> bytes:
    channel = _channel()
    channel.start_encryption(_KEY)
    return b"".join(channel.encode(channel.writer().string(text)) for text in ("one", "two"))


for _module in pkgutil.iter_modules(messages.__path__):
    importlib.import_module(f"{messages.__name__}.{_module.name}")
_KINDS = [kind for kind in MESSAGES if kind.fields]
# A value of each simple form of a field.
_VALUES: dict[str, Any] = {
    "int": 1,
    "int (boolean)": True,
    "byte": 1,
    "str": "text",
    "secret": "secret",
    "float": 1.5,
}


def _read_message(data: bytes) -> None:
    """Take two bytes for which message it is, and one for whether it was encrypted."""
    number, encrypted = int.from_bytes(data[:2], "big"), bool(data[2:3] > b"\x7f")
    _KINDS[number % len(_KINDS)].read(Reader(data[3:], encrypted))


def _messages(encrypted: bool) -> Iterator[bytes]:
    """Yield one message of each kind whose fields are simple, as it is on a stream."""
    for number, kind in enumerate(_KINDS):
        forms = {name: field.form for name, field in kind.fields}
        values = {name: _VALUES.get(form, _AD) for name, form in forms.items()}
        if all(form in _VALUES or form.startswith("ad") for form in forms.values()):
            writer = Writer(encrypted)
            try:
                kind(**values).write_fields(writer)
            except (AttributeError, TypeError, ValueError):
                # It writes more than its table of fields says.
                continue
            mark = b"\xff" if encrypted else b"\0"
            yield number.to_bytes(2, "big") + mark + writer.getvalue()


def _read_reader(data: bytes) -> None:
    reader = Reader(data[1:], data[:1] > b"\x7f")
    before = reader.remaining
    reader.ad()
    # Who reads ads until there are no more would read for ever.
    if not 0 <= reader.remaining < before:
        raise LawError(f"{reader.remaining} bytes are left of {before} behind an ad")
    reader.string()
    reader.real()
    reader.secret()


def _two_in_one() -> bytes:
    """Return an encrypted ad whose first line has a NUL and could pass for two."""
    writer = Writer().integer(3)
    for line in (b"A = 1\0B = 2\0", b"C = 3\0", b"D = 4\0", b"\0", b"\0"):
        writer.integer(len(line)).raw(line)
    return writer.getvalue()


def _read_datagrams(data: bytes) -> None:
    reassembly = Reassembly()
    for number, packet in enumerate(data.split(b"|")):
        payload = reassembly.receive("here", packet, float(number))
        if payload is not None:
            protected = decode_payload(payload)
            protected.verify(_KEY)


def _read_sinful(data: bytes) -> None:
    address = Sinful.parse(_text(data))
    str(address)
    render_address_v1(address)
    address.choose_route(private_network="net")
    tuple(address.ccb_contacts)


def _read_token(data: bytes) -> None:
    token = parse_token(_text(data))
    scope_levels(token.claim("scope"))


def _read_claim(data: bytes) -> None:
    claim = ClaimId(_text(data))
    claim.policy()
    str(claim)
    claim.session("x@matchsession").permits(1)


def _read_handshake(data: bytes) -> None:
    reader = Reader(data)
    kind = reader.byte() % 5
    if kind == 0:
        PolicyAd.read(reader).number("Command")
    elif kind == 1:
        password.Hello.read(reader, with_text=True)
    elif kind == 2:
        password.Challenge.read(reader)
    elif kind == 3:
        password.Response.read(reader)
    else:
        read_connect(reader)


def _read_lists(data: bytes) -> None:
    text = _text(data)
    entries = parse_entries(text)
    parse_mapfile(text).map("SSL", "/O=Test/CN=alice")
    assert entries is not None


def _composed(message: Message) -> bytes:
    writer = Writer()
    message.write(writer)
    return writer.getvalue()


def _written(*values: object) -> bytes:
    writer = Writer()
    for value in values:
        if isinstance(value, int):
            writer.integer(value)
        elif isinstance(value, ClassAd):
            writer.ad(value)
        elif isinstance(value, bytes):
            writer.raw(value)
        else:
            writer.string(str(value))
    return writer.getvalue()


_TOKEN = mint_token(
    _KEY, key_id="POOL", issuer="pool", subject="a@pool", issued_at=1, token_id="1" * 32
).encode()


def _fragments() -> bytes:
    pieces = (b"one", b"two", b"three")
    return b"|".join(
        HEADER.pack(MAGIC, number == 2, number, len(piece), 1, 2, 3, 4) + piece
        for number, piece in enumerate(pieces)
    )


def _wire_rows() -> Iterator[Decoder]:
    clear = _channel()
    packets = b"".join(clear.encode(clear.writer().ad(_AD)) for _ in range(2))
    codec, sealed = (
        Writer(encrypted).ad(_AD).string("text").real(2.5).secret("secret").getvalue()
        for encrypted in (False, True)
    )
    yield Decoder("frames", _read_frames, (packets, b"\1\0\0\0\1x" * 3))
    yield Decoder("sealed-frames", _read_sealed_frames, (_sealed_frames(),))
    yield Decoder("codec", _read_reader, (b"\0" + codec, b"\xff" + sealed, b"\xff" + _two_in_one()))
    yield Decoder("messages", _read_message, (*_messages(False), *_messages(True)))
    yield Decoder(
        "queue-requests",
        lambda data: qmgmt.read_request(Reader(data)),
        tuple(
            _composed(call)
            for call in (
                qmgmt.NewCluster(),
                qmgmt.NewProc(1),
                qmgmt.SetAttribute(1, 0, "1", "A"),
                qmgmt.GetAllJobsByConstraint("true", "A B"),
            )
        ),
    )
    yield Decoder(
        "shadow-host",
        lambda data: shadow_host.read_host_message(Reader(data)),
        (
            _composed(shadow_host.StartShadow(1, 0, "<1.2.3.4:5>", _AD, _AD)),
            _composed(shadow_host.UpdateJob(1, 0, {"A": "1"})),
            _composed(shadow_host.TransferRecord(1, 0, "INPUT", _AD)),
        ),
    )
    yield Decoder(
        "starter-control",
        lambda data: starter_control.read_control_message(Reader(data)),
        (
            _composed(starter_control.VacateJob(_AD)),
            _composed(starter_control.NextActivation(_AD, b"")),
        ),
    )
    yield Decoder(
        "system-calls",
        lambda data: syscalls.read_syscall(Reader(data)),
        (_composed(syscalls.RegisterJobInfo(_AD)),),
    )


def _stranger_rows() -> Iterator[Decoder]:
    yield Decoder(
        "handshakes",
        _read_handshake,
        (
            b"\0" + _written(ClassAd({"Command": 60011, "AuthMethods": "FS,TOKEN", "Enact": "NO"})),
            b"\1" + _written(0, 1, "a", "text", 4, b"1234"),
            b"\2" + _written(0, 1, "a", 1, "b", 1, b"x", 1, b"y", 1, b"z"),
            b"\3" + _written(0, 1, "a", 1, b"x", 1, b"y"),
            b"\4" + _written(int(Command.SHARED_PORT_CONNECT), "collector", "TOOL", -1, 0),
        ),
    )
    yield Decoder(
        "datagrams",
        _read_datagrams,
        (_fragments(), b"CRAP\0\3\0\3\0\3abc" + bytes(16) + b"abcdata", _written(60011, 7)),
    )
    yield Decoder(
        "sinful",
        _read_sinful,
        (
            b"<127.0.0.1:9618?addrs=127.0.0.1-9618+[--1]-9618&alias=a.b&noUDP&sock=collector_1>",
            b"<[::1]:1?CCBID=10.0.0.1:9618%3fsock%3dx#12%2010.0.0.2:1#3&PrivNet=net>",
            b"<[::1]:1?PrivNet=net&PrivAddr=%3c10.0.0.3:4%3e>",
            b'{[p="primary"; a="1.2.3.4"; port=5; n="Internet"; spid="x"; noUDP=true]}',
        ),
    )
    yield Decoder("tokens", _read_token, (_TOKEN,))
    yield Decoder(
        "claim-ids", _read_claim, (mint_claim_id("<1.2.3.4:5?x=y>", 1, 2, _KEY).text.encode(),)
    )
    yield Decoder(
        "lists",
        _read_lists,
        (b"alice@x/10.0.0.0/8, *@y */*.example.org [::1]", b'SSL "/CN=(.*)$" \\1@x\nFS ^a b\n'),
    )


DECODERS = {
    row.name: row
    for row in itertools.chain(
        _wire_rows(), _stranger_rows(), dialog_rows(), text_rows(), request_rows()
    )
}
"""All rows, by name; a reader that lies above this package adds its own."""


def add_row(row: Decoder) -> None:
    """Add the row of a module that may import this one and not the other way round."""
    DECODERS[row.name] = row
