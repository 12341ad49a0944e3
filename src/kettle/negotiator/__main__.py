"""`python -m kettle.negotiator`: condor_negotiator."""

from __future__ import annotations

import sys

from kettle.negotiator.service import NegotiatorService
from kettle.runtime.daemon import run

if __name__ == "__main__":
    sys.exit(run("NEGOTIATOR", NegotiatorService, sys.argv))
