"""What a submit description would do, and what is wrong with it, without anything being queued.

The jobs are made as they are for a submission (`build.py`); here is counted what came of them,
which of the files that would travel are there, and where in the description a fault comes from.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse
from kettle.classad import parse_expression
from kettle.classad.call_faults import find_call_faults
from kettle.classad.never import why_never_true
from kettle.classad.pointing import point_at
from kettle.config.finding import ERROR, NOTE, WARNING, Finding, order_findings
from kettle.config.odd_lines import find_odd_lines
from kettle.config.remarks import innermost, sentence
from kettle.errors import ClassAdSyntaxError, ConfigError, Remark, StatementError, SubmitError
from kettle.nearest import Nearest
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.structs import Struct, field
from kettle.submit import registry
from kettle.submit.doubts import find_doubts
from kettle.submit.job import evaluate, split_at_commas
from kettle.submit.requests import REQUESTS

if TYPE_CHECKING:
    from kettle.submit.build import JobPlan, Submission
    from kettle.submit.macros import Variable

# Limit: different files that are looked at; what more jobs name is not told of.
MOST_FILES = 100_000
# Limit: names of a folder among which a missing file's nearest is looked for.
_MOST_NEIGHBOURS = 5_000
# Limit: missing files of which each is a finding.
_MOST_MISSING = 50
# What says where files are that travel to a job, and whether they do.
_FOLDER = "Iwd"
_SWITCHES = {"Cmd": "TransferExecutable", "In": "TransferIn"}
_URL = late_pattern(r"[A-Za-z][\w+.-]*://")
# Nothing is known of what programs of these do with files here.
_ELSEWHERE = frozenset({JobUniverse.GRID, JobUniverse.VM})


class Input(Struct):
    """A file that would travel: its absolute path, the command that names it, what it is."""

    path: str
    command: str
    is_found: bool = False
    is_directory: bool = False
    size_bytes: int = 0


class Report(Struct):
    """What a description would do: its jobs, what each asks for, its files, and the findings."""

    jobs: int = 0
    universe: str = ""
    program: str = ""
    requests: dict[str, str] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)
    urls: int = 0
    # Of all jobs together, and of the one that has most, with what is in folders.
    total_bytes: int = 0
    most_bytes: int = 0
    findings: list[Finding] = field(default_factory=list)
    # The one for which it is refused.
    refusal: Finding | None = None
    # The command for whose lack it is, empty where it is for something that is there.
    lacks: str = ""

    @property
    def missing(self) -> list[Input]:
        """The files that are not there."""
        return [file for file in self.inputs if not file.is_found]


def check_submission(
    submission: Submission, refuse: Callable[[int | None], object] | None = None
) -> Report:
    """Make all jobs of a description that was not looked at yet, and say what came of it.

    `refuse` raises SubmitError for the number of a universe whose jobs no schedd takes.
    """
    report = Report()
    files = _Files(submission, report)
    failed: SubmitError | None = None
    try:
        for job in submission.jobs():
            report.jobs += 1
            files.look_at(job)
        if refuse is not None:
            refuse(submission.cluster_ad().integer("JobUniverse"))
    except SubmitError as error:
        failed = error
        report.refusal = _fault(submission, error)
        if error.command and submission.macros.variable_of(error.command) is None:
            report.lacks = error.command
        report.findings.append(report.refusal)
    _describe(submission, report)
    findings = report.findings
    findings += _find_missing(submission, report.missing)
    findings += (unused := list(_find_unused(submission, only_slips=failed is not None)))
    findings += _find_warnings(submission, unused)
    findings += _find_senseless(submission)
    findings += _place_doubts(submission)
    findings += find_odd_lines(submission.reader.lines.physical_lines, submission.facts.file_name)
    if not report.jobs and failed is None:
        file = submission.facts.file_name
        findings.append(Finding(ERROR, "empty", file, 0, "queue", "it queues no job"))
    report.findings = order_findings(findings)
    return report


class _Files:
    """Looks once at each file that jobs name."""

    def __init__(self, submission: Submission, report: Report) -> None:
        self._submission = submission
        self._report = report
        self._known: dict[tuple[str, str], Input] = {}
        self._urls: set[str] = set()
        self._texts: dict[str, object] = {}
        self._shared_bytes = 0
        self._commands = registry.commands_of("input")
        self._looked_at = (_FOLDER, *_SWITCHES.values(), *self._commands)

    def look_at(self, job: JobPlan) -> None:
        """Take in what one job would have sent."""
        report = self._report
        size = self._shared_bytes
        if report.jobs == 1 or any(job.differences.get(name) for name in self._looked_at):
            size = sum(file.size_bytes for file in self._files_of(job))
            report.most_bytes = max(report.most_bytes, size)
        if report.jobs == 1:
            # A job without differences has what the first one has.
            self._shared_bytes = size
        report.total_bytes += size

    def _files_of(self, job: JobPlan) -> Iterator[Input]:
        folder = str(self._value(job, _FOLDER) or "/")
        if self._value(job, "JobUniverse") in _ELSEWHERE:
            return
        for attribute, command in self._commands.items():
            switch = _SWITCHES.get(attribute, "")
            text = self._value(job, attribute)
            if not isinstance(text, str) or (switch and self._value(job, switch) is False):
                continue
            for name in split_at_commas(text) if command == "transfer_input_files" else [text]:
                if _URL.match(name):
                    self._urls.add(name)
                    self._report.urls = len(self._urls)
                elif name and name != "/dev/null":
                    yield self._file(posixpath.join(folder, name), command)

    def _file(self, path: str, command: str) -> Input:
        known = self._known.get((path, command))
        if known is not None:
            return known
        file = Input(path, command)
        if len(self._known) >= MOST_FILES:
            return file
        self._known[path, command] = file
        fact = self._submission.sources.look_at(path)
        if fact is not None:
            file.is_found, file.is_directory = True, fact.is_directory
            file.size_bytes = (
                self._submission.sources.folder_bytes(path)
                if fact.is_directory
                else fact.size_bytes
            )
        self._report.inputs.append(file)
        return file

    def _value(self, job: JobPlan, name: str) -> object:
        text = job.differences.get(name) or self._submission.cluster.get(name)
        if text is None:
            return None
        if name in self._commands and len(text) > 4096:
            return evaluate(text)
        if text not in self._texts:
            if len(self._texts) > MOST_FILES:
                self._texts.clear()
            self._texts[text] = evaluate(text)
        return self._texts[text]


def _describe(submission: Submission, report: Report) -> None:
    """Say what the jobs have in common."""
    cluster = submission.cluster
    number = evaluate(cluster.get("JobUniverse") or "undefined")
    if isinstance(number, int):
        names = {universe.value: universe.name.lower() for universe in JobUniverse}
        report.universe = names.get(number, str(number))
    program = evaluate(cluster.get("Cmd") or "undefined")
    report.program = program if isinstance(program, str) else ""
    for name in REQUESTS:
        text = cluster.get(name)
        if text is not None:
            report.requests[name] = text


def _place(submission: Submission, variable: Variable | None) -> tuple[str, int]:
    if variable is None:
        return submission.facts.file_name, 0
    return variable.origin.source, variable.origin.line


def _fault(submission: Submission, error: SubmitError) -> Finding:
    """Return the finding for a description of which no job, or no further one, can be made."""
    if isinstance(error, StatementError):
        remarks = (Remark(error.complaint), *error.remarks)
        number = error.line or error.told_line
        source, line = innermost(remarks, error.source or submission.facts.file_name, number)
        text = _one_line(sentence(remarks, " ", of_submit=True))
        return Finding(ERROR, "syntax", source, line, "", text, hint=error.hint)
    text = _one_line(error.complaint)
    variable = submission.macros.variable_of(error.command) if error.command else None
    variable = variable or _find_kind(submission)
    source, line = _place(submission, variable)
    statement = submission.statement
    if variable is None and statement is not None:
        # What lacks, lacks where the jobs are made.
        line = statement.told_line or statement.line
    name = variable.name if variable else ""
    hint = error.hint
    if variable is not None and isinstance(error.__cause__, ClassAdSyntaxError):
        drawn = _drawn(submission, variable)
        if drawn:
            # The reference shows all that it would have made of it.
            text = f"what {name} says is no expression"
        hint = "\n".join(filter(None, (hint, drawn)))
    return Finding(ERROR, "value", source, line, name, text, hint=hint)


def _drawn(submission: Submission, variable: Variable) -> str:
    """Return where an expression does not parse; empty if it does."""
    try:
        parse_expression(submission.macros.expand(variable.text).strip(BLANKS))
    except ClassAdSyntaxError as error:
        return point_at(error, " " * 11)
    except ConfigError:
        pass
    return ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _find_kind(submission: Submission) -> Variable | None:
    """Return the line that says what kind of job it is, which decides what it needs.

    For complaints about what the description lacks, or has outside.
    """
    for name in ("grid_resource", "universe"):
        found = submission.macros.variable_of(name)
        if found is not None and found.origin.line > 0:
            return found
    return None


def _find_missing(submission: Submission, missing: list[Input]) -> Iterator[Finding]:
    """Find each file that is not there; of very many the last finding says how many more."""
    folders: dict[str, Nearest] = {}
    for file in missing[:_MOST_MISSING]:
        near = _nearest_file(submission, file.path, folders)
        yield _missing(submission, file)._replace(nearest=near)
    more = len(missing) - _MOST_MISSING
    if more > 0:
        last = _missing(submission, missing[-1])
        yield last._replace(sentence=f"… and {more} more, up to {missing[-1].path}")


def _missing(submission: Submission, file: Input) -> Finding:
    variable = submission.macros.variable_of(file.command)
    if file.command == "transfer_input_files":
        # An image is input, too.
        image = submission.macros.variable_of("container_image")
        is_image = image is not None and posixpath.basename(file.path) in image.text
        variable = image if is_image or variable is None else variable
    source, line = _place(submission, variable)
    name = variable.name if variable else file.command
    sentence = f"{file.path} is not there"
    return Finding(ERROR, "missing", source, line, name, sentence)


def _nearest_file(submission: Submission, path: str, folders: dict[str, Nearest]) -> str:
    """Return the name in the same folder that is most like a missing one, empty if none is.

    `folders` keeps what was found in them.
    """
    folder, name = posixpath.split(path)
    if any(mark in folder for mark in "*?["):
        return ""
    if folder not in folders:
        found = submission.sources.glob(f"{folder}/*")[:_MOST_NEIGHBOURS]
        folders[folder] = Nearest(map(posixpath.basename, found), cutoff=0.8)
    return folders[folder].of(name)


def _find_unused(submission: Submission, *, only_slips: bool) -> Iterator[Finding]:
    """Find lines that no job took anything of; where none was made, slips of the pen alone."""
    for variable in submission.macros.unused():
        nearest = registry.nearest_command(variable.name)
        if only_slips and not nearest:
            continue
        source, line = _place(submission, variable)
        if nearest:
            sentence = f"{variable.name} is no command, and nothing uses it"
            yield Finding(WARNING, "unknown", source, line, variable.name, sentence, nearest)
            continue
        known = variable.name.lower() in registry.known_names()
        what = "counts for nothing in these jobs" if known else "is used by nothing"
        sentence = f"{variable.name} {what}"
        yield Finding(NOTE, "unused", source, line, variable.name, sentence)


def _find_warnings(submission: Submission, unused: list[Finding]) -> Iterator[Finding]:
    """Find what a submission would be warned of, but for the unused lines, told already."""
    told = (notice for _, notice in submission.problems)
    slips = {(slip.source, slip.line) for slip in unused if slip.kind == "unknown"}
    for notice in (*submission.warnings, *told):
        command = notice.command
        variable = submission.macros.variable_of(command) if command else None
        source, line = _place(submission, variable)
        if line and (source, line) in slips:
            continue
        text = _one_line(notice.sentence)
        yield Finding(WARNING, "said", source, line, variable.name if variable else "", text)


def _place_doubts(submission: Submission) -> Iterator[Finding]:
    """Find what would be taken and comes to nothing, at its lines."""
    for doubt in find_doubts(submission):
        variable = submission.macros.variable_of(doubt.command)
        source, line = _place(submission, variable)
        name = variable.name if variable else doubt.command
        severity, kind, _, sentence, nearest = doubt
        yield Finding(severity, kind, source, line, name, sentence, nearest)


def _find_senseless(submission: Submission) -> Iterator[Finding]:
    """Find calls that are always an error, and conditions of the jobs that can never be true."""
    conditions = registry.commands_of("condition")
    for attribute, command in {**conditions, "Rank": "rank"}.items():
        text = submission.cluster.get(attribute)
        if text is None:
            continue
        try:
            expr = parse_expression(text, old=True)
        except ClassAdSyntaxError:
            continue
        variable = submission.macros.variable_of(command)
        source, line = _place(submission, variable)
        name = variable.name if variable else command
        faults = find_call_faults(expr)
        for fault in faults:
            sentence = f"in {name}, {fault.sentence}"
            yield Finding(WARNING, "call", source, line, name, sentence, fault.nearest)
        why = why_never_true(expr) if attribute in conditions and not faults else ""
        if why:
            yield Finding(WARNING, "never", source, line, name, f"{name} can never be true: {why}")
