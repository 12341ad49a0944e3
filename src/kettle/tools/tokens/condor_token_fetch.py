"""`condor_token_fetch`: have a daemon issue a token for who we are there."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.client.daemon import request_session_token
from kettle.client.pool import SCHEDD
from kettle.tools.options import Option
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import (
    DAEMON,
    TOKEN,
    Wish,
    asking,
    choose_daemon,
    deliver,
    run,
)

USAGE = """\
Usage: condor_token_fetch [OPTIONS]

Have a daemon (the schedd, if nothing is said) issue a token for the identity we have there.

  -type SUBSYSTEM    which kind of daemon; -name NAME, -pool HOST: which one
  -authz LEVEL       allow this level only; may be given again
  -lifetime SECONDS  how long the token is good
  -key ID            the key to sign with
  -token NAME        write it to this file in the token folder
  -file PATH         write it to this file
"""
OPTIONS = (*DAEMON, *TOKEN, Option("key", values=1))


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_fetch`."""
    return run(argv, environment, streams, OPTIONS, USAGE, fetch)


def fetch(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Ask for the token and deliver it."""
    address = choose_daemon(wish, reach, SCHEDD)
    with asking(address, "Failed to request a session token"):
        token = request_session_token(
            reach.connector,
            address,
            levels=wish.scope,
            lifetime_seconds=wish.lifetime,
            key_id=wish.get("key"),
        )
    return deliver(token, wish, reach, streams)
