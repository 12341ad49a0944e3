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

from kettle.classad import ClassAd, parse_ad, parse_ads, parse_expression, parse_old_ad, unparse
from kettle.config import Config
from kettle.records.accounting_log import replay as replay_accounting
from kettle.records.event_forms import read_event_ads
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_log import read_events
from kettle.records.history import read_backwards, read_forwards
from kettle.records.queue_log import replay as replay_queue
from kettle.submit.arguments import parse_environment, parse_old_arguments
from kettle.submit.build import read_submission
from kettle.submit.sources import MemorySubmitSources, SubmitFacts
from kettle.testing.fuzz.decoder import Decoder
from kettle.testing.fuzz.dialogs import dialog_rows
from kettle.testing.fuzz.requests import request_rows
from kettle.transforms.convert import convert_route, read_defaults, split_routes
from kettle.transforms.editor import Journal
from kettle.transforms.iteration import read_iteration, rounds
from kettle.transforms.macros import TransformMacros
from kettle.transforms.old_form import is_old_form, read_old_form
from kettle.transforms.source import read_transform
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
# How many jobs of one description are looked at.
_MOST_JOBS = 20


class _Table:
    """What a log is replayed into: nothing."""

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Forget it."""

    def destroy_ad(self, key: str) -> None:
        """Forget it."""

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Forget it."""

    def delete_attribute(self, key: str, name: str) -> None:
        """Forget it."""


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


def _messages() -> Iterator[bytes]:
    """Yield one message of each kind whose fields are simple."""
    for number, kind in enumerate(_KINDS):
        forms = {name: field.form for name, field in kind.fields}
        values = {name: _VALUES.get(form, _AD) for name, form in forms.items()}
        if all(form in _VALUES or form.startswith("ad") for form in forms.values()):
            writer = Writer()
            try:
                kind(**values).write_fields(writer)
            except (AttributeError, TypeError, ValueError):
                # It writes more than its table of fields says.
                continue
            yield number.to_bytes(2, "big") + b"\0" + writer.getvalue()


def _read_reader(data: bytes) -> None:
    reader = Reader(data[1:], data[:1] > b"\x7f")
    reader.ad()
    reader.string()
    reader.real()
    reader.secret()


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


def _read_expression(data: bytes) -> None:
    text = _text(data)
    for old in (False, True):
        expression = parse_expression(text, old=old)
        again = unparse(expression, old=old)
        ad = ClassAd({"A": 1, "B": "text"})
        ad.evaluate_expression(expression)
        parse_expression(again, old=old)


def _read_ads(data: bytes) -> None:
    text = _text(data)
    for read in (parse_ad, parse_old_ad):
        ad = read(text)
        for name in ad.names():
            ad.evaluate(name)
    for ad in parse_ads(text):
        ad.flattened()


def _read_many_ads(data: bytes) -> None:
    for ad in itertools.islice(parse_ads(_text(data)), 100):
        "\n".join(ad.lines())


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


def _read_event_log(data: bytes) -> None:
    read_events(data)


def _read_event_forms(data: bytes) -> None:
    """Read a log of any form, as it grows."""
    reader = AnyFormReader(year=2026)
    for start in range(0, len(data), 97):
        for event in reader.feed(data[start : start + 97]):
            del event


def _read_history(data: bytes) -> None:
    for record in read_forwards(data):
        del record
    for record in read_backwards(lambda start, end: data[start:end], len(data)):
        del record


def _read_configuration(data: bytes) -> None:
    config = Config.from_text(_text(data))
    for name in ("A", "B", "LOG", "START"):
        config.get(name)
        config.integer(name)


_FACTS = SubmitFacts(
    now=1_000,
    user="me",
    folder="/work",
    file_name="job.sub",
    version="$CondorVersion: 25.14.1 $",
    platform="$CondorPlatform: X $",
    environment={"HOME": "/home/me"},
)
_SUBMIT_CONFIG = Config.from_text("")


def _read_submit(data: bytes) -> None:
    sources = MemorySubmitSources(files={"job.sh": "#!/bin/sh\n", "items": "a\nb c\n"})
    made = read_submission(_text(data), sources, _SUBMIT_CONFIG, _FACTS)
    for _ in itertools.islice(made.jobs(), _MOST_JOBS):
        pass


def _read_transform(data: bytes) -> None:
    text = _text(data)
    ad = parse_old_ad(_OLD_AD.decode())
    macros = TransformMacros(_SUBMIT_CONFIG.raw, _FACTS.environment.get, lambda: random.Random(1))  # noqa: S311
    if is_old_form(text):
        read_old_form(text, "rules").apply(ad, macros, Journal())
        return
    rule = read_transform(text, "rules")
    rule.check(macros)
    if not rule.iteration:
        rule.apply(ad, macros, Journal())
        return
    sources = MemorySubmitSources(files={"items": "a\nb c\n"})
    for _ in itertools.islice(rounds(read_iteration(rule, macros, sources), macros), _MOST_JOBS):
        rule.apply(ad.copy(), macros, Journal())


def _read_routes(data: bytes) -> None:
    defaults = read_defaults("set_A = 1; Foo = 2", merge=False)
    for route in split_routes(_text(data), defaults):
        if isinstance(route, ClassAd):
            convert_route(route)


def _read_words(data: bytes) -> None:
    text = _text(data)
    parse_old_arguments(text)
    parse_environment(text)


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


_OLD_AD = b'MyType = "Job"\nClusterId = 1\nRequirements = (TARGET.Cpus >= 1) && A =?= undefined\n'
_NEW_AD = b'[ a = 1; b = { 1, 2.5, "x" }; c = [ d = a + 1 ]; e = strcat("x", string(a)) ]'
_EVENTS = (
    b"000 (001.000.000) 2026-01-02 03:04:05 Job submitted from host: <127.0.0.1:9618>\n...\n"
    b"001 (001.000.000) 2026-01-02 03:04:06 Job executing on host: <127.0.0.1:9618>\n"
    b'\tSlotName: slot1_1@here\n\tCondorScratchDir = "/x"\n...\n'
    b"005 (001.000.000) 2026-01-02 03:04:07 Job terminated.\n"
    b"\t(1) Normal termination (return value 0)\n"
    b"\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n"
    b"\t0  -  Run Bytes Sent By Job\n"
    b"\tPartitionable Resources :    Usage  Request Allocated\n"
    b"\t   Cpus                 :        0        1         1\n...\n"
)
_XML_EVENT = (
    b'<c>\n    <a n="MyType"><s>SubmitEvent</s></a>\n    <a n="Cluster"><i>1</i></a>\n'
    b'    <a n="EventTime"><s>2026-01-02T03:04:05.775</s></a>\n    <a n="Proc"><i>0</i></a>\n'
    b'    <a n="SubmitHost"><s>&lt;127.0.0.1:1?a=b&amp;c=d&gt;</s></a>\n'
    b'    <a n="EventTypeNumber"><i>0</i></a>\n</c>\n'
)
_JSON_EVENT = (
    b'{\n  "MyType": "JobTerminatedEvent",\n  "EventTypeNumber": 5,\n  "Cluster": 1,\n'
    b'  "EventTime": "2026-01-02T03:04:05",\n  "ReturnValue": 0,\n  "TerminatedNormally": true,\n'
    b'  "Proc": 0,\n  "RunRemoteUsage": "Usr 0 00:00:00, Sys 0 00:00:00",\n  "SentBytes": 1.5\n}\n'
)
_QUEUE_LOG = (
    b"107 1 CreationTimestamp 1700000000\n105\n101 0.0 Job Machine\n103 0.0 NextClusterNum 2\n"
    b'106\n105\n101 01.-1 Job Machine\n103 01.-1 Owner "me"\n104 01.-1 Owner\n102 01.-1\n106\n'
)
_HISTORY = b'ClusterId = 1\nProcId = 0\n*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "me"\n'
_CONFIGURATION = (
    b"A = 1\nB = $(A) x \\\n  y\nif defined A\nC = $INT(A)\nelse\nC = 2\nendif\n",
    b"use POLICY: Always_Run_Jobs\nD @=end\nmore\n@end\nSTART = $RANDOM_CHOICE(1,2)\n",
    b"LOG = $(LOCAL_DIR:/x)/log\nA = $F(LOG)\nB = $SUBSTR(LOG,1,-1)\nB = $(B) $(B)\n",
)
_SUBMIT = (
    b"executable = job.sh\narguments = \"one 'two three' $(Process)\"\nqueue 2 Item in (a, b, c)\n",
    b"executable = job.sh\nenvironment = \"A=1 B='x y'\"\n+Mine = 7\nx = $(Item:none)\nqueue 3\n",
    b"executable = job.sh\ntransfer_input_files = items, $(x)\nqueue x,y from items\n",
    b'executable = job.sh\nrequest_memory = 1 GB\nrequirements = Arch == "X86_64"\nqueue\n',
)
_TRANSFORMS = (
    (
        b'NAME x\nREQUIREMENTS ClusterId >= 1\nm = $(MY.ClusterId)\nSET A "$(m:2)"\nDEFAULT B 2\n'
        b"EVALSET C ClusterId + 1\nEVALMACRO n C * 2\nif defined MY.C\nSET D $(n)\nendif\n"
    ),
    (
        b"COPY /^(M)(.*)$/ X\\2\\1\nRENAME A B\nDELETE /Type/i\nSET E $INT(MY.ClusterId)\n"
        b'x @=end\nmore\n@end\nSET F "$Fn(x)$(Item)"\nTRANSFORM 2 Item, y from (\na b\nc\n)\n'
    ),
    (
        b'[ Name = "x"; Requirements = TARGET.ClusterId > 0; set_A = 1; copy_A = "B";'
        b" delete_A = true; eval_set_C = TARGET.ClusterId + Foo; Foo = 3 ]"
    ),
)
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
    codec = Writer().ad(_AD).string("text").real(2.5).secret("secret").getvalue()
    yield Decoder("frames", _read_frames, (packets, b"\1\0\0\0\1x" * 3))
    yield Decoder("sealed-frames", _read_sealed_frames, (_sealed_frames(),))
    yield Decoder("codec", _read_reader, (b"\0" + codec,))
    yield Decoder("messages", _read_message, tuple(_messages()))
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


def _text_rows() -> Iterator[Decoder]:
    yield Decoder(
        "expressions", _read_expression, (b'A + 1 > 2 && B =?= "x"', _NEW_AD, b"-(1)[2].x")
    )
    yield Decoder("ads", _read_ads, (_OLD_AD, _NEW_AD))
    yield Decoder(
        "ad-files",
        _read_many_ads,
        (
            _OLD_AD + b"\n" + _OLD_AD,
            b"{" + _NEW_AD + b",\n" + _NEW_AD + b"}",
            b'[{"a": 1, "b": "\\\\/Expr(a + 1)\\\\/", "c": [1, {"d": null}]}]',
            b'<?xml version="1.0"?><classads><c><a n="A"><i>1</i></a></c></classads>',
            b'<classads><c><a n="B"><e>A+1</e></a><a n="C"><l><s>x</s></l></a></c></classads>',
        ),
    )
    yield Decoder("event-log", _read_event_log, (_EVENTS,))
    yield Decoder("event-log-forms", _read_event_forms, (_XML_EVENT, _JSON_EVENT, _EVENTS))
    yield Decoder("event-ads", lambda data: list(read_event_ads(_text(data))), (_OLD_AD, _NEW_AD))
    yield Decoder("queue-log", lambda data: replay_queue(data, _Table()), (_QUEUE_LOG,))
    yield Decoder("accounting-log", replay_accounting, (_QUEUE_LOG,))
    yield Decoder("history", _read_history, (_HISTORY * 2,))
    yield Decoder("configuration", _read_configuration, _CONFIGURATION)
    yield Decoder("submit", _read_submit, _SUBMIT)
    yield Decoder("transforms", _read_transform, _TRANSFORMS)
    yield Decoder("old-routes", _read_routes, (_TRANSFORMS[2], _TRANSFORMS[2] * 2))
    yield Decoder("words", _read_words, (b"a 'b c' \\\"d\\\"", b"A=1;B=2", b"\"A=1 B='x y'\""))


DECODERS = {
    row.name: row
    for row in itertools.chain(
        _wire_rows(), _stranger_rows(), dialog_rows(), _text_rows(), request_rows()
    )
}
"""All rows, by name."""
