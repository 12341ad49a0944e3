"""Commands that say nothing more, and run for nobody who only knows a session's name."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import pytest

from kettle.errors import ConnectionLost, RemoteProtocolError
from kettle.levels import Level
from kettle.testing.dialogs import Outcome, converse
from kettle.wire.commands import Command
from kettle.wire.dialog import Dialog, Receive, Send
from kettle.wire.security.claim_id import COLLECTOR_SIDE
from kettle.wire.security.client_side import FirstMessage
from kettle.wire.security.negotiation import Policy, Wish
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.security.proof import PROOF, SILENT
from kettle.wire.security.server_setup import Accepted, Registered, ServerSetup
from kettle.wire.security.server_side import server_handshake
from kettle.wire.security.session import Session
from unit.wire.test_handshake import NOW, make_client, make_server, negotiate

FAST = Command.VACATE_ALL_FAST


@pytest.fixture
def server(tmp_path: Path) -> ServerSetup:
    server = make_server(tmp_path)
    server.registered[int(FAST)] = Registered((Level.WRITE,), False)
    return server


@pytest.fixture
def session(server: ServerSetup) -> Session:
    client = make_client(Policy(methods=("FS",), authentication=Wish.REQUIRED))
    return negotiate(client, server)[0].result()


def name_only(
    server: ServerSetup, session: Session, *, command: Command = FAST, answered: bool = True,
    claims: bool = False,
) -> tuple[str, Outcome[Accepted]]:  # fmt: skip
    """Name a session, and say no more; return the server's word and what it came to."""

    def say() -> Dialog[str]:
        yield Send(
            FirstMessage(
                PolicyAd(
                    {
                        "Command": int(command),
                        "CryptoMethods": "AES",
                        "ResumeResponse": answered,
                        "Sid": session.id,
                        "UseSession": "YES",
                        PROOF: True if claims else None,
                    }
                )
            )
        )
        if not answered:
            return ""
        return PolicyAd.read((yield Receive())).text("ReturnCode")

    ours, theirs = converse(say(), server_handshake(server, "10.0.0.1", NOW))
    return ours.result(), theirs


def test_a_command_without_a_message_runs_for_nobody_who_only_knows_a_session_s_name(
    server: ServerSetup, session: Session
) -> None:
    said, theirs = name_only(server, session)
    assert said == "SID_NOT_FOUND"
    assert theirs.error is not None
    for answered in (True, False):
        assert name_only(server, session, claims=True, answered=answered)[1].error is not None
    # What has a message is sealed with the session's key, and read as that.
    said, theirs = name_only(server, session, command=Command.ACT_ON_JOBS)
    assert (said, theirs.error) == ("AUTHORIZED", None)


@pytest.mark.parametrize("command", ["QUERY_JOB_ADS", "VACATE_ALL_FAST"])
def test_a_client_that_cannot_show_a_key_makes_a_session_for_each_such_command(
    server: ServerSetup, command: str
) -> None:
    client = make_client(Policy(methods=("FS",), authentication=Wish.REQUIRED))
    session = negotiate(client, server, command)[0].result()
    assert session.valid_commands
    assert session.valid_commands.isdisjoint(SILENT)


def test_who_has_the_session_s_key_runs_it(server: ServerSetup, session: Session) -> None:
    client = make_client(Policy(methods=("FS",), authentication=Wish.REQUIRED))
    ours, theirs = negotiate(client, server, "VACATE_ALL_FAST", session=session)
    assert ours.result() is session
    assert theirs.result().command == FAST
    other = copy(session)
    other.key = bytes(32)
    _, theirs = negotiate(client, server, "VACATE_ALL_FAST", session=other)
    assert isinstance(theirs.error, RemoteProtocolError)
    assert not isinstance(theirs.error, ConnectionLost)


def test_the_key_of_remote_administration_is_good_for_tools_that_cannot_show_it(
    server: ServerSetup, session: Session
) -> None:
    kept = server.sessions.look_up(session.id, NOW)
    assert kept is not None
    kept.user = COLLECTOR_SIDE
    kept.limits = None
    said, _ = name_only(server, session)
    assert said == "AUTHORIZED"


def test_commands_that_stop_something_are_all_among_them() -> None:
    words = ("OFF", "RESTART", "RECONFIG", "SHUTDOWN", "VACATE_ALL", "RESET_ALL")
    with_a_message = {
        "DAEMON_OFF", "DAEMON_OFF_FAST", "DAEMON_OFF_PEACEFUL", "CHILD_OFF", "CHILD_OFF_FAST",
        "DAEMONS_OFF_FLEX", "SET_SHUTDOWN_PROGRAM", "DC_TIME_OFFSET",
    }  # fmt: skip
    stopping = {
        command.name
        for command in Command
        if any(word in command.name for word in words) and command.name not in with_a_message
    }
    assert stopping - {Command(number).name for number in SILENT} == set()
