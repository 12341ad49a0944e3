"""A daemon that is set wrongly does not begin, and says why in a sentence, here and in its log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("MAX_HISTORY_LOG = 20Kb", "MAX_HISTORY_LOG = 20Kb is not an integer"),
        ("SCHEDD_INTERVAL = abc", "SCHEDD_INTERVAL = abc is not a number of seconds"),
        ("SEC_DEFAULT_ENCRYPTION = maybe", "SEC_DEFAULT_ENCRYPTION = maybe is not one of REQUIRED"),
        ("MAX_SCHEDD_LOG = foo", "MAX_SCHEDD_LOG = foo is not a size"),
        ("QUEUE_SUPER_USERS = root\nMAX_JOBS_RUNNING = lots", "MAX_JOBS_RUNNING = lots is not"),
    ],
)
def test_a_wrong_setting_stops_its_daemon_with_one_sentence(
    tmp_path: Path, line: str, why: str
) -> None:
    file = tmp_path / "condor_config"
    file.write_text(
        f"LOCAL_DIR = {tmp_path}\nLOG = {tmp_path}\nSPOOL = {tmp_path}\n{line}\n"
        "NETWORK_INTERFACE = 127.0.0.1\nCONDOR_HOST = 127.0.0.1\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "kettle.schedd", "-f"],
        env={**os.environ, "CONDOR_CONFIG": str(file)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 44
    (said,) = done.stderr.splitlines()
    assert said.startswith("ERROR: condor_schedd: ")
    assert why in said
    log = (tmp_path / "SchedLog").read_text()
    assert len([one for one in log.splitlines() if "ERROR" in one and why in one]) == 1
    assert "Traceback" not in log
