"""`condor_token_request`: ask for a token that an administrator must approve."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Mapping

from kettle.client.daemon import finish_token_request, start_token_request
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
Usage: condor_token_request [OPTIONS]

Ask a daemon (the collector, if nothing is said) for a token and wait until an administrator
approves it with condor_token_request_approve.

  -identity USER@DOMAIN  who the token is to say we are
  -type SUBSYSTEM        which kind of daemon; -name NAME, -pool HOST: which one
  -authz LEVEL           allow this level only; may be given again
  -lifetime SECONDS      how long the token is good
  -token NAME            write it to this file in the token folder
  -file PATH             write it to this file
"""
OPTIONS = (*DAEMON, *TOKEN, Option("identity", values=1))
POLL_SECONDS = 2.0
_BEGINNING = "failed to start command for token request"


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_request`."""
    return run(argv, environment, streams, OPTIONS, USAGE, request)


def request(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Ask, wait for the approval, deliver."""
    address = choose_daemon(wish, reach)
    client_id = f"{socket.gethostname()}-{secrets.randbelow(10**6)}"
    with asking(address, "Failed to request a new token", _BEGINNING):
        token, request_id = start_token_request(
            reach.connector,
            address,
            client_id=client_id,
            user=wish.get("identity"),
            levels=wish.scope,
            lifetime_seconds=wish.lifetime,
        )
    if not token:
        streams.stdout.write(
            "Token request enqueued.  Ask an administrator to please approve "
            f"request {request_id}.\n"
        )
        streams.stdout.flush()
    while not token:
        time.sleep(POLL_SECONDS)
        with asking(address, "Failed to get a status update for token request", _BEGINNING):
            token = finish_token_request(
                reach.connector, address, client_id=client_id, request_id=request_id
            )
    return deliver(token, wish, reach, streams)
