"""The example of docs/reference/python-wheel.md prints what stands under it.

Known by: FS.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from interop.wheel_pool import wheel_pool

pytestmark = pytest.mark.interop

PAGE = Path(__file__).parents[2] / "docs/reference/python-wheel.md"
EXAMPLE = re.compile(r"```python\n(.*?)```\n\nIt prints:\n\n```text\n(.*?)```", re.DOTALL)


def test_the_example_prints_what_stands_under_it(tmp_path: Path) -> None:
    found = EXAMPLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    with wheel_pool(tmp_path) as pool, tempfile.TemporaryDirectory() as work:
        Path(work).chmod(0o755)
        done = subprocess.run(
            [pool.python, "-c", found[1]],
            cwd=work,
            env={"PATH": "/usr/bin:/bin", "HOME": work, "CONDOR_CONFIG": pool.pool.config_file},
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.stdout, done.returncode) == (found[2], 0), done.stderr
