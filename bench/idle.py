"""What a pool costs while it has nothing to do: memory of all its processes, and their CPU.

    python bench/idle.py [--settle SECONDS] [--seconds SECONDS] [--json FILE]

Memory is PSS, summed over the master and all below it, zygotes included; CPU is theirs over some
seconds, as part of one core, with that of children that ended meanwhile. The peer's pool of the
same daemons is measured at the same time, where $KETTLE_PEER_ROOT has one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from peer import PeerPool, daemon_cpu, machine, peer_pool

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_processes import family_of

# The targets: KiB, and part of a core.
MOST_KIB = 250 * 1024
MOST_CORE = 0.005


def pss_kib(pid: int) -> int:
    """Return a process's memory, with its part of what it shares; 0 if it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def cpu_of(family: list[int]) -> dict[int, float]:
    """Return the CPU seconds of processes so far."""
    used = {}
    for pid in family:
        with suppress(OSError):
            used[pid] = daemon_cpu(pid)
    return used


class Idle:
    """One pool's figures: its master, and what its processes had used when we began."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._before = cpu_of(family_of(master))

    def figures(self, label: str, seconds: float) -> dict[str, object]:
        """Return what it has used since, and what it has now."""
        family = family_of(self._master)
        after = cpu_of(family)
        cpu = sum(used - self._before.get(pid, 0.0) for pid, used in after.items())
        return {
            f"{label}_processes": len(family),
            f"{label}_pss_kib": sum(map(pss_kib, family)),
            f"{label}_part_of_a_core": cpu / seconds,
        }


def measure(settle: float, seconds: float) -> dict[str, object]:
    """Start the pools, let them come to rest, and look at them for a while."""
    figures = machine()
    with (
        tempfile.TemporaryDirectory(prefix="kettle-bench-") as name,
        peer_pool("bench-idle", "use ROLE: Execute\n") as peer,
    ):
        Path(name).chmod(0o755)
        pool = PersonalPool(f"{name}/pool")
        pool.make()
        pool.start()
        try:
            time.sleep(settle)
            ours = Idle(pool.master_pid() or 0)
            theirs = Idle(master_of(peer)) if peer is not None else None
            began = time.monotonic()
            time.sleep(seconds)
            passed = time.monotonic() - began
            figures |= ours.figures("kettle", passed)
            if theirs is not None:
                figures |= theirs.figures("peer", passed)
        finally:
            pool.stop(how="fast")
    figures["pss_to_target"] = figures["kettle_pss_kib"] / MOST_KIB
    figures["cpu_to_target"] = figures["kettle_part_of_a_core"] / MOST_CORE
    return figures


def master_of(peer: PeerPool) -> int:
    """Return the pid of the peer's master."""
    return int((peer.folder / "master.pid").read_text())


def main() -> None:
    """Measure, print, and write the figures where they are wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--settle", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    figures = measure(arguments.settle, arguments.seconds)
    for name, value in figures.items():
        shown = f"{value:.4g}" if isinstance(value, float) else value
        print(f"{name:<38} {shown}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
