"""What the machine says about itself."""

from __future__ import annotations

import os

import pytest

from kettle.runtime.machine_facts import read_machine_facts


@pytest.mark.parametrize(
    ("variables", "limit"),
    [
        ({}, None),
        ({"SLURM_CPUS_ON_NODE": "3"}, "3"),
        ({"SLURM_CPUS_ON_NODE": "3", "OMP_THREAD_LIMIT": "2"}, "2"),
        ({"OMP_THREAD_LIMIT": "4"}, None),
        ({"OMP_THREAD_LIMIT": "0", "SLURM_CPUS_ON_NODE": "two"}, None),
        ({"OMP_NUM_THREADS": "1"}, None),
    ],
)
def test_a_batch_system_may_limit_the_processors(
    variables: dict[str, str], limit: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    for name in ("SLURM_CPUS_ON_NODE", "OMP_THREAD_LIMIT", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    facts = read_machine_facts()
    assert facts.get("DETECTED_CPUS_LIMIT") == limit
    assert facts["DETECTED_CPUS"] == "4"
