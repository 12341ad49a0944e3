"""`condor_token_request_list`: the requests for tokens that wait at a daemon."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.client.daemon import list_token_requests
from kettle.tools.options import Option
from kettle.tools.printing.whole_ads import write_ads
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

OPTIONS = (*DAEMON, Option("reqid", values=1), Option("json", shortest=4))
USAGE = """\
Usage: condor_token_request_list [OPTIONS]

List the requests for tokens that wait at a daemon (the collector, if nothing is said).

  -reqid ID          this request only
  -json              as one JSON list
  -type SUBSYSTEM    which kind of daemon; -name NAME, -pool HOST: which one
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_request_list`."""
    return run(argv, environment, streams, OPTIONS, USAGE, list_requests)


def list_requests(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Print the requests, each as its attributes, or as JSON."""
    address = choose_daemon(wish, reach)
    wanted = wish.get("reqid")
    failed = "Failed to list token requests"
    if wanted:
        failed = f"Failed to locate request corresponding to ID {wanted}"
    with asking(address, failed, BEGIN_LISTING):
        requests = list_token_requests(reach.connector, address, wanted)
    if not requests and wanted:
        streams.stderr.write(
            f"Remote daemon did not provide information for request ID {wanted}.\n"
        )
        return 1
    if not requests:
        streams.stderr.write("Remote daemon reports no requests pending.\n")
        return 0
    write_ads(requests, "json" if "json" in wish.flags else "long", streams.stdout)
    return 0
