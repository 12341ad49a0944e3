"""`python -m kettle.testing.simulation`: run seeds, and tell the story of those that fail."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from kettle.testing.commit import commit_of_this
from kettle.testing.simulation.book import Book
from kettle.testing.simulation.run import campaign, load_everything

_SHOWN = 2000
# How often the book is written.
_SAVED_SECONDS = 5.0


def main(argv: list[str]) -> int:
    """Run the seeds of the command line; 1 if any of them failed."""
    parser = argparse.ArgumentParser(
        prog="python -m kettle.testing.campaign simulation", description=__doc__
    )
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="how many (100)")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="the first one (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="K")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="a book of what was run, which is not run again"
    )
    parser.add_argument("--log", action="store_true", help="print the story of each seed")
    chosen = parser.parse_args(argv)
    if os.environ.get("PYTHONHASHSEED") != "0":
        # Sets of names must be walked in the same order each time.
        os.environ["PYTHONHASHSEED"] = "0"
        again = [sys.executable, "-m", "kettle.testing.simulation", *argv]
        os.execv(sys.executable, again)  # noqa: S606 - ourselves
    for number in (signal.SIGINT, signal.SIGTERM):
        # Also where a shell has us ignore it: the book is to be written, the folders removed.
        signal.signal(number, signal.default_int_handler)
    book = Book(chosen.json, commit_of_this())
    seeds = book.missing(range(chosen.first, chosen.first + chosen.seeds))
    if len(seeds) > 1:
        load_everything()
    try:
        failed, executions = _run(seeds, chosen.jobs, book, with_log=chosen.log)
    except KeyboardInterrupt:
        return 130
    finally:
        book.save()
    _say(f"\n{executions} executions; failed seeds: {failed or 'none'}\n")
    return 1 if failed else 0


def _run(seeds: list[int], at_once: int, book: Book, *, with_log: bool) -> tuple[list[int], int]:
    began = saved = time.monotonic()
    failed: list[int] = []
    executions = 0
    for done, verdict in enumerate(campaign(seeds, at_once, with_log=with_log), 1):
        executions += verdict.executions
        book.note(verdict)
        if verdict.violations:
            failed.append(verdict.seed)
            _say(f"\rseed {verdict.seed}: {'; '.join(verdict.violations)[:_SHOWN]}\n")
        if with_log:
            _say("\n".join([*verdict.log, ""]))
        now = time.monotonic()
        if now - saved > _SAVED_SECONDS:
            book.save()
            saved = now
        if done % 10 == 0 or done == len(seeds):
            _say(f"\r{done} seeds, {len(failed)} failed, {done / (now - began):.1f}/s ")
    return failed, executions


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
