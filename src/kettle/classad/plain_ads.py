"""Ads in new syntax whose entries need no brackets of their own, which is what most ads are.

Each entry is found by one pattern: a number, a string without escapes, or the text of an expression
up to its semicolon, of which equal texts share one tree. What is not so plain (escapes, comments,
ads within ads, mistakes) is the parser's; what is read here, it reads the same way.
"""

from __future__ import annotations

import re
from typing import Final

from kettle.classad.lexer import MAX_TEXT
from kettle.classad.nodes import AdNode, Literal, literal
from kettle.classad.parser import RESERVED, parse_expression
from kettle.classad.values import Expr
from kettle.errors import ClassAdSyntaxError
from kettle.patterns import late_pattern

# Between tokens these mean nothing; of the blanks of Unicode none is one.
BLANKS: Final = " \t\r\n\f\v"
_ENTRY: Final = late_pattern(
    r"[\s;]*+([A-Za-z_]\w*+)\s*+=\s*+(?:"
    r"(-?(?:0|[1-9][0-9]{0,17}))"
    r"|(-?(?:0|[1-9][0-9]{0,17})\.[0-9]++(?:[eE][+-]?[0-9]++)?)"
    r'|"([^"\\]*+)"'
    # Quoted names, escapes and comments may hold a semicolon.
    r"""|((?:[^"'\[\];/\\]++|"[^"\\]*+"|/(?![/*]))++)"""
    r")\s*+(?:;|(?=\]))",
    re.ASCII,
)
_END: Final = late_pattern(r"[\s;]*+\]", re.ASCII)
# An expression with fewer of these is not nested too deeply anywhere.
_NESTING: Final = "({?-+!~"
_FEW: Final = 100


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
    return None if end is None else (AdNode(table, names), end.end())


def _expression(text: str) -> Expr | None:
    if len(text) > _FEW and sum(map(text.count, _NESTING)) > _FEW:
        return None
    try:
        return parse_expression(text)
    except ClassAdSyntaxError:
        return None
