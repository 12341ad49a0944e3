"""Who resumes a session shows that he has its key, before a command runs that says nothing more.

Of a resumed session only the id is said, in the clear. What a command's own message says is sealed
with the session's key; but some have none, and those would run for whoever has heard the id, or has
guessed it. So the client says in its resume ad that it can show the key; the server's answer wants
that, and one sealed message more follows.

Compat: the reference runs such a command for whoever names the session. Its own clients cannot show
that they have the key: a session's list of commands has none of these for them, so that they make
another one each time; the key of remote administration, whose id nobody can guess, is good for them
(test_a_command_without_a_message_runs_for_nobody_who_only_knows_a_session_s_name).
"""

from __future__ import annotations

from kettle.wire.commands import Command
from kettle.wire.security.claim_id import COLLECTOR_SIDE

PROOF = "SealedProof"
"""The attribute of both ads: the client can, and the server wants it."""

SILENT = frozenset(
    {
        int(Command.DC_OFF_GRACEFUL),
        int(Command.DC_OFF_FAST),
        int(Command.DC_OFF_PEACEFUL),
        int(Command.DC_OFF_FORCE),
        int(Command.DC_RECONFIG),
        int(Command.DC_RECONFIG_FULL),
        int(Command.DC_SET_PEACEFUL_SHUTDOWN),
        int(Command.DC_SET_FORCE_SHUTDOWN),
        int(Command.DAEMONS_OFF),
        int(Command.DAEMONS_OFF_FAST),
        int(Command.DAEMONS_OFF_PEACEFUL),
        int(Command.DAEMONS_ON),
        int(Command.MASTER_OFF),
        int(Command.MASTER_OFF_FAST),
        int(Command.RESTART),
        int(Command.RESTART_PEACEFUL),
        int(Command.VACATE_ALL_CLAIMS),
        int(Command.VACATE_ALL_FAST),
        int(Command.RESET_ALL_USAGE),
    }
)
"""Commands that have no message and change something.

RESCHEDULE is none of them: it makes a daemon look a little earlier than it would anyhow, and
daemons of the other make send it over sessions that they keep.
"""


def knows_enough(command: int, user: str, *, can_prove: bool) -> bool:
    """Tell whether a client may resume a session with a key, of `user`, for a command."""
    return command not in SILENT or can_prove or user == COLLECTOR_SIDE
