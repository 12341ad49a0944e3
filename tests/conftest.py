"""What all tests share: the second chance of those with real processes."""

from second_chance import (  # noqa: F401 - pytest finds hooks by their names here
    pytest_collection_modifyitems,
    pytest_report_teststatus,
    pytest_runtest_protocol,
    pytest_runtestloop,
    pytest_terminal_summary,
)
