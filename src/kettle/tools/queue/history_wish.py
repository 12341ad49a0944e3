"""What a `condor_history` command line asks for: options read into a `Wish`.

Where the ads come from and how they are printed is in `condor_history.py`. Error texts are the
reference's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from kettle.classad import parse_expression
from kettle.classad.nodes import Literal
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.records.history import TRANSFERS
from kettle.structs import Struct, field
from kettle.tools.options import Option, choose_option
from kettle.tools.printing.columns import Columns
from kettle.tools.queue.command_line import Words
from kettle.tools.queue.wish import render_jobs

# In the reference's order, where the first that a beginning fits wins.
OPTIONS = (
    Option("long"),
    Option("xml", 3),
    Option("jsonl", 5),
    Option("json", 4),
    Option("backwards"),
    Option("forwards", 4),
    Option("nobackwards", 3),
    Option("wide", 1, qualified=True),
    Option("match", 1, 1),
    Option("limit", 3, 1),
    Option("scanlimit", 4, 1),
    Option("file", 2, 1),
    Option("userlog", 1, 1),
    Option("local", 2),
    Option("startd", 3),
    Option("schedd", 3),
    Option("attributes", 2, 1),
    Option("help"),
    Option("format", 1, 2),
    Option("autoformat", 5, qualified=True),
    Option("af", 2, qualified=True),
    Option("print-format", 2, 1),
    Option("daemon", 3, qualified=True),
    Option("epochs", 2, qualified=True),
    Option("transfer-history", 2, qualified=True),
    Option("type", 2, 1),
    Option("directory", 3),
    Option("search", 3, 1),
    Option("constraint", 1, 1),
    Option("since", 4, 1),
    Option("completedsince", 3, 1),
    Option("extract", 2, 1),
    Option("debug", 3, qualified=True),
    Option("no-librarian", 12),
    # How a schedd is to answer: it answers here record by record whatever is said.
    Option("stream-results", 6, qualified=True),
    Option("name", 1, 1),
    Option("pool", 1, 1),
    # Compat: the reference has no -version here (test_every_tool).
    Option("version", 0),
)
# A job or cluster; what stands behind it in the word means nothing, as in the reference.
_JOB = re.compile(r"-?\d+(\.-?\d+)?")
_NO_NAME = (
    "Error: Argument -name requires name of a remote schedd\n"
    "\t\te.g. condor_history -name submit.example.com "
)
# What is said where the words behind an option are missing; `{word}` is the option as typed.
_NEEDS = {
    "match": "Error: Argument -match requires a number value as a parameter.",
    "limit": "Error: Argument -match requires a number value as a parameter.",
    # Compat: the reference names "(null)" here (test_command_lines).
    "scanlimit": "Error: Argument -scanlimit requires a number value as a parameter.",
    "attributes": "Error: Argument -attributes must be followed by a list of attributes",
    "format": (
        "Error: Argument -format requires a spec and classad attribute name as parameters.\n"
        "\t\te.g. condor_history -format '%d' ClusterId"
    ),
    "print-format": "Error: Argument -print-format requires a filename argument",
    "completedsince": "Error: Argument -completedsince requires another parameter.",
    "extract": "Error: Argument -extract requires another parameter.",
    "name": _NO_NAME,
    "pool": _NO_NAME,
    # Compat: here the reference says its usage alone (test_command_lines).
    "file": "Error: -file requires another parameter",
    "userlog": "Error: -userlog requires another parameter",
}


class UsageAskedError(UsageError):
    """A wrong command line that is answered with the usage on stdout, too."""


class Wish(Struct):
    """Everything a command line of `condor_history` can say."""

    ids: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    file: str = ""
    # This file and the rotated ones beside it, or a folder.
    search: str = ""
    # Whether a folder of histories is to be read, and whether they go when they were read.
    of_folder: bool = False
    deletes: bool = False
    # Empty, STARTD, JOB_EPOCH or DAEMON: whose history, and the option that said so.
    source: str = ""
    source_option: str = ""
    # Whose, where that is DAEMON.
    subsystem: str = ""
    # Words that say which kinds of records are meant.
    kinds: list[str] = field(default_factory=list)
    of_transfers: bool = False
    user_log: str = ""
    local: bool = False
    # Whether a file was named behind whichever daemon was: the last word counts.
    reads_file: bool = False
    reach: dict[str, str] = field(default_factory=dict)
    # -1: no limit.
    limit: int = -1
    scan_limit: int = -1
    since: str = ""
    # Whether -since was said, which is for the newest first.
    ends_early: bool = False
    forwards: bool = False
    form: str = ""
    attributes: list[str] = field(default_factory=list)
    columns: Columns = field(default_factory=Columns)
    # Those of -af alone: what whole records are cut down to.
    automatic: Columns = field(default_factory=Columns)
    print_format: str = ""
    width: int | None = None
    extract: str = ""

    @property
    def knob(self) -> str:
        """The setting that names the file: HISTORY, JOB_EPOCH_HISTORY, …."""
        return "_".join(filter(None, (self.subsystem, self.source, "HISTORY")))

    @property
    def is_remote(self) -> bool:
        """Whether a daemon is asked instead of the files of this machine; a pool names none."""
        return "name" in self.reach and not self.reads_file

    def constraint(self) -> str:
        """Return the expression that the jobs meant satisfy."""
        jobs = render_jobs(self.ids, self.owners)
        parts = [f"({jobs})"] if jobs else []
        parts += [f"({text})" for text in self.constraints]
        return " && ".join(parts) or "true"


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for.

    Raises Asked where help or the version is wanted, UsageError for what makes no sense.
    """
    wish = Wish()
    rest = Words(words)
    for word in rest:
        job = _JOB.match(word)
        if job is not None:
            wish.ids.append(job[0])
        elif word.startswith("-"):
            option, qualifiers = choose_option(word, OPTIONS)
            values = _take_values(option, word, rest)
            if not _apply_source(wish, option.name, word, qualifiers, values):
                _apply(wish, option.name, word, qualifiers, values, rest)
        else:
            wish.owners.append(word)
    _check(wish)
    return wish


def _check(wish: Wish) -> None:
    """Raise UsageError for options that make no sense together."""
    if wish.forwards and wish.ends_early:
        raise UsageError("Error: Argument -forwards cannot be combined with -since.")
    if wish.extract and wish.is_remote:
        raise UsageError(
            "Error: -extract can only be used when reading directly from a history file"
        )
    if wish.extract and not (wish.constraints or wish.ids or wish.owners):
        raise UsageError("Error: -extract requires a constraint for which ClassAds to copy")
    if wish.of_transfers and not (wish.form or wish.columns or wish.print_format):
        raise UsageError(
            "Error: -transfer-history does not have a default print table. "
            "Please use -long, -json, -xml, or a custom print format."
        )
    if wish.extract and wish.constraint() == "true":
        raise UsageError("Error: -extract requires a constraint for which ClassAds to copy")


def _take_values(option: Option, word: str, rest: Words) -> list[str]:
    """Return the words behind an option that are its own."""
    values = list(itertools.islice(rest, option.values))
    if len(values) == option.values:
        return values
    default = f"Error: Argument {word} requires another parameter"
    wrong = UsageAskedError if option.name in {"file", "userlog"} else UsageError
    raise wrong(_NEEDS.get(option.name, default))


def _apply_source(wish: Wish, name: str, word: str, qualifiers: str, values: Sequence[str]) -> bool:
    """Take an option that says where records come from; tell whether it was one."""
    match name:
        case "file" | "userlog" | "search" | "name" | "pool" | "local":
            _apply_place(wish, name, values)
        case "startd":
            _take_source(wish, "STARTD", name, word)
        case "schedd":
            _take_source(wish, "", name, word)
        case "epochs":
            _take_source(wish, "JOB_EPOCH", name, word)
            wish.deletes = "d" in qualifiers.lower()
        case "transfer-history":
            _take_source(wish, "JOB_EPOCH", name, word)
            wish.of_transfers, wish.kinds = True, _read_transfers(qualifiers)
        case "daemon":
            _take_source(wish, "DAEMON", name, word)
            wish.subsystem = (qualifiers or "schedd").upper()
            wish.kinds = [wish.subsystem]
        case "type":
            wish.kinds += values[0].replace(",", " ").split()
        case "directory":
            wish.of_folder = True
        case "no-librarian" | "debug":
            pass
        case _:
            return False
    return True


def _apply_place(wish: Wish, name: str, values: Sequence[str]) -> None:
    """Take an option that names a file or a daemon."""
    match name:
        case "file" | "userlog":
            if wish.file or wish.user_log:
                # Compat: the reference says its usage alone (test_one_file_is_read_and_no_other).
                raise UsageAskedError("Error: only one file can be read: -file or -userlog, once")
            wish.file, wish.user_log = (values[0], "") if name == "file" else ("", values[0])
            wish.reads_file = True
        case "search":
            wish.search = values[0]
        case "name" | "pool":
            wish.reach[name] = values[0]
            wish.reads_file = False
            _check_local(wish, "-local and -name")
        case "local":
            wish.local = True
            _check_local(wish, "Arguments -local and -name")


def _check_local(wish: Wish, words: str) -> None:
    if wish.local and "name" in wish.reach:
        raise UsageError(f"Error: {words} cannot be used together")


def _take_source(wish: Wish, source: str, name: str, word: str) -> None:
    if wish.source_option and wish.source != source:
        raise UsageError(
            f"Error: {wish.source_option} can not be used in association with -{name}."
        )
    wish.source, wish.source_option = source, word


def _read_transfers(letters: str) -> list[str]:
    """Return the kinds of records that letters stand for: of every transfer if there are none."""
    kinds = {kind[0]: kind for kind in sorted(TRANSFERS)}
    unknown = next((letter for letter in letters if letter.upper() not in kinds), None)
    if unknown is not None:
        raise UsageError(f"Error: Unknown -transfer-history extra attribute '{unknown}'")
    return [kinds[letter.upper()] for letter in letters] or sorted(TRANSFERS)


def _apply(
    wish: Wish, name: str, word: str, qualifiers: str, values: Sequence[str], rest: Words
) -> None:
    match name:
        case "constraint":
            wish.constraints.append(values[0])
        case "scanlimit":
            wish.scan_limit = _number(values[0])
        case "since":
            wish.since, wish.ends_early = read_since(values[0]), True
        case "completedsince":
            _since_completion(wish, values[0])
        case "backwards" | "forwards" | "nobackwards":
            wish.forwards = name != "backwards"
        case "limit" | "match":
            wish.limit = _number(values[0])
        case "extract":
            wish.extract = values[0]
        case "stream-results":
            pass
        case _:
            _apply_form(wish, name, word, qualifiers, values, rest)


def _since_completion(wish: Wish, text: str) -> None:
    """Take the time of `-completedsince`, in seconds; what does not begin with a number is none."""
    found = re.match(r"\d+", text)
    if found is None:
        return
    if found.end() < len(text):
        raise UsageError(f"Error: '{text}' not valid parameter for -completedsince")
    wish.since = f"CompletionDate <= {found[0][:18]}"


def _apply_form(
    wish: Wish, name: str, word: str, qualifiers: str, values: Sequence[str], rest: Words
) -> None:
    """Take an option that says how records are shown."""
    match name:
        case "long" | "xml" | "json" | "jsonl":
            if name != "long" and wish.form not in {"", "long", name}:
                raise UsageError("Error: Cannot use more than one of XML and JSON[L]")
            # As in the reference -long alone gives way to a form that was chosen before.
            wish.form = wish.form if name == "long" and wish.form else name
        case "attributes":
            # The last one counts, where those of condor_q come together.
            wish.attributes = values[0].replace(",", " ").split()
        case "wide":
            wish.width = int(qualifiers) if qualifiers.isdecimal() else 0
        case "format":
            wish.columns.add_format(*values)
        case "autoformat" | "af":
            complaint = "requires at least one attribute parameter"
            texts = rest.take_all(
                word, f"Argument {word} {complaint}\n\t\te.g. condor_history {word} ClusterId"
            )
            _add_columns(wish, qualifiers, texts)
        case _:
            wish.print_format = values[0]
            wish.columns.note_file()


def _add_columns(wish: Wish, qualifiers: str, texts: Sequence[str]) -> None:
    for text in texts:
        try:
            parse_expression(text)
        except ClassAdSyntaxError as error:
            raise UsageError(f"Error: invalid expression : {text}") from error
    wish.columns.add_auto(qualifiers, texts)
    wish.automatic.add_auto(qualifiers, texts)


def _number(value: str) -> int:
    """Return the number that a word begins with; 0 and less are no limit."""
    found = re.match(r"[+-]?\d+", value)
    number = int(found[0]) if found is not None else 0
    return number if number > 0 else -1


def read_since(text: str) -> str:
    """Return the expression that ends the search; a job id stands for that job."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return render_jobs([text], [])
    try:
        is_value = isinstance(parse_expression(text), Literal)
    except ClassAdSyntaxError:
        is_value = True
    if is_value:
        # What is true of any record, or of none, ends no search.
        raise UsageError(
            f"Error: invalid -since constraint: {text}\n"
            "\tconstraint must be a job-id, or expression."
        )
    return text
