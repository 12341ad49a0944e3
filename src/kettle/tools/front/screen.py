"""Draws a `Snapshot`: the pool on one screen. No asking, no clock."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from kettle.tools.front.snapshot import Job, Slot, Snapshot

COLOURS = {
    "idle": "yellow",
    "running": "green",
    "held": "red",
    "suspended": "magenta",
    "completed": "cyan",
    "removed": "dim",
}
# How a daemon is marked: whether the collector knows it, and whether it answers.
_MARKS = {
    (True, True): ("●", "green"),
    (True, False): ("✗", "red"),
    (False, True): ("○", "red"),
    (False, False): ("✗", "red"),
}
# How many rows of each table fit on a screen that is not asked about.
MOST_JOBS = 15
MOST_SLOTS = 12


def draw(
    snapshot: Snapshot, *, most_jobs: int = MOST_JOBS, chosen: str | None = None
) -> RenderableType:
    """Return the whole screen; `chosen` is the job whose row is marked."""
    parts: list[RenderableType] = [draw_daemons(snapshot)]
    if snapshot.slots:
        parts.append(draw_slots(snapshot.slots))
    parts.append(draw_jobs(snapshot, most_jobs, chosen))
    parts += [Text(f"! {trouble}", style="red") for trouble in snapshot.troubles]
    return Group(*parts)


def draw_daemons(snapshot: Snapshot) -> RenderableType:
    """Return a line that names the daemons of the pool."""
    text = Text()
    for name in ("master", "collector", "negotiator", "schedd", "startd"):
        found = snapshot.daemons.get(name, [])
        answers = name not in snapshot.silent
        # Told apart without colours, too.
        mark, style = _MARKS[bool(found), answers]
        number = f" ×{len(found)}" if len(found) > 1 else ""
        text.append(f"{mark} ", style=style).append(f"{name}{number}   ")
    return Panel(text, title="pool", title_align="left", expand=True)


def draw_slots(slots: list[Slot]) -> RenderableType:
    """Return the table of slots: what is free of what there is."""
    table = Table(expand=True, box=None, header_style="bold")
    for name, justify in (
        ("slot", "left"), ("state", "left"), ("cpus", "right"), ("memory", "right"),
        ("use", "left"), ("load", "right"), ("job", "left"), ("owner", "left"),
    ):  # fmt: skip
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for slot in slots[:MOST_SLOTS]:
        partitionable = slot.kind == "Partitionable"
        used = slot.total_cpus - slot.cpus if partitionable else 0
        shown = f"{slot.cpus}/{slot.total_cpus}" if partitionable else str(slot.cpus)
        memory = f"{slot.memory}/{slot.total_memory}" if partitionable else str(slot.memory)
        table.add_row(
            slot.name,
            f"{slot.state}/{slot.activity}",
            shown,
            f"{memory} MB",
            render_bar(used, slot.total_cpus) if partitionable else "",
            f"{slot.load:.2f}",
            slot.job,
            slot.owner,
        )
    if len(slots) > MOST_SLOTS:
        table.add_row(f"… {len(slots) - MOST_SLOTS} more", style="dim")
    return Panel(
        table, title=f"{len(slots)} slot{'' if len(slots) == 1 else 's'}", title_align="left"
    )


def render_bar(used: int, total: int, width: int = 10) -> str:
    """Return a bar of `width` characters that is filled as far as `total` is used."""
    filled = round(width * used / total) if total else 0
    return "█" * filled + "░" * (width - filled)


def draw_jobs(snapshot: Snapshot, most: int, chosen: str | None) -> RenderableType:
    """Return the table of jobs, what runs first, and a line that counts them."""
    table = Table(expand=True, box=None, header_style="bold")
    for name in ("job", "owner", "state", "time", "command", "where / why"):
        table.add_column(name, no_wrap=name != "where / why", overflow="ellipsis")
    for job in order_jobs(snapshot.jobs)[:most]:
        marked = job.id == chosen
        table.add_row(
            job.id,
            job.owner,
            Text(job.status, style=COLOURS.get(job.status, "")),
            render_span(snapshot.taken_at - (job.started_at or job.queued_at)),
            job.command,
            job.hold_reason or (job.where if job.status == "running" else ""),
            style="reverse" if marked else "",
        )
    if len(snapshot.jobs) > most:
        table.add_row(f"… {len(snapshot.jobs) - most} more", style="dim")
    counts = ", ".join(f"{number} {word}" for word, number in sorted(snapshot.counts().items()))
    said = "not known" if "schedd" in snapshot.silent else counts or "empty"
    return Panel(table, title=f"queue: {said}", title_align="left")


def order_jobs(jobs: list[Job]) -> list[Job]:
    """Return the jobs in the order of the screen: running, held, the rest, each by age."""
    rank = {"running": 0, "transferring output": 0, "suspended": 1, "held": 2, "idle": 3}
    return sorted(jobs, key=lambda job: (rank.get(job.status, 4), job.queued_at, job.id))


def render_span(seconds: float) -> str:
    """Return a span of time in its two largest units."""
    rest = max(0, int(seconds))
    units = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
    for index, (name, size) in enumerate(units):
        if rest >= size:
            number, rest = divmod(rest, size)
            if index + 1 < len(units):
                next_name, next_size = units[index + 1]
                return f"{number}{name}{rest // next_size:02}{next_name}"
            return f"{number}{name}"
    return "0s"
