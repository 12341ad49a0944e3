"""The manual's pages are all on its map, and its links lead to pages of the manual.

`mkdocs build --strict` says the same in CI, after minutes; this says it with the other gates.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
# The map is read as text: mkdocs.yml has tags that only mkdocs knows.
ON_THE_MAP = re.findall(
    r"^ +- (?:.*: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE
)
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_the_map_has_every_page_once() -> None:
    assert sorted(ON_THE_MAP) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_links_of_the_page_lead_to_pages_of_the_manual(page: str) -> None:
    path = DOCS / page
    for link in LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
        if not link.startswith(("http:", "https:", "mailto:")):
            target = (path.parent / link).resolve()
            assert target.is_relative_to(DOCS), f"{link}: outside the manual"
            assert target.exists(), f"{link}: no such page"
