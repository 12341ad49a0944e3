"""Write the manual's page of requirements: each row, and the tests that show it.

`python .ci/generate_rows.py` rewrites `docs/generated/rows.md` from `tests/data/rows.tsv` and the
`shows` marks of the tests; `tests/tidy/test_generated_rows.py` fails when it is out of date, and
when a row has no test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/generated/rows.md"
TESTS = ROOT / "tests"
ROWS = TESTS / "data/rows.tsv"
PARTS = (
    ("R", "What a user and an administrator rely on"),
    ("S", "Kinds of jobs"),
    ("N", "When a job begins"),
    ("A", "Slots"),
    ("B", "States of a slot"),
    ("C", "Draining"),
    ("E", "Limits and left-over processes"),
    ("M", "The end of a job"),
    ("J", "Machines that sleep"),
)


def read_rows() -> dict[str, str]:
    """Return the sentence of each row."""
    lines = ROWS.read_text(encoding="utf-8").splitlines()
    split = (line.partition("\t") for line in lines if not line.startswith("#"))
    return {row: sentence for row, _, sentence in split}


def find_shown() -> dict[str, list[str]]:
    """Return the tests that show a row, as `path::name`, by row."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        if "shows" not in (text := path.read_text(encoding="utf-8")):
            continue
        tree = ast.parse(text)
        everywhere = list(_rows_of_module(tree))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if not node.name.startswith("test_"):
                    continue
                here = [row for mark in node.decorator_list for row in _rows_of(mark)]
                for row in dict.fromkeys([*everywhere, *here]):
                    place = f"{path.relative_to(TESTS).as_posix()}::{node.name}"
                    found.setdefault(row, []).append(place)
    return found


def _rows_of_module(tree: ast.Module) -> Iterator[str]:
    """Yield the rows that a module's `pytestmark` names."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
        ):
            for inner in ast.walk(node.value):
                yield from _rows_of(inner)


def _rows_of(mark: ast.AST) -> Iterator[str]:
    if isinstance(mark, ast.Call) and ast.unparse(mark.func).split(".")[-1] == "shows":
        yield from (arg.value for arg in mark.args if isinstance(arg, ast.Constant))


def render() -> str:
    """Return the page."""
    shown = find_shown()
    lines = [
        "# Requirements and their tests",
        "",
        "Generated from the marks of the tests. Each row is a requirement; the tests",
        "named beside it show that it holds. `pytest -m shows` runs them all.",
    ]
    rows = read_rows()
    for letter, title in PARTS:
        lines += ["", f"## {title}", "", "| Row | Requirement | Shown by |", "|---|---|---|"]
        for row, sentence in rows.items():
            if row.startswith(letter):
                tests = "<br>".join(f"`{place}`" for place in shown.get(row, []))
                lines.append(f"| {row} | {_cell(sentence)} | {tests or '**nothing**'} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Return a sentence as it may stand in a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("$(", "$&#40;")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
