"""`kettle env`: shell lines after which every condor_* command, and the wheel, use the pool."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping

from kettle.tools.front import place
from kettle.tools.programs import Streams


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle env`."""
    parser = argparse.ArgumentParser(
        description="Print shell lines that make every condor_* command use this pool.",
        epilog='Use it so:  eval "$(kettle env)"',
    )
    place.add_folder_option(parser)
    parser.add_argument("--json", action="store_true", help="print the variables as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Print the lines; an error if there is no pool to use."""
    variables = find_pool(arguments.dir, environment)
    programs = os.path.dirname(os.path.abspath(sys.argv[0] or sys.executable))
    if not os.path.exists(os.path.join(programs, "condor_submit")):
        programs = os.path.dirname(os.path.abspath(sys.executable))
    path = environment.get("PATH", "")
    if programs not in path.split(os.pathsep):
        variables["PATH"] = f"{programs}{os.pathsep}{path}" if path else programs
    if arguments.json:
        streams.stdout.write(json.dumps(variables) + "\n")
        return 0
    for name, value in variables.items():
        streams.stdout.write(f"export {name}={shlex.quote(value)}\n")
    return 0


def find_pool(given: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what CONDOR_CONFIG has to be: what it is, unless another pool is meant.

    That one's folder is $KETTLE_DIR, so that `kettle up` and `kettle down` mean it as well. Raises
    the error if there is no pool, or the configuration cannot be read.
    """
    if place.is_configured(given, environment):
        place.read_configuration(given, environment)
        return {"CONDOR_CONFIG": environment["CONDOR_CONFIG"]}
    pool = place.open_pool(given, environment)
    if not pool.exists():
        raise place.missing_pool(pool)
    return {"CONDOR_CONFIG": pool.config_file, "KETTLE_DIR": pool.folder}
