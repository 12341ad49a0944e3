"""What a `condor_status` command line asks for: options read into a `Wish`.

What can be chosen is a table in `modes.py`; asking and printing are in `condor_status.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kettle.classad import parse_expression
from kettle.classad.unparse import render_value
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.structs import Struct, field
from kettle.tools.options import MANY, Given, MissingValueError, Option, read_options, take_by
from kettle.tools.printing.columns import ADDED_TO_NONE, Columns, complain_of_added, parse_column
from kettle.tools.status.modes import MODES

USAGE = """\
Usage: condor_status [options] [NAME...]
  what to show (slots unless said otherwise)
    -absent, -avail, -broken, -claimed, -cod, -gpus, -java, -lvm, -offline, -server, -slots,
    -state, -vm, -annex NAME, -annex-slots, -snapshot (all at one moment: always so)
    -any, -ckptsrvr, -collector, -data, -defrag, -generic, -grid, -healthy[:verbose], -license,
    -master, -negotiator, -run, -schedd, -startd, -storage, -submitters, -subsystem TYPE
    -startd with -broken, -gpus or -lvm; -slots with -healthy, -run; -schedd with -data, -run
  from where
    -pool HOST[:PORT]       this pool's collector
    -direct HOST            the machine itself
    -ads[:FORM] FILE        a file in the form long, new, json, xml or auto
  which of them
    NAME...                 of these machines or slots
    -constraint EXPR        for which this is true; several must all be
    -limit N                no more than N
  how
    -sort EXPR              in this order; `no` leaves the order alone
    -compact                one line for each type of a machine's slots
    -totals                 the sums only
    -wide[:N]               without abbreviations; in lines of N characters
    -long[:FORM], -xml, -json
    -attributes A,B...      of whole ads only these attributes
    -format FORMAT EXPR
    -af[:jlhVr,tngTY] EXPR...
    -aaf[:VrTY] EXPR...     columns at the right of the table
    -target FILE            an ad that those expressions see as TARGET
    -print-format FILE      the columns that FILE describes
    -natural[:off]          taken and without effect: slot10 always comes after slot2
  compared with others
    -merge FILE             what is in both, only here, only in FILE
    -statistics SET:LEVEL   with -direct: so much of the daemon's statistics
  -debug                    say on stderr what is being done
  -expert                   errors of a -pool behind it without advice
  -diagnose                 show the query instead of asking
  -help, -version
"""

FORMS = ("long", "new", "json", "xml", "auto")


# fmt: off
# In the reference's order, where the first that a beginning fits wins.
OPTIONS = (
    Option("avail", 2), Option("pool", 1, 1), Option("ads", 2, 1, qualified=True),
    Option("format", 1, 2), Option("autoformat", 5, MANY, qualified=True),
    Option("af", 2, MANY, qualified=True), Option("aaf", 3, MANY, qualified=True),
    Option("print-format", 2, 1), Option("wide", 3, qualified=True),
    Option("natural", 3, qualified=True, ignored=True), Option("target", 4, 1),
    Option("constraint", 3, 1), Option("annex", 0, 1), Option("annex-slots", 5),
    Option("annex-name", 10, 1), Option("direct", 3, 1), Option("diagnose", 3, qualified=True),
    Option("debug", 2, qualified=True), Option("defrag", 3), Option("help", 1),
    Option("limit", 2, 1), Option("long", 1, qualified=True), Option("xml", 1), Option("json", 2),
    Option("attributes", 2, 1), Option("claimed", 2), Option("data", 2), Option("run", 1),
    Option("cod", 3), Option("gpus", 3), Option("java", 1), Option("absent", 2),
    Option("lvm", 3, qualified=True),
    Option("offline", 2), Option("merge", 5, 1), Option("vm", 2), Option("slots", 2),
    Option("compact", 3), Option("nocompact", 5), Option("server", 2), Option("state", 4),
    Option("broken", 4), Option("healthy", 4, qualified=True),
    Option("snapshot", 4, qualified=True, ignored=True), Option("statistics", 5, 1),
    Option("startd", 4), Option("schedd", 2), Option("grid", 1), Option("subsystem", 4, 1),
    Option("license", 2), Option("storage", 3), Option("negotiator", 1), Option("generic", 2),
    Option("any", 2),
    Option("sort", 2, 1), Option("submitters", 4), Option("master", 1), Option("collector", 3),
    Option("world", 2),
    Option("ckptsrvr", 2), Option("totals", 1), Option("expert", 1), Option("version", 3),
)
# What an option needs, where it is not "another argument".
_NEEDS = {
    "pool": "a hostname as an argument.",
    "ads": "a filename argument",
    "merge": "a filename argument",
    "format": "two other arguments",
    "limit": "one additional argument",
    "target": "one additional argument",
    "attributes": "one additional argument",
    "annex-name": "an annex name",
}
# fmt: on


class Wish(Struct):
    """What the command line asks for."""

    mode: str = "slot"
    # The option that chose the mode, to name it when another contradicts.
    chosen: Given | None = None
    ad_type: str = ""
    pool: str = ""
    direct: str = ""
    file: str = ""
    file_form: str = "long"
    constraints: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    limit: int = 0
    sort: list[str] = field(default_factory=list)
    totals_only: bool = False
    compact: Given | None = None
    wide: bool = False
    # How long a line is, its end counted in; 0: as long as on a terminal, or without limit.
    width: int = 0
    # Kinds of slots to which the choice is narrowed.
    kinds: list[str] = field(default_factory=list)
    style: str = ""
    style_option: Given | None = None
    diagnose: bool = False
    # Whether what is wrong with a -pool behind this is said without advice; `advised`: whether
    # the one that was given has some.
    expert: bool = False
    advised: bool = True
    words: list[str] = field(default_factory=list)
    # What is said on stderr before anything else.
    warnings: list[str] = field(default_factory=list)
    form_option: Given | None = None
    format_option: Given | None = None
    # An ad that expressions in columns see as TARGET; ads to compare with; a print-format file.
    target_file: str = ""
    merge_file: str = ""
    print_format: str = ""
    statistics: str = ""
    # With -healthy: also those that are.
    verbose: bool = False
    form: str = ""
    attributes: list[str] = field(default_factory=list)
    columns: Columns = field(default_factory=Columns)
    # The columns of -aaf: the qualifier of each, and what it shows.
    added: list[tuple[str, str]] = field(default_factory=list)

    def added_columns(self) -> Columns:
        """Return the columns of `-aaf` by themselves."""
        return Columns.of_added(self.added)

    @property
    def sums_alone(self) -> bool:
        """Whether nothing is shown but sums over all ads: no ad by itself, in no order."""
        others = (self.form, self.columns, self.print_format, self.merge_file, self.limit)
        return self.totals_only and not any(others)


Action = Callable[[Wish, Given], object]

# Compat: what the reference adds at length is added in our own words (test_small_words).
POOL_ADVICE = "Extra Info: -pool takes the host of a pool's collector, as HOST or HOST:PORT."
POINTER = 'Use "condor_status -help" for details'


class ContradictionError(UsageError):
    """Two options that choose different ads; shown without the usage."""


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish(words=list(words))
    try:
        for option in read_options(words, OPTIONS):
            _note_contradiction(wish, option)
            _take(wish, option)
    except MissingValueError as error:
        raise _worded(error, expert=wish.expert) from error
    _settle(wish)
    if wish.format_option is not None:
        # As in the reference `-json -print-format F` is told twice, `-print-format F -json` once.
        _note_contradiction(wish, wish.format_option)
    others = wish.columns or wish.totals_only
    if wish.added and (wish.form or (others and not wish.print_format)):
        raise PlainError("\n".join([*wish.warnings, ADDED_TO_NONE]))
    if wish.form:
        # Whole ads are shown whatever columns were named, as the reference shows them.
        wish.columns = Columns()
    if wish.compact is not None and MODES[wish.mode].command != MODES["slot"].command:
        assert wish.chosen is not None
        advice = "remove -startd from command or use -slot instead"
        advice = advice if MODES[wish.mode].ad_type == "StartD" else ""
        raise ContradictionError(
            f"arg ({wish.compact.word}) contradicts arg {wish.chosen.index + 1} "
            f"({wish.chosen.word}) {advice}"
        )
    return wish


def _note_contradiction(wish: Wish, option: Given) -> None:
    """Note that columns are named beside a form of whole ads."""
    form = wish.form_option
    if form is None or option.name not in {"af", "autoformat", "format", "print-format"}:
        return
    wish.warnings.append(
        f"Error:  arg {option.index + 1} ({option.word}) "
        f"contradicts arg {form.index + 1} ({form.word})"
    )


class PlainError(UsageError):
    """A wrong command line about which the message says all: no usage is pointed to.

    `above` are lines that the reference writes to stdout at the same time.
    """

    def __init__(self, message: str, *, above: str = "") -> None:
        super().__init__(message)
        self.above = above


class SubsystemError(UsageError):
    """-subsystem without its word, for which the reference points to a help of its own."""


def pool_error(*lines: str, advised: bool, above: str) -> PlainError:
    """Return what is said of a -pool: the first line, advice unless it is not wanted, the rest."""
    said = (lines[0], *([POOL_ADVICE] if advised else ()), *lines[1:])
    return PlainError("\n".join(said), above=above if advised else "")


def _worded(error: MissingValueError, *, expert: bool) -> UsageError:
    """Say in the reference's words that an option lacks its argument."""
    word, option = error.word, error.option
    if option.values == MANY:
        return UsageError(f"Error: Argument {word} requires at least one attribute parameter")
    message = (
        f"condor_status: -{option.name} requires {_NEEDS.get(option.name, 'another argument')}"
    )
    if option.name == "print-format":
        return PlainError("Error: Argument -print-format requires a filename argument")
    if option.name == "pool":
        return pool_error(message, POINTER, advised=not expert, above="\n\n")
    return (SubsystemError if option.name == "subsystem" else UsageError)(message)


def _take(wish: Wish, option: Given) -> None:
    name = option.name
    if not name:
        wish.names.append(option.value)
    elif name in MODES:
        _choose(wish, option)
    elif name in _OTHER_NAMES:
        option.name = _OTHER_NAMES[name]
        _choose(wish, option)
    elif name in ("af", "autoformat", "aaf"):
        _add_columns(wish, option)
    elif name == "format":
        _check_expression(option.values[1])
        wish.columns.add_format(*option.values)
    elif name == "subsystem":
        _choose_subsystem(wish, option)
    elif name in ("long", "xml", "json"):
        wish.form, wish.form_option = _known_form(option.qualifiers or name), option
    elif name == "ads":
        wish.file = option.value
        # Compat: a form that there is not is the default, as in the reference
        # (command_lines.json).
        wish.file_form = _known_form(option.qualifiers or "auto", FORMS)
    else:
        take_by(_ACTIONS, wish, option)


def _check_expression(text: str) -> None:
    try:
        parse_expression(text)
    except ClassAdSyntaxError as error:
        raise PlainError(f"Error:  Parse error of: {text}") from error


def _known_form(form: str, forms: Sequence[str] = FORMS[:-1]) -> str:
    return form if form in forms else "long"


def _add_columns(wish: Wish, option: Given) -> None:
    """Take -af, or -aaf, whose qualifiers are fewer."""
    if option.name != "aaf":
        wish.columns.add_auto(option.qualifiers, list(option.values))
        return
    wrong = complain_of_added(option.qualifiers)
    if wrong:
        raise PlainError(wrong)
    for text in option.values:
        parse_column(text)
        wish.added.append((option.qualifiers, text))


def _read_limit(text: str) -> int:
    """Return the number that a word begins with; 0 is no limit.

    Compat: 0 means no limit here, other than in condor_q, and so does what is no number, as in the
    reference (vectors `output`, test_command_lines).
    """
    number = re.match(r"[+-]?\d+", text)
    return max(0, int(number[0])) if number else 0


def _take_sort(wish: Wish, option: Given) -> None:
    _check_expression(option.value)
    wish.sort.append(option.value)


def _take_attributes(wish: Wish, option: Given) -> None:
    """Take names of attributes.

    Compat: a blank parts names, too, as for condor_q; in the reference such a name is none's
    (test_blanks_part_attributes_as_commas_do).
    """
    wish.attributes += option.value.replace(",", " ").split()


def _take_pool(wish: Wish, option: Given) -> None:
    wish.pool, wish.advised = option.value, not wish.expert


def _take_annex(wish: Wish, option: Given) -> None:
    named = f"AnnexName =?= {render_value(option.value)}" if option.values else "IsAnnex"
    wish.constraints.append(named)


def _keep(field_name: str) -> Action:
    """Return what keeps an option's value as it is given."""
    return lambda wish, option: setattr(wish, field_name, option.value)


def _take_print_format(wish: Wish, option: Given) -> None:
    # Compat: the last file counts, here and in condor_q and condor_history; the reference joins the
    # columns of all of them (test_the_last_of_two_files_counts).
    wish.print_format, wish.format_option = option.value, option
    wish.columns.note_file()


def _switch(field_name: str) -> Action:
    """Return what notes that an option was given."""
    return lambda wish, _: setattr(wish, field_name, True)


def _take_width(wish: Wish, option: Given) -> None:
    """Take how long lines are: no more than 100 characters are not wide."""
    if ":" not in option.word:
        wish.wide = True
        return
    number = re.match(r"\s*[+-]?\d+", option.qualifiers, re.ASCII)
    wish.width = int(number[0]) if number else 0
    wish.wide = wish.width > _NARROW


# Lines that are longer are wide.
_NARROW = 100
# Modes that have another name, too.
_OTHER_NAMES = {"slots": "slot", "world": "collector"}
# What narrows a choice of slots, and says with it how it is shown.
_KINDS = ("absent", "offline", "java", "vm")
_STYLES = ("server", "state")
# What a second choice makes of the first.
_TOGETHER = {
    ("slot", "run"): "claimed",
    ("claimed", "run"): "claimed",
    ("claimed", "schedd"): "run",
    ("schedd", "run"): "run",
    ("schedd", "data"): "data",
    ("data", "data"): "data",
    ("data", "schedd"): "data",
    ("run", "schedd"): "run",
    ("startd", "gpus"): "startd_gpus",
    ("gpus", "startd"): "startd_gpus",
    ("startd", "broken"): "startd_broken",
    ("broken", "startd"): "startd_broken",
    ("startd", "lvm"): "startd_lvm",
    ("lvm", "startd"): "startd_lvm",
    ("startd", "healthy"): "healthy",
    ("healthy", "startd"): "healthy",
    ("slot", "healthy"): "slot_health",
    ("healthy", "slot"): "slot_health",
    ("slot_health", "slot"): "slot_health",
}
# What is done for an option that chooses neither ads nor columns nor a form.
_ACTIONS: dict[str, Action] = {
    "annex": _take_annex,
    "annex-name": _take_annex,
    "annex-slots": _take_annex,
    "attributes": _take_attributes,
    "compact": lambda wish, option: setattr(wish, "compact", option),
    "constraint": lambda wish, option: wish.constraints.append(option.value),
    "diagnose": _switch("diagnose"),
    "direct": _keep("direct"),
    "expert": _switch("expert"),
    "limit": lambda wish, option: setattr(wish, "limit", _read_limit(option.value)),
    "merge": _keep("merge_file"),
    "nocompact": lambda wish, _: setattr(wish, "compact", None),
    "pool": _take_pool,
    "print-format": _take_print_format,
    "sort": _take_sort,
    "statistics": _keep("statistics"),
    "target": _keep("target_file"),
    "totals": _switch("totals_only"),
    "wide": _take_width,
}


def _choose(wish: Wish, option: Given) -> None:
    """Take a choice of ads; raise ContradictionError if another was made that does not go with it.

    Kinds of slots and styles of their table go with every choice.
    """
    if option.name == "healthy":
        wish.verbose = "verbose".startswith(option.qualifiers) and bool(option.qualifiers)
    if option.name == "slot":
        wish.compact = None
    if option.name in _KINDS:
        wish.kinds.append(option.name)
        return
    if option.name in _STYLES:
        _choose_style(wish, option)
        return
    together = _TOGETHER.get((wish.mode, option.name)) if wish.chosen is not None else None
    if wish.chosen is None or together is not None:
        wish.mode, wish.chosen = together or option.name, option
    elif wish.chosen.word != option.word:
        raise ContradictionError(
            f"Arg {option.index + 1} ({option.word}) contradicts "
            f"arg {wish.chosen.index + 1} ({wish.chosen.word})"
        )


def _choose_style(wish: Wish, option: Given) -> None:
    """Take a style of the table of slots; it gives way to a table that was chosen before."""
    before = wish.style_option if option.name == "server" else None
    if wish.chosen is not None and wish.chosen.name not in {"slot", "avail"}:
        before = wish.chosen
    if before is None or before.name == option.name:
        wish.style, wish.style_option = option.name, option
        return
    if wish.form or wish.columns or wish.print_format:
        # It says how a table is shown, and there is none.
        return
    wish.warnings.append(
        f"Error:  arg {option.index + 1} ({option.word}) contradicts "
        f"arg {before.index + 1} ({before.word})"
    )


def _settle(wish: Wish) -> None:
    """Let kinds and styles of slots say how a choice of slots is shown."""
    narrowed = [*wish.kinds]
    if wish.style and wish.mode in {"slot", "avail"}:
        narrowed += [wish.mode] if MODES[wish.mode].condition else []
        wish.mode = wish.style
    elif wish.mode == "slot":
        wish.mode = next((kind for kind in _KINDS if kind in wish.kinds), wish.mode)
    elif "java" in wish.kinds and f"java {wish.mode}" in MODES and wish.compact is None:
        wish.mode = f"java {wish.mode}"
    own = [MODES[kind].condition for kind in narrowed if kind != wish.mode]
    wish.constraints[:0] = own


_SUBSYSTEMS = {
    "machine": "slot",
    "slots": "slot",
    **{
        name: name
        for name in (
            "accounting", "collector", "defrag", "generic", "grid", "had", "master", "negotiator",
            "schedd", "startd", "submitters",
        )
    },
}  # fmt: skip


def _choose_subsystem(wish: Wish, option: Given) -> None:
    known = _SUBSYSTEMS.get(option.value)
    # A contradiction names what was asked for, not the option.
    named = Given(known or "generic", option.value, index=option.index + 1, values=option.values)
    _choose(wish, named)
    if known is None:
        wish.ad_type = option.value
