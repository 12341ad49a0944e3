"""How `use CATEGORY:NAME(arguments)` becomes statements.

Here the names are found and the arguments put in; the statements are read by `reader.py`, the
texts are the table `templates.py`.
"""

from __future__ import annotations

import re

from kettle.config.macro_search import Closings, closing_bracket
from kettle.config.templates import TEMPLATES
from kettle.named_tuples import NamedTuple
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

ITEM = late_pattern(r"[^\s,(]+", re.ASCII)
ARGUMENT = late_pattern(r"\$\((\d)([?#+]?)(?=[:)])")


class Item(NamedTuple):
    """One template that a `use` statement names, and the text of its arguments if it has any."""

    name: str
    arguments: str | None

    def __str__(self) -> str:
        return self.name if self.arguments is None else f"{self.name}({self.arguments})"


def parse_items(text: str) -> list[Item]:
    """Split `Name, Name(arguments) Name` into its items."""
    items = []
    closings = Closings(text)
    position = 0
    while (match := ITEM.search(text, position)) is not None:
        position = match.end()
        arguments = None
        opening = re.compile(r"\s*\(").match(text, position)
        if opening is not None:
            close = closings.find(opening.end())
            if close >= 0:
                arguments = text[opening.end() : close]
                position = close + 1
        items.append(Item(match.group(), arguments))
    return items


def find_category(name: str) -> str | None:
    """Return the category's own spelling, None if there is no such category."""
    return next((category for category in TEMPLATES if category.lower() == name.lower()), None)


def find_template(category: str, name: str) -> str | None:
    """Return the text of a template, None if the category has none of this name."""
    found = find_category(category)
    if found is None:
        return None
    for own_name, text in TEMPLATES[found].items():
        if own_name.lower() == name.lower():
            return text
    return None


def is_known(text: str) -> bool:
    """Tell whether `CATEGORY:NAME`, or a category alone, is something to `use`."""
    category, _, name = text.partition(":")
    if not name:
        return find_category(category) is not None
    return find_template(category, name.partition("(")[0]) is not None


def template_name(category: str, name: str) -> str:
    """Return a template's own spelling, or the name as given if there is none."""
    names = TEMPLATES.get(find_category(category) or "", {})
    return next((own for own in names if own.lower() == name.lower()), name)


def nearest_template(category: str, name: str) -> str:
    """Return the name closest to a misspelt one, empty if none is near."""
    from kettle.nearest import LOOSE, nearest_of  # for those alone who mistype

    return nearest_of(name, TEMPLATES.get(find_category(category) or "", {}), LOOSE)


def split_arguments(text: str) -> list[str]:
    """Split arguments at the commas that stand outside brackets; white space does not count."""
    parts = [""]
    depth = 0
    for character in text:
        if character == "," and depth == 0:
            parts.append("")
            continue
        depth += {"(": 1, ")": -1}.get(character, 0)
        parts[-1] += character
    return [part.strip(BLANKS) for part in parts]


def apply_arguments(text: str, arguments: str | None) -> str:
    """Put the arguments into a template.

    `$(n)` is an argument, `$(n:default)` has a default, `$(n+)` is this and all later ones,
    `$(n?)` tells whether it is there, `$(0)` is all of them and `$(0#)` their number.
    """
    whole = (arguments or "").strip(BLANKS)
    parts = split_arguments(whole) if whole else []
    position = 0
    while (match := ARGUMENT.search(text, position)) is not None:
        end = match.end()
        close = closing_bracket(text, end)
        if close < 0:
            position = end
            continue
        default = text[end + 1 : close] if text[end] == ":" else ""
        value = _argument(int(match.group(1)), match.group(2), whole, parts)
        if not value and default:
            value = apply_arguments(default, arguments)
        text = text[: match.start()] + value + text[close + 1 :]
        position = match.start() + len(value)
    return text


def _argument(number: int, mark: str, whole: str, parts: list[str]) -> str:
    if mark == "#":
        return str(len(parts) if number == 0 else max(0, len(parts) - number + 1))
    value = whole if number == 0 else (parts[number - 1] if number <= len(parts) else "")
    if mark == "?":
        return "1" if value else "0"
    if mark == "+" and 0 < number <= len(parts):
        return _rest(whole, number)
    return value


def _rest(whole: str, number: int) -> str:
    depth = 0
    passed = 1
    for index, character in enumerate(whole):
        if passed == number:
            return whole[index:].strip(BLANKS)
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            passed += 1
    return ""
