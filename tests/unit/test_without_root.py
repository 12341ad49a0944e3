"""What modes forbid is tried by somebody whom they bind, also where root runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Tests of what somebody closed, each of which holds for root as well.
FILES = (
    "runtime/storage/test_removal.py",
    "runtime/storage/test_trees.py",
    "starter/test_sandbox_removal.py",
)
# Whoever owns a file outside owns it inside, and has no rights but an owner's.
NOBODY = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


def run_bound(folder: Path, *files: Path) -> str:
    """Run tests without root's rights; return what pytest said. Skips where that cannot be."""
    try:
        subprocess.run([*NOBODY, "true"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no user namespaces here: {error}")
    words = ["-q", "-n", "0", "-p", "no:cacheprovider", f"--basetemp={folder}/inner"]
    command = [*NOBODY, sys.executable, "-m", "pytest", *words, *map(str, files)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="none of these tests has root's rights anyway")
def test_what_somebody_closed_is_tried_without_root_s_rights_too(tmp_path: Path) -> None:
    said = run_bound(tmp_path, *(HERE / name for name in FILES))
    assert "passed" in said
    assert "SKIPPED" not in said
