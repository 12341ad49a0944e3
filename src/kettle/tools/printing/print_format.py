"""Print-format files: the text that `-print-format` names, read into a `Mask`.

Keywords are known in upper case only, at the beginning of a line or after the column they belong
to. What a PRINTAS name does is the tool's: it brings its tables of renderers. Source: the manual's
page on print formats; details from recorded output (vectors `output/cases.json`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from kettle.classad import ClassAd, Expr, Value, parse_expression
from kettle.classad.references import find_references
from kettle.classad.unparse import render_value
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.runtime.storage.texts import read_text
from kettle.structs import Struct, field
from kettle.tools.printing.columns import NUMBERS, FormatColumn, parse_format, read_width, unescape
from kettle.tools.printing.masks import Column, Mask, Renderers, Shown
from kettle.tools.printing.widths import length

_COLUMN_WORDS = frozenset(
    {
        "AS",
        "PRINTF",
        "PRINTAS",
        "WIDTH",
        "OR",
        "NOPREFIX",
        "NOSUFFIX",
        "TRUNCATE",
        "LEFT",
        "RIGHT",
        "FIT",
        "AUTO",
        "ALWAYS",
        "RENDERAS",
    }
)
_TAKES_WORD = frozenset({"AS", "PRINTF", "PRINTAS", "RENDERAS", "WIDTH", "OR"})
# What may stand where there is no value; one twice fills the column.
_ALTERNATIVES = " ?*.-_#0"
_SELECT_TEXTS = {
    "RECORDPREFIX": "row_prefix",
    "RECORDSUFFIX": "row_suffix",
    "FIELDPREFIX": "field_prefix",
    "FIELDSUFFIX": "field_suffix",
}
AttributeRenderers = Mapping[str, Callable[[str], Shown]]


class PrintFormat(Struct):
    """What a print-format file says."""

    mask: Mask
    constraint: str = ""
    group_by: list[str] = field(default_factory=list)
    headings: bool = True
    title: bool = True
    summary: bool = False
    # The summary is one that the file describes, which is shown as an empty line.
    own_summary: bool = False
    # What a row is where it is no job: `UNIQUE` values of the columns, or an `AUTOCLUSTER`.
    aggregation: str = ""
    # What stands between a label and its value; empty where columns have no labels.
    label: str = ""
    # Complaints for stderr; the file is used all the same.
    warnings: list[str] = field(default_factory=list)

    def names(self) -> set[str]:
        """Return the attributes that its columns say; beside the job's id, if a row is a job."""
        wanted = set() if self.aggregation else {"ClusterId", "ProcId", *self.group_by}
        for column in self.mask.columns:
            printed = column.printf.expression if column.printf is not None else None
            expression = column.expression or printed
            if expression is not None:
                internal, external = find_references(expression, ClassAd())
                wanted |= {name.rpartition(".")[2] for name in (*internal, *external)}
        return wanted

    def distinct(self, ads: Iterable[ClassAd]) -> list[ClassAd]:
        """Return the first ad of each row: for jobs of a file, which no schedd has grouped.

        Compat: the reference shows the first job alone where a file's jobs are to be UNIQUE, and
        calls the others errors (test_jobs_of_a_file_are_grouped_too).
        """
        names = ["AutoClusterId"] if self.aggregation == "AUTOCLUSTER" else sorted(self.names())
        rows: dict[tuple[str, ...], ClassAd] = {}
        for ad in ads:
            rows.setdefault(tuple(render_value(ad.evaluate(name)) for name in names), ad)
        return list(rows.values())

    def arrange(self, ads: Iterable[ClassAd]) -> list[ClassAd]:
        """Return the ads in the order of GROUP BY.

        Compat: upwards, also where DESCENDING is said (vectors `output`, group.cpf).
        """
        return sorted(ads, key=lambda ad: [_order(ad.evaluate(name)) for name in self.group_by])


def _order(value: Value) -> tuple[int, float, str]:
    if isinstance(value, str):
        return 1, 0.0, value
    if isinstance(value, (bool, int, float)):
        return 0, float(value), ""
    return 2, 0.0, ""


def read_print_format(
    path: str,
    renderers: Renderers,
    attribute_renderers: AttributeRenderers,
    *,
    refusal: str = "invalid select file",
    no_aggregation: str = "",
    truncates: bool = True,
) -> PrintFormat:
    """Read a print-format file; UsageError if it cannot be read.

    `truncates` says whether a column of fixed width is cut there and LEFT means nothing in it;
    `refusal` is how the tool says that it does not take the file, `no_aggregation` how it says that
    its rows are ads and nothing else; empty if they may be more.
    """
    try:
        text = read_text(path)
    except OSError:
        raise UsageError(f"Can't open select file: {path}\nError: {refusal} {path}") from None
    found = parse_print_format(text, renderers, attribute_renderers, truncates=truncates)
    if found.aggregation and no_aggregation:
        raise UsageError(f"{no_aggregation}\nError: {refusal} {path}")
    return found


def parse_print_format(
    text: str,
    renderers: Renderers,
    attribute_renderers: AttributeRenderers,
    *,
    truncates: bool = True,
) -> PrintFormat:
    """Read a print-format file's text; of an empty one nothing but the title is shown.

    Raises UsageError for what is no print format.
    """
    columns: list[Column] = []
    found = PrintFormat(Mask(columns))
    section = ""
    seen = stray = False
    for stripped in _lines(text):
        word = stripped.split(None, 1)[0]
        if word in _SECTIONS:
            section, seen = word, seen or word == "SELECT"
            stripped = _behind(word, stripped)
            if section not in {"SELECT", "SUMMARY"} and not stripped:
                continue
        match section:
            case "SELECT" if word == "SELECT":
                _read_select(found, stripped)
            case "SELECT":
                names = renderers, attribute_renderers
                columns.append(_read_column(found, stripped, *names, truncates=truncates))
            case "WHERE":
                found.constraint = stripped
            case "GROUP":
                found.group_by.append(stripped.split()[0])
            case "SUMMARY" if word == "SUMMARY":
                _read_summary(found, stripped.split())
            case "":
                stray = True
    if not seen and stray:
        # Compat: the reference crashes (test_a_print_format_of_nothing_shows_the_title).
        raise UsageError("the print-format file has no SELECT")
    found.summary = found.summary and seen
    return found


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that say something, without the blanks around them."""
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield stripped


def _behind(word: str, line: str) -> str:
    """Return what stands behind the word that begins a section."""
    rest = line[len(word) :].strip()
    return rest[2:].strip() if word == "GROUP" and rest.startswith("BY") else rest


_SECTIONS = frozenset({"SELECT", "SUMMARY", "WHERE", "AND", "JOIN", "GROUP"})


def _read_summary(found: PrintFormat, words: Iterable[str]) -> None:
    found.summary = found.own_summary = True
    for word in words:
        if word in {"STANDARD", "NONE"}:
            found.summary, found.own_summary = word == "STANDARD", False
        else:
            found.warnings.append(f"Unknown argument {word} for SELECT")


def _read_select(found: PrintFormat, rest: str) -> None:
    words = iter(_split(rest))
    for word in words:
        if word == "BARE":
            found.headings = found.title = False
        elif word == "NOTITLE":
            found.title = False
        elif word == "NOHEADER":
            found.headings = False
        elif word == "UNIQUE":
            found.aggregation = "UNIQUE"
        elif word == "FROM":
            if next(words, "") == "AUTOCLUSTER":
                found.aggregation = "AUTOCLUSTER"
        elif word == "LABEL":
            found.label = found.label or " = "
        elif word == "SEPARATOR" and found.label:
            found.label = unescape(next(words, ""))
        elif word in _SELECT_TEXTS:
            setattr(found.mask, _SELECT_TEXTS[word], unescape(next(words, "")))
        elif word != "NOSUMMARY":
            found.warnings.append(f"Warning: Unknown header argument {word} for SELECT")


def _split(text: str) -> list[str]:
    """Split into words; quotes keep spaces together, a backslash stays."""
    import shlex

    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.escape = ""
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return text.split()


# What these show is a number, which stands at the right of a width, whatever side is said.
_SHOW_NUMBERS = frozenset({"MEMBER_COUNT", "MEMORY_USAGE"})
# Compat: values that stick out of their column do not widen it (vectors `output`).
_NEVER_WIDER = frozenset({"LOAD_AVG"})


def _read_settings(words: Iterable[str]) -> dict[str, str]:
    """Return what the words behind a column say; of PRINTF and what calls a function, both."""
    settings: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in _COLUMN_WORDS:
            value = next(rest, "") if word in _TAKES_WORD else ""
            settings["PRINTAS" if word == "RENDERAS" else word] = value
    return settings


def _alternative(found: PrintFormat, settings: Mapping[str, str]) -> str:
    """Return what stands where there is no value: nothing, a character, or one twice."""
    said = settings.get("OR", "")
    if said and said[0] not in _ALTERNATIVES:
        found.warnings.append(f"Unknown argument {said} for OR")
        return ""
    return said[:2] if said[:1] == said[1:2] else said[:1]


def _read_column(
    found: PrintFormat,
    line: str,
    renderers: Renderers,
    attribute_renderers: AttributeRenderers,
    *,
    truncates: bool,
) -> Column:
    text, words = _take_expression(line)
    settings = _read_settings(words)
    heading = settings.get("AS", "")
    if re.search(r"\bAS\s+[\"']", line):
        heading = unescape(heading)
    column = Column(heading or text, text=text)
    column.missing = _alternative(found, settings)
    column.cut_asked = "TRUNCATE" in settings
    try:
        column.expression = expression = parse_expression(text)
    except ClassAdSyntaxError:
        found.warnings.append(f"attribute or expression is not valid: {text}")
        column.shown = lambda _: None
        return column
    if found.label:
        column.label = column.heading + found.label
        column.left = False
    column.prefix, column.suffix = "NOPREFIX" not in settings, "NOSUFFIX" not in settings
    name = settings.get("PRINTAS", "")
    if name in renderers:
        column.shown = renderers[name]
    elif name in attribute_renderers:
        column.shown = _shown_of(text, expression, attribute_renderers[name])
    elif name:
        how = "RENDERAS" if "RENDERAS" in words else "PRINTAS"
        found.warnings.append(f"Unknown argument {name} for {how}")
    _lay_out(column, settings, expression, truncates=truncates)
    if name in _SHOW_NUMBERS and column.width is not None:
        column.left = False
    if name in _NEVER_WIDER and column.width is None:
        column.width, column.truncate = length(column.heading), False
    column.missing_left = not settings.get("WIDTH", "").isdecimal()
    return column


def _shown_of(text: str, expression: Expr, renderer: Callable[[str], Shown]) -> Shown:
    """Return how a named way shows an attribute, or what an expression is worth."""
    if text.isidentifier():
        return renderer(text)
    name = "ValueOfColumn"
    show = renderer(name)
    return lambda ad: show(ClassAd({name: ad.evaluate_expression(expression)}, parent=ad))


def _lay_out(
    column: Column, settings: Mapping[str, str], expression: Expr, *, truncates: bool
) -> None:
    """Take a format, a width and the side that is filled."""
    text = column.text
    if "PRINTF" in settings:
        form = parse_format(settings["PRINTF"])
        column.printf = FormatColumn(form, text, expression)
        column.left = "-" in form.flags or form.letter not in NUMBERS
    _set_width(column, settings, aligns=bool(column.shown or column.printf) or not truncates)
    if "FIT" in settings:
        column.truncate = False
    if column.printf is not None and column.printf.form.letter in NUMBERS:
        # What a number's own format fills at the right stands at the right of a wider column.
        column.left = False


def _set_width(column: Column, settings: Mapping[str, str], *, aligns: bool) -> None:
    """Take a width and the side that is filled: `aligns` if LEFT means something."""
    width = settings.get("WIDTH", "")
    if re.fullmatch(r"-?[0-9]+", width):
        column.width = read_width(width.removeprefix("-"))
        column.left = width.startswith("-")
    if "LEFT" in settings and aligns:
        column.left = True


def _take_expression(line: str) -> tuple[str, list[str]]:
    """Return a column's expression and the words after it: it ends where a keyword begins."""
    for found in re.finditer(r"\S+", line):
        if found.start() and found[0] in _COLUMN_WORDS:
            return line[: found.start()].strip(), _split(line[found.start() :])
    return line, []
