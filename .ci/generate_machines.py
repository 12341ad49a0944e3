"""Draw the daemons' state machines from their tables.

`python .ci/generate_machines.py` rewrites `docs/generated/machines.md`;
`tests/tidy/test_generated_machines.py` fails when it is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kettle.master import child_machine
from kettle.schedd import job_machine
from kettle.shadow import shadow_machine
from kettle.startd import claim_machine, slot_machine

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/generated/machines.md"
# More words than this on an arrow and the drawing cannot be read; the table has them all.
WORDS_ON_AN_ARROW = 3


@dataclass(frozen=True, slots=True)
class Edge:
    """One row of any machine, in words. An empty `event` means that a guard alone decides."""

    source: str
    event: str
    when: str
    target: str
    do: str
    number: str = ""


def spell(name: str) -> str:
    """Return a function's or a class's name as words, nothing for the guard that always holds."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.strip("_")).replace("_", " ").lower()
    return "" if words in {"always", "nothing"} else words


def called(function: Callable[..., object]) -> str:
    """Return the words of a guard or an action."""
    return spell(function.__name__)


def slot_edges() -> list[Edge]:
    """Return the edges of a slot."""
    return [
        Edge(
            "/".join(row.source.value),
            row.on.__name__,
            called(row.when),
            "/".join(row.target.value),
            called(row.do),
            row.edge,
        )
        for row in slot_machine.TRANSITIONS
    ]


def claim_edges() -> list[Edge]:
    """Return the edges of a claim."""
    return [
        Edge(source.value, spell(row.name), "", row.target.value, row.doc)
        for row in claim_machine.TRANSITIONS
        for source in row.sources
    ]


def child_edges() -> list[Edge]:
    """Return the edges of a daemon under its master."""
    return [
        Edge(
            row.source.name.lower(),
            row.event.__name__,
            called(row.when),
            row.target.name.lower(),
            called(row.do),
            str(row.edge),
        )
        for row in child_machine.TRANSITIONS
    ]


def shadow_edges() -> list[Edge]:
    """Return the edges of a shadow."""
    return [
        Edge(
            row.source.value,
            spell(row.event.name),
            called(row.when),
            row.target.value,
            "; ".join(effect.value for effect in row.effects),
        )
        for row in shadow_machine.TRANSITIONS
    ]


def job_edges() -> list[Edge]:
    """Return the edges of a job's status."""
    return [
        Edge(
            source.name.lower().replace("_", " "),
            row.event.__name__,
            called(row.when),
            row.target.name.lower().replace("_", " "),
            called(row.do),
        )
        for row in job_machine.TRANSITIONS
        for source in row.sources
    ]


def draw(edges: Iterable[Edge], first: str) -> list[str]:
    """Return the mermaid lines: one arrow for each pair of phases, from `first` on."""
    arrows: dict[tuple[str, str], list[str]] = {}
    names: dict[str, str] = {}
    for edge in edges:
        for phase in (edge.source, edge.target):
            names.setdefault(phase, re.sub(r"\W", "_", phase))
        if edge.source != edge.target:
            words = arrows.setdefault((edge.source, edge.target), [])
            word = edge.number or edge.event
            if word not in words:
                words.append(word)
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += [f'    state "{phase}" as {name}' for phase, name in names.items() if phase != name]
    lines.append(f"    [*] --> {names[first]}")
    for (source, target), words in arrows.items():
        shown = words[:WORDS_ON_AN_ARROW] + (["…"] if len(words) > WORDS_ON_AN_ARROW else [])
        lines.append(f"    {names[source]} --> {names[target]}: {', '.join(shown)}")
    return [*lines, "```"]


def tabulate(edges: list[Edge]) -> list[str]:
    """Return all rows as a table."""
    numbered = any(edge.number for edge in edges)
    head = ["From", "On", "If", "To", "Then"]
    lines = ["| " + " | ".join((["Edge"] if numbered else []) + head) + " |"]
    lines.append("|" + "---|" * (len(head) + numbered))
    for edge in edges:
        cells = [edge.source, edge.event, edge.when, edge.target, edge.do]
        lines.append("| " + " | ".join(([edge.number] if numbered else []) + cells) + " |")
    return lines


MACHINES = (
    (
        "A slot",
        "startd/slot_machine.py",
        "State and activity of one slot of an execution point, with the manual's edge numbers.",
        "Owner/Idle",
        slot_edges,
    ),
    (
        "A claim",
        "startd/claim_machine.py",
        "A schedd's right to one slot, as the startd keeps it.",
        "offered",
        claim_edges,
    ),
    (
        "A daemon under its master",
        "master/child_machine.py",
        "Every daemon of `DAEMON_LIST` is one of these.",
        "off",
        child_edges,
    ),
    (
        "A shadow",
        "shadow/shadow_machine.py",
        "One run of one job, as the access point sees it. What others say without a row is late.",
        "activating",
        shadow_edges,
    ),
    (
        "A job",
        "schedd/job_machine.py",
        "`JobStatus`, which nothing else writes.",
        "idle",
        job_edges,
    ),
)


def render() -> str:
    """Return the page."""
    lines = [
        "# State machines",
        "",
        "Generated from the tables in the code. The first row that fits an event wins. An arrow",
        "carries the numbers of its rows, or the events; rows that end where they began are in the",
        "tables only.",
    ]
    for title, place, sentence, first, edges_of in MACHINES:
        edges = edges_of()
        lines += ["", f"## {title}", "", f"{sentence} The table is in `src/kettle/{place}`.", ""]
        lines += [*draw(edges, first), "", *tabulate(edges)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
