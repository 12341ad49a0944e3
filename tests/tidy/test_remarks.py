"""Remarks have the marks that are searched for, and name what is there.

Each `Compat:` says what shows it: a test, or a file of recorded cases or of a script.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src/kettle"
_MARK = "Compat:"
_TEST = re.compile(r"\btest_\w+")
_MODULE = re.compile(r"`(?:kettle\.)?([a-z]\w*(?:\.[a-z_]\w*)+)`")
# `policy.py` may be a file beside the one that names it, and `master.out` a log.
_NO_MODULES = {"py", "out"}
_FILE = re.compile(r"[\w/]+\.(?:json|tsv|txt|py)\b")


def remarks(text: str) -> Iterator[tuple[int, str]]:
    """Yield each `Compat:` to the end of its paragraph, with the line that it begins in."""
    block: list[str] = []
    begun = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.STRING:
            for paragraph in re.split(r"\n[ ]*\n", token.string):
                yield from ((line, part) for part in _parts(paragraph))
        elif token.type == tokenize.COMMENT:
            follows = line == last + 1 and token.line.lstrip().startswith("#")
            if not follows:
                yield from ((begun, part) for part in _parts("\n".join(block)))
                block, begun = [], line
            block.append(token.string.lstrip("# "))
            last = line
    yield from ((begun, part) for part in _parts("\n".join(block)))


def _parts(paragraph: str) -> list[str]:
    return [f"{_MARK}{part}" for part in paragraph.split(_MARK)[1:]]


def test_the_parts_of_a_remark_are_told_apart() -> None:
    text = (
        '"""Says.\n\nCompat: one (test_a).\n\nAnd test_b."""\n'
        "# Compat: two\n# more\nx = 1  # three\n# four\n"
    )
    assert [said for _, said in remarks(text)] == ["Compat: one (test_a).", "Compat: two\nmore"]


def test_each_names_a_test_or_a_record_that_is_there() -> None:
    tests, files = set(), set()
    for path in TESTS.rglob("*.*"):
        place = path.relative_to(TESTS).parts
        files |= {"/".join(place[start:]) for start in range(len(place))}
        if path.suffix == ".py":
            tests |= {*re.findall(r"def (test_\w+)", path.read_text("utf-8")), path.stem}
    without: list[str] = []
    lost: list[str] = []
    for path in sorted(SOURCE.rglob("*.py")):
        for line, said in remarks(path.read_text(encoding="utf-8")):
            where = f"{path.relative_to(SOURCE)}:{line}: {said}"
            # A long name may be broken over two lines.
            named = set(_TEST.findall(re.sub(r"\n\s*(?=\w+\))", "", said)))
            named |= set(_TEST.findall(said))
            if not (named & tests or set(_FILE.findall(said)) & files):
                (lost if named else without).append(where)
    assert without == []
    assert lost == []


def test_a_bound_is_a_limit() -> None:
    """Who looks for bounds looks for one word."""
    files = SOURCE.rglob("*.py")
    marked = [
        path for path in files if re.search(r"(?m)^\s*(# )?Limits: ", path.read_text("utf-8"))
    ]
    assert marked == []


def test_modules_that_are_named_are_there() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    gone = []
    for path in sorted(SOURCE.rglob("*.py")):
        for name in set(_MODULE.findall(path.read_text(encoding="utf-8"))):
            parts = name.split(".")
            if parts[0] in rooms and parts[1] not in _NO_MODULES and not _is_there(parts):
                gone.append(f"{path.relative_to(SOURCE)}: {name}")
    assert gone == []


def _is_there(parts: list[str]) -> bool:
    """Tell whether it is a module, a folder, a file, or a name in a module."""
    place = SOURCE.joinpath(*parts)
    if place.is_dir() or place.with_suffix(".py").exists():
        return True
    around = (
        place.parent / "__init__.py" if place.parent.is_dir() else place.parent.with_suffix(".py")
    )
    return around.exists() and re.search(rf"\b{parts[-1]}\b", around.read_text("utf-8")) is not None
