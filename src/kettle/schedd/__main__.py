"""`python -m kettle.schedd`: condor_schedd."""

from __future__ import annotations

import sys

from kettle.runtime.daemon import run
from kettle.schedd.service import ScheddService

if __name__ == "__main__":
    sys.exit(run("SCHEDD", ScheddService, sys.argv))
