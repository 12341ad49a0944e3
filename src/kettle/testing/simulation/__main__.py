"""`python -m kettle.testing.simulation`: run seeds, and tell the story of those that fail."""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import sys
import time

from kettle.testing.simulation.run import Verdict, isolated

_SHOWN = 2000


def main(argv: list[str]) -> int:
    """Run the seeds of the command line; 1 if any of them failed."""
    parser = argparse.ArgumentParser(
        prog="python -m kettle.testing.simulation", description=__doc__
    )
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="how many (100)")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="the first one (1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--log", action="store_true", help="print the story of each failed seed")
    chosen = parser.parse_args(argv)
    if os.environ.get("PYTHONHASHSEED") != "0":
        # Sets of names must be walked in the same order each time.
        os.environ["PYTHONHASHSEED"] = "0"
        again = [sys.executable, "-m", "kettle.testing.simulation", *argv]
        os.execv(sys.executable, again)  # noqa: S606 - ourselves
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    failed, executions = _run(seeds, chosen.workers, with_log=chosen.log)
    _say(f"\n{executions} executions; failed seeds: {failed or 'none'}\n")
    return 1 if failed else 0


def _run(seeds: range, workers: int, *, with_log: bool) -> tuple[list[int], int]:
    began = time.monotonic()
    failed: list[int] = []
    executions = 0
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        for done, verdict in enumerate(pool.map(isolated, seeds), 1):
            executions += verdict.executions
            if verdict.violations:
                failed.append(verdict.seed)
                _tell(verdict, with_log=with_log)
            if done % 10 == 0 or done == len(seeds):
                rate = done / (time.monotonic() - began)
                _say(f"\r{done} seeds, {len(failed)} failed, {rate:.1f}/s")
    return failed, executions


def _tell(verdict: Verdict, *, with_log: bool) -> None:
    _say(f"\rseed {verdict.seed}: {'; '.join(verdict.violations)[:_SHOWN]}\n")
    if with_log:
        _say("\n".join([*verdict.log, ""]))


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
