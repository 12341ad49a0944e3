"""The lines under the table of `condor_q`: how many jobs are in which state."""

from __future__ import annotations

from collections.abc import Iterable

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.structs import Struct
from kettle.tools.queue.batches import is_dag

# What follows the line over ads from a file, where the other lines would be.
_BLANKS_FROM_FILE = 51
# What a summary counts, as it spells it; the names of the fields below.
_WORDS = ("Jobs", "Completed", "Removed", "Idle", "Running", "Held", "Suspended")


class Totals(Struct):
    """Jobs by state, and all of these together."""

    jobs: int = 0
    completed: int = 0
    removed: int = 0
    idle: int = 0
    running: int = 0
    held: int = 0
    suspended: int = 0

    def render(self, what: str) -> str:
        """Return the line, without its end; with nothing said of `what` is counted, the old one."""
        whose = f"Total for {what}: " if what else ""
        return (
            f"{whose}{self.jobs} jobs; {self.completed} completed, "
            f"{self.removed} removed, {self.idle} idle, {self.running} running, "
            f"{self.held} held, {self.suspended} suspended"
        )


def count_jobs(ads: Iterable[ClassAd], *, with_dags: bool = False) -> Totals:
    """Count ads; jobs of the scheduler universe are not jobs here unless they are asked for."""
    totals = Totals()
    for ad in ads:
        if is_dag(ad) and not with_dags:
            continue
        match ad.integer("JobStatus"):
            case JobStatus.IDLE:
                totals.idle += 1
            case JobStatus.RUNNING | JobStatus.TRANSFERRING_OUTPUT:
                totals.running += 1
            case JobStatus.REMOVED:
                totals.removed += 1
            case JobStatus.COMPLETED:
                totals.completed += 1
            case JobStatus.HELD:
                totals.held += 1
            case JobStatus.SUSPENDED:
                totals.suspended += 1
            case _:
                continue
        totals.jobs += 1
    return totals


def summarize(ads: Iterable[ClassAd]) -> ClassAd:
    """Return the counts of a file's jobs as the ad in which a schedd says its own."""
    jobs: list[ClassAd] = []
    beside: list[ClassAd] = []
    for ad in ads:
        (beside if is_dag(ad) else jobs).append(ad)
    counts, others = count_jobs(jobs), count_jobs(beside, with_dags=True)
    summary = ClassAd({"MyType": "Summary"})
    for word in _WORDS:
        summary[word] = getattr(counts, word.lower())
        if word != "Suspended":
            summary[f"Scheduler{word}"] = getattr(others, word.lower())
    return summary


def read_totals(summary: ClassAd, prefix: str) -> Totals:
    """Read the schedd's own counts: for the query (no prefix), `My` or `Allusers`."""
    return Totals(*(summary.integer(prefix + word) or 0 for word in _WORDS))


def render_totals(summary: ClassAd | None, ads: Iterable[ClassAd]) -> str:
    """Return the lines: by the schedd's summary, or for ads of a file by counting."""
    if summary is None:
        return count_jobs(ads).render("query") + " " * _BLANKS_FROM_FILE + "\n"
    lines = [read_totals(summary, "").render("query")]
    if "MyJobs" in summary:
        name = summary.string("MyName") or "me"
        lines.append(read_totals(summary, "My").render(name))
    lines.append(read_totals(summary, "Allusers").render("all users"))
    return " \n".join(lines) + "\n"
