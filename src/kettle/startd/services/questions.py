"""What programs of the machine are asked: the answer that counts is the newest question's."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from kettle.runtime import tasks


class Questions:
    """The last question of each kind."""

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Task[object]] = {}

    def ask(self, kind: str, question: Coroutine[Any, Any, object]) -> None:
        """Begin to ask; a question of the kind that is still open is about something older."""
        earlier = self._last.get(kind)
        if earlier is not None:
            earlier.cancel()
        self._last[kind] = tasks.spawn(question, kind)

    def close(self) -> None:
        """Ask no more."""
        for question in self._last.values():
            question.cancel()
