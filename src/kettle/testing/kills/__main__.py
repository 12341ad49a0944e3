"""`python -m kettle.testing.kills`: run a campaign, and keep the story of one that fails."""

from __future__ import annotations

import argparse
import sys
import tempfile

from kettle.testing.kills.campaign import Verdict, run

_SHOWN = 20


def main(argv: list[str]) -> int:
    """Run what the command line says; 1 if anything did not hold."""
    parser = argparse.ArgumentParser(
        prog="python -m kettle.testing.campaign kills", description=__doc__
    )
    parser.add_argument("--jobs", type=int, default=200, metavar="N", help="how many (200)")
    parser.add_argument(
        "--seconds", type=float, default=60.0, metavar="N", help="how long things die (60)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="SEED", help="the first one (1)")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="one seed after another")
    parser.add_argument("--keep", metavar="DIR", help="where the story of a failure goes")
    chosen = parser.parse_args(argv)
    failed = []
    for seed in range(chosen.seed, chosen.seed + chosen.runs):
        keep = chosen.keep or tempfile.mkdtemp(prefix=f"kettle-kills-story-{seed}-")
        verdict = run(chosen.jobs, chosen.seconds, seed, keep=f"{keep}/{seed}", tell=_say)
        _tell(verdict, f"{keep}/{seed}")
        if verdict.violations:
            failed.append(seed)
    _say(f"failed seeds: {failed or 'none'}\n")
    return 1 if failed else 0


def _tell(verdict: Verdict, keep: str) -> None:
    kills = ", ".join(f"{count} {name}" for name, count in sorted(verdict.kills.items()))
    _say(
        f"\nseed {verdict.seed}: {verdict.jobs} jobs, {verdict.executions} executions, "
        f"{sum(verdict.kills.values())} kills ({kills}), {len(verdict.violations)} violations\n"
    )
    for violation in verdict.violations[:_SHOWN]:
        _say(f"  {violation}\n")
    if verdict.violations:
        _say(f"  the story is in {keep}\n")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
