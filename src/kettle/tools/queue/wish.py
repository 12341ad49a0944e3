"""What a `condor_q` command line means: a `Wish`, and which jobs it is about.

How the words are read is in `command_line.py`; which ads are fetched and how they are printed in
`condor_q.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from kettle.classad.unparse import render_value
from kettle.structs import Struct, field
from kettle.tools.printing.columns import Columns
from kettle.tools.programs import Streams

# The columns of a terminal of which nothing is known.
USUAL_WIDTH = 80
# Options that choose the jobs, and how.
MODES = {
    "run": "(JobStatus == 2 || JobStatus == 6 || JobStatus == 7)",
    "hold": "JobStatus == 5",
    "idle": "JobStatus == 1",
    # Those of the standard universe say how much they read and wrote.
    "io": (
        "(JobUniverse == 1 || TransferQueued =?= true || TransferringInput =?= true || "
        "TransferringOutput =?= true)"
    ),
    "grid": "JobUniverse == 9",
    "hold-codes": "JobStatus == 5",
}
# Those that choose the rows of their own table alone.
_OF_TABLES = frozenset({"io"})
# Tables that a file named by a knob may replace, and their words in the knob's name.
_LAYOUTS = {
    "totals": "TOTALS",
    "autocluster": "AUTOCLUSTER",
    "jobset": "JOBSET",
    "run": "RUN",
    "idle": "IDLE",
    "grid": "GRID",
    "hold": "HOLD",
    "hold-codes": "HOLDCODES",
    "io": "IO",
    "dag": "DAG",
}
_NO_LAYOUT = frozenset({"unmatchable"})


class Wish(Struct):
    """Everything a command line of `condor_q` can say."""

    ids: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    reach: dict[str, str] = field(default_factory=dict)
    submitter: str = ""
    schedd_constraint: str = ""
    job_file: str = ""
    file_form: str = "auto"
    user_log: str = ""
    limit: int = 0
    # long, new, json, xml, jsonl: whole ads.
    form: str = ""
    attributes: list[str] = field(default_factory=list)
    columns: Columns = field(default_factory=Columns)
    # Whether any were named, also where they are not shown; whether -totals is behind all of them.
    columns_named: bool = False
    totals_said_last: bool = False
    # Columns after the table's: qualifiers and attribute.
    added: list[tuple[str, str]] = field(default_factory=list)
    print_format: str = ""
    # Whether that file was named by the configuration, not by the command line.
    print_format_is_default: bool = False
    # Whether totals are of the query, the user and everybody: not the old single line.
    totals_by_user: bool = True
    # None: as wide as the output; 0: no limit.
    width: int | None = None
    # Where the ads of a table are written to as they came: -capture-raw-results:PLACE.
    capture: str = ""
    modes: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    batch: bool | None = None
    # What stands where a batch has no job, and whether its size is guessed: -batch:QUALIFIERS.
    batch_none: str = "_"
    batch_guess: bool = False
    # Whether jobs are shown in batches where no option says otherwise.
    batch_is_default: bool = True
    # Each option that asks why, with its qualifiers.
    analyses: list[tuple[str, str]] = field(default_factory=list)
    machine: str = ""
    machine_constraint: str = ""
    slot_file: str = ""
    # What is said before anything else.
    warnings: list[str] = field(default_factory=list)
    priorities_file: str = ""

    @property
    def mine(self) -> bool:
        """Whether only the user's own jobs are meant."""
        return not (self.ids or self.owners or self.submitter or "allusers" in self.flags)

    @property
    def factories(self) -> bool:
        """Whether clusters that make their jobs later are meant, not jobs."""
        others = self.modes or self.batch or "totals" in self.flags
        return "factory" in self.flags and not others

    @property
    def grouped(self) -> bool:
        """Whether groups of jobs are asked for instead of jobs."""
        return bool({"autocluster", "group-by"} & self.flags)

    @property
    def skips_empty(self) -> bool:
        """Whether schedds without such jobs are passed over, as with `-global`."""
        alike = {"autocluster", "group-by", "jobset"} & self.flags or self.factories
        return "global" in self.flags and not (self.job_file or self.user_log or alike)

    @property
    def takes_whole_batches(self) -> bool:
        """Whether a batch's job that is not among those meant has left the queue."""
        some = any("." in word for word in self.ids) or self.constraints
        return not (some or self.modes & {"run", "hold", "hold-codes", "idle"})

    @property
    def in_batches(self) -> bool:
        """Whether the table has a row for each batch.

        Compat: in the columns of batches, also with -io, -grid and -hold-codes, where the reference
        puts them into the columns of those tables or shows none
        (test_batches_have_their_own_columns_whatever_jobs_are_meant).
        """
        if "unmatchable" in self.flags or self.grouped:
            return False
        if self.batch is not None:
            return self.batch
        return self.batch_is_default and not (self.modes - {"dag"} or self.added)

    @property
    def layout(self) -> str | None:
        """Which of the tables is meant, in the words of Q_DEFAULT_<LAYOUT>_PRINT_FORMAT_FILE.

        Empty for the row for each job, whose knob has no word; None if what is shown is no table
        or none that a user's file may replace.
        """
        if self.form or self.columns or self.print_format or self.analyses:
            return None
        if self.flags & _NO_LAYOUT or self.in_batches:
            return None
        if self.factories:
            return "FACTORY"
        for flag, word in _LAYOUTS.items():
            if flag in self.flags or flag in self.modes:
                return word
        return ""

    def added_columns(self) -> Columns:
        """Return the columns of `-aaf` by themselves."""
        return Columns.of_added(self.added)

    @property
    def _shows_rows(self) -> bool:
        """Whether jobs are shown in one of the tool's own tables."""
        return not (self.form or self.columns or self.print_format or "totals" in self.flags)

    def constraint(self) -> str:
        """Return the expression that the jobs meant satisfy."""
        # Where jobs stand under their DAG, its nodes are meant with it.
        under_dags = "dag" in self.modes or (self._shows_rows and self.in_batches)
        jobs = render_jobs(self.ids, self.owners, with_nodes=under_dags)
        parts = [f"({jobs})"] if jobs else []
        if self.submitter:
            who = self.submitter
            parts.append(f"({'User' if '@' in who else 'Owner'} == {render_value(who)})")
        parts += [f"({text})" for text in self.constraints]
        modes = self.modes if self._shows_rows else self.modes - _OF_TABLES
        parts += [f"({MODES[mode]})" for mode in sorted(modes) if mode in MODES]
        if "unmatchable" in self.flags and not (self.job_file or self.analyses):
            parts.append(f"({MODES['idle']})")
        return " && ".join(parts) or "true"


def render_jobs(ids: Sequence[str], owners: Sequence[str], *, with_nodes: bool = False) -> str:
    """Return the expression for jobs named by numbers or owners; empty if there are none.

    Compat: the reference's also asks for JobBatchId, in a way that is an error for jobs without
    one, so that of several ids only the first is found (test_queue_recordings, `_SECOND`).
    """
    parts = [_render_id(word) for word in ids]
    # The nodes of a DAG are named by its cluster, too.
    dags = dict.fromkeys(word.partition(".")[0] for word in ids) if with_nodes else ()
    parts += [f"DAGManJobId =?= {cluster}" for cluster in dags]
    parts += [f"Owner == {render_value(name)}" for name in owners]
    return " || ".join(parts)


def choose_width(width: int | None, streams: Streams) -> int:
    """Return how long a row may be; 0 is without limit, which is so for pipes and files."""
    if width is not None:
        return max(0, width - 1)
    try:
        if streams.stdout.isatty():
            return os.get_terminal_size(streams.stdout.fileno()).columns - 1
    except (OSError, ValueError):
        pass
    return 0


def _render_id(word: str) -> str:
    cluster, _, proc = word.partition(".")
    return f"(ClusterId == {cluster} && ProcId == {proc})" if proc else f"ClusterId == {cluster}"
