"""What a `condor_history` command line asks for: options read into a `Wish`.

Where the ads come from and how they are printed is in `condor_history.py`. Error texts are the
reference's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kettle.classad import parse_expression
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.records.history import TRANSFERS
from kettle.structs import Struct, field
from kettle.tools.options import Option, choose_option
from kettle.tools.printing.columns import Columns
from kettle.tools.queue.wish import Words, render_jobs

OPTIONS = (
    Option("help"),
    Option("version", 0),
    Option("debug", qualified=True),
    Option("file", 2, 1),
    Option("search", 2, 1),
    Option("local", 2),
    Option("schedd", 2),
    Option("startd", 3),
    Option("epochs", 1, qualified=True),
    Option("transfer-history", 2, qualified=True),
    Option("daemon", 3, qualified=True),
    Option("type", 2, 1),
    Option("userlog", 1, 1),
    Option("directory", 2),
    Option("name", 1, 1),
    Option("pool", 1, 1),
    Option("constraint", 1, 1),
    Option("scanlimit", 2, 1),
    Option("since", 2, 1),
    Option("completedsince", 3, 1),
    Option("backwards"),
    Option("forwards", 2),
    Option("limit", 2, 1),
    Option("match", 1, 1),
    Option("long"),
    Option("xml"),
    Option("json", 1),
    Option("jsonl", 5),
    Option("attributes", 3, 1),
    Option("wide", 1, qualified=True),
    Option("format", 1, 2),
    Option("autoformat", 5, qualified=True),
    Option("af", 2, qualified=True),
    Option("print-format", 2, 1),
    Option("extract", 3, 1),
    Option("no-librarian", 4),
)


class Wish(Struct):
    """Everything a command line of `condor_history` can say."""

    ids: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    file: str = ""
    # Whether rotated files beside `file` are meant too.
    with_rotated: bool = False
    # Whether `file` is to be a folder of histories.
    of_folder: bool = False
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
    reach: dict[str, str] = field(default_factory=dict)
    # -1: no limit.
    limit: int = -1
    scan_limit: int = -1
    since: str = ""
    forwards: bool = False
    form: str = ""
    attributes: list[str] = field(default_factory=list)
    columns: Columns = field(default_factory=Columns)
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
        return "name" in self.reach and not (self.local or self.file or self.user_log)

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
        if word.startswith("-") and len(word) > 1:
            option, qualifiers = choose_option(word, OPTIONS)
            if not _apply_source(wish, option.name, word, qualifiers, rest):
                _apply(wish, option.name, word, qualifiers, rest)
        elif re.fullmatch(r"\d+(\.\d*)?", word):
            wish.ids.append(word.rstrip("."))
        else:
            wish.owners.append(word)
    _check(wish)
    return wish


def _check_extraction(wish: Wish) -> None:
    if wish.is_remote:
        raise UsageError(
            "Error: -extract can only be used when reading directly from a history file"
        )
    if wish.constraint() == "true":
        raise UsageError("Error: -extract requires a constraint for which ClassAds to copy")


def _check(wish: Wish) -> None:
    """Raise UsageError for options that make no sense together."""
    if wish.forwards and wish.since:
        raise UsageError("Error: Argument -forwards cannot be combined with -since.")
    if wish.extract and not (wish.constraints or wish.ids or wish.owners):
        raise UsageError("Error: -extract requires a constraint for which ClassAds to copy")
    if wish.of_transfers and not (wish.form or wish.columns or wish.print_format):
        raise UsageError(
            "Error: -transfer-history does not have a default print table. "
            "Please use -long, -json, -xml, or a custom print format."
        )
    if wish.extract:
        _check_extraction(wish)


def _apply_source(wish: Wish, name: str, word: str, qualifiers: str, rest: Words) -> bool:
    """Take an option that says where records come from; tell whether it was one."""
    match name:
        case "file" | "search":
            wish.file, wish.with_rotated = rest.take(word), name == "search"
        case "userlog":
            wish.user_log = rest.take(word)
        case "name" | "pool":
            wish.reach[name] = rest.take(word)
        case "local":
            wish.local = True
        case "startd":
            _take_source(wish, "STARTD", name, word)
        case "epochs":
            _take_source(wish, "JOB_EPOCH", name, word)
        case "transfer-history":
            _take_source(wish, "JOB_EPOCH", name, word)
            wish.of_transfers, wish.kinds = True, _read_transfers(qualifiers)
        case "daemon":
            _take_source(wish, "DAEMON", name, word)
            wish.subsystem = (qualifiers or "schedd").upper()
            wish.kinds = [wish.subsystem]
        case "type":
            wish.kinds += rest.take(word).replace(",", " ").split()
        case "directory":
            wish.of_folder = True
        case "schedd" | "no-librarian" | "debug":
            pass
        case _:
            return False
    return True


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


def _apply(wish: Wish, name: str, word: str, qualifiers: str, rest: Words) -> None:
    match name:
        case "constraint":
            wish.constraints.append(rest.take(word))
        case "scanlimit":
            wish.scan_limit = _number(rest, "-scanlimit")
        case "since":
            wish.since = read_since(rest.take(word))
        case "completedsince":
            found = re.match(r"\d+", rest.take(word))
            if found is not None and int(found[0]):
                wish.since = f"CompletionDate <= {found[0]}"
        case "backwards" | "forwards":
            wish.forwards = name == "forwards"
        case "limit" | "match":
            wish.limit = _number(rest, "-match")
        case "extract":
            wish.extract = rest.take(word)
        case _:
            _apply_form(wish, name, word, qualifiers, rest)


def _apply_form(wish: Wish, name: str, word: str, qualifiers: str, rest: Words) -> None:
    """Take an option that says how records are shown."""
    match name:
        case "long" | "xml" | "json" | "jsonl":
            wish.form = name
        case "attributes":
            wish.attributes += rest.take(word).replace(",", " ").split()
        case "wide":
            wish.width = int(qualifiers) if qualifiers.isdecimal() else 0
        case "format":
            form = rest.take(word, "requires format and attribute parameters")
            wish.columns.add_format(
                form, rest.take(word, "requires format and attribute parameters")
            )
        case "autoformat" | "af":
            wish.columns.add_auto(qualifiers, rest.take_all("-autoformat"))
        case _:
            wish.print_format = rest.take(word)


def _number(rest: Words, option: str) -> int:
    """Return the number that follows; 0 and less are no limit."""
    value = next(rest, "")
    found = re.match(r"[+-]?\d+", value)
    if not value:
        raise UsageError(f"Error: Argument {option} requires a number value as a parameter.")
    number = int(found[0]) if found is not None else 0
    return number if number > 0 else -1


def read_since(text: str) -> str:
    """Return the expression that ends the search; a job id stands for that job."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return render_jobs([text], [])
    try:
        parse_expression(text)
    except ClassAdSyntaxError:
        raise UsageError(f"Error: could not parse -since constraint ( {text} )") from None
    return text
