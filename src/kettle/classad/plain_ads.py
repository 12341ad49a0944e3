"""Ads in new syntax whose entries need no brackets of their own, which is what most ads are.

An ad as it is printed is split at its semicolons. In others each entry is found by one pattern: a
number, a string without escapes, or the text of an expression up to its semicolon, of which equal
texts share one tree. What is not so plain (escapes, comments, ads within ads, mistakes) is the
parser's; what is read here, it reads the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from kettle.classad.lexer import MAX_TEXT
from kettle.classad.nodes import AdNode, Literal, literal
from kettle.classad.parser import RESERVED, is_plain, parse_expression
from kettle.classad.values import Expr
from kettle.errors import ClassAdSyntaxError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

_ENTRY: Final = late_pattern(
    r"[\s;]*+([A-Za-z_]\w*+)\s*+=\s*+(?:"
    r"(-?(?:0|[1-9][0-9]{0,17}))"
    r"|(-?(?:0|[1-9][0-9]{0,17})\.[0-9]++(?:[eE][+-]?[0-9]++)?)"
    r'|"([^"\\]*+)"'
    # Quoted names, escapes and comments may hold a semicolon.
    # The outer repetition is not possessive: Python before 3.11.5 errs where a choice is inside.
    r"""|((?:[^"'\[\];/\\]++|"[^"\\]*+"|/(?![/*]))+)"""
    r")\s*+(?:;|(?=\]))",
    re.ASCII,
)
_END: Final = late_pattern(r"[\s;]*+\]", re.ASCII)
# An expression with fewer of these is not nested too deeply anywhere.
_NESTING: Final = "({?-+!~"
_FEW: Final = 100


_NUMBER: Final = late_pattern(
    r"(-?(?:0|[1-9][0-9]{0,17}))(\.[0-9]++(?:[eE][+-]?[0-9]++)?)?", re.ASCII
)
_NUMBER_STARTS: Final = frozenset("-0123456789")


def split_plain_ad(text: str, usual: Mapping[str, str]) -> dict[str, Expr | str] | None:
    """Return the attributes of an ad that is the whole text and stands as ads are printed.

    `usual` has the names that may be there, none of which needs quotes, and their keys. None if
    there is anything else. A semicolon in a string leaves a piece with half the string, which is
    nothing that could be read; so does one in a comment or in brackets.
    """
    if text[:2] != "[ " or text[-2:] != " ]" or len(text) > MAX_TEXT:
        return None
    if "\\" in text or "'" in text:
        return None
    table: dict[str, Expr | str] = {}
    for piece in text[2:-2].split("; "):
        name, _, value = piece.partition(" = ")
        key = usual.get(name)
        if key is None or not value:
            return None
        if is_plain(value):
            table[key] = value
            continue
        entry = _value(value)
        if entry is None:
            return None
        table[key] = entry
    return table


def _value(text: str) -> Expr | None:
    if text[0] in _NUMBER_STARTS:
        number = _NUMBER.fullmatch(text)
        if number is not None:
            return Literal(float(text)) if number[2] else literal(int(text))
    if "//" in text or "/*" in text:
        return None
    return _expression(text)


def find_plain_ad(text: str, position: int = 0) -> tuple[AdNode, int] | None:
    """Return the ad that starts with the bracket at `position`, and where it ends.

    None if it is not plain from one end to the other: the parser says then what it is.
    """
    if text[position : position + 1] != "[" or len(text) > MAX_TEXT:
        return None
    table: dict[str, Expr | str] = {}
    names: dict[str, str] = {}
    position += 1
    entry = _ENTRY.match
    while (found := entry(text, position)) is not None:
        name, integer, real, string, expression = found.groups()
        key = name.lower()
        if key in RESERVED:
            return None
        if integer is not None:
            table[key] = literal(int(integer))
        elif string is not None:
            table[key] = Literal(string)
        elif real is not None:
            table[key] = Literal(float(real))
        else:
            value = _expression(expression.strip(BLANKS))
            if value is None:
                return None
            table[key] = value
        names.setdefault(key, name)
        position = found.end()
    end = _END.match(text, position)
    if end is None or (not table and ";" in end[0]):
        return None
    return AdNode(table, names), end.end()


def _expression(text: str) -> Expr | None:
    if len(text) > _FEW and sum(map(text.count, _NESTING)) > _FEW:
        return None
    try:
        return parse_expression(text)
    except ClassAdSyntaxError:
        return None
