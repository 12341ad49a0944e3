"""What `$(NAME)`, `$(NAME:default)` and `$FUNCTION(...)` turn into.

A function over a lookup: it knows neither files nor configuration nor submit descriptions, and
both languages use it. Rules shown by the vectors `config/cases.json`:

* The leftmost macro is replaced first and the result is looked at again, so a default may hold
  macros and a name may be put together from pieces.
* `$$(` and `$$([` belong to the matchmaker and stay.
* What is not a macro, such as `$( B )` or `$(B-C)`, stays as text.
* Functions end at the first closing bracket; they do not nest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

NAME_CHARACTERS = re.compile(r"[A-Za-z0-9_.]+")
PLAIN_MACRO = re.compile(r"\$\(([A-Za-z0-9_.]+)")

# Limit: a text that grows without end is as bad as a circle; 10,000 replacements and 4 MiB are
# far above any configuration that a person wrote.
MOST_REPLACEMENTS = 10_000
LONGEST_TEXT = 4 << 20


class Expander:
    """Expansion with one set of sources."""

    def __init__(
        self,
        lookup: Callable[[str], str | None],
        environment: Callable[[str], str | None],
        random: Callable[[], Random],
        *,
        on_problem: Callable[[str], None],
    ) -> None:
        self.lookup = lookup
        self.environment = environment
        self.random = random
        self.on_problem = on_problem

    def expand(self, text: str) -> str:
        """Return the text with every macro replaced; raise ConfigError for a circle."""
        if "$" not in text:
            return text
        return self._expand(text, ()).replace("\0DOLLAR\0", "$")

    def _expand(self, text: str, active: tuple[str, ...]) -> str:
        steps = 0
        position = 0
        while True:
            match = PLAIN_MACRO.search(text, position)
            if match is None:
                return text
            start, end = match.span()
            if start and text[start - 1] == "$":
                position = end
                continue
            name = match.group(1)
            default = ""
            if text[end : end + 1] == ":":
                close = closing_bracket(text, end)
                if close < 0:
                    position = start + 2
                    continue
                default = text[end + 1 : close]
                end = close + 1
            elif text[end : end + 1] == ")":
                end += 1
            else:
                position = start + 2
                continue
            key = name.upper()
            if key in active:
                chain = " -> ".join((*active[active.index(key) :], key))
                raise ConfigError(f"{name} refers to itself: {chain}")
            raw = self.lookup(name) or default
            value = self._expand(raw, (*active, key)) if "$" in raw else raw
            text = text[:start] + value + text[end:]
            position = 0
            steps += 1
            if steps > MOST_REPLACEMENTS or len(text) > LONGEST_TEXT:
                raise ConfigError(f"the expansion of {name} has no end")


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
