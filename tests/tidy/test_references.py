"""What comments, docstrings and pages refer to can be followed by whoever reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/kettle"
SOURCES = ROOT / "docs/reference/sources.md"
CODE = [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / ".ci").glob("*.py")]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests/data").rglob("*.md")]

LINT_REMARK = re.compile(r"#\s*(ruff: )?noqa.*")
ROW = re.compile(r"(?<![\w.])[ABCEJMNRS]\d{3}(?!\w)")
OUT_OF_REACH = re.compile(
    r"\bseed 0\d\d\b|(wire|drop-in) reference|daemon.protocols|§", re.IGNORECASE
)
NOTE = re.compile(r"wire notes\b(?:,\s+([^;)]{3,40}))?", re.IGNORECASE)


def texts(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each file but this one, lines of comments and docstrings joined with blanks."""
    for path in sorted(paths):
        if path != Path(__file__):
            yield path, re.sub(r"\s*\n\s*(?:# )?", " ", path.read_text(encoding="utf-8"))


TEST = re.compile(r"\btest_\w+")


def read_topics() -> list[str]:
    """Return the topics of the wire notes, in lower case."""
    table = SOURCES.read_text(encoding="utf-8").partition("## Wire notes")[2]
    return [topic.lower() for topic in re.findall(r"(?m)^\| ([^|]+?) \|", table)[1:]]


def test_every_id_of_a_requirement_is_a_row() -> None:
    lines = (ROOT / "tests/data/rows.tsv").read_text(encoding="utf-8").splitlines()
    rows = {line.partition("\t")[0] for line in lines}
    unknown = [
        f"{path.relative_to(ROOT)}:{number} {row}"
        for path in CODE
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for row in ROW.findall(LINT_REMARK.sub("", line))
        if row not in rows
    ]
    assert unknown == []


def test_no_text_names_what_only_its_writer_has() -> None:
    found = [
        f"{path}: {hit[0]}"
        for path, text in texts(CODE + PAGES)
        if (hit := OUT_OF_REACH.search(text))
    ]
    assert found == []


def test_a_note_on_the_wire_names_a_topic_of_the_page() -> None:
    topics = tuple(read_topics())
    assert len(topics) > 50
    lost = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path, text in texts([*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
        for hit in NOTE.finditer(text)
        if not (hit[1] or "").lower().startswith(topics)
    ]
    assert lost == []


def test_the_page_of_sources_names_what_is_there() -> None:
    page = SOURCES.read_text(encoding="utf-8")
    names = re.findall(r"`([\w/]+\.py)`", page)
    found = {p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*.py")}
    assert [
        name for name in names if not any(f"/{each}".endswith(f"/{name}") for each in found)
    ] == []
    vectors = ROOT / "tests/data/vectors"
    recordings = re.findall(r"`((?:cedar|daemons)/[\w*]+)`", page)
    assert [name for name in recordings if not list(vectors.glob(f"{name}.json"))] == []


def test_a_test_that_a_remark_names_is_there() -> None:
    tests = list((ROOT / "tests").rglob("test_*.py"))
    known = {path.stem for path in tests}
    for path in tests:
        known.update(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")))
    lost = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCE.rglob("*.py")
        for name in TEST.findall(path.read_text(encoding="utf-8"))
        if name not in known
    ]
    assert lost == []
