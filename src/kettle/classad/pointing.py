"""Where in a text it does not parse, drawn: its line, and a caret with what is wrong below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kettle.errors import ClassAdSyntaxError

# Limit: characters of a line that are shown, and how many of them before the place.
_WIDTH: Final = 76
_BEFORE: Final = 50


def point_at(error: ClassAdSyntaxError, indent: str = "    ") -> str:
    """Return two lines, each behind `indent`; empty where the place is not known.

    Of a long line the part around the place is shown.
    """
    text, column = error.text, error.column
    if not text or not 0 <= column <= len(text):
        return ""
    begin = text.rfind("\n", 0, column) + 1
    end = text.find("\n", column)
    line, place = text[begin : len(text) if end < 0 else end], column - begin
    if len(line) > _WIDTH:
        first = max(0, place - _BEFORE)
        cut = line[first : first + _WIDTH]
        before, after = "…" if first else "", "…" if first + _WIDTH < len(line) else ""
        line, place = f"{before}{cut}{after}", place - first + len(before)
    # What has no width, or more than one, would move the caret.
    shown = "".join(letter if letter.isprintable() else " " for letter in line)
    return f"{indent}{shown}\n{indent}{'':<{place}}^ {error.complaint}"
