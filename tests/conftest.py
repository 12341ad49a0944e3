"""What all tests share: second chances, edges of machines, patience with examples, workers.

Properties are judged by what they find, not by how long a slow machine takes to draw an example.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import edge_coverage
import second_chance

# Limit: more workers than this wait for each other's pools.
MOST_WORKERS = 8

settings.register_profile(
    "patient", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Take the hooks of the two."""
    for plugin in (second_chance, edge_coverage):
        config.pluginmanager.register(plugin)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run folders on all cores, with a worker more since pools wait; named files here, at once.

    A number that `-n` or PYTEST_XDIST_AUTO_NUM_WORKERS gives counts before this.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    paths = [Path(config.invocation_params.dir, word.partition("::")[0]) for word in config.args]
    if config.getoption("capture") == "no" or all(path.is_file() for path in paths):
        return 0
    return min(len(os.sched_getaffinity(0)) + 1, MOST_WORKERS)


def pytest_collection_finish() -> None:
    """Keep the tests themselves, which stay to the end, out of all collections of garbage."""
    gc.collect()
    gc.freeze()
