"""The drawn state machines are the tables of the code."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "generate_machines", ROOT / ".ci/generate_machines.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_the_page_of_machines_is_as_the_tables_say() -> None:
    module = generator()
    written = module.PAGE.read_text(encoding="utf-8")
    assert written == module.render(), "run .ci/generate_machines.py"


def test_every_phase_of_a_machine_can_be_reached() -> None:
    for title, _, _, first, edges_of in generator().MACHINES:
        edges = edges_of()
        reached = {first}
        while more := {e.target for e in edges if e.source in reached} - reached:
            reached |= more
        assert {e.source for e in edges} <= reached, title
