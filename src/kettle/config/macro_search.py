"""Where the macros of a text stand: `$(NAME)`, `$(NAME:default)`, `$FUNCTION(...)`.

Texts come from anybody who submits, and may open brackets without end. So no part of a text is
read again for every opening in it, nor after every replacement: it is known which openings nothing
closes, and how many brackets the rest of the text would close.
"""

from __future__ import annotations

from bisect import bisect_right

from kettle.config import functions
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern

# A name holds no blanks, dashes or brackets; only it and `$ENV()` may have a default. The letters
# after F are those that `compute_file_name` knows, in either case.
START = late_pattern(r"\$(ENV|" + "|".join(functions.FUNCTIONS) + r"|F[abdfnpquwxABDFNPQUWX]*)?\(")
# Nothing is a name too, one that nobody sets.
NAME = late_pattern(r"[A-Za-z0-9_.]*")
BRACKET = late_pattern(r"[()]")
# What a default may hold outside of brackets. What stands in a bracket, up to the first that
# closes one, may be anything.
DEFAULT = late_pattern(r"[A-Za-z0-9_./$ ,\\:]*")


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

    def within(self, start: int, end: int) -> ClosingsWithin:
        """Return the same of a part of the text in which every bracket that opens closes."""
        return ClosingsWithin(self, start, end)


class ClosingsWithin:
    """Where what is open in a part of a text is closed, as long as the text is what it was.

    Defaults that stand in one another would be looked through again for each of them.
    """

    def __init__(self, whole: Closings, start: int, end: int) -> None:
        self._whole = whole
        self._start = start
        self._end = end

    def find(self, position: int) -> int:
        """Return where the bracket that is open at `position` closes, -1 if it does not."""
        found = self._whole.find(self._start + position)
        return found - self._start if 0 <= found < self._end else -1

    def count(self, position: int) -> int:
        """Return how many brackets that are open at `position` the rest of the part closes."""
        return self._whole.count(self._start + position) - self._whole.count(self._end)

    def within(self, start: int, end: int) -> ClosingsWithin:
        """Return the same of a part of this part."""
        return ClosingsWithin(self._whole, self._start + start, self._start + end)


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

    def __init__(
        self, text: str, position: int = 0, closings: ClosingsWithin | None = None
    ) -> None:
        self.text = text
        self.position = position
        self._closings: Closings | ClosingsWithin | None = closings
        # Whether what begins at a place can be the rest of a default.
        self._judged: dict[int, bool] = {}
        # A place, and the first closing bracket behind it.
        self._close = (0, -1)
        # From the first to the last; each is deeper than the one before.
        self._unclosed: list[_Unclosed] = []

    def of_default(self, found: Reference) -> MacroSearch:
        """Return the search of a macro's default, which is there until the macro is replaced."""
        start, end = found.default_start, found.end - 1
        part = None if self._closings is None else self._closings.within(start, end)
        return MacroSearch(self.text[start:end], closings=part)

    def next(self) -> Reference | None:
        """Return the first macro at or after the position, None if there is none."""
        text = self.text
        for match in START.finditer(text, self.position):
            start, body = match.span()
            if self._is_matchmakers(start):
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

    def _is_matchmakers(self, start: int) -> bool:
        """Tell whether a dollar is the second of two; dollars go in pairs."""
        first = start
        while first and self.text[first - 1] == "$":
            first -= 1
        return (start - first) % 2 == 1

    def replace(self, found: Reference, value: str) -> None:
        """Put a value in the place of a macro; the next search begins behind it."""
        self.text = self.text[: found.start] + value + self.text[found.end :]
        self.position = found.start + len(value)
        self._judged.clear()
        self._close = (0, -1)
        if isinstance(self._closings, ClosingsWithin):
            # What is new of a part has to be looked through.
            self._closings = Closings(self.text) if self._unclosed else None
        elif self._closings is not None:
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
            if closed < len(self._unclosed):
                return self._closed(closed)
            if dollar == last.start:
                dollar = start
        self.position = dollar if dollar >= 0 else start
        return self.next()

    def _closed(self, index: int) -> Reference:
        """Return an opening as the macro that it is now."""
        start, end, function, name, _ = self._unclosed[index]
        del self._unclosed[index:]
        close = closing_bracket(self.text, end)
        return Reference(start, close + 1, function, name, end + 1)

    def _named(self, start: int, body: int, function: str) -> Reference | None:
        text = self.text
        name = NAME.match(text, body)
        if name is None:
            return None
        end = name.end()
        after = text[end : end + 1]
        if after == ")":
            return Reference(start, end + 1, function, name.group())
        if after != ":" or not self._may_be_default(end + 1):
            # Compat: it stays none where a later replacement makes it one, as that of the inner
            # macro of `$(A:$$([ $(B) ]))` does in the reference, which begins anew after each
            # (test_what_is_no_default_stays_none).
            return None
        if self._closings is None:
            self._closings = Closings(text)
        close = self._closings.find(end)
        if close >= 0:
            # Compat: brackets are counted; the reference ends a default of brackets in brackets too
            # soon where the name is set, and shows the rest of them
            # (test_a_default_ends_where_its_bracket_closes_whatever_is_nested_in_it).
            return Reference(start, close + 1, function, name.group(), end + 1)
        self._unclosed.append(_Unclosed(start, end, function, name.group(), self._depth(end)))
        return None

    def _may_be_default(self, position: int) -> bool:
        """Tell whether nothing before the closing bracket says that this is no default."""
        path: list[int] = []
        while (known := self._judged.get(position)) is None:
            path.append(position)
            begun = DEFAULT.match(self.text, position)
            stop = begun.end() if begun else position
            after = self.text[stop : stop + 1]
            close = self._first_close(stop) if after == "(" else -1
            if close < 0:
                # What nothing closes is judged by what becomes of the text.
                known = after in ("", "(", ")")
                break
            position = close + 1
        self._judged.update(dict.fromkeys(path, known))
        return known

    def _first_close(self, position: int) -> int:
        first, close = self._close
        if not first <= position <= close:
            close = self.text.find(")", position)
            self._close = (position, close)
        return close

    def _depth(self, position: int) -> int:
        """Return how many brackets are open, counted from the first opening nothing closes."""
        if not self._unclosed:
            return 0
        last = self._unclosed[-1]
        text = self.text
        opened = text.count("(", last.end, position)
        return last.depth + opened - text.count(")", last.end, position)


def closing_bracket(text: str, position: int) -> int:
    """Return where the bracket that is open at `position` closes, -1 if it does not."""
    depth = 1
    for found in BRACKET.finditer(text, position):
        depth += 1 if found.group() == "(" else -1
        if depth == 0:
            return found.start()
    return -1
