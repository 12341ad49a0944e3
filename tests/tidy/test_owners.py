"""What holds everywhere is written once."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src/kettle"


def test_only_digits_says_what_64_bits_hold() -> None:
    places = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.BinOp) and ast.unparse(node) in {"1 << 63", "2 ** 63"}
    }
    assert places == {"digits.py"}
