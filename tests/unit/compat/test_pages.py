"""The examples of the pages about Python print what the pages say, without a pool."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = [
    page
    for page in sorted((Path(__file__).parents[3] / "docs/reference").glob("python-*.md"))
    # Its example wants a pool: tests/interop/test_wheel_docs.py.
    if page.name != "python-wheel.md"
]
EXAMPLE = re.compile(r"```python\n(.*?)```\n\nIt prints:\n\n```text\n(.*?)```", re.DOTALL)
EXAMPLES = [
    pytest.param(*found, id=page.stem)
    for page in PAGES
    for found in EXAMPLE.findall(page.read_text(encoding="utf-8"))
]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_an_example_prints_what_its_page_says(
    code: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(code, "<example>", "exec"), {"__name__": "example"})
    said = capsys.readouterr().out
    assert [line.rstrip() for line in said.splitlines()] == printed.splitlines()
