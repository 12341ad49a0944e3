"""Questions to the resolver, which answers when it likes: asked beside the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from kettle.runtime.process.aside import ThreadedAside

T = TypeVar("T")

_RESOLVER = ThreadedAside(limit=4)


def ask_resolver(question: Callable[[], T]) -> asyncio.Future[T]:
    """Return what a call says that may look names up, soon; its errors are the result's."""
    return _RESOLVER.run(question)
