"""A unit test that is named for a module lies where the module lies."""

from __future__ import annotations

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
