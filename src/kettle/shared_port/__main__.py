"""`python -m kettle.shared_port`: condor_shared_port."""

from __future__ import annotations

import sys

from kettle.runtime.daemon import run
from kettle.shared_port.service import SharedPortService

if __name__ == "__main__":
    sys.exit(run("SHARED_PORT", SharedPortService, sys.argv))
