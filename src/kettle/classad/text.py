r"""Single values as text: string literals of old syntax, to and fro, and reals.

Nobody else puts a text between double quotes.
Old syntax escapes nothing but the quote. A backslash stands for itself, so a literal that ends in
one is read as such only where it ends the whole text: `"C:\"` is a value, but inside an expression
its last two characters would be an escaped quote and what follows would belong to the string.
`quote_operand` is for that place. New syntax (`quote`, `unquote`) is `unparse.py`'s.
"""

from __future__ import annotations

import math
from typing import Final

from kettle.patterns import late_pattern

# So many fit into a ClassAd's integer.
_MOST_DIGITS: Final = 18
# A literal and nothing else, as the lexer takes it at the end of a text.
_LITERAL: Final = late_pattern(r'\s*"((?:[^"\\]|\\"(?!\s*\Z)|\\)*+)"\s*\Z')


def quote_old(text: str) -> str:
    """Return the literal that is the whole value of an attribute."""
    return '"' + text.replace('"', '\\"') + '"'


def quote_line(text: str) -> str:
    """Return the literal for a record that has one line for it: line ends become blanks."""
    return quote_old(without_line_ends(text))


def without_line_ends(text: str) -> str:
    """Return an expression's text for a record that has one line for it.

    Old syntax writes the line ends of a string as they are, so texts of peers have them.
    """
    return text.replace("\n", " ")


def quote_operand(text: str) -> str:
    r"""Return what stands for the text inside an expression, whatever follows it.

    A text that ends in a backslash is cut from a longer literal, `substr("C:\ ", 0, 3)`.
    """
    if text.endswith("\\"):
        return f"substr({quote_old(text + ' ')}, 0, {len(text.encode('utf-8', 'surrogateescape'))})"
    return quote_old(text)


def equals(name: str, text: str) -> str:
    """Return the condition that an attribute is this text, in any case."""
    return f"{name} == {quote_operand(text)}"


# Limit: an expression that is more than a string, where a user writes it for a daemon; to parse a
# megabyte of operators takes seconds, for which everybody else would wait. Names of machines and
# lists, however long, are read quickly.
LONGEST_FORMULA = 1024 * 1024
_MOST_OPERATORS = 64 * 1024
_OPERATORS = "+-*/%<>?^~!&|.([{"
LONG_FORMULA = f"is longer than {LONGEST_FORMULA >> 10} KiB or has over {_MOST_OPERATORS} operators"


def is_long_formula(text: str) -> bool:
    """Tell whether an expression takes too long to parse; a long string is read at once."""
    if len(text) <= _MOST_OPERATORS or read_old_string(text) is not None:
        return False
    return len(text) > LONGEST_FORMULA or sum(map(text.count, _OPERATORS)) > _MOST_OPERATORS


def read_old_string(text: str) -> str | None:
    """Return what a literal of old syntax stands for; None if the text is anything else."""
    if text[:1] == '"' and text.find('"', 1) == len(text) - 1 and "\\" not in text:
        return text[1:-1]
    found = _LITERAL.match(text)
    return None if found is None else found[1].replace('\\"', '"')


def read_count(text: str) -> int | None:
    """Return the number that a text writes with decimal digits; None for any other text.

    More than 18 digits are none: what a peer may say without end is no count of anything, and
    Python refuses to read thousands.
    """
    plain = len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal()
    return int(text) if plain else None


def render_real(number: float, *, old: bool = False) -> str:
    """Return a real number as the syntax writes it."""
    text = f"{number:.16G}" if old else f"{number:.15E}"
    if old and "." in text:
        return text
    if not math.isfinite(number):
        if number != number:
            return 'real("NaN")'
        return 'real("INF")' if number > 0 else 'real("-INF")'
    if number == 0:
        return "-0.0" if math.copysign(1.0, number) < 0 else "0.0"
    return text if "E" in text else text + ".0"
