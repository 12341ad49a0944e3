"""Every requirement has a test that shows it, and the page says which."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_rows", ROOT / ".ci/generate_rows.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_requirements_is_as_the_marks_say() -> None:
    module = generator()
    assert module.PAGE.read_text(encoding="utf-8") == module.render(), "run .ci/generate_rows.py"


def test_every_requirement_is_shown_by_a_test() -> None:
    module = generator()
    shown = module.find_shown()
    assert [row for row in module.read_rows() if row not in shown] == []


def test_a_mark_names_a_row() -> None:
    assert [row for row in generator().find_shown() if not re.fullmatch(r"[A-Z]\d{3}", row)] == []
