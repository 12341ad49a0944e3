"""`condor_token_request_list`: the requests for tokens that wait at a daemon."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.classad.forms_json import to_json
from kettle.client.daemon import list_token_requests
from kettle.tools.options import Option
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import DAEMON, Wish, choose_daemon, run

OPTIONS = (*DAEMON, Option("reqid", values=1), Option("json"))
USAGE = """\
Usage: condor_token_request_list [OPTIONS]

List the requests for tokens that wait at a daemon (the collector, if nothing is said).

  -reqid ID          this request only
  -json              one JSON object a line
  -type SUBSYSTEM    which kind of daemon; -name NAME, -pool HOST: which one
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_request_list`."""
    return run(argv, environment, streams, OPTIONS, USAGE, list_requests)


def list_requests(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Print the requests, each as its attributes, or as JSON."""
    address = choose_daemon(wish, reach)
    requests = list_token_requests(reach.connector, address, wish.get("reqid"))
    wanted = wish.get("reqid")
    if not requests and wanted:
        streams.stderr.write(
            f"Remote daemon did not provide information for request ID {wanted}.\n"
        )
        return 1
    if not requests and "json" not in wish.flags:
        streams.stderr.write("Remote daemon reports no requests pending.\n")
    for ad in requests:
        if "json" in wish.flags:
            streams.stdout.write(" ".join(to_json(ad).split()) + "\n")
        else:
            streams.stdout.write("".join(f"{line}\n" for line in ad.lines()) + "\n")
    return 0
