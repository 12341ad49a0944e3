"""The manual's page of each command: synopsis, what it does, options, an example, exit codes.

Options come from the table that the command itself reads its command line with, their meanings
from its `-help`, examples from `docs/tools/examples.json`, texts from `docs/tools/texts.toml`.
Used by `generate_tools.py`.
"""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from kettle.tools.options import MANY, Option
from kettle.tools.programs import TOOLS

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/tools"
_MEANING = re.compile(r"^\s+(-\S.*?)(?:\s{2,}(\S.*))?$")
_WORD = re.compile(r"(?<![\w-])-{1,2}([A-Za-z][\w-]*)")
USUAL_EXITS = "0 if it was done, 1 if not."


def read_texts() -> dict[str, dict[str, str]]:
    """Return what is said of each command."""
    return tomllib.loads((FOLDER / "texts.toml").read_text(encoding="utf-8"))


# The modules of tools that have their table in another one, and that one.
_TABLES_ELSEWHERE = {
    "queue.condor_history": "queue.history_wish",
    "queue.condor_q": "queue.command_line",
    "status.condor_status": "status.wish",
    "status.condor_userprio": "status.userprio_words",
}


def read_options(name: str) -> list[Option]:
    """Return the rows of the table that a command reads its options with."""
    module = importlib.import_module(f"kettle.tools.{TOOLS[name]}")
    family = getattr(module, "TOOLS", {})
    rows = [*getattr(module, "STANDARD", ())]
    if name in family:
        rows += getattr(family[name], "options", ())
    else:
        rows += _rows(getattr(module, "OPTIONS", getattr(module, "TOKEN", ())))
    if TOOLS[name].startswith("tokens."):
        rows = [*importlib.import_module("kettle.tools.tokens.token_commands").STANDARD, *rows]
    if not rows and TOOLS[name] in _TABLES_ELSEWHERE:
        table = _TABLES_ELSEWHERE[TOOLS[name]]
        rows = [*importlib.import_module(f"kettle.tools.{table}").OPTIONS]
    return sorted({row.name: row for row in rows}.values(), key=lambda row: row.name.lower())


def _rows(table: object) -> list[Option]:
    if isinstance(table, dict):
        return [Option(name, shortest) for name, shortest in table.items()]
    return [row for row in table if isinstance(row, Option)]


def read_meanings(help_text: str) -> dict[str, str]:
    """Return what `-help` says of each option: on its line, or on the one below."""
    found: dict[str, str] = {}
    lines = help_text.splitlines()
    for number, line in enumerate(lines):
        match = _MEANING.match(line)
        if match is None:
            continue
        meaning = match[2] or ""
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if not meaning and following.startswith("          "):
            meaning = following.strip()
        for name in _WORD.findall(match[1]):
            found.setdefault(name, meaning)
    return found


def render_options(rows: list[Option], meanings: dict[str, str]) -> Iterator[str]:
    """Yield the table of options."""
    yield from ("| Option | Shortest | Takes | |", "|---|---|---|---|")
    for row in rows:
        shortest = row.name[: row.shortest or len(row.name)]
        takes = {0: "", 1: "a word", MANY: "words"}.get(row.values, f"{row.values} words")
        if row.qualified:
            takes = f"`:`letters {takes}".strip()
        meaning = meanings.get(row.name, "").replace("|", "\\|")
        if row.ignored:
            meaning = "taken and without effect"
        yield f"| `-{row.name}` | `-{shortest}` | {takes} | {meaning} |"


def render_page(name: str, sentence: str, help_text: str) -> str:
    """Return the page of one command."""
    text = read_texts()[name]
    recorded = json.loads((FOLDER / "examples.json").read_text(encoding="utf-8")).get(name)
    examples = tomllib.loads((FOLDER / "examples.toml").read_text(encoding="utf-8"))
    lines = [f"# {name}", "", sentence, "", text["about"], "", "## Synopsis", ""]
    lines += ["```text", help_text.rstrip(), "```"]
    rows = read_options(name)
    if rows:
        lines += ["", "## Options", "", "With one dash, a name may be cut down to what the second"]
        lines += ["column shows; with two dashes it must be whole.", ""]
        lines += render_options(rows, read_meanings(help_text))
    if recorded is not None:
        command = examples[name]["command"]
        shown = recorded["shown"].strip("\n")
        lines += ["", "## Example", "", "```console", f"$ {command}", *shown.splitlines(), "```"]
    lines += ["", "## Exit code", "", text.get("exits", USUAL_EXITS), ""]
    return "\n".join(lines)
