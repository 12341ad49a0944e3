"""A pool whose settings forbid every handshake works, and its tools with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, run_tool, submit

pytestmark = pytest.mark.timeout(120)

_FEATURES = ("AUTHENTICATION", "ENCRYPTION", "INTEGRITY", "NEGOTIATION")
CONFIG = "ALLOW_DEFAULT = *\n" + "".join(f"SEC_DEFAULT_{one} = NEVER\n" for one in _FEATURES)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("unsecured"), CONFIG) as made:
        yield made


def test_jobs_run_and_are_acted_on_in_a_pool_without_handshakes(
    pool: PersonalPool, work: Path
) -> None:
    here = "should_transfer_files = yes\nrequest_disk = 1MB\n"
    ran = submit(pool, work / "ran", f"executable = /bin/true\n{here}queue 2\n")
    ran.wait_for(5, 30)
    kept = submit(pool, work / "kept", f"executable = /bin/true\nhold = true\n{here}queue\n")
    cluster = str(kept.cluster)
    for tool, words in (
        ("condor_prio", ["-p", "3", cluster]),
        ("condor_qedit", [cluster, "Mark", "7"]),
        ("condor_ping", ["-type", "SCHEDD", "WRITE"]),
    ):
        code, out, err = run_tool(pool, tool, *words)
        assert code == 0, out + err
    assert ask_queue(pool, cluster, "JobPrio", "Mark") == [["3", "7"]]
    code, _, err = run_tool(pool, "condor_rm", cluster)
    assert code == 0, err
