"""`python -m kettle.testing.campaign KIND …`: look for faults for as long as one likes.

Each kind has its own options, which `--help` after its name tells: `simulation` runs whole pools in
trouble, each from a seed; `kills` kills real processes; `fuzz` gives every decoder bytes from
nobody. What they hold the project to is in docs/simulation.md.
"""

from __future__ import annotations

import importlib
import sys

KINDS = {
    "simulation": "whole pools on virtual time, whose every trouble follows from a seed",
    "kills": "a real pool, whose processes are killed while it runs jobs",
    "fuzz": "bytes from nobody for everything that decodes",
}


def main(argv: list[str]) -> int:
    """Run a campaign of the kind that is named first; 1 if it found anything."""
    kind = argv[0] if argv else ""
    if kind not in KINDS:
        lines = [f"  {name:<11} {what}" for name, what in KINDS.items()]
        usage = "usage: python -m kettle.testing.campaign KIND [OPTION...]"
        out = sys.stdout if kind in {"-h", "--help"} else sys.stderr
        out.write("\n".join([usage, "", *lines, ""]))
        return 0 if out is sys.stdout else 2
    module = importlib.import_module(f"kettle.testing.{kind}.__main__")
    code: int = module.main(argv[1:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
