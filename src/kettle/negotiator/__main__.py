"""`python -m kettle.negotiator`: condor_negotiator."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kettle.runtime import daemon


def main(argv: Sequence[str]) -> int:
    """Run the negotiator until it is told to stop."""
    from kettle.negotiator.service import NegotiatorService

    return daemon.run("NEGOTIATOR", NegotiatorService, argv)


def program() -> None:
    """Be the command `condor_negotiator`."""
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
