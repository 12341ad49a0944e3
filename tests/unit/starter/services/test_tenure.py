"""What a starter says between two jobs of its claim, and to whom."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.starter.services import tenure
from kettle.starter.services.tenure import Tenure
from kettle.wire.messages.short_way import ActivationRefused as Answer
from kettle.wire.messages.starter_control import ActivationRefused


def test_a_shadow_that_goes_before_it_is_refused_ends_no_starter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The startd has the claim still, and may have the next job of it."""
    posted: list[Answer] = []

    class Line:
        def interrupt(self) -> None: ...

        def post(self, answer: Answer) -> None:
            posted.append(answer)
            raise ConnectionLost("the shadow is gone")

    async def job(_line: object) -> bytes:
        return b"\0" * 64

    async def refuse(_job: bytes) -> ActivationRefused:
        return ActivationRefused(ClassAd({"Code": 1}))

    monkeypatch.setattr(tenure, "_receive_job", job)
    monkeypatch.setattr(tenure, "Reader", lambda _job: SimpleNamespace(ad=lambda: ClassAd()))
    control = SimpleNamespace(has_news=lambda: False, on_news=None, ask_activation=refuse)
    line: Any = Line()
    around: Any = SimpleNamespace(control=control)
    assert asyncio.run(Tenure(around, stays=True)._asked_for_on(line)) is None
    assert len(posted) == 1
