"""The word that was probably meant: of those that are right the one most like a wrong one.

What is like is `difflib`'s to say, which compares two words in some ten microseconds; so it is
asked of few. `nearest_of` is for one wrong word and few right ones, `Nearest` for many of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain, islice

# How alike two words have to be, from 0 to 1: of few short ones, and of many.
LOOSE, CLOSE = 0.6, 0.75
# Limit: letters of a word that something is looked for; longer ones are no slips of the pen.
LONGEST = 100
# Limit: words that are compared in full with a wrong one.
MOST_COMPARED = 8
# Limit: words of one length that are remembered to have one pair of letters, and those that are
# counted for all pairs of a wrong word: what more have tells little.
MOST_SHARING = 300
MOST_COUNTED = 2000


def nearest_of(word: str, words: Iterable[str], cutoff: float = CLOSE) -> str:
    """Return that of few words which is most like one, in any case of letters; empty for none."""
    if len(word) > LONGEST:
        return ""
    import difflib  # for those alone who mistype

    known = {other.upper(): other for other in words}
    close = difflib.get_close_matches(word.upper(), known, n=1, cutoff=cutoff)
    return known[close[0]] if close else ""


class Nearest:
    """Many words, put in order once by their pairs of letters.

    A look-up costs the same however many there are: of the words that share pairs of letters with
    the wrong one, those that share most are compared.
    """

    def __init__(self, words: Iterable[str], cutoff: float = CLOSE) -> None:
        """`cutoff` is how alike a word has to be, from 0 to 1."""
        self._cutoff = cutoff
        self._words = {word.upper(): word for word in words if len(word) <= LONGEST}
        # By a pair of letters and the length of the words that have it.
        self._sharing: dict[tuple[str, int], list[str]] = {}
        for word in self._words:
            for pair in _pairs(word):
                sharing = self._sharing.setdefault((pair, len(word)), [])
                if len(sharing) < MOST_SHARING:
                    sharing.append(word)

    def of(self, word: str) -> str:
        """Return the word that is most like one, in any case of letters; empty if none is."""
        return nearest_of(word, self.compared(word), self._cutoff)

    def compared(self, word: str) -> list[str]:
        """Return the words that one is compared with, those first that share most with it."""
        if len(word) > LONGEST:
            return []
        from collections import Counter  # for those alone who mistype

        # What is much shorter or longer cannot be like it enough.
        length = len(word)
        least, most = length * self._cutoff / (2 - self._cutoff), length * (2 / self._cutoff - 1)
        likely_lengths = range(math.ceil(least), math.floor(most) + 1)
        having = [
            [self._sharing.get((pair, each), ()) for each in likely_lengths]
            for pair in _pairs(word.upper())
        ]
        # The rarest pairs tell most.
        having.sort(key=lambda lists: sum(map(len, lists)))
        words = chain.from_iterable(chain.from_iterable(having))
        shared = Counter(islice(words, MOST_COUNTED))
        half = max(shared.values(), default=0) / 2
        likely = [other for other, count in shared.items() if count >= half]
        ranked = sorted(
            likely, key=lambda other: shared[other] / (length + len(other)), reverse=True
        )
        return [self._words[other] for other in ranked[:MOST_COMPARED]]


def _pairs(word: str) -> set[str]:
    """Return the pairs of neighbours in a word, its beginning and its end one letter each."""
    whole = f"\0{word}\0"
    return {whole[place : place + 2] for place in range(len(word) + 1)}
