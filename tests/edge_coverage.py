"""Every edge of every machine's table fires in some test, or the session fails.

Rows are watched while a session runs all unit tests and scenarios; a session that runs some of them
only says nothing. Workers of xdist each watch, and what fired in one of them has fired. Daemons of
real pools are not watched. What never fires and is known not to is listed; the list may only
shrink.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
WATCHED = ("unit", "scenario")
# What a worker's edges are called in what it hands on.
WORKERS_EDGES = "edges"
# Edges that no test fires yet.
KNOWN: set[str] = set()

_expected: set[str] = set()
_fired: set[str] = set()


def _watch(row: Any, field: str, name: Callable[..., str | None]) -> None:
    """Note the name of what fires whenever a row's function is called."""
    function = getattr(row, field)

    def noted(*arguments: Any) -> Any:
        result = function(*arguments)
        fired = name(result, *arguments)
        if fired is not None:
            _fired.add(fired)
        return result

    noted.__name__ = function.__name__
    noted.__doc__ = function.__doc__
    object.__setattr__(row, field, noted)


class _Watched(dict[Any, Any]):
    """A table found by its key: what is asked for fires."""

    def __init__(self, machine: str, table: dict[Any, Any]) -> None:
        super().__init__(table)
        self._machine = machine
        _expected.update(_key(machine, key) for key in table)

    def get(self, key: Any, default: Any = None) -> Any:
        if key in self:
            _fired.add(_key(self._machine, key))
        return super().get(key, default)


def _key(machine: str, key: tuple[Any, Any]) -> str:
    return f"{machine}: {key[0].name} {getattr(key[1], '__name__', key[1])}"


def _numbered(machine: str, rows: Any) -> Iterator[tuple[str, Any]]:
    """Name rows by source, event and the guard where there are several."""
    for row in rows:
        event = getattr(row, "on", None) or row.event
        words = [row.source.name, getattr(event, "__name__", "") or event.name]
        yield f"{machine}: {' '.join(words)} {row.when.__name__.strip('_')} {row.target.name}", row


def watch() -> None:
    """Put a watch on every machine."""
    from kettle.master import child_machine
    from kettle.schedd import claims, job_machine
    from kettle.shadow import shadow_machine
    from kettle.startd import claim_machine, slot_machine

    for machine, table in (
        ("slot", slot_machine.TRANSITIONS),
        ("child", child_machine.TRANSITIONS),
    ):
        for name, row in _numbered(machine, table):
            _expected.add(name)
            _watch(row, "do", lambda _result, *_arguments, name=name: name)
    for name, row in _numbered("shadow", shadow_machine.TRANSITIONS):
        _expected.add(name)
        # The first row whose guard holds wins.
        _watch(row, "when", lambda holds, *_arguments, name=name: name if holds else None)
    for row in job_machine.TRANSITIONS:
        words = f"{row.event.__name__} {row.when.__name__.strip('_')} {row.target.name}"
        _expected.update(f"job: {source.name} {words}" for source in row.sources)
        _watch(row, "do", lambda _result, ad, *_rest, words=words: f"job: {_status(ad)} {words}")
    claims._BY_EDGE = _Watched("schedd's claim", claims._BY_EDGE)
    claim_machine._TARGETS = _Watched("claim", claim_machine._TARGETS)  # type: ignore[misc]


def _status(ad: Any) -> str:
    from kettle.attributes.codes import JobStatus

    return JobStatus(ad.integer("JobStatus") or 0).name


def pytest_collection_finish(session: pytest.Session) -> None:
    """Watch, if the session runs everything that may fire an edge."""
    if session.config.getoption("collectonly"):
        return
    collected = {item.path for item in session.items}
    wanted = {path for room in WATCHED for path in (TESTS / room).rglob("test_*.py")}
    if wanted and wanted <= collected and not session.config.getoption("keyword"):
        watch()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker watched; one that died has nothing to say, and its test failed."""
    expected, fired = getattr(node, "workeroutput", {}).get(WORKERS_EDGES, ((), ()))
    _expected.update(expected)
    _fired.update(fired)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session if an edge never fired, or one that is listed did; a worker hands on."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[WORKERS_EDGES] = (sorted(_expected), sorted(_fired))
    elif _complaints() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many edges fired, and which are meant, unless tests that may fire them failed."""
    if _expected:
        fired = len(_fired & _expected)
        terminalreporter.line(f"{fired} of {len(_expected)} edges of machines fired")
    failed = terminalreporter.stats.get("failed") or terminalreporter.stats.get("error")
    if not failed and (complaints := _complaints()):
        terminalreporter.section("edges of machines", red=True)
        for line in complaints:
            terminalreporter.line(line)


def _complaints() -> list[str]:
    silent = _expected - _fired
    return [
        *(f"EDGE never fired: {name}" for name in sorted(silent - KNOWN)),
        *(f"EDGE fired now, so take it off the list: {name}" for name in sorted(KNOWN & _fired)),
        *(f"EDGE is no more: {name}" for name in sorted(KNOWN - _expected) if _expected),
    ]
