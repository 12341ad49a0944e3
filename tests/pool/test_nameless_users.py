"""A user of whom the machine knows no name: one of a container, or of a continuous integration."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from system_pools import LIBRARIES, SOURCES, find_interpreter

pytestmark = [pytest.mark.root, pytest.mark.timeout(120)]

NAMELESS = 58_761
CALL = """
import sys
from kettle.tools.programs import run_program
sys.exit(run_program(sys.argv.pop(1)))
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of the user's."""
    with pytest.raises(KeyError):
        pwd.getpwuid(NAMELESS)
    path = Path(tempfile.mkdtemp(prefix="kettle-nameless-"))
    os.chown(path, NAMELESS, NAMELESS)
    yield path
    shutil.rmtree(path)


def test_a_user_who_is_a_mere_number_has_a_pool(home: Path) -> None:
    python = find_interpreter(NAMELESS)
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": os.pathsep.join((SOURCES, LIBRARIES)),
        "CONDOR_CONFIG": f"{home}/pool/condor_config",
    }

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, "-P", "-c", CALL, *words],
            env=environment, cwd=home, user=NAMELESS, group=NAMELESS, extra_groups=[],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    without_a_home = call("kettle", "up")
    assert without_a_home.returncode != 0
    assert "this account has no home folder" in without_a_home.stderr
    (home / "job.sub").write_text("executable = /usr/bin/id\noutput = out\nlog = log\nqueue\n")
    done = call("kettle", "up", "--dir", f"{home}/pool")
    assert done.returncode == 0, done.stderr
    try:
        done = call("condor_submit", "job.sub")
        assert done.returncode == 0, done.stderr
        assert call("condor_wait", "-wait", "60", "log").returncode == 0
        assert f"uid={NAMELESS}" in (home / "out").read_text()
        assert call("condor_q", "-totals").returncode == 0
        said = call("condor_history", "-af", "Owner", "ExitCode")
        assert said.stdout == f"{NAMELESS} 0\n", said.stderr
    finally:
        assert call("kettle", "down", "--dir", f"{home}/pool").returncode == 0
