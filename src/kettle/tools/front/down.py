"""`kettle down`: stop the personal pool; with --purge, remove it as well."""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from kettle.errors import UsageError
from kettle.pool.personal import PersonalPool
from kettle.tools.front import leaving, place
from kettle.tools.programs import Streams

if TYPE_CHECKING:
    from kettle.pool.remains import Remains


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle down`."""
    parser = argparse.ArgumentParser(
        description="Stop the pool, and say what becomes of running jobs: those here are asked to "
        "leave, those on other machines go on for their lease. The next 'kettle up' goes on with "
        "the same queue; it starts the former again and finds the latter."
    )
    place.add_folder_option(parser)
    parser.add_argument("--fast", action="store_true", help="kill running jobs without asking")
    parser.add_argument("--purge", action="store_true", help="remove the folder and all in it")
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Stop the pool; that it was not up is no error, that there is none is (NotFoundError)."""
    pool = place.open_pool(arguments.dir, environment)
    _check_stoppable(pool)
    running = leaving.Running()
    if pool.is_up():
        running = leaving.find_running({**environment, "CONDOR_CONFIG": pool.config_file})
    say_why = partial(_say_why, running, streams, fast=arguments.fast)
    try:
        stopped = pool.stop(how="fast" if arguments.fast else "graceful", waits=say_why)
    except KeyboardInterrupt:
        option = f" --dir {shlex.quote(arguments.dir)}" if arguments.dir else ""
        streams.stderr.write(
            f"\nThe pool in {pool.folder} goes on stopping; 'kettle down{option} --fast' kills "
            "what still runs.\n"
        )
        return 130
    remains = pool.end_remains()
    if running.here:
        leaving.note_finished(running, _read_lines(running.queue_log))
    purged: bool = arguments.purge
    left = pool.find_places_elsewhere() if purged else {}
    if purged:
        pool.purge()
    if arguments.json:
        facts: dict[str, object] = {"folder": pool.folder, "stopped": stopped, "purged": purged}
        facts["running_jobs"] = running.facts(purged=purged)
        facts["left_behind"] = {"ended": remains.ended, "staying": list(remains.staying)}
        if purged:
            facts["left"] = left
        streams.stdout.write(json.dumps(facts) + "\n")
        return 0
    sentences = [f"The pool in {pool.folder} {'is down' if stopped else 'was not up'}."]
    sentences += [*leaving.describe(running, purged=purged), *_say_ended(remains)]
    if purged:
        sentences.append(_say_gone(left))
    streams.stdout.write("".join(f"{sentence}\n" for sentence in sentences))
    return 0


def _check_stoppable(pool: PersonalPool) -> None:
    """Raise NotFoundError where there is no pool, UsageError for one that somebody else started."""
    if not (pool.exists() or pool.is_up()):
        raise place.missing_pool(pool)
    if pool.master_pid() is None and pool.is_up():
        raise UsageError(
            f"the pool in {pool.folder} is up, and not yours to stop: its lock cannot be opened",
            hint="its owner can, or root: sudo kettle down",
        )


def _say_why(running: leaving.Running, streams: Streams, seconds: float, *, fast: bool) -> None:
    streams.stderr.write(f"{leaving.describe_wait(running, seconds, fast=fast)}\n")
    streams.stderr.flush()


def _say_ended(remains: Remains) -> list[str]:
    """Say what of earlier jobs, whose daemons were killed, had still been there."""
    said = []
    if remains.ended:
        left = f"Processes that its jobs left when its daemons were killed: {remains.ended}"
        said.append(f"{left}. They are ended now.")
    if remains.staying:
        named = ", ".join(map(str, remains.staying))
        said.append(f"Processes of its jobs that cannot be ended: {named}.")
    return said


def _say_gone(left: Mapping[str, str]) -> str:
    """Say that the pool's folder is gone, and which of its places, by their knobs, are not."""
    if not left:
        return "Its folder is gone."
    kept = ", ".join(f"{name} ({path})" for name, path in left.items())
    return f"Its folder is gone; what lies elsewhere is left: {kept}."


def _read_lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a file; none if it cannot be read."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        yield from file
