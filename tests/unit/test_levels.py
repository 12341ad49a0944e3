"""Authorization levels are listed once: what is configured has a name for each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.config.check import check_config
from kettle.config.declared import names_of_levels
from kettle.config.strictest import strictest
from kettle.levels import CONFIGURED, Level

SOURCES = Path(__file__).parents[2] / "src" / "kettle"
# From how many level names on something is a list of them: a command asks for three at most.
_A_LIST = 5


def test_what_is_configured_are_the_levels_and_the_former_ones() -> None:
    assert set(CONFIGURED) == set(Level) - {Level.ALLOW} | {"OWNER", "SOAP"}


@pytest.mark.parametrize("level", CONFIGURED)
def test_each_level_has_its_knobs(level: str) -> None:
    assert {f"ALLOW_{level}", f"DENY_{level}", f"SEC_{level}_ENCRYPTION"} <= names_of_levels()
    assert strictest(f"DENY_{level}") == strictest(f"DENY_{level}_SCHEDD") == "*"
    assert strictest(f"SEC_{level}_INTEGRITY") == "REQUIRED"


@pytest.mark.parametrize("level", CONFIGURED)
def test_a_list_of_one_daemon_is_no_slip_of_the_pen_at_any_level(level: str) -> None:
    config = Config.from_text(f"DENY_{level}_SCHEDDS = 1.2.3.4\n")
    assert [one for one in check_config(config) if one.kind in {"unknown", "unused"}] == []


def lists_of_levels(tree: ast.AST) -> Iterator[int]:
    names = set(CONFIGURED)
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            words = [item.value for item in node.elts if isinstance(item, ast.Constant)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "|" in node.value:
            words = re.findall(r"\w+", node.value)
        else:
            continue
        if len(names.intersection(words)) >= _A_LIST:
            yield node.lineno


def test_no_other_module_lists_them() -> None:
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(SOURCES)}:{line}" for line in lists_of_levels(tree)]
    assert found == []


def test_a_list_of_them_is_found() -> None:
    words = ["READ", "WRITE", "CONFIG", "DAEMON", "CLIENT"]
    assert list(lists_of_levels(ast.parse(repr(words)))) == [1]
    assert list(lists_of_levels(ast.parse(repr("|".join(words))))) == [1]
    assert list(lists_of_levels(ast.parse(repr(words[:3])))) == []
