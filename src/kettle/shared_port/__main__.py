"""`python -m kettle.shared_port`: condor_shared_port."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kettle.runtime import daemon


def main(argv: Sequence[str]) -> int:
    """Run the shared port daemon until it is told to stop."""
    from kettle.shared_port.service import SharedPortService

    return daemon.run("SHARED_PORT", SharedPortService, argv)


def program() -> None:
    """Be the command `condor_shared_port`."""
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
