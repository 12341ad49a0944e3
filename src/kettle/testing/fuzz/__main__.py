"""`python -m kettle.testing.fuzz`: try any number of inputs on every decoder."""

from __future__ import annotations

import argparse
import sys
import time

from kettle.testing.fuzz.decoders import DECODERS
from kettle.testing.fuzz.run import Finding, run


def main(argv: list[str]) -> int:
    """Run what the command line says; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m kettle.testing.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N", help="each (10,000)")
    parser.add_argument("--seed", type=int, default=1, metavar="SEED")
    parser.add_argument("--decoder", action="append", choices=sorted(DECODERS), metavar="NAME")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this input and no other")
    chosen = parser.parse_args(argv)
    numbers = range(chosen.inputs)
    if chosen.only is not None:
        numbers = range(chosen.only, chosen.only + 1)
    found: list[Finding] = []
    for name in chosen.decoder or DECODERS:
        found += _try(name, chosen.seed, numbers, len(found))
    count = len(numbers) * len(chosen.decoder or DECODERS)
    _say(f"{count:,} inputs, {len(found)} findings\n")
    return 1 if found else 0


def _try(name: str, seed: int, numbers: range, before: int) -> list[Finding]:
    began = time.monotonic()

    def tell(done: int) -> None:
        rate = done / max(time.monotonic() - began, 1e-6)
        _say(f"\r{name:16} {done:>12,} of {len(numbers):,}  {rate:>9,.0f}/s  {before} findings ")

    found = run(DECODERS[name], seed, numbers, on_progress=tell)
    tell(len(numbers))
    _say("\n" + "".join(f"  {one}\n" for one in found))
    return found


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
