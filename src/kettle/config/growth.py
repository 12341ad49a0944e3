"""How long the expansion of a text would be, without making it.

Names that mention the next one twice double the text each. What a name turns into is counted once
here, however often it is mentioned; what functions, defaults and the environment give is not
counted, so that what is found is what there is at least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from kettle.config.macro_search import MacroSearch, Reference
from kettle.named_tuples import NamedTuple

# Limit: how many mentions of the way to the end of a text are told one by one.
_MOST_TOLD = 3
# Limit: what is more is as good as this.
_MOST_COUNTED = 10**15
# Limit: what is counted at all; names that double each other would make numbers of any size.
_MOST_NUMBER = 1 << 1024


class Growth(NamedTuple):
    """What a text turns into at least, and the names it mentions, with how often."""

    length: int
    replacements: int
    mentioned: Counter[str]


class Foresight:
    """Counts what texts of one set of names would become, however deep they lie in each other."""

    def __init__(self, lookup: Callable[[str], str | None]) -> None:
        self._lookup = lookup
        self._known: dict[str, Growth] = {}

    def of_text(self, text: str) -> Growth:
        """Return what a text turns into at least."""
        levels = [_Level("", text)]
        while True:
            level = levels[-1]
            found = level.next()
            if found is None:
                levels.pop()
                growth = level.growth()
                if not levels:
                    return growth
                self._known[level.key] = growth
                levels[-1].add(level.key, growth)
                continue
            key = found.name.upper()
            known = self._known.get(key)
            if known is not None:
                level.add(key, known)
            elif raw := self._lookup(key):
                # Where a name mentions itself again, the circle is for others to tell of.
                self._known[key] = Growth(0, 0, Counter())
                levels.append(_Level(key, raw))

    def explain(self, growth: Growth) -> str:
        """Return the sentence about the name that makes a text grow most."""
        way: dict[str, None] = {}
        here = growth
        while here.mentioned and (name := self._heaviest(here)) not in way:
            way[name] = None
            here = self._known[name]
        told = [
            f"{one} mentions {other} {_times(self._known[one].mentioned[other])}"
            for one, other in pairwise(way)
        ]
        if len(told) > _MOST_TOLD:
            told[_MOST_TOLD:] = [f"and so on through {len(way)} names"]
        count = min(growth.replacements, _MOST_COUNTED)
        said = f"the expansion of {next(iter(way))} has no end ({count:,} replacements or more)"
        return f"{said}: {', '.join(told)}" if told else said

    def _heaviest(self, growth: Growth) -> str:
        def weight(name: str) -> tuple[int, int]:
            known = self._known[name]
            return growth.mentioned[name] * (known.replacements + 1), known.length

        return max(growth.mentioned, key=weight)


class _Level:
    """A text that is being counted, and the name that it is of."""

    __slots__ = ("_found", "_length", "_mentioned", "_replacements", "_search", "key")

    def __init__(self, key: str, text: str) -> None:
        self.key = key
        self._search = MacroSearch(text)
        self._found: Reference | None = None
        self._mentioned: Counter[str] = Counter()
        self._length = len(text)
        self._replacements = 0

    def next(self) -> Reference | None:
        """Return the next mention of a name, None behind the last."""
        while (found := self._search.next()) is not None:
            self._search.position = found.end
            if found.name and not found.function:
                break
        self._found = found
        return found

    def add(self, key: str, inner: Growth) -> None:
        """Count what the mention that was found last turns into."""
        assert self._found is not None
        self._mentioned[key] += 1
        self._length += inner.length - (self._found.end - self._found.start)
        self._replacements += inner.replacements + 1

    def growth(self) -> Growth:
        """Return what the text turns into."""
        length, replacements = self._length, self._replacements
        return Growth(min(length, _MOST_NUMBER), min(replacements, _MOST_NUMBER), self._mentioned)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
