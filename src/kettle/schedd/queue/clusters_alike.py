"""What the jobs of a cluster have in common is made of their ads once.

Pure. Jobs of one submission mostly differ in little more than their ids, and what is made of each,
where its events go or what its notes are, is the same for thousands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from kettle.classad import ClassAd

T = TypeVar("T")


class Common(Generic[T]):
    """What is made of job ads by some of their attributes: once for all of a cluster's alike."""

    def __init__(
        self, names: frozenset[str], make: Callable[[ClassAd], T], more_names: str | None = None
    ) -> None:
        """`make` looks at `names`, in lower case, and at what the attribute `more_names` lists."""
        self._make = make
        self._names = names if more_names is None else names | {more_names}
        self._more_names = more_names
        # By the identity of the clusters' ads, which live as long as this; None for each its own.
        self._known: dict[int, T | None] = {}

    def of(self, ad: ClassAd) -> T:
        """Return what is made of a job's ad."""
        common = ad.parent
        if common is None or not self._names.isdisjoint(ad.table):
            return self._make(ad)
        key = id(common)
        if key not in self._known:
            self._known[key] = self._make(ad) if self._is_settled(common) else None
        found = self._known[key]
        return self._make(ad) if found is None else found

    def _is_settled(self, common: ClassAd) -> bool:
        """Tell whether all that is looked at are values: an expression may ask the job."""
        if self._more_names is not None and self._more_names in common:
            return False
        found = map(common.lookup, self._names)
        return all(each is None or each.is_literal for each in found)
