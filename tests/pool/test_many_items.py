"""Item data of any size in bounded memory, on both sides."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import repeat
from pathlib import Path

import pytest

from kettle.client.connector import Connector
from kettle.client.queue import Queue
from kettle.errors import RefusedError
from kettle.pool.personal import PersonalPool
from kettle.submit.digest import LONGEST_DIGEST
from kettle.submit.item_lines import MOST_ITEMS
from kettle.testing.pool_fixture import personal_pool
from kettle.tools.reach import Reach
from pool_jobs import daemon_pid, run_tool, wait_until

LATE = "executable = /bin/true\nhold = true\narguments = $(a) $(b)\nmax_materialize = 1\n"
# Runs a tool and says what it took of memory at most.
MEASURED = """
import os, resource, sys
from kettle.tools.programs import Streams, load_tool
streams = Streams(sys.stdin, sys.stdout, sys.stderr)
code = load_tool("condor_submit")(sys.argv[1:], dict(os.environ), streams)
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(code)
"""
# In KiB.
_ROOM = 60 * 1024


def peak_of_submission(pool: PersonalPool, description: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "condor_submit", str(description)],
        env={**os.environ, **pool.environment()},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.rpartition("peak ")[2])


def peak_of(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def test_more_item_data_than_a_message_may_have_takes_no_memory(tmp_path: Path) -> None:
    with personal_pool(tmp_path) as pool:
        few, many = tmp_path / "few", tmp_path / "many"
        few.write_text("a b\n" * 10)
        with many.open("w") as file:
            for number in range(180_000):
                file.write(f"{number} {'x' * 400}\n")
        assert many.stat().st_size > 64 << 20
        peaks = []
        for items in (few, many):
            description = tmp_path / f"{items.name}.sub"
            description.write_text(f"{LATE}queue a,b from {items}\n")
            before = peak_of(daemon_pid(pool, "condor_schedd"))
            peaks.append(peak_of_submission(pool, description))
        assert peaks[1] < peaks[0] + _ROOM
        assert peak_of(daemon_pid(pool, "condor_schedd")) < before + _ROOM
        ids = "JobMaterializeItemsFile TotalSubmitProcs"
        code, said, _ = run_tool(pool, "condor_q", "-factory", "-af", *ids.split())
        assert code == 0
        kept, count = said.split("\n")[-2].split()
        assert count == "180000"
        assert Path(kept).read_bytes() == many.read_bytes().replace(b" ", b"\x1f")


def test_items_of_a_submission_that_comes_to_nothing_do_not_stay(tmp_path: Path) -> None:
    with personal_pool(tmp_path) as pool:
        reach = Reach(pool.environment(), subsystem="SUBMIT")
        connector: Connector = reach.connector
        spool = Path(reach.config.get("SPOOL") or "")
        with Queue(connector, reach.schedd().address) as queue:
            cluster = queue.new_cluster()
            digest = "arguments=$(x)\n\nQueue 1 x from "
            name, count = queue.set_factory(
                cluster, [b"a\n", b"b\n"], 1, lambda name, _count: f"{digest}{name}\n"
            )
            assert count == 2
            assert Path(name).read_bytes() == b"a\nb\n"
            assert len(list(spool.rglob("condor_submit.*"))) == 2
        wait_until(lambda: not list(spool.rglob("condor_submit.*")), 10)
        # What is too much is read to its end, and then said.
        with Queue(connector, reach.schedd().address) as queue:
            cluster = queue.new_cluster()
            with pytest.raises(RefusedError, match=f"takes {MOST_ITEMS} items of 1024 MiB"):
                queue.set_factory(cluster, repeat(b"\n", MOST_ITEMS + 1), 1, lambda *_: "")
            with pytest.raises(RefusedError, match=f"takes {LONGEST_DIGEST}.; put long values"):
                queue.set_digest(cluster, 1, "x" * (LONGEST_DIGEST + 1))
            assert not list(spool.rglob("condor_submit.*"))
