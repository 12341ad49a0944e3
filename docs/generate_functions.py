"""Writes the table of ClassAd functions into the manual, from the tables the evaluator uses.

Run as `PYTHONPATH=src python docs/generate_functions.py`; a test says when it is due.
"""

from __future__ import annotations

from pathlib import Path

from kettle.classad.functions.library import families

PAGE = Path(__file__).parent / "reference" / "classads.md"
BEGIN = "<!-- functions: made by docs/generate_functions.py -->\n"
END = "<!-- end of functions -->\n"


def render() -> str:
    """Return the tables, one a family."""
    parts = []
    for title, rows in families().items():
        parts.append(f"### {title}\n\n| Call | What it is | Examples |\n|---|---|---|\n")
        for row in sorted(rows, key=lambda row: row.name.lower()):
            cells = (
                f"`{row.signature}`",
                row.doc,
                "<br>".join(f"`{example}` is `{value}`" for example, value in row.examples),
            )
            line = " | ".join(cell.replace("|", "\\|") for cell in cells)
            parts.append(f"| {line} |\n")
        parts.append("\n")
    return "".join(parts)


def page() -> str:
    """Return the page with its tables made anew."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + render() + END + after


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
