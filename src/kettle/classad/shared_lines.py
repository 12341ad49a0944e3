"""The lines of ads that are chained to the same ad, whose own lines are made only once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

from kettle.classad.ad import ClassAd
from kettle.remembered import Answers

# Limit: sets of names that children have themselves; jobs of a cluster have one or two.
_MOST_SETS = 16
# Limit: the bytes of the names of which it is remembered whether they are wanted.
_MOST_NAMES = 64 * 1024


class SharedLines:
    """Returns ads as lines; those of the last ad of the chain come from the time before.

    Each such ad has its own, for as long as it lives: the jobs of several claims come by turns.
    `keep` says whether an attribute is wanted, by its name. What is shared is taken as it was when
    it was first asked for: nobody may change it.
    """

    def __init__(self, keep: Callable[[str], bool]) -> None:
        self._kept = Answers(keep, _MOST_NAMES)
        # The lines of a shared ad without those names that children have themselves.
        self._rest: WeakKeyDictionary[ClassAd, dict[frozenset[str], list[str]]]
        self._rest = WeakKeyDictionary()

    def of(self, ad: ClassAd) -> list[str]:
        """Return the wanted lines of an ad, those of the ads it is chained to last."""
        shared = ad.parent
        if shared is None:
            return self._lines(ad.texts())
        hidden = set(ad.table)
        while shared.parent is not None:
            hidden.update(shared.table)
            shared = shared.parent
        lines = self._lines(ad.texts(above=shared))
        lines += self._rest_of(shared, frozenset(hidden.intersection(shared.table)))
        return lines

    def _rest_of(self, shared: ClassAd, hidden: frozenset[str]) -> list[str]:
        sets = self._rest.get(shared)
        if sets is None:
            sets = self._rest[shared] = {}
        found = sets.get(hidden)
        if found is None:
            rest = shared.copy()
            for name in hidden:
                del rest[name]
            found = self._lines(rest.texts())
            if len(sets) < _MOST_SETS:
                sets[hidden] = found
        return found

    def _lines(self, texts: Iterable[tuple[str, str]]) -> list[str]:
        kept = self._kept
        return [f"{name} = {text}" for name, text in texts if kept[name]]
