"""What `condor_who` reads in the logs of daemons."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.config import Config
from kettle.tools.status.daemon_logs import read_traces

BEGIN = """\
11/28/26 23:00:00 ** /usr/sbin/condor_master
11/28/26 23:00:00 ** PID = {}
11/28/26 23:00:00 DaemonCore: command socket at <10.0.0.1:{}>
"""
END = "11/28/26 23:00:01 **** condor_master (condor_MASTER) pid {} EXITING WITH STATUS {}\n"


@pytest.mark.parametrize(
    ("log", "pid", "address", "exit_code"),
    [
        (BEGIN.format(7, 1), 7, "<10.0.0.1:1>", None),
        (BEGIN.format(7, 1) + END.format(7, 4), 7, "<10.0.0.1:1>", 4),
        # It restarted itself: the process is the same.
        (BEGIN.format(7, 1) + END.format(7, 0) + BEGIN.format(7, 2), 7, "<10.0.0.1:2>", None),
        (BEGIN.format(7, 1) + END.format(7, 0) + BEGIN.format(8, 2), 8, "<10.0.0.1:2>", None),
    ],
)
def test_the_end_of_a_daemon_is_one_that_it_told_since_it_began(
    tmp_path: Path, log: str, pid: int, address: str, exit_code: int | None
) -> None:
    (tmp_path / "MasterLog").write_text(log)
    traces = read_traces("Master", tmp_path, Config.from_text(""))
    assert traces is not None
    assert (traces.pid, traces.address, traces.exit_code) == (pid, address, exit_code)
