"""The maps of the code lead to places that exist, and every daemon's room has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = sorted(path.parent for path in (ROOT / "src/kettle").glob("*/service.py"))
MAPS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
MAPS += [str((room / "README.md").relative_to(ROOT)) for room in ROOMS]
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
CODE = re.compile(r"`([^`\s]+)`")
LIFE = re.compile(r"^```mermaid\nsequenceDiagram.*?^```$", re.MULTILINE | re.DOTALL)


def names_a_path(text: str) -> bool:
    """Tell whether a word in code type is a path of the project, without placeholders."""
    if any(mark in text for mark in "<>$*…(={:") or text.startswith(("/", "-", "SPOOL/", "LOG/")):
        return False
    return text.endswith((".py", ".md", ".toml", "/")) or text.startswith(
        (".ci/", "tests/", "docs/")
    )


@pytest.mark.parametrize("page", MAPS)
def test_every_path_on_the_page_exists(page: str) -> None:
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    for link in LINK.findall(text):
        if not link.startswith("http"):
            assert (path.parent / link).exists(), link
    for word in CODE.findall(text):
        if names_a_path(word):
            places = [ROOT, ROOT / "src/kettle", path.parent]
            # `service.py` and its like stand for a file that every daemon has.
            assert any((p / word).exists() for p in places) or any(
                (room / word).exists() for room in ROOMS
            ), word


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_daemon_s_room_is_on_the_map_and_has_a_short_one_of_its_own(room: Path) -> None:
    assert f"src/kettle/{room.name}/" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len((room / "README.md").read_text(encoding="utf-8").splitlines()) < 45


def test_the_life_of_a_job_is_the_one_that_was_traced() -> None:
    page = (ROOT / "docs/generated/life-of-a-job.md").read_text(encoding="utf-8")
    drawing = LIFE.search(page)
    assert drawing is not None
    assert drawing[0] in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
