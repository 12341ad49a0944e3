"""A text becomes a ClassAd literal in `kettle.classad.text`, and nowhere by hand.

An f-string that puts quotes around a value quotes nothing: a quote or a backslash in the value
makes another expression of it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "kettle"
# Where the literals of the language, or of another one, are made.
OTHERWISE = {
    # Of a configuration's functions ($Fq and others), which escape nothing.
    "config/functions.py",
    # Of a systemd unit.
    "pool/service_unit.py",
}
# Stands for a value in an f-string's text.
VALUE = "\0"
# A quoted value that something is compared with, or that is the whole of an attribute or a text.
QUOTED = re.compile(r'[=!?]= *"\0+"|(\A|\n)\w+ ?= ?"\0+"|\A"[^"\s]*\0[^"]*"\Z')


def by_hand(text: str) -> list[int]:
    """Return the lines that put quotes around a value, or take them off, by hand."""
    nodes = ast.walk(ast.parse(text))
    return sorted(
        {
            node.lineno
            for node in nodes
            if (isinstance(node, ast.JoinedStr) and _quotes(node))
            or (isinstance(node, ast.Call) and _takes_quotes_off(node))
        }
    )


def _quotes(node: ast.JoinedStr) -> bool:
    shown = "".join(
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else VALUE
        for part in node.values
    )
    return QUOTED.search(shown) is not None


def _takes_quotes_off(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "strip"
        and [ast.unparse(each) for each in node.args] == ["'\"'"]
    )


def test_no_expression_is_quoted_by_hand() -> None:
    found = {
        name: lines
        for path in SOURCES.rglob("*.py")
        if not (name := str(path.relative_to(SOURCES))).startswith("classad/")
        if name not in OTHERWISE
        if (lines := by_hand(path.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("f'Owner == \"{user}\"'", [1]),
        ("f'(a =?= \"{user}\") && b'", [1]),
        ("x = 1\nf'\"{user}\"'", [2]),
        ("f'Name = \"{user}\"'", [1]),
        ("text.strip('\"')", [1]),
        ("f'Owner == {quote_operand(user)}'", []),
        ("f'\"{path}\" is no file'", []),
        ("text.strip()", []),
    ],
)
def test_the_gate_sees(text: str, lines: list[int]) -> None:
    assert by_hand(text) == lines
