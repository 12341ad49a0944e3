"""What is generated from tables of the code is up to date, and says something of each row."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from kettle.tools.queue import job_ways
from kettle.tools.status import machine_ways

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", ROOT / ".ci/generate_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", list(generator().PAGES))
def test_a_generated_page_is_as_its_table_says(page: str) -> None:
    module = generator()
    written = (module.GENERATED / page).read_text(encoding="utf-8")
    assert written == module.PAGES[page](), "run .ci/generate_tables.py"


def test_the_manual_has_a_sentence_for_each_name_that_printas_knows() -> None:
    tables = (job_ways.WAYS, job_ways.QUEUE_WAYS, machine_ways.WAYS, machine_ways.STATUS_WAYS)
    rows = generator().print_names().splitlines()
    for name, way in ((name, way) for table in tables for name, way in table.items()):
        assert way.doc.endswith("."), name
        assert f"| `{name}` | {way.doc} |" in rows
