"""What stands in the list of changes stands there once, and below its subject."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
BULLET = re.compile(r"^- .*?(?=^- |^#|\Z)", re.MULTILINE | re.DOTALL)


def bullets(text: str) -> list[str]:
    return [" ".join(found.split()) for found in BULLET.findall(text)]


def test_no_change_is_told_twice() -> None:
    told = bullets(TEXT)
    assert len(told) > 500
    assert sorted({each for each in told if told.count(each) > 1}) == []


def test_what_stands_first_is_about_pools_and_the_command_kettle() -> None:
    """New sentences gather at the top of the file, whatever they are about."""
    first = TEXT.partition("\n### A pool in one command\n")[2].partition("\n### ")[0]
    subjects = re.compile(r"`kettle(?! (config|submit) check)|\bpool\b|\(kettle env\)")
    assert [each for each in bullets(first) if not subjects.search(each)] == []
