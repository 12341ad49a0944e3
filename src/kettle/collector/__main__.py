"""`python -m kettle.collector`: condor_collector."""

from __future__ import annotations

import sys

from kettle.collector.service import CollectorService
from kettle.runtime.daemon import run

if __name__ == "__main__":
    sys.exit(run("COLLECTOR", CollectorService, sys.argv))
