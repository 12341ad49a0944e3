"""`python -m kettle.testing.campaign fuzz`: try any number of inputs on every decoder."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from kettle.runtime.storage.files import Files
from kettle.testing.commit import commit_of_this
from kettle.testing.fuzz.corpus import distill, read_corpus, with_corpus, write_corpus
from kettle.testing.fuzz.decoder import Decoder
from kettle.testing.fuzz.decoders import DECODERS
from kettle.testing.fuzz.run import Finding, run

# How many inputs are tried between two looks at the clock.
_AT_ONCE = 5_000


class Book:
    """How many inputs each decoder was given, by commit; a campaign goes on where it stopped."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._counts: dict[str, dict[str, int]] = {}
        if path is not None and path.exists():
            self._counts = json.loads(path.read_text())
        self._chapter = self._counts.setdefault(commit_of_this(), {}) if path else {}

    def done(self, name: str) -> int:
        """Return how many inputs a decoder was given so far."""
        return sum(chapter.get(name, 0) for chapter in self._counts.values())

    def note(self, name: str, count: int) -> None:
        """Add to the count of a decoder."""
        self._chapter[name] = self._chapter.get(name, 0) + count
        if self._path is not None:
            text = json.dumps(self._counts, indent=1) + "\n"
            Files().write_atomically(str(self._path), text)


def main(argv: list[str]) -> int:
    """Run what the command line says; 1 if anything was found."""
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument(
        "--with",
        dest="modules",
        action="append",
        default=[],
        metavar="MODULE",
        help="import it first: it adds decoders of packages that lie above this one",
    )
    for module in first.parse_known_args(argv)[0].modules:
        importlib.import_module(module)
    parser = argparse.ArgumentParser(
        prog="python -m kettle.testing.campaign fuzz", description=__doc__, parents=[first]
    )
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N", help="each (10,000)")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="processor time for each, whatever the number"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="SEED")
    parser.add_argument("--decoder", action="append", choices=sorted(DECODERS), metavar="NAME")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this input and no other")
    parser.add_argument("--json", type=Path, metavar="FILE", help="a book of what was tried")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="more samples to begin with")
    parser.add_argument(
        "--distill", action="store_true", help="keep inputs that reach new lines in the corpus"
    )
    chosen = parser.parse_args(argv)
    if chosen.distill:
        return _distill(chosen)
    book = Book(chosen.json)
    found: list[Finding] = []
    count = 0
    # A campaign that is ended now and then comes to all of them.
    for name in sorted(chosen.decoder or DECODERS, key=lambda name: book.done(name) > 0):
        for numbers in _portions(chosen, book.done(name)):
            decoder = with_corpus(DECODERS[name], chosen.corpus)
            found += _try(decoder, chosen.seed, numbers)
            book.note(name, len(numbers))
            count += len(numbers)
    _say(f"{count:,} inputs, {len(found)} findings\n")
    return 1 if found else 0


def _portions(chosen: argparse.Namespace, first: int) -> Iterator[range]:
    """Yield the numbers of inputs, so many at once as belong together."""
    if chosen.only is not None:
        yield range(chosen.only, chosen.only + 1)
    elif chosen.seconds is None:
        yield range(first, first + chosen.inputs)
    else:
        end = time.process_time() + chosen.seconds
        while time.process_time() < end:
            yield range(first, first + _AT_ONCE)
            first += _AT_ONCE


def _distill(chosen: argparse.Namespace) -> int:
    if chosen.corpus is None:
        _say("--distill wants a --corpus to keep inputs in\n")
        return 2
    chosen.corpus.mkdir(parents=True, exist_ok=True)
    for name in chosen.decoder or DECODERS:
        kept = read_corpus(chosen.corpus, name)
        more = distill(DECODERS[name], chosen.seed, range(chosen.inputs), kept)
        write_corpus(chosen.corpus, name, more)
        _say(f"{name:22} {len(more):>6} inputs are kept\n")
    return 0


def _try(decoder: Decoder, seed: int, numbers: range) -> list[Finding]:
    began = time.monotonic()

    def tell(done: int) -> None:
        rate = done / max(time.monotonic() - began, 1e-6)
        _say(f"\r{decoder.name:22} {numbers.start + done:>12,}  {rate:>9,.0f}/s ")

    found = run(decoder, seed, numbers, on_progress=tell)
    tell(len(numbers))
    _say(f" {len(found)} findings\n" + "".join(f"  {one}\n" for one in found))
    return found


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
