"""Run a script for which `htcondor2` and `classad2` are Kettle's modules of these names.

python under_kettle.py SCRIPT WORD…
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from kettle.compat.real_names import take_name

if __name__ == "__main__":
    for name in ("classad2", "htcondor2", "classad", "htcondor"):
        take_name(name)
    del sys.argv[0]
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
