"""What is generated from tables of submit commands, attributes, codes, figures is up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", ROOT / ".ci/generate_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["submit_commands.md", "attributes.md", "codes.md", "metrics.md"])
def test_a_generated_page_is_as_its_table_says(page: str) -> None:
    module = generator()
    written = (module.GENERATED / page).read_text(encoding="utf-8")
    assert written == module.PAGES[page](), "run .ci/generate_tables.py"
