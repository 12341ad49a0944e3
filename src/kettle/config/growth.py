"""How long the expansion of a text would be, without making it.

Names that mention the next one twice double the text each. What a name turns into is counted once
here, however often it is mentioned; what functions, defaults and the environment give is not
counted, so that what is found is what there is at least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from kettle.config.macro_search import MacroSearch

# Limit: how many mentions of the way to the end of a text are told one by one.
_MOST_TOLD = 3
# Limit: what is more is as good as this.
_MOST_COUNTED = 10**15


class Growth(NamedTuple):
    """What a text turns into at least, and the names it mentions, with how often."""

    length: int
    replacements: int
    mentioned: Counter[str]


class Foresight:
    """Counts what texts of one set of names would become."""

    def __init__(self, lookup: Callable[[str], str | None], deepest: int) -> None:
        self._lookup = lookup
        self._deepest = deepest
        self._known: dict[str, Growth] = {}

    def of_text(self, text: str, depth: int = 0) -> Growth:
        """Return what a text turns into at least."""
        mentioned: Counter[str] = Counter()
        length, replacements = len(text), 0
        search = MacroSearch(text)
        while (found := search.next()) is not None:
            search.position = found.end
            if found.function or not found.name:
                continue
            inner = self._of_name(found.name.upper(), depth + 1)
            if inner is not None:
                mentioned[found.name.upper()] += 1
                length += inner.length - (found.end - found.start)
                replacements += inner.replacements + 1
        return Growth(length, replacements, mentioned)

    def _of_name(self, key: str, depth: int) -> Growth | None:
        known = self._known.get(key)
        if known is not None:
            return known
        raw = self._lookup(key)
        if not raw or depth > self._deepest:
            return None
        # Where a name mentions itself again, the circle is for others to tell of.
        self._known[key] = Growth(0, 0, Counter())
        self._known[key] = growth = self.of_text(raw, depth)
        return growth

    def explain(self, growth: Growth) -> str:
        """Return the sentence about the name that makes a text grow most."""
        way: list[str] = []
        here = growth
        while here.mentioned and len(way) <= self._deepest:
            name = self._heaviest(here)
            way.append(name)
            here = self._known[name]
        told = [
            f"{one} mentions {other} {_times(self._known[one].mentioned[other])}"
            for one, other in pairwise(way)
        ]
        if len(told) > _MOST_TOLD:
            told[_MOST_TOLD:] = [f"and so on through {len(way)} names"]
        count = min(growth.replacements, _MOST_COUNTED)
        said = f"the expansion of {way[0]} has no end ({count:,} replacements or more)"
        return f"{said}: {', '.join(told)}" if told else said

    def _heaviest(self, growth: Growth) -> str:
        def weight(name: str) -> tuple[int, int]:
            known = self._known[name]
            return growth.mentioned[name] * (known.replacements + 1), known.length

        return max(growth.mentioned, key=weight)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
