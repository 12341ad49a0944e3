"""The one exception of the interface that is its own, and how Kettle's errors become it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from kettle.errors import KettleError


class HTCondorException(Exception):  # noqa: N818 - the wheel's name
    """What a daemon refused or could not be asked, and what cannot be read or written."""


@contextlib.contextmanager
def said_as(words: str | Callable[[KettleError], str]) -> Iterator[None]:
    """Raise HTCondorException with the wheel's words where something of Kettle's fails.

    Programs compare these words. Kettle's own are in the cause.
    """
    try:
        yield
    except KettleError as error:
        text = words if isinstance(words, str) else words(error)
        raise HTCondorException(text) from error


def words_of(error: KettleError) -> str:
    """Return an error's own words."""
    return str(error)
