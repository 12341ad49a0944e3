"""`python -m kettle.master`: condor_master."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kettle.runtime import daemon


def main(argv: Sequence[str]) -> int:
    """Run the master until it is told to stop."""
    from kettle.master.service import MasterService

    return daemon.run("MASTER", MasterService, argv)


def program() -> None:
    """Be the command `condor_master`."""
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
