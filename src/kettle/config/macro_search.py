"""Where the macros of a text stand: `$(NAME)`, `$(NAME:default)`, `$FUNCTION(...)`.

Texts come from anybody who submits, and may open brackets without end. So no part of a text is
read again for every opening in it, nor after every replacement: it is known which openings nothing
closes, and how many brackets the rest of the text would close.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from kettle.config import functions
from kettle.patterns import late_pattern

# A name holds no blanks, dashes or brackets; only it and `$ENV()` may have a default. The letters
# after F are those that `compute_file_name` knows, in either case.
START = late_pattern(r"\$(ENV|" + "|".join(functions.FUNCTIONS) + r"|F[abdfnpquwxABDFNPQUWX]*)?\(")
# Nothing is a name too, one that nobody sets.
NAME = late_pattern(r"[A-Za-z0-9_.]*")
BRACKET = late_pattern(r"[()]")
# What no default holds, and the brackets within one, in which anything may stand.
# Compat: as the reference has it (test_a_default_is_of_plain_letters).
_ODD = late_pattern(r"[^A-Za-z0-9_ ,./:\\$)]")


class Reference(NamedTuple):
    """One macro in a text: where it stands and what is in its brackets."""

    start: int
    end: int
    function: str
    name: str
    # Where its default begins; 0 if it has none.
    default_start: int = 0

    def default(self, text: str) -> str:
        """Return its default in the text, empty if there is none."""
        return text[self.default_start : self.end - 1] if self.default_start else ""


class _Closing(NamedTuple):
    """A bracket that closes what is open before it, and the next one of that kind."""

    distance: int
    closes: int
    next: _Closing | None


class Closings:
    """Where what is open at any place of a text is closed.

    Places are counted from the end of the text, where they stay when something before changes.
    """

    def __init__(self, text: str) -> None:
        self._distances: list[int] = []
        self._states: list[_Closing | None] = []
        self._size = 0
        self._prepend(text)

    def find(self, position: int) -> int:
        """Return where the bracket that is open at `position` closes, -1 if it does not."""
        state = self._state(position)
        return self._size - state.distance if state else -1

    def count(self, position: int) -> int:
        """Return how many brackets that are open at `position` the rest of the text closes."""
        state = self._state(position)
        return state.closes if state else 0

    def replace(self, start: int, end: int, value: str) -> None:
        """Follow a replacement; what is before it is not asked for any more."""
        tail = self._size - end
        keep = bisect_right(self._distances, tail)
        del self._distances[keep:], self._states[keep:]
        self._size = tail
        self._prepend(value)
        self._size += start

    def _state(self, position: int) -> _Closing | None:
        known = bisect_right(self._distances, self._size - position)
        return self._states[known - 1] if known else None

    def _prepend(self, text: str) -> None:
        state = self._states[-1] if self._states else None
        self._size += len(text)
        for position in reversed([found.start() for found in BRACKET.finditer(text)]):
            if text[position] == ")":
                closes = state.closes + 1 if state else 1
                state = _Closing(self._size - position, closes, state)
            elif state is not None:
                state = state.next
            self._distances.append(self._size - position)
            self._states.append(state)


class _Unclosed(NamedTuple):
    """A `$(NAME:` that nothing closes; `depth` counts the brackets open behind it."""

    start: int
    end: int
    function: str
    name: str
    depth: int


class MacroSearch:
    """Finds the macros of a text one after the other, while they are replaced.

    `position` is where the next search begins.
    """

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position
        self._closings: Closings | None = None
        # From the first to the last; each is deeper than the one before.
        self._unclosed: list[_Unclosed] = []

    def next(self) -> Reference | None:
        """Return the first macro at or after the position, None if there is none."""
        text = self.text
        for match in START.finditer(text, self.position):
            start, body = match.span()
            if start and text[start - 1] == "$" and _is_the_matchmakers(text, start):
                continue
            function = match.group(1) or ""
            if function not in ("", "ENV"):
                close = text.find(")", body)
                # Without a bracket no other macro ends either.
                if close < 0:
                    return None
                return Reference(start, close + 1, function, text[body:close])
            found = self._named(start, body, function)
            if found is not None:
                return found
        return None

    def replace(self, found: Reference, value: str) -> None:
        """Put a value in the place of a macro; the next search begins behind it."""
        self.text = self.text[: found.start] + value + self.text[found.end :]
        self.position = found.start + len(value)
        if self._closings is not None:
            self._closings.replace(found.start, found.end, value)

    def look_again(self, start: int) -> Reference | None:
        """Return the first macro of the whole text, in which something at `start` is new.

        Nothing before it was a macro, and only two things can have become one: an opening that
        the new text closes, and what begins with the last dollar before the new text.
        """
        dollar = self.text.rfind("$", 0, start)
        while self._unclosed and self._unclosed[-1].start >= start:
            self._unclosed.pop()
        if self._unclosed:
            assert self._closings is not None
            last = self._unclosed[-1]
            most = self._depth(start) - self._closings.count(start)
            closed = bisect_right(self._unclosed, most, key=lambda one: one.depth)
            found = self._closed(closed)
            if found is not None:
                return found
            if self._unclosed and dollar == last.start:
                dollar = start
        self.position = dollar if dollar >= 0 else start
        return self.next()

    def _closed(self, index: int) -> Reference | None:
        """Return the first opening from `index` on that is a macro now; all of them are closed."""
        assert self._closings is not None
        closed = self._unclosed[index:]
        del self._unclosed[index:]
        for start, end, function, name, _ in closed:
            close = self._closings.find(end)
            if self._is_default(end + 1, close):
                return Reference(start, close + 1, function, name, end + 1)
        return None

    def _is_default(self, position: int, close: int) -> bool:
        """Tell whether what stands there is a default: brackets in it are stepped over."""
        assert self._closings is not None
        while (odd := _ODD.search(self.text, position, close)) is not None:
            if odd.group() != "(":
                return False
            position = self._closings.find(odd.end()) + 1
        return True

    def _named(self, start: int, body: int, function: str) -> Reference | None:
        text = self.text
        name = NAME.match(text, body)
        if name is None or (function and not name.group()):
            return None
        end = name.end()
        after = text[end : end + 1]
        if after == ")":
            return Reference(start, end + 1, function, name.group())
        if after != ":":
            return None
        if self._closings is None:
            self._closings = Closings(text)
        close = self._closings.find(end)
        if close >= 0:
            plain = self._is_default(end + 1, close)
            return Reference(start, close + 1, function, name.group(), end + 1) if plain else None
        self._unclosed.append(_Unclosed(start, end, function, name.group(), self._depth(end)))
        return None

    def _depth(self, position: int) -> int:
        """Return how many brackets are open, counted from the first opening nothing closes."""
        if not self._unclosed:
            return 0
        last = self._unclosed[-1]
        text = self.text
        opened = text.count("(", last.end, position)
        return last.depth + opened - text.count(")", last.end, position)


def _is_the_matchmakers(text: str, position: int) -> bool:
    """Tell whether a dollar is the second of a pair: pairs stay, what is left over begins a macro.

    So `$$(x)` stays as it is, and in `$$$(x)` a pair stands before a macro.
    """
    first = position
    while first and text[first - 1] == "$":
        first -= 1
    return (position - first) % 2 == 1


def closing_bracket(text: str, position: int) -> int:
    """Return where the bracket that is open at `position` closes, -1 if it does not."""
    depth = 1
    for found in BRACKET.finditer(text, position):
        depth += 1 if found.group() == "(" else -1
        if depth == 0:
            return found.start()
    return -1
