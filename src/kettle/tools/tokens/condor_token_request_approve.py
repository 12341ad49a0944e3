"""`condor_token_request_approve`: grant a request for a token."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.client.daemon import approve_token_request, list_token_requests
from kettle.tools.options import Option
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import (
    BEGIN_LISTING,
    DAEMON,
    Wish,
    asking,
    choose_daemon,
    run,
)

OPTIONS = (*DAEMON, Option("reqid", values=1), Option("yes", values=0))
# As it is said there, without its beginning.
_BEGINNING = "command for approving token requests"
USAGE = """\
Usage: condor_token_request_approve [OPTIONS]

Approve requests for tokens at a daemon (the collector, if nothing is said). Each is shown; type
yes to approve it.

  -reqid ID          this request; all of them, one after the other, if nothing is said
  -yes               do not ask
  -type SUBSYSTEM    which kind of daemon; -name NAME, -pool HOST: which one
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_request_approve`."""
    return run(argv, environment, streams, OPTIONS, USAGE, approve)


def approve(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Show each request that is meant, ask, and approve it; 1 as soon as the answer is not yes."""
    wanted = wish.get("reqid")
    address = choose_daemon(wish, reach)
    with asking(address, f"Failed to locate request corresponding to ID {wanted}", BEGIN_LISTING):
        found = list_token_requests(reach.connector, address, wanted)
    if not found:
        why = "has no request to approve"
        if wanted:
            why = f"did not provide information for request ID {wanted}"
        streams.stderr.write(f"Remote daemon {why}.\n")
        return 1
    for ad in found:
        lines = "".join(f"{line}\n" for line in ad.lines())
        streams.stdout.write(f"Request contents:\n{lines}\n")
        if "yes" not in wish.flags:
            streams.stdout.write("To approve, please type 'yes'\n")
            streams.stdout.flush()
            if streams.stdin.readline().removesuffix("\n") != "yes":
                streams.stderr.write("Request was NOT approved.\n")
                return 1
        request_id = wanted or ad.string("RequestId") or ""
        with asking(address, "Failed to approve token request", _BEGINNING):
            approve_token_request(
                reach.connector,
                address,
                client_id=ad.string("ClientId") or "",
                request_id=request_id,
            )
        streams.stdout.write(f"Request {request_id} approved successfully.\n")
    return 0
