"""How long processes have worked."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from kettle.runtime.process.processes import SystemProcesses

WORK = "import time\nwhile time.process_time() < 0.1: pass\n"


def test_what_a_child_worked_that_has_ended_counts_for_whoever_waited_for_it() -> None:
    processes = SystemProcesses()
    worked = time.process_time()
    before = processes.cpu_seconds(os.getpid())
    # The kernel counts in hundredths.
    assert before >= worked - 0.1
    subprocess.run([sys.executable, "-c", WORK], check=True)
    assert processes.cpu_seconds(os.getpid()) - before > 0.05


def test_a_process_that_is_not_there_has_not_worked() -> None:
    assert SystemProcesses().cpu_seconds(2**22 + 1) == 0.0
