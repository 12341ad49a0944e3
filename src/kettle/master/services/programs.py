"""What the master's ad says of the programs it runs: when each was last changed, what it may do."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable

from kettle.master.daemons import DaemonPlan


def program_times(plans: Iterable[DaemonPlan]) -> dict[str, object]:
    """Return <NAME>_Timestamp, in epoch seconds, for the master and each daemon it has.

    A daemon of ours is a package: its program is the package's own file.
    """
    files = {"MASTER": __file__}
    for plan in plans:
        files[plan.name] = _module_file(plan.module) if plan.module else plan.program
    times: dict[str, object] = {}
    for name, path in files.items():
        try:
            times[f"{name}_Timestamp"] = int(os.stat(path).st_mtime)
        except OSError:
            continue
    return times


def read_capabilities() -> int:
    """Return the capabilities that the process has now, as the kernel's bits."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("CapEff:"):
                    return int(line.split()[1], 16)
    except (OSError, ValueError, IndexError):
        pass
    return 0


def _module_file(name: str) -> str:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return ""
    return (spec.origin or "") if spec is not None else ""
