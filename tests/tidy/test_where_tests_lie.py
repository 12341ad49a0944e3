"""Tests lie where the modules lie that they test, and their marks stand on them."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/kettle"
UNIT = ROOT / "tests/unit"


def test_a_unit_test_lies_where_its_module_lies() -> None:
    """A test of a whole room or of several modules has a name of its own, and lies in the room."""
    modules = {path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")}
    astray = []
    for path in sorted(UNIT.rglob("test_*.py")):
        test = path.relative_to(UNIT)
        name = test.name.removeprefix("test_")
        namesakes = [
            each for each in modules if each.parts[0] == test.parts[0] and each.name == name
        ]
        if namesakes and test.parent / name not in namesakes:
            astray.append(f"{test}: {', '.join(map(str, namesakes))}")
    assert astray == []


def test_a_folder_of_unit_tests_is_a_folder_of_modules() -> None:
    folders = {path.parent.relative_to(UNIT) for path in UNIT.rglob("test_*.py")}
    assert [each for each in sorted(folders) if not (SOURCE / each).is_dir()] == []


def test_marks_stand_on_tests() -> None:
    """A helper that is put between a test and its mark takes the mark away from the test."""
    astray = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("test_"):
                continue
            if any(ast.unparse(each).startswith("pytest.mark.") for each in node.decorator_list):
                astray.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}")
    assert astray == []
