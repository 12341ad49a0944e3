"""`python -m kettle.testing.simulation`: run seeds, and tell the story of those that fail."""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import sys
import time

from kettle.testing.simulation.run import Verdict, isolated

# How much of a failed seed's log is shown unless all is asked for.
_TAIL = 0


def main(argv: list[str]) -> int:
    """Run the seeds of the command line; 1 if any of them failed."""
    parser = argparse.ArgumentParser(prog="python -m kettle.testing.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="how many (100)")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="the first one (1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--log", action="store_true", help="print the story of each failed seed")
    chosen = parser.parse_args(argv)
    if os.environ.get("PYTHONHASHSEED") != "0":
        # Sets of names must be walked in the same order each time.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "kettle.testing.simulation", *argv])
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    began = time.monotonic()
    failed: list[Verdict] = []
    done = executions = 0
    with concurrent.futures.ProcessPoolExecutor(chosen.workers) as pool:
        for verdict in pool.map(isolated, seeds, chunksize=1):
            done += 1
            executions += verdict.executions
            if verdict.violations:
                failed.append(verdict)
                print(f"\rseed {verdict.seed}: {'; '.join(verdict.violations)[:2000]}")
                if chosen.log:
                    print("\n".join(verdict.log))
            if done % 10 == 0 or done == len(seeds):
                rate = done / (time.monotonic() - began)
                print(f"\r{done} seeds, {len(failed)} failed, {rate:.1f}/s", end="", flush=True)
    print(f"\n{executions} executions; failed seeds: {[each.seed for each in failed] or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
