"""`kettle down`: stop the personal pool; with --purge, remove it as well."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from kettle.tools.front import place
from kettle.tools.programs import Streams


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle down`."""
    parser = argparse.ArgumentParser(
        description="Stop the pool. Running jobs are asked to leave and are queued again; the "
        "next 'kettle up' goes on with the same queue."
    )
    place.add_folder_option(parser)
    parser.add_argument("--fast", action="store_true", help="kill running jobs without asking")
    parser.add_argument("--purge", action="store_true", help="remove the folder and all in it")
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Stop the pool; that it was not up is no error."""
    pool = place.open_pool(arguments.dir, environment)
    stopped = pool.stop(how="fast" if arguments.fast else "graceful")
    purged = arguments.purge and pool.exists()
    if arguments.purge:
        pool.purge()
    if arguments.json:
        facts = {"folder": pool.folder, "stopped": stopped, "purged": purged}
        streams.stdout.write(json.dumps(facts) + "\n")
        return 0
    state = "is down" if stopped else "was not up"
    streams.stdout.write(f"The pool in {pool.folder} {state}.\n")
    if purged:
        streams.stdout.write("Its folder is gone.\n")
    return 0
