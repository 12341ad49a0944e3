"""The iterators of version 1: of queries, of history, and `poll` over several queries.

Limit: a query's answer is read when it is asked, all of it, and not while it is iterated over.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, Self

from kettle.compat.classad.ads import ClassAd
from kettle.compat.htcondor.errors import HTCondorTypeError


class HistoryIterator:
    """The records that a history query found."""

    def __init__(self, ads: Iterable[ClassAd]) -> None:
        self._ads = iter(list(ads))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ClassAd:
        for ad in self._ads:
            return ad
        raise StopIteration("All ads processed")


class QueryIterator:
    """The ads that a query of the queue found; `tag` is the name that it was given."""

    def __init__(self, ads: Iterable[ClassAd], tag: str) -> None:
        self._ads = list(ads)
        self._next = 0
        self._tag = tag
        self._descriptor: int | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self, mode: object = None) -> ClassAd:
        del mode
        if self.done():
            raise StopIteration("All ads processed")
        self._next += 1
        return self._ads[self._next - 1]

    def nextAdsNonBlocking(self) -> list[ClassAd]:  # noqa: N802 - the wheel's name
        """Return what is there and has not been returned yet."""
        found, self._next = self._ads[self._next :], len(self._ads)
        return found

    def done(self) -> bool:
        """Return whether all ads have been returned."""
        return self._next >= len(self._ads)

    def tag(self) -> str:
        """Return the name that the query was given, else the schedd's."""
        return self._tag

    def watch(self) -> int:
        """Return a descriptor that can be read when there are ads, as there always are."""
        if self._descriptor is None:
            self._descriptor = os.eventfd(1)
        return self._descriptor

    def __del__(self) -> None:
        if getattr(self, "_descriptor", None) is not None:
            os.close(self._descriptor)  # type: ignore[arg-type]
            self._descriptor = None


class BulkQueryIterator:
    """The queries of `poll`, each once, with its answer."""

    def __init__(self, queries: Iterable[QueryIterator]) -> None:
        self._queries = iter(list(queries))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> QueryIterator:
        return next(self._queries)


def poll(queries: Iterable[QueryIterator], timeout_ms: int = 20000) -> BulkQueryIterator:
    """Return an iterator over the queries as their answers are there."""
    del timeout_ms
    if not isinstance(queries, Iterable):
        raise HTCondorTypeError("Unable to iterate over query object.")
    return BulkQueryIterator(queries)


class SubmitJobsIterator:
    """The ads of the jobs that a description stands for."""

    def __init__(self, ads: Iterator[Any]) -> None:
        self._ads = ads
        self._cluster: ClassAd | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ClassAd:
        found: ClassAd = next(self._ads)
        if self._cluster is None:
            self._cluster = ClassAd(found)
        return found

    def clusterad(self) -> ClassAd:
        """Return what the jobs have in common, once the first one has been read."""
        if self._cluster is None:
            from kettle.compat.htcondor.errors import HTCondorValueError

            raise HTCondorValueError("No cluster ad")
        return self._cluster


class QueueItemsIterator:
    """The items of a queue statement, a dictionary each."""

    def __init__(self, items: Iterable[dict[str, str]] | None) -> None:
        self._items = iter(list(items or []))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> dict[str, str]:
        return next(self._items)
