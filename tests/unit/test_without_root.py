"""What modes forbid is tried by somebody whom they bind, also where root runs the tests."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
# Tests of what somebody closed, each of which holds for root as well, or says that it cannot.
PLAIN = (
    "unit/runtime/storage/test_beside_files.py",
    "unit/runtime/storage/test_closed_files.py",
    "unit/runtime/storage/test_fences.py",
    "unit/runtime/storage/test_folder_swap.py",
    "unit/runtime/storage/test_owned_files.py",
    "unit/runtime/storage/test_removal.py",
    "unit/runtime/storage/test_trees.py",
    "unit/starter/test_sandbox_removal.py",
)
WITH_POOLS = ("pool/test_closed_folders.py",)


def inside() -> list[str]:
    """Return what runs a command as an account without root's rights; skips where none can be.

    Root's own files are that account's, as nothing but their names changes.
    """
    account = max(
        one.pw_uid for one in pwd.getpwall() if one.pw_uid < pwd.getpwnam("nobody").pw_uid
    )
    words = ["unshare", "--user", f"--map-user={account}", f"--map-group={account}"]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"nobody can be without root's rights here: {error}")
    return words


@pytest.mark.skipif(os.geteuid() != 0, reason="these tests have no root's rights anyway")
@pytest.mark.parametrize("names", [PLAIN, pytest.param(WITH_POOLS, marks=pytest.mark.root)])
@pytest.mark.timeout(900)
def test_what_somebody_closed_is_tried_without_root_s_rights_too(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    words = ["-q", "-n", "0", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/inner"]
    command = [*inside(), sys.executable, "-m", "pytest", *words, *names]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "bind root" not in done.stdout
