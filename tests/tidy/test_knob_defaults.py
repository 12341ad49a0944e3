"""A knob's default is in its table, and in no other place beside its name.

Daemons read `config[Knobs.NAME]`, or `config.value(...)` where they must go on whatever is set. The
classic tools load no table for the sake of their start; what they write beside a name is compared
with the table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.config import Config
from kettle.config.declared import declared_knobs
from kettle.config.knob import Knob

SOURCES = Path(__file__).parents[2] / "src" / "kettle"
# What the classic tools load, and therefore no table.
WITHOUT_TABLES = (
    "client/",
    "config/",
    "runtime/credentials.py",
    "runtime/sockets/addresses.py",
    "submit/",
    "tools/",
)
READERS = {"get", "integer", "real", "boolean", "words", "expression"}
# What stands for "nothing is set" where a text is read.
NOTHING = ("", None)

# Line, the knob's name, and what stands beside it as a default.
Doubled = tuple[int, str, object]


def doubled(text: str) -> Iterator[Doubled]:
    """Yield the defaults that stand beside the name of a declared knob."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            for read, other in zip(node.values, node.values[1:], strict=False):
                name = _name_read(read)
                if name and isinstance(other, ast.Constant) and other.value not in NOTHING:
                    yield node.lineno, name, other.value
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            name = _name_read(node.left)
            truth = node.comparators[0]
            if name and isinstance(truth, ast.Constant) and isinstance(truth.value, bool):
                # `is True` takes what is not set for false, `is not True` too; and so on.
                yield node.lineno, name, not truth.value


def _name_read(node: ast.expr) -> str:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return ""
    known = node.func.attr in READERS and "config" in ast.unparse(node.func.value).lower()
    first = node.args[0]
    if known and isinstance(first, ast.Constant) and str(first.value).upper() in KNOBS:
        return str(first.value).upper()
    return ""


KNOBS: dict[str, Knob[Any]] = declared_knobs()


def find(*, with_tables: bool) -> Iterator[tuple[str, Doubled]]:
    for path in sorted(SOURCES.rglob("*.py")):
        name = str(path.relative_to(SOURCES))
        if name.startswith(WITHOUT_TABLES) != with_tables:
            for found in doubled(path.read_text(encoding="utf-8")):
                yield name, found


def test_daemons_write_no_default_beside_a_knob_s_name() -> None:
    assert list(find(with_tables=True)) == []


def test_the_defaults_that_tools_write_are_those_of_the_tables() -> None:
    config = Config.from_text("", facts={"FULL_HOSTNAME": "h", "TILDE": "/t"})
    wrong = []
    for name, (line, knob, value) in find(with_tables=False):
        declared = KNOBS[knob]
        expected: object = config[declared]
        if isinstance(value, str) and not isinstance(expected, str):
            value = declared.parse(value)
        if value != expected:
            wrong.append((name, line, knob, value, expected))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('config.integer("ALIVE_INTERVAL") or 300', [(1, "ALIVE_INTERVAL", 300)]),
        ('config.boolean("ENABLE_CHIRP") is not False', [(1, "ENABLE_CHIRP", True)]),
        ('config.get("SPOOL") or "."', [(1, "SPOOL", ".")]),
        ('config.get("SPOOL") or ""', []),
        ('config.get("FULL_HOSTNAME") or "localhost"', []),
        ("config[ScheddKnobs.ALIVE_INTERVAL]", []),
    ],
)
def test_the_gate_sees(text: str, found: list[Doubled]) -> None:
    assert list(doubled(text)) == found
