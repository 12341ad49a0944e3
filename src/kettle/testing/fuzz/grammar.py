"""Texts out of a grammar: what a language allows, nested and put together as nobody would.

A rule has alternatives; each is a text in which `` `name` `` stands for what the rule of that name
gives, `` `name*` `` for any number of these, and `` `name+` `` for one or more. How often an
alternative is written is how often it is taken.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence

from kettle.named_tuples import NamedTuple

Rules = Mapping[str, Sequence[str]]
_REFERENCE = re.compile(r"`(\w+[*+]?)`")
# How many there are of what is repeated.
_MOST_REPEATED = 7
# How much deeper than it must a text is nested before it takes the shortest way out.
_DEPTHS = (1, 2, 2, 3, 4, 6, 9)
# Limit: after so many rules a text takes the shortest way out, too.
_MOST_RULES = 400
_ENDLESS = 1 << 30


class _Part(NamedTuple):
    """A piece of an alternative: a text, or the name of a rule and how often it is taken at least.

    `most` is 1 for what is not repeated.
    """

    text: str
    is_rule: bool = False
    least: int = 1
    most: int = 1


class Grammar:
    """Rules, of which `start` gives whole texts."""

    def __init__(self, rules: Rules, start: str) -> None:
        self._rules = {
            name: [_parts(text) for text in alternatives] for name, alternatives in rules.items()
        }
        self._start = start
        self._least = self._least_depths()
        endless = [name for name, least in self._least.items() if least >= _ENDLESS]
        if endless:
            raise ValueError(f"rules without an end: {endless}")
        # What a rule takes when it has to come to an end.
        self._short = {
            name: [parts for parts in alternatives if self._depth_of(parts) < self._least[name]]
            for name, alternatives in self._rules.items()
        }

    def make(self, source: random.Random, start: str = "") -> str:
        """Return a text; the same source gives the same."""
        start = start or self._start
        depth = self._least[start] + source.choice(_DEPTHS)
        return "".join(self._pieces(source, start, depth))

    def _pieces(self, source: random.Random, start: str, depth: int) -> Iterator[str]:
        left = _MOST_RULES
        # What is still to come, the next last.
        coming = [(_Part(start, is_rule=True), depth)]
        while coming:
            part, depth = coming.pop()
            if not part.is_rule:
                yield part.text
                continue
            left -= 1
            hurried = depth <= 0 or left <= 0
            often = part.least
            if part.most > 1 and not hurried:
                often = source.randint(part.least, part.most)
            ways = (self._short if hurried else self._rules)[part.text]
            for _ in range(often):
                coming += ((each, depth - 1) for each in reversed(source.choice(ways)))

    def _least_depths(self) -> dict[str, int]:
        """Return how many rules, one within the other, each rule needs at least."""
        self._least = dict.fromkeys(self._rules, _ENDLESS)
        while True:
            least = {
                name: min(self._depth_of(parts) for parts in alternatives) + 1
                for name, alternatives in self._rules.items()
            }
            if least == self._least:
                return least
            self._least = least

    def _depth_of(self, parts: Sequence[_Part]) -> int:
        needed = (self._least[part.text] for part in parts if part.is_rule and part.least)
        return min(max(needed, default=0), _ENDLESS)


def _parts(text: str) -> list[_Part]:
    """Return the pieces of an alternative."""
    pieces = enumerate(_REFERENCE.split(text))
    return [_rule(piece) if number % 2 else _Part(piece) for number, piece in pieces if piece]


def _rule(name: str) -> _Part:
    if name[-1] in "*+":
        return _Part(name[:-1], True, int(name[-1] == "+"), _MOST_REPEATED)
    return _Part(name, True)
