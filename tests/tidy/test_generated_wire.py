"""The manual's page about the wire says what the tables say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_manual_lists_commands_and_messages_as_they_are() -> None:
    path = ROOT / ".ci/generate_wire.py"
    spec = importlib.util.spec_from_file_location("generate_wire", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.MANUAL.read_text(encoding="utf-8")
    assert text == module.manual(), "run .ci/generate_wire.py"
