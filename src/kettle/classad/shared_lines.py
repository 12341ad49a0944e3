"""The lines of ads that are chained to the same ad, whose own lines are made only once."""

from __future__ import annotations

from collections.abc import Callable

from kettle.classad.ad import ClassAd

# Limit: sets of names that children have themselves; jobs of a cluster have one or two.
_MOST_SETS = 16


class SharedLines:
    """Returns ads as lines; those of the last ad of the chain come from the time before.

    `keep` says of a line whether it is wanted. What is shared is taken as it was when it was first
    asked for: nobody may change it.
    """

    def __init__(self, keep: Callable[[str], bool]) -> None:
        self._keep = keep
        self._shared: ClassAd | None = None
        # The lines of the shared ad without those names that children have themselves.
        self._rest: dict[frozenset[str], list[str]] = {}

    def of(self, ad: ClassAd) -> list[str]:
        """Return the wanted lines of an ad, those of the ads it is chained to last."""
        keep = self._keep
        shared = ad.parent
        if shared is None:
            return [line for line in ad.lines() if keep(line)]
        hidden = set(ad.table)
        while shared.parent is not None:
            hidden.update(shared.table)
            shared = shared.parent
        lines = [line for line in ad.lines(above=shared) if keep(line)]
        lines += self._rest_of(shared, frozenset(hidden.intersection(shared.table)))
        return lines

    def _rest_of(self, shared: ClassAd, hidden: frozenset[str]) -> list[str]:
        if shared is not self._shared:
            self._shared = shared
            self._rest.clear()
        found = self._rest.get(hidden)
        if found is None:
            rest = shared.copy()
            for name in hidden:
                del rest[name]
            found = [line for line in rest.lines() if self._keep(line)]
            if len(self._rest) < _MOST_SETS:
                self._rest[hidden] = found
        return found
