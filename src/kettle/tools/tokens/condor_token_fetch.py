"""`condor_token_fetch`: have a daemon issue a token for who we are there."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.client.daemon import request_schedds_token, request_session_token
from kettle.client.pool import COLLECTOR, SCHEDD
from kettle.errors import KettleError, NotConnected, RefusedError
from kettle.tools.failures import explain_in_line
from kettle.tools.options import Option
from kettle.tools.phrases import SaidError
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
  -remote            have the collector fetch it from the schedd, which cannot be reached from here
  -authz LEVEL       allow this level only; may be given again
  -lifetime SECONDS  how long the token is good
  -key ID            the key to sign with
  -token NAME        write it to this file in the token folder
  -file PATH         write it to this file
"""
OPTIONS = (*DAEMON, *TOKEN, Option("key", values=1), Option("remote"))


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_fetch`."""
    return run(argv, environment, streams, OPTIONS, USAGE, fetch)


def fetch(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Ask for the token and deliver it."""
    if "remote" in wish.flags:
        return deliver(fetch_from_afar(wish, reach), wish, reach, streams)
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


def find_name(reach: Reach) -> str:
    """Return the schedd's name, empty where nobody tells: what asks the collector says why."""
    try:
        return reach.without_pool().schedd().name
    except KettleError:
        return ""


def fetch_from_afar(wish: Wish, reach: Reach) -> str:
    """Have the collector fetch a token of the schedd's; SaidError if it does not."""
    if (wish.get("type") or SCHEDD.title).lower() != SCHEDD.title:
        raise SaidError("condor_token_fetch: Remote fetch (-remote) is only valid with the schedd.")
    failed = "Remote token fetch failed with the following error:\n\n"
    name = wish.get("name") or find_name(reach)
    collector = reach.pool.locate(COLLECTOR).address
    try:
        return request_schedds_token(
            reach.connector,
            collector,
            schedd=name,
            levels=wish.scope,
            lifetime_seconds=wish.lifetime,
        )
    except RefusedError as error:
        code = error.code or -1
        raise SaidError(f"{failed}DAEMON:{code}:{error}", exit_code=code & 0xFF) from None
    except NotConnected:
        why = f"DCCollector:2:Failed to connect to remote daemon at '{collector}'"
        raise SaidError(f"{failed}{why}", exit_code=2) from None
    except KettleError as error:
        begun = (
            "DAEMON:1:failed to start command for token request with remote collector at "
            f"'{collector}'."
        )
        raise SaidError(f"{failed}{begun}|{explain_in_line(error)}") from None
