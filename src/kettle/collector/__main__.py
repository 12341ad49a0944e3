"""`python -m kettle.collector`: condor_collector."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kettle.runtime import daemon


def main(argv: Sequence[str]) -> int:
    """Run the collector until it is told to stop."""
    from kettle.collector.service import CollectorService

    return daemon.run("COLLECTOR", CollectorService, argv)


def program() -> None:
    """Be the command `condor_collector`."""
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
