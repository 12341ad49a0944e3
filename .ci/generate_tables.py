"""Write the manual's lists of submit commands, attributes and codes from their tables.

`python .ci/generate_tables.py` rewrites them; `tests/tidy/test_generated_tables.py` fails when
they are out of date.
"""

from __future__ import annotations

from pathlib import Path

from kettle.attributes import codes
from kettle.attributes.attribute import Attribute
from kettle.attributes.daemon import Daemon
from kettle.attributes.job import Job
from kettle.attributes.machine import Machine
from kettle.attributes.submitter import Submitter
from kettle.master import metrics
from kettle.submit.registry import TABLES

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "docs/generated"


def submit_commands() -> str:
    """Return the page of submit commands."""
    lines = ["# Submit commands", "", "Generated from the tables in `src/kettle/submit/commands/`."]
    lines.append("A `+` or `MY.` before a name sets an attribute of the job directly.")
    for table in TABLES:
        title = (table.__doc__ or "").removeprefix("Submit commands: ").split(". ")[0]
        lines += ["", f"## {title[0].upper()}{title[1:].rstrip('.')}", ""]
        lines += ["| Command | Also | Attribute | Value | Meaning |", "|---|---|---|---|---|"]
        for row in table.COMMANDS:
            also = ", ".join(f"`{name}`" for name in row.aliases)
            attribute = f"`{row.attribute}`" if row.attribute else ""
            kind = {"special": "", "unread": "", "plain": "string"}.get(
                row.kind, row.kind
            ).removeprefix("filled ")
            lines.append(f"| `{row.name}` | {also} | {attribute} | {kind} | {row.doc} |")
    return "\n".join(lines) + "\n"


def attributes() -> str:
    """Return the page of attributes."""
    lines = ["# Attributes", "", "Generated from the tables in `src/kettle/attributes/`."]
    for table in (Job, Machine, Daemon, Submitter):
        lines += ["", f"## {(table.__doc__ or '').rstrip('.')}", ""]
        lines += ["| Attribute | Type | Written by | Meaning |", "|---|---|---|---|"]
        for row in vars(table).values():
            if isinstance(row, Attribute):
                kind = f"{row.kind}, {row.unit}" if getattr(row, "unit", "") else row.kind
                writers = f"{row.written_by}, the running job" if row.by_job else row.written_by
                lines.append(f"| `{row}` | {kind} | {writers} | {row.doc} |")
    return "\n".join(lines) + "\n"


def code_tables() -> str:
    """Return the page of codes."""
    lines = ["# Codes", "", "Generated from `src/kettle/attributes/codes.py`."]
    for table in vars(codes).values():
        if isinstance(table, type) and issubclass(table, codes.Code) and table is not codes.Code:
            lines += ["", f"## {table.__name__}", "", (table.__doc__ or "").strip(), ""]
            lines += ["| Number | Name | Meaning |", "|--:|---|---|"]
            lines += [f"| {int(code)} | {code.name} | {code.doc} |" for code in table]
    return "\n".join(lines) + "\n"


def metric_tables() -> str:
    """Return the page of figures at /metrics."""
    lines = ["# Figures at /metrics", "", "Generated from `src/kettle/master/metrics.py`."]
    lines += [
        "Labels that name a daemon: `schedd`, `collector`, `negotiator`, `startd`; in figures"
    ]
    lines += ["of all daemons `type` and `name`, in the master's own `daemon`."]
    lines += ["", "## Of one kind of daemon", ""]
    lines += ["| Name | Type | Labels | Meaning | From |", "|---|---|---|---|---|"]
    for metric in (*metrics.METRICS, *metrics.OF_EVERY_DAEMON):
        if metric is metrics.OF_EVERY_DAEMON[0]:
            lines += ["", "## Of every daemon", ""]
            lines += ["| Name | Type | Labels | Meaning | From |", "|---|---|---|---|---|"]
        words = ", ".join(f"`{word}`" for _, word in metric.samples if word)
        labels = f"`{metric.label}`: {words}" if metric.label else ""
        source = ", ".join(f"`{attribute}`" for attribute, _ in metric.samples)
        lines.append(f"| `{metric.name}` | {metric.kind} | {labels} | {metric.doc} | {source} |")
    lines += ["", "## Of the master", "", "| Name | Meaning |", "|---|---|"]
    lines += [f"| `{name}` | {doc} |" for name, doc in metrics.OF_THE_MASTER]
    return "\n".join(lines) + "\n"


PAGES = {
    "metrics.md": metric_tables,
    "submit_commands.md": submit_commands,
    "attributes.md": attributes,
    "codes.md": code_tables,
}


def main() -> None:
    """Write all pages."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (GENERATED / name).write_text(page())


if __name__ == "__main__":
    main()
