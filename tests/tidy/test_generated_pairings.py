"""The manual's page of pairings is as the tests say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

GENERATOR = Path(__file__).parents[2] / ".ci/generate_pairings.py"


def test_the_page_of_pairings_is_as_the_tests_say() -> None:
    spec = importlib.util.spec_from_file_location("generate_pairings", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.render(), (
        "run .ci/generate_pairings.py"
    )
