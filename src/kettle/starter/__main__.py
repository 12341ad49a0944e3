"""`python -m kettle.starter`: condor_starter.

Starters that run jobs are forked by their startd or schedd and never come through here; the
program says what a starter can do (`-classad`), as the reference's does.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kettle.attributes.abilities import STARTER_ABILITIES
from kettle.classad.text import quote_old

_HELP = """Usage: condor_starter [-help | -classad]

Starters are forked by condor_startd and condor_schedd, one for each run of a job.

  -classad  print what a starter can do
"""


def main(argv: Sequence[str]) -> int:
    """Print the abilities, or say who starts starters."""
    if "-classad" in argv[1:]:
        for name, value in STARTER_ABILITIES.items():
            text = quote_old(value) if isinstance(value, str) else str(value)
            sys.stdout.write(f"{name} = {text}\n")
        return 0
    if "-help" in argv[1:] or "-h" in argv[1:]:
        sys.stdout.write(_HELP)
        return 0
    sys.stderr.write("condor_starter: starters are forked by condor_startd and condor_schedd\n")
    return 1


def program() -> None:
    """Be the command `condor_starter`."""
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
