"""`kettle status`: the pool, its queue and its slots on one screen."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict

from kettle.tools.front import place
from kettle.tools.front.snapshot import take_snapshot
from kettle.tools.programs import Streams


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle status`."""
    parser = argparse.ArgumentParser(description="Show the pool, its queue and its slots.")
    place.add_folder_option(parser)
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Ask once and draw; 1 if something did not answer."""
    snapshot = take_snapshot(place.reach_pool(arguments.dir, environment), asks_each=True)
    if arguments.json:
        streams.stdout.write(json.dumps(asdict(snapshot), indent=2) + "\n")
    else:
        from rich.console import Console

        from kettle.tools.front.screen import draw

        colour = place.may_colour(environment, streams)
        console = Console(file=streams.stdout, no_color=not colour, highlight=False)
        console.print(draw(snapshot))
    return 1 if snapshot.troubles else 0
