"""What condor_on, _off and the others send, and how they refuse, as the real ones do."""

from __future__ import annotations

import io

import pytest

from kettle.classad import ClassAd
from kettle.client.pool import Pool, located
from kettle.errors import NotFoundError
from kettle.tools.control.control_words import read_wish
from kettle.tools.control.daemon_control import TOOLS, main, plan
from kettle.tools.programs import Streams
from kettle.wire.commands import Command


def planned(*words: str) -> list[tuple[str, str, str]]:
    tool = TOOLS[words[0]]
    wish = read_wish(tool.rules, words[1:])
    return [(sending.kind, sending.command.name, sending.shown) for sending in plan(tool, wish)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("condor_reconfig", [("master", "DC_RECONFIG_FULL", "Reconfig")]),
        ("condor_reconfig -startd", [("startd", "DC_RECONFIG_FULL", "Reconfig")]),
        ("condor_reconfig -daemon schedd", [("schedd", "DC_RECONFIG_FULL", "Reconfig")]),
        ("condor_off", [("master", "DAEMONS_OFF", "Kill-All-Daemons")]),
        ("condor_off -startd", [("master", "DAEMON_OFF", "Kill-Daemon")]),
        ("condor_off -subsys credd", [("master", "DAEMON_OFF", "Kill-Daemon")]),
        ("condor_off -schedd -fast", [("master", "DAEMON_OFF_FAST", "Kill-Daemon-Fast")]),
        (
            "condor_off -peaceful -startd",
            [
                ("startd", "DC_SET_PEACEFUL_SHUTDOWN", "Set-Peaceful-Shutdown"),
                ("master", "DAEMON_OFF_PEACEFUL", "Kill-Daemon-Peacefully"),
            ],
        ),
        (
            "condor_off -peaceful",
            [
                ("startd", "DC_SET_PEACEFUL_SHUTDOWN", "Set-Peaceful-Shutdown"),
                ("schedd", "DC_SET_PEACEFUL_SHUTDOWN", "Set-Peaceful-Shutdown"),
                ("master", "DAEMONS_OFF_PEACEFUL", "Kill-All-Daemons-Peacefully"),
            ],
        ),
        (
            "condor_off -peaceful -negotiator",
            [("master", "DAEMON_OFF_PEACEFUL", "Kill-Daemon-Peacefully")],
        ),
        ("condor_on", [("master", "DAEMONS_ON", "Spawn-All-Daemons")]),
        ("condor_on -daemon schedd", [("master", "DAEMON_ON", "Spawn-Daemon")]),
        ("condor_restart", [("master", "RESTART", "Restart")]),
        ("condor_restart -negotiator -fast", [("negotiator", "DC_OFF_FAST", "Restart-Fast")]),
        ("condor_vacate", [("startd", "VACATE_ALL_CLAIMS", "Vacate-All-Claims")]),
        ("condor_vacate -fast", [("startd", "VACATE_ALL_FAST", "Vacate-All-Claims-Fast")]),
        ("condor_reschedule", [("schedd", "RESCHEDULE", "Reschedule")]),
        (
            "condor_set_shutdown -exec foo",
            [("master", "SET_SHUTDOWN_PROGRAM", "Set-Shutdown-Program")],
        ),
    ],
)
def test_each_tool_sends_its_command(words: str, expected: list[tuple[str, str, str]]) -> None:
    assert planned(*words.split()) == expected


@pytest.mark.parametrize("name", ["condor_off", "condor_restart", "condor_reconfig"])
def test_a_machine_is_not_drained_on_the_side(name: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    assert main([name, "-drain"], {}, Streams(io.StringIO(), out, err)) == 1
    assert (out.getvalue(), "use condor_drain first" in err.getvalue()) == ("", True)


def test_a_peaceful_end_is_announced_as_the_reference_does() -> None:
    tool = TOOLS["condor_off"]
    about = {}
    for words in (["-peaceful", "-daemon", "startd"], ["-daemon", "startd"]):
        *_, last = plan(tool, read_wish(tool.rules, words))
        about[last.shown] = last.about
    assert about == {"Kill-Daemon-Peacefully": "", "Kill-Daemon": "startd"}


HERE = {"CONDOR_CONFIG": "ONLY_ENV", "_CONDOR_COLLECTOR_HOST": "127.0.0.1:1"}


def said_of(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(list(words), HERE, Streams(io.StringIO(), out, err))
    return code, out.getvalue(), err.getvalue()


def test_a_host_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise NotFoundError("nobody")

    monkeypatch.setattr(Pool, "locate", nobody)
    perhaps = "Perhaps you need to query another pool.\n"
    twice = "Can't find address for master far.invalid\nCan't find address for far.invalid\n"
    assert said_of("condor_reconfig", "far.invalid") == (1, "", twice + perhaps)
    local = "Can't find address for local kbdd\n"
    assert said_of("condor_reconfig", "-kbdd") == (1, "", local + perhaps)


@pytest.mark.parametrize("words", [["-all"], ["-constraint", "true"], ["vm.here"]])
def test_a_machine_is_vacated_by_its_name_and_all_its_slots_are(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    sent: list[str] = []

    def tell(_connector: object, address: object, command: Command, _message: object) -> None:
        sent.append(f"{command.name} {address}")

    slots = [
        ClassAd({"Name": f"slot1{part}@vm.here", "Machine": "vm.here", "MyAddress": "<10.0.0.1:5>"})
        for part in ("", "_1", "_2")
    ]
    monkeypatch.setattr(Pool, "query", lambda *_: slots)
    monkeypatch.setattr(Pool, "locate", lambda *_, **__: located(slots[0]))
    monkeypatch.setattr("kettle.client.daemon.tell", tell)
    said = 'Sent "Vacate-All-Claims" command to startd vm.here\n'
    assert said_of("condor_vacate", *words) == (0, said, "")
    assert sent == ["VACATE_ALL_CLAIMS <10.0.0.1:5>"]
    slot = 'Sent "Vacate-Claim" command to startd slot1_1@vm.here\n'
    assert said_of("condor_vacate", "slot1_1@vm.here") == (0, slot, "")
    assert sent[1:] == ["VACATE_CLAIM <10.0.0.1:5>"]


def test_an_address_that_is_none_and_one_where_nobody_listens() -> None:
    shape = "Should be of the form <ip.address.here:port>.\nFor example: <123.456.789.123:6789>\n"
    assert said_of("condor_reconfig", "<foo>") == (1, "", f"Address <foo> is not valid.\n{shape}")
    refused = (1, "", "Can't connect to daemon at <127.0.0.1:1>\n")
    assert said_of("condor_reconfig", "<127.0.0.1:1>") == refused


def test_nobody_of_everybody_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: list[object] = []
    monkeypatch.setattr(Pool, "query", lambda *_: nothing)
    code, said, complaint = said_of("condor_reconfig", "-constraint", "false")
    assert (code, said) == (1, "")
    assert complaint.splitlines()[:2] == [
        "Found no ClassAds when querying pool (local)",
        "Can't find addresses for master's for constraint 'false'",
    ]
