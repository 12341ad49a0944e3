"""Write what is generated from the knob tables, and their page, `docs/generated/knobs.md`.

That are `default_texts.py`, `unread_names.py` and `strictest_texts.py` in `kettle.config`.
`python .ci/generate_knobs.py` rewrites all four; `tests/tidy/test_generated_knobs.py` fails when
they are out of date.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import textwrap
from pathlib import Path
from typing import Any

import kettle.config.knobs
from kettle.config.bare_names import BARE_NAMES
from kettle.config.families import FAMILIES
from kettle.config.knob import Family, Knob, NumberKnob
from kettle.config.subsystem_defaults import OF_FACTS
from kettle.levels import CONFIGURED

ROOT = Path(__file__).resolve().parent.parent
TEXTS = ROOT / "src/kettle/config/default_texts.py"
STRICTEST = ROOT / "src/kettle/config/strictest_texts.py"
NAMES = ROOT / "src/kettle/config/unread_names.py"
MANUAL = ROOT / "docs/generated/knobs.md"

HEAD = '''# ruff: noqa: E501, S108
"""Default texts of all knobs by upper-case name: GENERATED, see `.ci/generate_knobs.py`.

One dictionary, so that a tool that asks for a handful of names loads no table. The tables in
`knobs/` are the truth; what a subsystem sees differently is in `subsystem_defaults.py`.
"""

from kettle.config.subsystem_defaults import SUBSYSTEM_DEFAULTS


def find_default_text(key: str, subsystem: str) -> tuple[str, str] | None:
    """Return spelling and default text of an upper-case name, None if it is not a knob."""
    own = SUBSYSTEM_DEFAULTS.get(subsystem)
    return own[key] if own is not None and key in own else DEFAULTS.get(key)


# fmt: off
DEFAULTS: dict[str, tuple[str, str]] = {
'''


def tables() -> list[tuple[str, type]]:
    """Return every table class with its module's name, in order of module."""
    found = []
    for info in sorted(pkgutil.iter_modules(kettle.config.knobs.__path__), key=lambda i: i.name):
        module = importlib.import_module(f"kettle.config.knobs.{info.name}")
        found += [
            (info.name, item)
            for item in vars(module).values()
            if isinstance(item, type) and item.__module__ == module.__name__
        ]
    return found


def default_texts() -> str:
    """Return the text of the generated module."""
    texts = {name: (name, text) for name, text in OF_FACTS.items()}
    texts |= {
        knob.name.upper(): (knob.name, knob.default)
        for _, table in tables()
        for knob in vars(table).values()
        if isinstance(knob, Knob) and knob.default is not None
    }
    rows = [
        f"    {json.dumps(key)}: ({json.dumps(name)}, {json.dumps(text)}),\n"
        for key, (name, text) in sorted(texts.items())
    ]
    return HEAD + "".join(rows) + "}\n# fmt: on\n"


NAMES_HEAD = '''# ruff: noqa: E501
"""Names of knobs that nothing reads, by their table: GENERATED, see `.ci/generate_knobs.py`."""

# fmt: off
UNREAD: dict[str, str] = {
'''  # What the manual says of them.
NOT_YET = "No part of Kettle acts on it yet."


def unread_names() -> str:
    """Return the text of the module that lists what nothing reads."""
    areas: dict[str, list[str]] = {}
    for module, table in tables():
        for knob in vars(table).values():
            if isinstance(knob, Knob) and knob.unread:
                areas.setdefault(module, []).append(knob.name.upper())
    rows = []
    for area, names in areas.items():
        lines = textwrap.wrap(" ".join(sorted(names)), 92)
        body = "\n".join(f"        {json.dumps(line + ' ')}" for line in lines)
        rows.append(f"    {json.dumps(area)}: (\n{body}\n    ),\n")
    return NAMES_HEAD + "".join(rows) + "}\n# fmt: on\n"


STRICTEST_HEAD = '''"""What allows least, by knob: GENERATED, see `.ci/generate_knobs.py`."""

# fmt: off
STRICTEST: dict[str, str] = {
'''


def strictest_texts() -> str:
    """Return the text of the module that says what counts where a text is unreadable."""
    texts = {}
    for _, table in tables():
        for row in vars(table).values():
            if isinstance(row, Knob | Family) and row.strictest is not None:
                texts.update((name.upper(), row.strictest) for name in _names(row))
    rows = [f"    {json.dumps(name)}: {json.dumps(texts[name])},\n" for name in sorted(texts)]
    return STRICTEST_HEAD + "".join(rows) + "}\n# fmt: on\n"


def _names(row: Knob[Any] | Family[Any]) -> list[str]:
    """Return the names of a row; a family that has a strictest text is one of levels."""
    if isinstance(row, Knob):
        return [row.name]
    if not re.search(r"\{(level|context)\}", row.pattern):
        raise ValueError(f"{row.pattern}: say strictest= in its row of config/families.py")
    return [row[context].name for context in CONFIGURED]


def manual() -> str:
    """Return the page that lists every knob."""
    lines = [
        "# Configuration knobs",
        "",
        "Generated from the tables in `src/kettle/config/knobs/`.",
    ]
    for module, table in tables():
        lines += ["", f"## {(table.__doc__ or module).strip().rstrip('.')}", ""]
        lines += ["| Knob | Kind | Default | Meaning |", "|---|---|---|---|"]
        for knob in vars(table).values():
            if isinstance(knob, Family):
                name, kind, default = knob.pattern, "family", knob.default
            elif isinstance(knob, Knob):
                # What daemons act on, of a knob for which the reference has no default.
                is_bare = isinstance(knob, NumberKnob) and knob.unset == "0" and not knob.unread
                unset = "" if is_bare and knob.default is not None else knob.unset
                name, default = knob.name, knob.default or unset
                kind = knob.allowed() if isinstance(knob, NumberKnob) else knob.kind
            else:
                continue
            default = default or ""
            shown = " ".join(default.split()) if "\n" in default else default
            shown = shown.replace("|", "\\|")
            if len(shown) > 60:
                shown = shown[:57] + "..."
            meaning = f"{knob.doc} {NOT_YET}" if knob.unread else knob.doc
            lines.append(f"| `{name}` | {kind} | {f'`{shown}`' if shown else ''} | {meaning} |")
    lines += ["", "## Names without a default that nothing here reads", ""]
    lines += [
        "HTCondor's own programs read them; they are known, and checked as what they are.",
        "",
    ]
    lines += ["| Name | Kind |", "|---|---|"]
    for kinds in BARE_NAMES.values():
        lines += [
            f"| `{name}` | {kind} |" for kind, names in kinds.items() for name in names.split()
        ]
    lines += ["", "## Names that sites make up", ""]
    lines += ["| Such as | What it is |", "|---|---|"]
    lines += [f"| `{family.example}` | {family.makes} |" for family in FAMILIES]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write all files."""
    TEXTS.write_text(default_texts())
    NAMES.write_text(unread_names())
    STRICTEST.write_text(strictest_texts())
    MANUAL.parent.mkdir(parents=True, exist_ok=True)
    MANUAL.write_text(manual())


if __name__ == "__main__":
    main()
