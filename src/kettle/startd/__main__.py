"""The program condor_startd: `python -m kettle.startd`."""

from __future__ import annotations

import sys

from kettle.runtime.daemon import run
from kettle.startd.service import StartdService


def main() -> int:
    """Be the startd until told to stop."""
    return run("STARTD", StartdService, sys.argv)


if __name__ == "__main__":
    sys.exit(main())
