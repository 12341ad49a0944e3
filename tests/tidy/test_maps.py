"""The maps of the code lead to places that exist; each room that a newcomer enters has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAPPED = [
    ROOT / "src/kettle" / name
    for name in (
        *("attributes", "classad", "config", "records", "submit", "tools/printing", "transforms"),
        *(
            "collector",
            "compat",
            "compat/htcondor2",
            "master",
            "negotiator",
            "pool",
            "runtime",
            "schedd",
            "shadow",
            "shared_port",
            "startd",
            "starter",
            "tools/queue",
            "tools/status",
            "wire/security",
        ),
    )
]
DAEMONS = sorted(path.parent for path in (ROOT / "src/kettle").glob("*/service.py"))
ROOMS = DAEMONS + [room for room in MAPPED if room not in DAEMONS]
MAPS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
MAPS += [str((room / "README.md").relative_to(ROOT)) for room in ROOMS]
GUIDE = ["docs/glossary.md"]
GUIDE += sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/guide").glob("*.md"))
# A class in the glossary: its name, and the files between the parentheses.
GLOSSED = re.compile(r"^\| \*\*([A-Z]\w+)\*\* \((`[^)]+`)\) \|", re.MULTILINE)
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


def ends_of_paths() -> set[str]:
    """Return what a reader may call a file or a folder: the last parts of its path."""
    found = set()
    for top in ("src/kettle", "docs"):
        for path in (ROOT / top, *(ROOT / top).rglob("*")):
            parts = path.relative_to(ROOT).parts
            slash = "/" if path.is_dir() else ""
            found |= {"/".join(parts[at:]) + slash for at in range(len(parts))}
    return found


def test_every_file_that_the_glossary_and_the_guide_name_exists() -> None:
    known = ends_of_paths()
    named = [
        (page, word)
        for page in GUIDE
        for word in CODE.findall((ROOT / page).read_text(encoding="utf-8"))
        if names_a_path(word)
    ]
    assert len(named) > 20
    assert [each for each in named if each[1] not in known] == []


def test_the_classes_of_the_glossary_are_where_it_says() -> None:
    rows = GLOSSED.findall((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
    assert len(rows) > 5
    for name, files in rows:
        for file in CODE.findall(files):
            (path,) = (ROOT / "src/kettle").rglob(file)
            text = path.read_text(encoding="utf-8")
            assert re.search(rf"^class \w*{name}\b", text, re.MULTILINE), (name, file)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_room_is_on_the_map_and_has_a_short_one_of_its_own(room: Path) -> None:
    place = room.relative_to(ROOT)
    assert f"{place}/" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len((room / "README.md").read_text(encoding="utf-8").splitlines()) < 45


def test_the_layers_name_every_room_and_every_module_beside_them() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    layers = text.partition("\n## Layers\n")[2].partition("\n## ")[0]
    source = ROOT / "src/kettle"
    names = {path.name for path in source.glob("*.py")} - {"__init__.py"}
    names |= {f"{path.parent.name}/" for path in source.glob("*/__init__.py")}
    assert {name for name in names if f"`{name}`" not in layers} == set()


@pytest.mark.parametrize("room", MAPPED, ids=lambda room: room.name)
def test_the_map_of_a_room_names_each_of_its_modules(room: Path) -> None:
    links = set(LINK.findall((room / "README.md").read_text(encoding="utf-8")))
    # The folders of a daemon have no maps of their own.
    found = room.rglob("*.py") if room in DAEMONS else room.glob("*.py")
    paths = {path.relative_to(room) for path in found if not path.stem.startswith("__")}
    assert {path.as_posix() for path in paths} - links == set()


def test_the_life_of_a_job_is_the_one_that_was_traced() -> None:
    page = (ROOT / "docs/generated/life-of-a-job.md").read_text(encoding="utf-8")
    drawing = LIFE.search(page)
    assert drawing is not None
    assert drawing[0] in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_list_of_pages_that_are_made_names_each_script_and_each_generated_page() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    made = set(CODE.findall(text.partition("\n## Pages that are made\n")[2].partition("\n## ")[0]))
    scripts = {f".ci/{path.name}" for path in (ROOT / ".ci").glob("generate_*.py")}
    pages = {f"docs/generated/{path.name}" for path in (ROOT / "docs/generated").glob("*.md")}
    assert (scripts | pages) - made == set()
