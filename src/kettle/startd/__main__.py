"""`python -m kettle.startd`: condor_startd."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kettle.runtime import daemon


def main(argv: Sequence[str]) -> int:
    """Run the startd until it is told to stop."""
    from kettle.startd.service import StartdService

    return daemon.run("STARTD", StartdService, argv)


def program() -> None:
    """Be the command `condor_startd`."""
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
