"""What a `condor_q` command line asks for: options read into a `Wish`.

Only the words are judged here. Which ads are fetched and how they are printed is in
`condor_q.py`. Error texts are the reference's.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence

from kettle.classad import parse_expression
from kettle.classad.unparse import render_value
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.structs import Struct, field
from kettle.tools.options import Asked, Option, UnknownOptionError, choose_option
from kettle.tools.printing.columns import Columns
from kettle.tools.programs import Streams

OPTIONS = (
    Option("help"),
    Option("version", 0),
    Option("debug", qualified=True),
    Option("global"),
    Option("grid", 2),
    Option("name", 1, 1),
    Option("pool", 1, 1),
    Option("addr", 2, 1),
    Option("schedd-constraint", 5, 1),
    Option("submitter", 1, 1),
    Option("constraint", 1, 1),
    Option("jobads", 1, 1, qualified=True),
    Option("userlog", 1, 1),
    Option("limit", 3, 1),
    Option("long", 1, qualified=True),
    Option("xml"),
    Option("json", 2),
    Option("attributes", 3, 1),
    Option("format", 1, 2),
    Option("autoformat", 5, qualified=True),
    Option("af", 2, qualified=True),
    Option("aaf", 3, qualified=True),
    Option("print-format", 2, 1),
    Option("wide", 1, qualified=True),
    Option("allusers", 2),
    Option("hold", 2),
    Option("held", 3),
    Option("hold-codes", 5),
    Option("idle", 2),
    Option("io", 2),
    Option("run"),
    Option("dag", 2),
    Option("batch"),
    Option("nobatch", 3),
    Option("cputime", 2),
    Option("currentrun", 2),
    Option("totals", 3),
    Option("factory", 4),
    Option("jobset", 4),
    Option("autocluster", 4),
    Option("stream-results", 2),
    Option("unmatchable"),
    Option("expert"),
    Option("better-analyze", 3, qualified=True),
    Option("analyze", 2, qualified=True),
    Option("reverse-analyze", 3, qualified=True),
    Option("machine", 1, 1),
    Option("mconstraint", 2, 1),
    Option("slotads", 4, 1, qualified=True),
    Option("userprios", 5, 1),
    Option("nouserprios", 3),
    Option("verbose", 4),
)
# Options that choose the jobs, and how.
MODES = {
    "run": "(JobStatus == 2 || JobStatus == 6 || JobStatus == 7)",
    "hold": "JobStatus == 5",
    "idle": "JobStatus == 1",
    "io": "(TransferringInput =?= true || TransferringOutput =?= true || JobStatus == 6)",
    "grid": "JobUniverse == 9",
    "hold-codes": "JobStatus == 5",
}
_NEEDS = {
    "name": "requires the name of a schedd as an argument.",
    "jobads": "requires a filename",
    "slotads": "requires a filename",
    "userlog": "requires a filename",
}


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
    # Columns after the table's: qualifiers and attribute.
    added: list[tuple[str, str]] = field(default_factory=list)
    print_format: str = ""
    # None: as wide as the output; 0: no limit.
    width: int | None = None
    modes: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    batch: bool | None = None
    analyze: str = ""
    analyze_qualifiers: str = ""
    machine: str = ""
    machine_constraint: str = ""
    slot_file: str = ""

    @property
    def mine(self) -> bool:
        """Whether only the user's own jobs are meant."""
        return not (self.ids or self.owners or self.submitter or "allusers" in self.flags)

    @property
    def factories(self) -> bool:
        """Whether clusters that make their jobs later are meant, not jobs."""
        return "factory" in self.flags and not (self.modes or "totals" in self.flags)

    @property
    def skips_empty(self) -> bool:
        """Whether schedds without such jobs are passed over, as with `-global`."""
        alike = {"autocluster", "jobset"} & self.flags or self.factories
        return "global" in self.flags and not (self.job_file or self.user_log or alike)

    @property
    def in_batches(self) -> bool:
        """Whether the table has a row for each batch."""
        if "unmatchable" in self.flags:
            return False
        if self.batch is not None:
            return self.batch
        return not (self.modes - {"dag"} or self.added)

    def added_columns(self) -> Columns:
        """Return the columns of `-aaf` by themselves."""
        columns = Columns()
        for qualifiers, text in self.added:
            columns.add_auto(qualifiers, [text])
        return columns

    def constraint(self) -> str:
        """Return the expression that the jobs meant satisfy."""
        jobs = render_jobs(self.ids, self.owners, with_nodes=True)
        parts = [f"({jobs})"] if jobs else []
        if self.submitter:
            who = self.submitter
            parts.append(f"({'User' if '@' in who else 'Owner'} == {render_value(who)})")
        parts += [f"({text})" for text in self.constraints]
        parts += [f"({MODES[mode]})" for mode in sorted(self.modes) if mode in MODES]
        if "unmatchable" in self.flags and not self.job_file:
            parts.append(f"({MODES['idle']})")
        return " && ".join(parts) or "true"


def render_jobs(ids: Sequence[str], owners: Sequence[str], *, with_nodes: bool = False) -> str:
    """Return the expression for jobs named by numbers or owners; empty if there are none."""
    parts = [_render_id(word) for word in ids]
    # The nodes of a DAG are named by its cluster, too.
    parts += [f"DAGManJobId =?= {word}" for word in ids if with_nodes and "." not in word]
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


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for.

    Raises Asked where help or the version is wanted, UsageError for what makes no sense.
    """
    wish = Wish()
    rest = Words(words)
    for word in rest:
        if word.startswith("-") and len(word) > 1:
            option, qualifiers = _choose(word, rest)
            _apply(wish, option.name, word, qualifiers, rest)
        elif re.fullmatch(r"\d+(\.\d*)?", word):
            wish.ids.append(word.rstrip("."))
        else:
            wish.owners.append(word)
    return wish


def _choose(word: str, rest: Words) -> tuple[Option, str]:
    """Return the option that a word names; with `-help`, the words after it name tables."""
    try:
        return choose_option(word, OPTIONS)
    except Asked as asked:
        if asked.kind == "help":
            from kettle.tools.queue.usage import render_codes

            asked.more = render_codes(itertools.takewhile(lambda each: each[:1] != "-", rest))
        raise


def explain(
    error: UsageError, usage: str, streams: Streams, unknown: str = "Error: unrecognized argument"
) -> str:
    """Return what goes to stderr about a wrong command line.

    The reference prints the usage only for an unknown option, and on stdout.
    """
    if isinstance(error, UnknownOptionError):
        streams.stdout.write(usage)
        return f"{unknown} {error.word}\n"
    return f"{error}\n"


class Words(Iterator[str]):
    """The words of a command line, to be taken one by one or up to the next option."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._index = 0

    def __next__(self) -> str:
        if self._index >= len(self._words):
            raise StopIteration
        self._index += 1
        return self._words[self._index - 1]

    def take(self, word: str, complaint: str = "requires another parameter") -> str:
        """Return the next word, which the option `word` needs."""
        value = next(self, None)
        if value is None:
            raise UsageError(f"Error: {word} {complaint}")
        return value

    def take_all(self, word: str) -> list[str]:
        """Return the words up to the next option; there must be one at least."""
        found = []
        while self._index < len(self._words) and not self._words[self._index].startswith("-"):
            found.append(self._words[self._index])
            self._index += 1
        if not found:
            raise UsageError(f"Error: {word} requires at least one attribute parameter")
        return found


def _apply(wish: Wish, name: str, word: str, qualifiers: str, rest: Words) -> None:
    if _take_source(wish, name, word, qualifiers, rest):
        return
    if not _take_form(wish, name, word, qualifiers, rest):
        _take_choice(wish, name, word, qualifiers, rest)


def _take_source(wish: Wish, name: str, word: str, qualifiers: str, rest: Words) -> bool:
    """Take an option that says where ads come from; tell whether it was one."""
    match name:
        case "name" | "pool":
            wish.reach[name] = rest.take(word, _NEEDS.get(name, "requires another parameter"))
        case "addr":
            wish.reach["address"] = rest.take(word)
        case "schedd-constraint":
            wish.schedd_constraint = rest.take(word)
            wish.flags.add("global")
        case "jobads":
            wish.job_file = rest.take("-jobads", _NEEDS[name])
            wish.file_form = qualifiers or "auto"
        case "userlog":
            wish.user_log = rest.take("-userlog", _NEEDS[name])
        case "machine":
            wish.machine = rest.take(word)
        case "mconstraint":
            wish.machine_constraint = rest.take(word)
        case "slotads":
            wish.slot_file = rest.take(word, _NEEDS[name])
        case "userprios":
            rest.take(word, "requires a filename")
        case _:
            return False
    return True


def _take_form(wish: Wish, name: str, word: str, qualifiers: str, rest: Words) -> bool:
    """Take an option that says how ads are printed; tell whether it was one."""
    match name:
        case "long" | "xml" | "json":
            form = qualifiers if name == "long" and qualifiers else name
            wish.form = form if form in {"long", "new", "json", "xml", "jsonl"} else "long"
        case "attributes":
            wish.attributes += rest.take(word).replace(",", " ").split()
        case "format":
            complaint = "requires format and attribute parameters"
            form = rest.take(word, complaint)
            wish.columns.add_format(form, rest.take(word, complaint))
        case "autoformat" | "af":
            wish.columns.add_auto(qualifiers, rest.take_all("-autoformat"))
        case "aaf":
            _check_added(qualifiers)
            wish.added += [(qualifiers, text) for text in rest.take_all("-aaf")]
            wish.flags.add(f"-aaf {word}")
        case "print-format":
            wish.print_format = rest.take(word)
        case "wide":
            wish.width = int(qualifiers) if qualifiers.isdecimal() else 0
        case "batch" | "nobatch":
            wish.batch = name == "batch"
        case _:
            return False
    return True


def _take_choice(wish: Wish, name: str, word: str, qualifiers: str, rest: Words) -> None:
    """Take an option that says which jobs are meant, or what about them."""
    match name:
        case "submitter":
            wish.submitter = rest.take(word)
        case "constraint":
            wish.constraints.append(read_constraint(rest.take(word)))
        case "limit":
            wish.limit = _limit(rest.take(word))
        case "held":
            wish.modes.add("hold")
        case "run" | "hold" | "idle" | "io" | "grid" | "dag" | "hold-codes":
            wish.modes.add(name)
        case "better-analyze" | "analyze" | "reverse-analyze":
            wish.analyze, wish.analyze_qualifiers = name, qualifiers
        case _:
            wish.flags.add(name)


def _limit(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", text):
        raise UsageError(f"Error: Unable to convert ({text}) to a number for -limit.")
    if int(text) < 1:
        raise UsageError(f"Error: {text} is not a valid for -limit.")
    return int(text)


def _check_added(qualifiers: str) -> None:
    for each in qualifiers:
        if each not in "VrTY":
            raise UsageError(
                f"Error: {each} is invalid -aaf format qualifier. "
                "only one of V,r,T, or Y is permitted."
            )


def read_constraint(text: str) -> str:
    """Return the constraint if it parses; UsageError if not."""
    try:
        parse_expression(text)
    except ClassAdSyntaxError:
        raise UsageError(f"Error: could not parse constraint {text}") from None
    return text
