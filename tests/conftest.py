"""What all tests share: the second chance of those with real processes, and patience with examples.

Properties are judged by what they find, not by how long a slow machine takes to draw an example.
"""

from hypothesis import HealthCheck, settings

from second_chance import (  # noqa: F401 - pytest finds hooks by their names here
    pytest_collection_modifyitems,
    pytest_report_teststatus,
    pytest_runtest_protocol,
    pytest_runtestloop,
    pytest_terminal_summary,
)

settings.register_profile(
    "patient", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")
