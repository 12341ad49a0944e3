"""What is generated from the knob tables is up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_knobs", ROOT / ".ci/generate_knobs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_default_texts_are_those_of_the_tables() -> None:
    module = generator()
    text = module.TEXTS.read_text(encoding="utf-8")
    assert eval_rows(text) == eval_rows(module.default_texts()), "run .ci/generate_knobs.py"


def test_the_manual_lists_the_tables_as_they_are() -> None:
    module = generator()
    assert module.MANUAL.read_text(encoding="utf-8") == module.manual(), "run .ci/generate_knobs.py"


def eval_rows(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.startswith('    "')]
