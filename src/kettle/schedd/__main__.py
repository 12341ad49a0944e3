"""`python -m kettle.schedd`: condor_schedd."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kettle.runtime import daemon


def main(argv: Sequence[str]) -> int:
    """Run the schedd until it is told to stop."""
    from kettle.schedd.service import ScheddService

    return daemon.run("SCHEDD", ScheddService, argv)


def program() -> None:
    """Be the command `condor_schedd`."""
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
