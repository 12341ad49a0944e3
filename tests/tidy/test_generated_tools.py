"""Every installed command is there, says what it takes, and is in the manual."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from kettle.tools.programs import TOOLS as PROGRAMS

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools", ROOT / ".ci/generate_tools.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOLS = generator()


@pytest.mark.parametrize("name", sorted(TOOLS.read_scripts()))
def test_an_installed_command_shows_its_help(name: str) -> None:
    code, text = TOOLS.ask_help(name, ["-help"])
    assert code == TOOLS.EXIT_CODES.get(name, 0)
    assert "usage" in text.lower()


def test_the_manual_has_every_installed_command_and_no_other() -> None:
    described = [name for group in TOOLS.GROUPS.values() for name in group]
    assert sorted(described) == sorted(TOOLS.read_scripts())


def test_every_tool_is_installed_under_its_name() -> None:
    programs = "kettle.tools.programs"
    found = {name: at for name, at in TOOLS.read_scripts().items() if at.startswith(programs)}
    assert found == {name: f"{programs}:{name}" for name in PROGRAMS}


def test_the_pages_of_commands_are_as_the_commands_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    for path, text in TOOLS.render_pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run .ci/generate_tools.py"
