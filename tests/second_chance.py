"""A second chance, said aloud, for tests with real processes on a machine that has other work.

Such a test waits for facts with generous bounds, and still a machine may stand still for longer.
One that fails is deferred: run once more when all others are through, or with workers of xdist all
others of its worker. Passing then makes it FLAKED, which the summary shouts with its name and its
first failure; failing again is a failure. Tests without real processes get no second chance, and
neither do many at once, on all workers together: that is a fault.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

# Folders of tests that wait for real processes.
WITH_PROCESSES = ("pool", "interop", "docs")
# Limit: more failures than this are no accident of a busy machine.
MOST = 5
# Limit: what is shown of a first failure; its end says most.
SHOWN_LINES = 500
# Limit: one test with real processes, its pools' start and end included. The waits in it are
# bounded by themselves, the longest by 300 s (`pool_jobs.wait_until`), and say what for;
# this ends what hangs elsewhere, and costs time only then.
TEST_SECONDS = 400

_deferred = pytest.StashKey[list[tuple[pytest.Item, list[pytest.TestReport]]]]()
_first_failure = pytest.StashKey[str]()


def has_second_chance(item: pytest.Item) -> bool:
    """Whether a test may be run again: it lies in one of the folders, below its conftest's."""
    return item.path.relative_to(Path(__file__).parent).parts[0] in WITH_PROCESSES


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests with real processes the time that a slow machine may need."""
    for item in filter(has_second_chance, items):
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test with real processes; put its failure aside the first time."""
    if not has_second_chance(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    failed = [report for report in reports if report.failed]
    first = item.stash.get(_first_failure, None)
    if first is not None:
        for report in reports:
            report.sections.insert(0, ("The first failure", first))
            if report.passed and report.when == "call" and not failed:
                report.flaked = True  # type: ignore[attr-defined]
    elif failed:
        # What was written meanwhile, such as the daemons' logs, comes before what it ended with.
        said = dict.fromkeys(report.capstdout for report in failed)
        texts = [*said, *(report.longreprtext for report in failed)]
        item.stash[_first_failure] = "\n".join(texts)
        item.session.stash.setdefault(_deferred, []).append((item, failed))
        for report in failed:
            report.outcome = "deferred"  # type: ignore[assignment]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """After all tests, run those again that were put aside."""
    waiting = session.stash.setdefault(_deferred, [])
    try:
        result = yield
    except BaseException:
        _give_up(waiting)
        raise
    if len(waiting) > MOST:
        _give_up(waiting)
        return result
    items = [item for item, _ in waiting]
    for item, after in itertools.zip_longest(items, items[1:]):
        _turn_to(item)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
    return result


def _first_failures(config: pytest.Config) -> set[str]:
    """Return the tests that were put aside, on whichever worker."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return {report.nodeid for report in reporter.stats.get("deferred", ())} if reporter else set()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session whose workers put aside more together than is an accident."""
    if len(_first_failures(session.config)) > MOST and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _give_up(waiting: list[tuple[pytest.Item, list[pytest.TestReport]]]) -> None:
    """Report as failures what was put aside."""
    for item, reports in waiting:
        _turn_to(item)
        for report in reports:
            report.outcome = "failed"
            item.ihook.pytest_runtest_logreport(report=report)


def _turn_to(item: pytest.Item) -> None:
    """Have a worker of xdist report a test that is not the last one that it was given.

    It insists that what it reports is of its present item, and nobody hears of anything else.
    """
    for plugin in item.config.pluginmanager.get_plugins():
        if hasattr(plugin, "item_index"):
            plugin.item_index = item.session.items.index(item)


def pytest_report_teststatus(
    report: pytest.TestReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Name the two outcomes that pytest does not know."""
    if getattr(report, "flaked", False):
        return "flaked", "~", ("FLAKED", {"yellow": True, "bold": True})
    if report.outcome == "deferred":  # type: ignore[comparison-overlap]
        return "deferred", "?", ("DEFERRED", {"yellow": True})
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shout the names of those that passed at the second try only."""
    if (many := len(_first_failures(terminalreporter.config))) > MOST:
        terminalreporter.line(f"{many} tests failed at their first try: no accident", red=True)
    flaked = terminalreporter.stats.get("flaked", [])
    if not flaked:
        return
    terminalreporter.section("failed, and passed at the second try: mend these", sep="!", red=True)
    for report in flaked:
        said = dict(report.sections)["The first failure"].strip().splitlines()
        for line in said[-SHOWN_LINES:]:
            terminalreporter.line(line)
        terminalreporter.line(f"FLAKED {report.nodeid}: {said[-1] if said else ''}", yellow=True)
