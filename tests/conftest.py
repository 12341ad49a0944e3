"""What all tests share: second chances, edges of machines, patience with examples.

Properties are judged by what they find, not by how long a slow machine takes to draw an example.
"""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

import edge_coverage
import second_chance

settings.register_profile(
    "patient", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Take the hooks of the two."""
    for plugin in (second_chance, edge_coverage):
        config.pluginmanager.register(plugin)


def pytest_collection_finish() -> None:
    """Keep the tests themselves, which stay to the end, out of all collections of garbage."""
    gc.collect()
    gc.freeze()
