"""Who administers the pool commands daemons that do not know it, by the keys in their ads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, wait_until

# Only the collector knows who administers the pool.
STRANGERS = (
    "STARTD.ALLOW_ADMINISTRATOR = nobody@nowhere\nMASTER.ALLOW_ADMINISTRATOR = nobody@nowhere\n"
    "MASTER_NAME = boss@here\nSTARTD_NAME = worker@here\n"
)
CHECKS = {
    "condor_drain": ("worker@here",),
    "condor_reconfig": ("-name", "boss@here"),
    "condor_fetchlog": ("boss@here", "MASTER"),
}


@pytest.fixture(scope="module", params=["true", "false"])
def pool(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[PersonalPool, bool]]:
    knobs = f"{STRANGERS}SEC_ENABLE_REMOTE_ADMINISTRATION = {request.param}\n"
    with personal_pool(tmp_path_factory.mktemp("keys"), knobs) as pool:
        wait_until(lambda: "boss@here" in run_tool(pool, "condor_status", "-master")[1], 30)
        yield pool, request.param == "true"


@pytest.mark.parametrize("tool", CHECKS)
def test_an_administrator_of_the_collector_commands_the_other_daemons(
    pool: tuple[PersonalPool, bool], tool: str, tmp_path: Path
) -> None:
    there, has_keys = pool
    code, said, complaint = run_tool(there, tool, *CHECKS[tool])
    assert (code == 0) == has_keys, said + complaint
    if not has_keys:
        assert "DENIED" in complaint


def test_the_keys_are_shown_to_nobody_who_does_not_ask_as_an_administrator(
    pool: tuple[PersonalPool, bool],
) -> None:
    there, _ = pool
    for kind in ("-master", "-startd", "-schedd", "-any"):
        assert "Capability" not in run_tool(there, "condor_status", kind, "-l")[1]
