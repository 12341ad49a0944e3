"""The connection broker and the shared port's word."""

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

REQUEST = {"CCBID": "1", "ClaimId": "secret", "MyAddress": "<1.2.3.4:5>", "Name": "tool"}


def broker_with_listener() -> ccb.Broker:
    broker = ccb.Broker("9.9.9.9:9618")
    (tell,) = broker.on_register("daemon", ClassAd({"Name": "startd"}), "cookie")
    assert tell.ad.string("CCBID") == "9.9.9.9:9618#1"
    return broker


def test_a_request_reaches_the_daemon_and_its_report_the_client() -> None:
    broker = broker_with_listener()
    (forwarded,) = broker.on_request("client", ClassAd(REQUEST), 0.0)
    assert forwarded.connection == "daemon"
    assert forwarded.ad.integer("Command") == Command.CCB_REQUEST
    report = forwarded.ad.copy()
    report["Result"] = True
    (answer,) = broker.on_report("daemon", report)
    assert (answer.connection, answer.ad.boolean("Result"), answer.close) == ("client", True, True)
    assert broker.on_report("daemon", report) == []


def test_a_daemon_nobody_registered_is_told_at_once() -> None:
    (answer,) = ccb.Broker("x:1").on_request("client", ClassAd(REQUEST), 0.0)
    assert answer.ad.boolean("Result") is False


def test_only_the_daemon_that_was_asked_may_report() -> None:
    broker = broker_with_listener()
    broker.on_register("other", ClassAd({"Name": "other"}), "c2")
    (forwarded,) = broker.on_request("client", ClassAd(REQUEST), 0.0)
    assert broker.on_report("other", forwarded.ad) == []


def test_a_daemon_comes_back_under_its_number_with_its_cookie_only() -> None:
    broker = broker_with_listener()
    broker.on_closed("daemon")
    again = ClassAd({"Name": "startd", "CCBID": "9.9.9.9:9618#1", "ClaimId": "cookie"})
    (tell,) = broker.on_register("daemon2", again, "new")
    assert tell.ad.string("CCBID") == "9.9.9.9:9618#1"
    thief = ClassAd({"Name": "startd", "CCBID": "9.9.9.9:9618#1", "ClaimId": "guess"})
    (tell,) = broker.on_register("thief", thief, "new")
    assert tell.ad.string("CCBID") == "9.9.9.9:9618#2"


def test_clients_are_told_when_the_daemon_goes_or_takes_too_long() -> None:
    broker = broker_with_listener()
    broker.on_request("client", ClassAd(REQUEST), 0.0)
    assert broker.on_time(1.0) == []
    (late,) = broker.on_time(ccb.REQUEST_TIMEOUT_SECONDS)
    assert late.connection == "client"
    broker.on_request("client", ClassAd(REQUEST), 0.0)
    (gone,) = broker.on_closed("daemon")
    assert gone.connection == "client"


def test_heartbeats_are_answered() -> None:
    (answer,) = broker_with_listener().on_report("daemon", ccb.heartbeat())
    assert answer.ad.integer("Command") == Command.ALIVE


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
