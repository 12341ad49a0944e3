"""What a `condor_q` command line asks for: options read into a `Wish`.

Only the words are judged here; which of them exclude each other is in `conflicts.py`. Error texts
are the reference's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from kettle.classad import parse_expression
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.tools.options import Asked, Option, UnknownOptionError, choose_option
from kettle.tools.printing.columns import Columns
from kettle.tools.programs import Streams
from kettle.tools.queue.conflicts import (
    POOL_ADVICE,
    AdvisedError,
    UsageAskedError,
    check_factory,
    check_modes,
    check_place,
    check_run_time,
    check_stream,
)
from kettle.tools.queue.wish import USUAL_WIDTH, Wish

# In the reference's order, where the first that a beginning fits wins.
OPTIONS = (
    Option("wide", 1, qualified=True),
    Option("long", 1, qualified=True),
    Option("xml", 3),
    Option("json", 2),
    Option("limit", 3, 1),
    Option("pool", 1, 1),
    Option("name", 1, 1),
    Option("direct", 1, 1),
    Option("submitter", 1, 1),
    Option("constraint", 1, 1),
    Option("slotconstraint", 5, 1),
    Option("mconstraint", 2, 1),
    Option("machine", 2, 1),
    Option("address", 1, 1),
    Option("autocluster", 2, qualified=True),
    Option("group-by", 2, qualified=True),
    Option("factory", 4, qualified=True),
    Option("jobset", 5, qualified=True),
    Option("attributes", 2, 1),
    Option("format", 1, 2),
    Option("aaf", 3, qualified=True),
    Option("autoformat", 5, qualified=True),
    Option("af", 2, qualified=True),
    Option("print-format", 2, 1),
    Option("global"),
    Option("allusers", 2),
    Option("all-users", 2),
    Option("schedd-constraint", 5, 1),
    Option("help"),
    Option("better-analyze", 2, qualified=True),
    Option("better-analyse", 2, qualified=True),
    Option("analyze", 2, qualified=True),
    Option("analyse", 2, qualified=True),
    Option("reverse-analyze", 3, qualified=True),
    Option("unmatchable", 5, qualified=True),
    Option("verbose", 4),
    Option("run"),
    Option("hold", 2, qualified=True),
    Option("held", 2, qualified=True),
    Option("hold-codes", 6, qualified=True),
    Option("holdcodes", 5, qualified=True),
    Option("idle", 3),
    Option("cputime", 2),
    Option("currentrun", 3),
    Option("cumulative-time", 3),
    Option("grid", 2, qualified=True),
    Option("debug", 3, qualified=True),
    Option("capture-raw-results", 7, qualified=True),
    Option("profile", 4, qualified=True),
    Option("io", 2),
    Option("dag", 2),
    Option("batch", 2, qualified=True),
    Option("progress", 3, qualified=True),
    Option("nobatch", 3),
    Option("totals", 3),
    Option("dry-run", 3, qualified=True),
    Option("expert"),
    Option("jobads", 1, 1, qualified=True),
    Option("userlog", 1, 1),
    Option("slotads", 1, 1, qualified=True),
    Option("userprios", 5, 1, qualified=True),
    Option("nouserprios", 7, qualified=True),
    Option("version"),
    # Compat: with ads of a file an assertion fails in the reference
    # (test_ads_of_a_file_are_shown_also_where_results_are_to_be_streamed).
    Option("stream-results", 2),
)
# Other spellings of the same.
_SAME = {
    "slotconstraint": "mconstraint",
    "all-users": "allusers",
    "better-analyse": "better-analyze",
    "analyse": "analyze",
    "held": "hold",
    "holdcodes": "hold-codes",
    "progress": "batch",
}
# What is said where the word behind an option is missing; of the others, that one is.
_NEEDS = {
    "limit": "the max number of results as an argument.",
    "pool": "a hostname as an argument.",
    "name": "the name of a schedd as an argument.",
    "direct": "[schedd]",
    "submitter": "the name of a user.",
    "attributes": "a list of attributes to show",
    "print-format": "a filename argument",
    "schedd-constraint": "a constraint argument",
    "jobads": "a filename",
    "slotads": "a filename",
    "userlog": "a filename",
    "userprios": "a filename argument",
    "format": "format and attribute parameters",
}
# Options that say where something is, and their place in the wish.
_PLAIN_SOURCES = {
    "machine": "machine",
    "mconstraint": "machine_constraint",
    "slotads": "slot_file",
    "userlog": "user_log",
    "userprios": "priorities_file",
}
_SHOWN_AS_TYPED = frozenset({"machine", "mconstraint", "slotconstraint"})
# What stands for no jobs, by the letter after `-batch:`.
_ALTERNATIVES = {"b": " ", "?": "?", "*": "*", ".": ".", "-": "-", "_": "_", "#": "#", "z": "0"}
# The flag of -batch that asks for sizes to be guessed.
_GUESS = 16
_INVALID_SCHEDDS = "Error fetching ads: invalid constraint"


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for.

    Raises Asked where help or the version is wanted, UsageError for what makes no sense.
    """
    wish = Wish()
    rest = Words(words)
    for word in rest:
        if word.startswith("-"):
            option, qualifiers = _choose(word, rest)
            values = _take_values(wish, option, word, rest)
            _apply(wish, option, qualifiers, values, rest)
        elif re.fullmatch(r"\d+(\.\d*)?", word):
            wish.ids.append(word.rstrip("."))
        else:
            wish.owners.append(word)
    wish.columns_named = bool(wish.columns)
    if wish.totals_said_last and not wish.print_format:
        # As in the reference -totals takes away the columns before it; those behind it, with them,
        # show the counts instead of the totals.
        wish.columns = Columns()
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
    if isinstance(error, AdvisedError):
        streams.stdout.write("\n")
        return f"{error}\n{error.advice}\n"
    if isinstance(error, UsageAskedError):
        streams.stdout.write(usage)
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

    @property
    def is_left(self) -> bool:
        """Whether there is a word that was not taken."""
        return self._index < len(self._words)

    def take(self, word: str, complaint: str = "requires another parameter") -> str:
        """Return the next word, which the option `word` needs."""
        value = next(self, None)
        if value is None:
            raise UsageError(f"Error: {word} {complaint}")
        return value

    def take_all(self, word: str, complaint: str = "") -> list[str]:
        """Return the words up to the next option; there must be one at least."""
        found = []
        while self._index < len(self._words) and not self._words[self._index].startswith("-"):
            found.append(self._words[self._index])
            self._index += 1
        # A dash alone ends the list.
        if found and self._words[self._index : self._index + 1] == ["-"]:
            self._index += 1
        if not found:
            complaint = complaint or f"{word} requires at least one attribute parameter"
            raise UsageError(f"Error: {complaint}")
        return found


def _take_values(wish: Wish, option: Option, word: str, rest: Words) -> list[str]:
    """Return the words behind an option that are its own."""
    shown = word if option.name in _SHOWN_AS_TYPED else f"-{option.name}"
    complaint = f"requires {_NEEDS.get(option.name, 'another parameter')}"
    if option.name == "pool" and not rest.is_left and "expert" not in wish.flags:
        raise AdvisedError(f"Error: {shown} {complaint}", POOL_ADVICE)
    return [rest.take(shown, complaint) for _ in range(option.values)]


def _apply(wish: Wish, option: Option, qualifiers: str, values: Sequence[str], rest: Words) -> None:
    """Put what an option says into the wish."""
    name = _SAME.get(option.name, option.name)
    if name == "totals":
        wish.totals_said_last = True
    if _take_source(wish, name, qualifiers, values):
        return
    if not _take_form(wish, name, qualifiers, values, rest):
        _take_choice(wish, name, qualifiers, values)


def _take_source(wish: Wish, name: str, qualifiers: str, values: Sequence[str]) -> bool:
    """Take an option that says where ads come from; tell whether it was one."""
    match name:
        case "name":
            check_place(wish, name)
            wish.reach[name] = values[0]
        case "pool":
            wish.reach[name] = values[0]
        case "address":
            check_place(wish, name)
            if not values[0].startswith("<"):
                raise UsageError('Address must be of the form: "<ip.address:port>"')
            wish.reach[name] = values[0]
        case "direct":
            if values[0].lower() != "schedd":
                raise UsageError("Error: -direct may only take 'schedd' as an option.")
        case "schedd-constraint":
            wish.schedd_constraint = read_constraint(values[0], _INVALID_SCHEDDS)
            wish.flags.add("global")
        case "jobads":
            wish.job_file = values[0]
            wish.file_form = qualifiers or "auto"
        case _ if name in _PLAIN_SOURCES:
            setattr(wish, _PLAIN_SOURCES[name], values[0])
        case _:
            return False
    return True


def _take_form(wish: Wish, name: str, qualifiers: str, values: Sequence[str], rest: Words) -> bool:
    """Take an option that says how ads are printed; tell whether it was one."""
    match name:
        case "long" | "xml" | "json":
            wish.form = _choose_form(wish, name, qualifiers)
        case "attributes":
            wish.attributes += values[0].replace(",", " ").split()
        case "format":
            wish.totals_said_last = False
            wish.columns.add_format(*values)
        case "autoformat" | "af":
            wish.totals_said_last = False
            wish.columns.add_auto(qualifiers, rest.take_all("-autoformat"))
        case "aaf":
            wish.added += [(qualifiers, text) for text in rest.take_all("-aaf")]
        case "print-format":
            wish.print_format = values[0]
        case "wide":
            # As in the reference no width at all is a terminal's.
            wish.width = (int(qualifiers) or USUAL_WIDTH) if qualifiers.isdecimal() else 0
        case "nobatch":
            wish.batch = False
        case "batch":
            _take_batch(wish, qualifiers)
            check_stream(wish, name)
        case _:
            return False
    return True


def _take_batch(wish: Wish, qualifiers: str) -> None:
    """Take `-batch:QUALIFIERS`: numbers are flags, letters say what stands for no jobs."""
    wish.batch = True
    for word in re.split("[,:]", qualifiers):
        if word[:1] in _ALTERNATIVES:
            wish.batch_none = _ALTERNATIVES[word[:1]]
        elif word[:1].isdecimal():
            wish.batch_guess = bool(int(re.match(r"\d+", word)[0]) & _GUESS)  # type: ignore[index]


def _choose_form(wish: Wish, name: str, form: str) -> str:
    """Return the form of whole ads after -xml, -json, or -long with a form or without one.

    As in the reference -long alone gives way to what was chosen before, and with a form takes its
    place.
    """
    if name != "long":
        if {name, wish.form} == {"xml", "json"}:
            raise UsageError("Error: Cannot print as both XML and JSON")
        return name
    return form if form in {"new", "json", "xml", "jsonl"} else wish.form or "long"


def _take_choice(wish: Wish, name: str, qualifiers: str, values: Sequence[str]) -> None:
    """Take an option that says which jobs are meant, or what about them."""
    match name:
        case "submitter":
            check_place(wish, name)
            wish.submitter = values[0]
        case "constraint":
            wish.constraints.append(read_constraint(values[0]))
        case "limit":
            wish.limit = _limit(values[0])
        case "run" | "hold" | "idle" | "io" | "grid" | "dag" | "hold-codes":
            wish.modes.add(name)
            check_modes(wish, name)
            if name.startswith("hold"):
                wish.constraints += _held_for(wish, qualifiers)
            if name == "grid":
                # As in the reference the table of the later one of both.
                wish.modes.discard("io")
            if name == "grid" and qualifiers == "ec2":
                wish.modes.add("ec2")
        case "better-analyze" | "analyze" | "reverse-analyze":
            wish.analyses.append((name, qualifiers))
        case "capture-raw-results":
            wish.capture = qualifiers or "-"
        case "factory":
            check_factory(qualifiers)
            wish.flags.add(name)
        case "currentrun" | "cumulative-time":
            check_run_time(wish, name)
            wish.flags.add(name)
        case _:
            wish.flags.add(name)
    check_stream(wish, name)


def _held_for(wish: Wish, qualifiers: str) -> list[str]:
    """Return the constraint of `-hold:CODE/SUBCODE,...`; none if no code is named."""
    tests = []
    for word in qualifiers.split(","):
        code, _, subcode = word.strip().partition("/")
        if not code.isdecimal():
            if word:
                wish.warnings.append(
                    f'Warning "{word}" is not a hold code and/or subcode. ignoring'
                )
            continue
        test = f"HoldReasonCode == {code}"
        tests.append(f"({test} && HoldReasonSubCode == {subcode})" if subcode.isdecimal() else test)
    return [" || ".join(tests)] if tests else []


def _limit(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", text):
        raise UsageError(f"Error: Unable to convert ({text}) to a number for -limit.")
    if int(text) < 1:
        raise UsageError(f"Error: {text} is not a valid for -limit.")
    return int(text)


def read_constraint(text: str, complaint: str = "") -> str:
    """Return the constraint if it parses; UsageError with `complaint` if not.

    Compat: an expression of jobs that is none is named, where the reference asks the schedd all the
    same and says that it failed (test_small_words), and of a file's jobs says what is wrong and
    shows all of them (test_a_constraint_that_is_none_shows_no_job).
    """
    try:
        parse_expression(text)
    except ClassAdSyntaxError as error:
        raise UsageError(complaint or f"Error: could not parse constraint {text}") from error
    return text
