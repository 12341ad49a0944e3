"""The manual page of the language: its examples are true, its tables are current."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from kettle.classad import ClassAd, parse_expression
from kettle.classad.compile import evaluate_lazily
from kettle.classad.state import new_state
from kettle.classad.unparse import render_value

DOCS = Path(__file__).parents[3] / "docs"


def test_the_examples_on_the_page_are_true() -> None:
    page = (DOCS / "reference" / "classads.md").read_text(encoding="utf-8")
    block = page.partition("```classad\n")[2].partition("```")[0]
    lines = block.splitlines()
    assert len(lines) >= 10
    for line in lines:
        text, _, wanted = (part.strip() for part in line.partition("→"))
        value = evaluate_lazily(parse_expression(text), new_state(ClassAd()))
        assert render_value(value) == wanted, line


def test_the_function_tables_are_current() -> None:
    spec = importlib.util.spec_from_file_location("generator", DOCS / "generate_functions.py")
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert generator.page() == generator.PAGE.read_text(encoding="utf-8")
