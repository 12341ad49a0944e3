"""Files and functions stay small enough to read at a sitting."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kettle"
FILE_LINES = 800
FUNCTION_LINES = 70
# Tables are exempt: plain rows, no loops or conditions.
TABLES = (
    "attributes/",
    "config/knobs/",
    "config/default_texts.py",
    "config/templates.py",
    "submit/commands/",
    "wire/commands.py",
    "wire/messages/",
)
GRAB_BAGS = {"utils", "util", "helpers", "common", "misc", "base", "core", "manager", "stuff"}

MODULES = sorted(SOURCE.rglob("*.py"))


def is_table(path: Path) -> bool:
    return path.relative_to(SOURCE).as_posix().startswith(TABLES)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_keeps_its_budgets_and_says_what_it_decides(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    if path.name != "__init__.py" or tree.body:
        assert ast.get_docstring(tree), f"{path}: no module docstring"
    if is_table(path):
        return
    assert text.count("\n") <= FILE_LINES, f"{path}: more than {FILE_LINES} lines"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= FUNCTION_LINES, f"{path}:{node.lineno} {node.name}: {lines} lines"


def test_no_module_is_named_for_its_lack_of_a_subject() -> None:
    assert [path for path in MODULES if path.stem in GRAB_BAGS] == []


def test_nothing_points_outside_the_project() -> None:
    needle = "../" + "shared"
    texts = [*MODULES, *ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), *ROOT.glob("tests/**/*.py")]
    assert [path for path in texts if needle in path.read_text(encoding="utf-8")] == []
