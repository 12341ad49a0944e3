"""What `$(NAME)`, `$(NAME:default)` and `$FUNCTION(...)` turn into.

A function over a lookup: it knows neither files nor configuration nor submit descriptions, and
both languages use it; what the functions compute is `functions.py`. Rules shown by the vectors
`config/cases.json`:

* The leftmost macro is replaced first and the result is looked at again, so a default may hold
  macros and a name may be put together from pieces.
* `$$(` and `$$([` belong to the matchmaker and stay.
* What is not a macro, such as `$( B )` or `$(B-C)`, stays as text.
* Functions end at the first closing bracket; they do not nest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kettle.config import functions
from kettle.errors import ConfigError
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

# A name holds no blanks, dashes or brackets; only it and `$ENV()` may have a default. The letters
# after F are those that `compute_file_name` knows, in either case.
START = late_pattern(r"\$(ENV|" + "|".join(functions.FUNCTIONS) + r"|F[abdfnpquwxABDFNPQUWX]*)?\(")
DOLLAR = "\0$\0"

# Limit: a text that grows without end is as bad as a circle; 10,000 replacements and 4 MiB are
# far above any configuration that a person wrote.
MOST_REPLACEMENTS = 10_000
LONGEST_TEXT = 4 << 20


class Reference(NamedTuple):
    """One macro in a text: where it stands and what is in its brackets."""

    start: int
    end: int
    function: str
    name: str
    default: str | None


class Expander:
    """Expansion with one set of sources.

    `lookup` gives the raw text of a name or None, `environment` that of a variable. `on_problem`
    hears of functions that cannot be computed; the expansion goes on with what they give.
    `absolute` makes a path absolute for `$Ff()`; a configuration leaves it as it is.
    """

    def __init__(
        self,
        lookup: Callable[[str], str | None],
        environment: Callable[[str], str | None],
        random: Callable[[], Random],
        *,
        on_problem: Callable[[str], None],
        absolute: Callable[[str], str] | None = None,
    ) -> None:
        self.lookup = lookup
        self.environment = environment
        self.random = random
        self.on_problem = on_problem
        self.absolute = absolute

    def expand(self, text: str) -> str:
        """Return the text with every macro replaced; raise ConfigError for a circle."""
        if "$" not in text:
            return text
        return self._expand(text, ()).replace(DOLLAR, "$")

    def expand_only(self, text: str, wanted: Callable[[str], bool]) -> str:
        """Replace only the macros whose name is wanted, by their raw text (self reference).

        ConfigError for a text that gets too long: one that mentions itself twice doubles each time.
        """
        pieces: list[str] = []
        copied = position = size = 0
        while (found := find_reference(text, position)) is not None:
            position = found.end
            if found.function in ("", "F") and found.name and wanted(found.name):
                value = self.lookup(found.name) or found.default or ""
                size += found.start - copied + len(value)
                if size > LONGEST_TEXT:
                    raise ConfigError(f"the expansion of {found.name} has no end")
                pieces += (text[copied : found.start], value)
                copied = found.end
                if value.endswith("$") and text.startswith("$(", copied):
                    # What is the matchmaker's stays.
                    position += 2
            elif found.default is not None:
                position = found.start + 2
        pieces.append(text[copied:])
        return "".join(pieces)

    def value(self, name: str, active: tuple[str, ...]) -> str | None:
        """Return the expanded text of a name for a function; None if nobody defines it."""
        raw = self.lookup(name)
        if raw is None or "$" not in raw:
            return raw
        return self._expand(raw, self._enter(name, active))

    def _expand(self, text: str, active: tuple[str, ...]) -> str:
        steps = 0
        while (found := find_reference(text, 0)) is not None:
            text = text[: found.start] + self._replace(found, active) + text[found.end :]
            steps += 1
            if steps > MOST_REPLACEMENTS or len(text) > LONGEST_TEXT:
                raise ConfigError(f"the expansion of {found.name} has no end")
        return text

    def _replace(self, found: Reference, active: tuple[str, ...]) -> str:
        if found.function == "ENV":
            return self._environment_value(found)
        if found.function:
            call = functions.Call(
                found.function,
                found.name,
                lambda name: self.value(name, active),
                self.random,
                self.on_problem,
                self.absolute,
            )
            return functions.compute(call)
        if found.name == "DOLLAR":
            return DOLLAR
        raw = self.lookup(found.name) or found.default or ""
        if "$" not in raw:
            return raw
        return self._expand(raw, self._enter(found.name, active))

    def _environment_value(self, found: Reference) -> str:
        value = self.environment(found.name)
        if value is not None:
            return value
        return "UNDEFINED" if found.default is None else found.default

    def _enter(self, name: str, active: tuple[str, ...]) -> tuple[str, ...]:
        key = name.upper()
        if key in active:
            chain = " -> ".join((*active[active.index(key) :], key))
            # Compat: the reference goes round for ever
            # (test_a_circle_of_macros_is_an_error_that_shows_the_circle).
            raise ConfigError(f"{name} refers to itself: {chain}")
        return (*active, key)


def find_reference(text: str, position: int) -> Reference | None:
    """Return the first macro at or after a position, None if there is none."""
    for match in START.finditer(text, position):
        start, body = match.span()
        if start and text[start - 1] == "$":
            continue
        function = match.group(1) or ""
        if function in ("", "ENV"):
            found = _named(text, start, body, function)
        else:
            close = text.find(")", body)
            found = (
                Reference(start, close + 1, function, text[body:close], None)
                if close >= 0
                else None
            )
        if found is not None:
            return found
    return None


# Nothing is a name too, one that nobody sets.
NAME = late_pattern(r"[A-Za-z0-9_.]*")


def _named(text: str, start: int, body: int, function: str) -> Reference | None:
    name = NAME.match(text, body)
    if name is None or (function and not name.group()):
        return None
    after = text[name.end() : name.end() + 1]
    if after == ")":
        return Reference(start, name.end() + 1, function, name.group(), None)
    if after != ":":
        return None
    close = closing_bracket(text, name.end())
    if close < 0:
        return None
    return Reference(start, close + 1, function, name.group(), text[name.end() + 1 : close])


def closing_bracket(text: str, position: int) -> int:
    """Return where the bracket that is open at `position` closes, -1 if it does not."""
    depth = 1
    for index in range(position, len(text)):
        if text[index] == "(":
            depth += 1
        elif text[index] == ")":
            depth -= 1
            if depth == 0:
                return index
    return -1
