"""What is said to a connection broker, and the shared port's word."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.testing.dialogs import converse
from kettle.wire import ccb
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.dialog import Dialog, Receive, Send, Words
from kettle.wire.messages.brokering import CcbAd
from kettle.wire.shared_port import FIRST_BYTES, connect_through, peek_command, read_connect
from kettle.wire.sinful import Sinful


def answer_with(reply: ClassAd) -> Dialog[ClassAd]:
    reader = yield Receive()
    asked = reader.ad()
    yield Send(CcbAd(reply))
    return asked


def test_registering_and_asking_are_two_messages_each() -> None:
    reply = ClassAd({"CCBID": "9.9.9.9:1#4", "ClaimId": "c"})
    ours, theirs = converse(ccb.register("me"), answer_with(reply))
    assert ours.result() == ("9.9.9.9:1#4", "c")
    assert theirs.result().string("Name") == "me"
    refusal = ClassAd({"Result": False, "ErrorString": "no such daemon"})
    ours2, _ = converse(
        ccb.request_connection("4", "id", "<1.1.1.1:1>", "me"), answer_with(refusal)
    )
    assert isinstance(ours2.error, RefusedError)


def test_a_reversed_connection_is_recognised_by_its_id() -> None:
    request = ClassAd({"ClaimId": "id", "RequestID": "7"})
    _, right = converse(ccb.call_back(request, "<2.2.2.2:2>"), ccb.accept_reversed("id"))
    _, wrong = converse(ccb.call_back(request, "<2.2.2.2:2>"), ccb.accept_reversed("another"))
    assert (right.result(), wrong.result()) == (True, False)


def test_the_shared_ports_word_is_not_part_of_the_conversation() -> None:
    address = Sinful.parse("<1.2.3.4:5?sock=schedd_1>")

    def daemon() -> Dialog[str]:
        reader = yield Receive()
        return read_connect(reader).shared_port_id

    ours, theirs = converse(connect_through(address), daemon())
    assert ours.result() is None
    assert theirs.result() == "schedd_1"
    nothing, _ = converse(connect_through(Sinful.parse("<1.2.3.4:5>")), connect_through(address))
    assert nothing.result() is None


def test_a_bad_shared_port_id_is_refused() -> None:
    for name in ("../etc", "a/b", "", "x" * 200, ".."):
        writer = Writer()
        Words(75, name, "me", -1, 0).write(writer)
        with pytest.raises(RemoteProtocolError):
            read_connect(Reader(writer.getvalue()))


def test_the_first_bytes_tell_the_command() -> None:
    assert peek_command(b"\1" * (FIRST_BYTES - 1)) is None
    packet = bytes.fromhex("0100000008") + Writer().integer(75).getvalue()
    assert peek_command(packet) == Command.SHARED_PORT_CONNECT
