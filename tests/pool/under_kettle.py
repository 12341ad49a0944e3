"""Run a script for which `htcondor2` and `classad2` are Kettle's modules of these names.

python under_kettle.py SCRIPT WORD…
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from kettle.compat import classad, classad2, htcondor, htcondor2

if __name__ == "__main__":
    sys.modules["classad2"] = classad2
    sys.modules["htcondor2"] = htcondor2
    sys.modules["classad"] = classad
    sys.modules["htcondor"] = htcondor
    del sys.argv[0]
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
