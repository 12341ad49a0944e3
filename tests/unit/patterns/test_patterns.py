"""`kettle.patterns`: a pattern that is compiled late does what the compiled one does."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kettle.patterns import late_pattern

SOURCE = Path(__file__).parents[3] / "src" / "kettle"


def test_a_late_pattern_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def note(source: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(source)
        return compile_now(source, flags)

    monkeypatch.setattr(re, "compile", note)
    pattern = late_pattern(r"(a)b", re.IGNORECASE)
    assert compiled == []
    found = pattern.fullmatch("AB")
    assert found is not None
    assert found[1] == "A"
    assert pattern.sub("-", "xab") == "x-"
    assert pattern.split("1ab2") == ["1", "a", "2"]
    assert compiled == [r"(a)b"]


def test_every_late_pattern_compiles() -> None:
    wrong = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "late_pattern":
                try:
                    source = ast.literal_eval(node.args[0])
                except ValueError:
                    continue  # put together from parts: its module's tests use it
                try:
                    re.compile(source)
                except re.error as error:
                    wrong.append(f"{path}:{node.lineno}: {error}")
    assert wrong == []
