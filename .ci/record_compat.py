"""Record what the wheel prints for the scripts of tests/data/compat, beside each of them.

KETTLE_WHEEL_PYTHON=… python .ci/record_compat.py
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SCRIPTS = Path(__file__).parents[1] / "tests/data/compat"


def main() -> None:
    """Run every script under the wheel."""
    environment = {**os.environ, "CONDOR_CONFIG": os.devnull, "TZ": "UTC"}
    for script in sorted([*SCRIPTS.glob("*.py"), *(SCRIPTS / "htcondor2").glob("*.py")]):
        said = subprocess.run(
            [os.environ["KETTLE_WHEEL_PYTHON"], script],
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            timeout=60,
        ).stdout
        script.with_suffix(".txt").write_bytes(said)


if __name__ == "__main__":
    main()
