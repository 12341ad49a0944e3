"""What is generated from the knob tables is up to date."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from kettle.config.bare_names import BARE_NAMES

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_knobs", ROOT / ".ci/generate_knobs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_default_texts_are_those_of_the_tables() -> None:
    module = generator()
    text = module.TEXTS.read_text(encoding="utf-8")
    assert eval_rows(text) == eval_rows(module.default_texts()), "run .ci/generate_knobs.py"


def test_the_manual_lists_the_tables_as_they_are() -> None:
    module = generator()
    assert module.MANUAL.read_text(encoding="utf-8") == module.manual(), "run .ci/generate_knobs.py"


def eval_rows(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.startswith('    "')]


def test_the_names_that_nothing_reads_are_those_of_the_tables() -> None:
    module = generator()
    assert module.NAMES.read_text(encoding="utf-8") == module.unread_names(), (
        "run .ci/generate_knobs.py"
    )


def test_what_allows_least_is_what_the_rows_say() -> None:
    module = generator()
    assert module.STRICTEST.read_text(encoding="utf-8") == module.strictest_texts(), (
        "run .ci/generate_knobs.py"
    )


def test_what_is_said_to_be_read_by_nothing_is_mentioned_nowhere() -> None:
    """Names that are made of a daemon's and a word are passed over: no module writes them out."""
    tables = ("config/knobs/", "config/default_texts", "config/unread_names", "config/templates")
    others = ("config/subsystem_defaults", "config/strictest_texts", "compat/htcondor2/param_types")
    others = (*others, "config/bare_names", "config/deprecated", "config/families")
    unread = {name for names in _unread().values() for name in names.split()}
    unread |= {
        name.upper()
        for kinds in BARE_NAMES.values()
        for names in kinds.values()
        for name in names.split()
    }
    sources = ROOT / "src/kettle"
    wrong = []
    for path in sources.rglob("*.py"):
        place = path.relative_to(sources).as_posix()
        if not place.startswith((*tables, *others)):
            words = set(re.findall(r"""["'](\w+)["']|Knobs\.(\w+)""", path.read_text()))
            wrong += [(place, name) for pair in words for name in pair if name in unread]
    # A macro of submit descriptions has that name, too.
    assert wrong == [("submit/macros.py", "VM_MEMORY")]


def _unread() -> dict[str, str]:
    from kettle.config.unread_names import UNREAD

    return UNREAD
