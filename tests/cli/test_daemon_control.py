"""What condor_on, _off and the others send, and how they refuse, as the real ones do."""

from __future__ import annotations

import io

import pytest

from kettle.tools.control.daemon_control import STANDARD, TOOLS, main, plan, read_wish
from kettle.tools.options import read_options
from kettle.tools.programs import Streams


def planned(*words: str) -> list[tuple[str, str, str]]:
    tool = TOOLS[words[0]]
    wish = read_wish(tool, list(read_options(words[1:], STANDARD)))
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


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("condor_off -foo", 'ERROR: invalid argument "-foo"'),
        ("condor_reconfig -schedd -collector", "ERROR: can only specify one daemon flag."),
        ("condor_set_shutdown", 'ERROR: "-exec" required for condor_set_shutdown'),
        ("condor_vacate -schedd", 'ERROR: invalid argument "-schedd"'),
        ("condor_reconfig -fast", 'ERROR: invalid argument "-fast"'),
        ("condor_reconfig -pool x", "ERROR: -pool names another pool"),
    ],
)
def test_a_wrong_command_line_gets_a_sentence_and_the_usage(words: str, first: str) -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(words.split(), {}, streams) == 1
    said = streams.stderr.getvalue()  # type: ignore[attr-defined]
    assert said.startswith(first)
    assert f"Usage: {words.split()[0]}" in said


def test_a_peaceful_end_is_announced_as_the_reference_does() -> None:
    tool = TOOLS["condor_off"]
    about = {}
    for words in (["-peaceful", "-daemon", "startd"], ["-daemon", "startd"]):
        *_, last = plan(tool, read_wish(tool, list(read_options(words, STANDARD))))
        about[last.shown] = last.about
    assert about == {"Kill-Daemon-Peacefully": "", "Kill-Daemon": "startd"}
