"""Which collectors are asked where a startd is, and whose answer counts."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, RemoteProtocolError
from kettle.shadow.services.whereabouts import Place, Whereabouts
from kettle.wire.sinful import Sinful

COLLECTORS = [Sinful.parse(f"<10.0.0.{number}:9618>") for number in (1, 2, 3)]
THERE = Sinful.parse("<10.0.0.9:1>")

Answer = list[ClassAd] | Exception


def told(*births: int) -> list[ClassAd]:
    return [ClassAd({"MyAddress": str(THERE), "DaemonStartTime": birth}) for birth in births]


def ask(*answers: Answer) -> tuple[Place | None, int]:
    """Return what is found with collectors that answer so, and how many were asked."""
    asked: list[Sinful] = []

    async def query(collector: Sinful, _: ClassAd) -> list[ClassAd]:
        asked.append(collector)
        answer = answers[COLLECTORS.index(collector)]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def main() -> Place | None:
        clock, log = SimpleNamespace(steady=lambda: 0.0), SimpleNamespace(full=str)
        over: Any = Whereabouts(SimpleNamespace(clock=clock, log=log))  # type: ignore[arg-type]
        over._collectors = lambda _: COLLECTORS[: len(answers)]
        over._query = query
        found: Place | None = await over.find("ep", "")
        return found

    return asyncio.run(main()), len(asked)


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(ConnectionLost("down"), id="away"),
        pytest.param(TimeoutError(), id="silent"),
        pytest.param(OSError("no route"), id="unreachable"),
        pytest.param(RemoteProtocolError("nonsense"), id="another protocol"),
        pytest.param([], id="just begun"),
        pytest.param([ClassAd()], id="with an ad that tells no address"),
        pytest.param([ClassAd({"MyAddress": "<1.2.3.4"})], id="with half an address"),
    ],
)
def test_the_next_collector_is_asked_where_one_tells_nothing(first: Answer) -> None:
    assert ask(first, told(5)) == (Place(THERE, 5), 2)
    assert ask(first, first, told(5)) == (Place(THERE, 5), 3)
    assert ask(first, first) == (None, 2)


def test_the_first_collector_that_tells_a_place_is_believed_and_the_newest_place_counts() -> None:
    assert ask(told(3, 7, 5), told(9)) == (Place(THERE, 7), 1)


def test_without_a_collector_nobody_tells() -> None:
    assert ask() == (None, 0)
