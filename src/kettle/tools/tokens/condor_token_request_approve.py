"""`condor_token_request_approve`: grant a request for a token."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.client.daemon import approve_token_request, list_token_requests
from kettle.errors import NotFoundError, UsageError
from kettle.tools.options import Option
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import DAEMON, Wish, choose_daemon, run

OPTIONS = (*DAEMON, Option("reqid", values=1), Option("yes", values=0))
USAGE = """\
Usage: condor_token_request_approve -reqid ID [OPTIONS]

Approve a request for a token at a daemon (the collector, if nothing is said). The request is
shown; type yes to approve it.

  -reqid ID          which request
  -yes               do not ask
  -type SUBSYSTEM    which kind of daemon; -name NAME, -pool HOST: which one
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_request_approve`."""
    return run(argv, environment, streams, OPTIONS, USAGE, approve)


def approve(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Show the request, ask, and approve it; 1 if the answer is not yes."""
    request_id = wish.get("reqid")
    if not request_id:
        raise UsageError("which request?", hint="condor_token_request_list names them")
    address = choose_daemon(wish, reach)
    found = list_token_requests(reach.connector, address, request_id)
    if not found:
        raise NotFoundError(f"there is no request {request_id}")
    streams.stdout.write("".join(f"{line}\n" for line in found[0].lines()))
    if "yes" not in wish.flags:
        streams.stdout.write("To approve, please type 'yes'\n")
        streams.stdout.flush()
        if streams.stdin.readline().strip() != "yes":
            streams.stderr.write("Request was NOT approved.\n")
            return 1
    approve_token_request(
        reach.connector,
        address,
        client_id=found[0].string("ClientId") or "",
        request_id=request_id,
    )
    streams.stdout.write(f"Request {request_id} approved successfully.\n")
    return 0
