"""The line that each step of a job's life leaves in a daemon's log, and how it is read back.

`vm#12.0#1795285636/2 executing: pid 4711`: the job's GlobalJobId, by which all daemons of a pool
know it, the number of its run, the step, and what there is to say. Written where a log has the
category D_JOB; `kettle trace` puts the lines of all logs together. Nothing is formatted where the
category is off: callers ask first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kettle.choices import Choice
from kettle.classad import ClassAd

CATEGORY = "D_JOB"
_NAME = re.compile(r"\S+#\d+\.\d+#\d+")
# What a log's head may have behind the moment.
_FLAGS = r"(?:\((?:fd:-?\d+|pid:\d+|D_\w+(?::\d)?)\) )*+"
_LINE = re.compile(rf"{_FLAGS}({_NAME.pattern})/(\d+) ([a-z-]+)(?:: (.*))?$")


class Step(Choice):
    """A step, by the word in its line: which daemon says it, and what it means."""

    SUBMITTED = ("submitted", "schedd", "the job is in the queue")
    MATCHED = ("matched", "negotiator", "a slot was found for the job, or for one like it")
    REQUESTED = ("requested", "schedd", "the startd is asked for the claim")
    CLAIMED = ("claimed", "schedd", "the startd granted the claim")
    HANDED_OVER = ("handed-over", "schedd", "the run is on disk, its shadow begins")
    ACTIVATED = ("activated", "startd", "a starter is to run the job")
    PREPARING = ("preparing", "starter", "the sandbox is made, input comes")
    EXECUTING = ("executing", "starter", "the program runs")
    EXITED = ("exited", "starter", "the program ended")
    REPORTED = ("reported", "starter", "output was sent and the end reported")
    ENDED = ("ended", "shadow", "the run was judged")
    FREED = ("freed", "startd", "the slot is free for the next job")
    SETTLED = ("settled", "schedd", "the queue knows how the run ended")
    LEFT = ("left", "schedd", "the job went from the queue to the history")

    def __init__(self, word: str, daemon: str, doc: str) -> None:
        self.word = word
        self.daemon = daemon
        self.doc = doc


_BY_WORD = {step.word: step for step in Step}


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One step of one run of one job; run 0 is before the first."""

    job: str
    run: int
    step: Step
    detail: str = ""


def line(job: ClassAd, step: Step, detail: str = "", *, coming: bool = False) -> str:
    """Return the line of a job's step; `coming` is the run that is only prepared."""
    return render(name_of(job, coming=coming), step, detail)


def name_of(job: ClassAd, *, coming: bool = False) -> str:
    """Return how lines call a run of a job; a user who gave it another kind of name has none."""
    run = (job.integer("JobRunCount") or 0) + coming
    name = job.string("GlobalJobId") or ""
    return f"{name if _NAME.fullmatch(name) else '?'}/{run}"


def render(run: str, step: Step, detail: str = "") -> str:
    """Return the line of a step of a run, by `name_of`'s name."""
    said = f": {detail}" if detail else ""
    return f"{run} {step.word}{said}"


def parse(text: str) -> TraceLine | None:
    """Read what follows the moment in a log's line; None for lines of other kinds.

    Nothing but the head may stand before: what others say inside a line is no step.
    """
    match = _LINE.match(text)
    step = _BY_WORD.get(match[3]) if match is not None else None
    if match is None or step is None:
        return None
    return TraceLine(match[1], int(match[2]), step, match[4] or "")
