"""What a log says of a negotiation when D_SECURITY is on, in the reference's words.

Sites search their logs for these; nothing here decides anything. Source: what daemons and tools
of 25.14.1 log (`condor_q -debug` with TOOL_DEBUG = D_SECURITY, SchedLog).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kettle.wire.commands import command_name
from kettle.wire.security.negotiation import display_method

if TYPE_CHECKING:
    from kettle.wire.security.server_setup import Accepted
    from kettle.wire.security.session import Session

SUCCESS = "Authentication was a Success."


def note_start(command: int, address: str, *, resumed: bool) -> list[str]:
    """Say what a client is about to do; `resumed` if it has a session for it."""
    return [
        f"SECMAN: command {int(command)} {command_name(command)} to {address} (blocking).",
        "SECMAN: resume, NOT reauthenticating."
        if resumed
        else "SECMAN: new session, doing initial authentication.",
    ]


def note_failure(why: str) -> list[str]:
    """Say why a client's negotiation came to nothing."""
    return [f"SECMAN: FAILED: {why}"]


def note_client(session: Session, now: float, *, resumed: bool) -> list[str]:
    """Say how a client's negotiation went that has succeeded."""
    notes: list[str] = []
    if not resumed:
        methods = ",".join(map(display_method, session.common_methods))
        notes += [f"SECMAN: Auth methods: {methods}"] if methods else []
        if session.method:
            notes += [f"AUTHENTICATE: used {display_method(session.method)}", SUCCESS]
    if session.key is not None:
        notes.append("SECMAN: successfully enabled encryption!")
    if not resumed:
        notes.append(
            f"SECMAN: added session {session.id} to cache for {_seconds_left(session, now)} "
            f"seconds ({session.lease_seconds}s lease)."
        )
    return [*notes, "SECMAN: startCommand succeeded."]


def note_server(accepted: Accepted, name: str, now: float) -> Sequence[str]:
    """Say how a daemon came to accept a command from the peer called `name` (host:port)."""
    session = accepted.session
    if session is None:
        return ()
    # Who reads the log must not learn what alone shows that a session without a key is somebody's.
    shown = session.id if session.key is not None else session.id.rpartition(":")[0]
    if accepted.resumed:
        return (f"DC_AUTHENTICATE: resuming session id {shown}:",)
    notes = [f"DC_AUTHENTICATE: received DC_AUTHENTICATE from <{name}>"]
    if session.method:
        notes += [
            f"AUTHENTICATE: used {display_method(session.method)}",
            SUCCESS,
            f"DC_AUTHENTICATE: authentication of <{name}> complete.",
        ]
    if session.key is not None:
        notes.append(f"DC_AUTHENTICATE: encryption enabled for session {session.id}")
    notes.append(
        f"DC_AUTHENTICATE: added incoming session id {shown} to cache for "
        f"{_seconds_left(session, now)} seconds (lease is {session.lease_seconds}s)."
    )
    return [*notes, "DC_AUTHENTICATE: Success."]


def _seconds_left(session: Session, now: float) -> int:
    return 0 if session.expires_at is None else round(session.expires_at - now)
