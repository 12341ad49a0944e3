"""Write the manual's lists of what is a table in the code, each row with its sentence.

They are submit commands, attributes, codes, figures, the names of PRINTAS, and the statements of
transforms, which stand within a page of the guide. `python .ci/generate_tables.py` rewrites them;
`tests/tidy/test_generated_tables.py` fails when they are out of date.
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
from kettle.tools.printing.ways import Ways
from kettle.tools.queue import job_ways
from kettle.tools.status import machine_ways
from kettle.transforms.statements import STATEMENTS

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "docs/generated"
TRANSFORMS = ROOT / "docs/guide/transforms.md"
BEGIN = "<!-- statements: made by .ci/generate_tables.py -->\n"
END = "<!-- end of statements -->\n"


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


def print_names() -> str:
    """Return the page of what `PRINTAS NAME` stands for."""
    tables: dict[str, Ways] = {
        "About jobs": job_ways.WAYS,
        "About machines and daemons": machine_ways.WAYS,
        "Of condor_q": job_ways.QUEUE_WAYS,
        "Of condor_status": machine_ways.STATUS_WAYS,
    }
    lines = ["# Names of PRINTAS", ""]
    lines += ["Generated from `src/kettle/tools/queue/job_ways.py` and"]
    lines += [
        "`src/kettle/tools/status/machine_ways.py`. The first two lists are known to `condor_q`,"
    ]
    lines += [
        "`condor_history`, `condor_status` and `condor_who`, the others to one tool, which has"
    ]
    lines += [
        "its own way where a name stands twice. [Print formats](../guide/print-formats.md) has"
    ]
    lines += ["the files that use them."]
    for title, ways in tables.items():
        lines += ["", f"## {title}", "", "| Name | Shows |", "|---|---|"]
        lines += [f"| `{name}` | {way.doc} |" for name, way in ways.items()]
    return "\n".join(lines) + "\n"


def transforms() -> str:
    """Return the guide's page of transforms with its table of statements made anew."""
    before, _, rest = TRANSFORMS.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    lines = ["", "| Statement | What it does |", "|---|---|"]
    for row in STATEMENTS.values():
        usage = row.usage.replace("|", "\\|")
        lines.append(f"| `{usage}` | {row.meaning} |")
    return before + BEGIN + "\n".join(lines) + "\n\n" + END + after


PAGES = {
    "metrics.md": metric_tables,
    "print_names.md": print_names,
    "../guide/transforms.md": transforms,
    "submit_commands.md": submit_commands,
    "attributes.md": attributes,
    "codes.md": code_tables,
}


def main() -> None:
    """Write all pages."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (GENERATED / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
