"""Print-format files: the text that `-print-format` names, read into a `Mask`.

Keywords are known in upper case only, at the beginning of a line or after the column they belong
to. What a PRINTAS name does is the tool's: it brings its tables of renderers. Source: the manual's
page on print formats; details from recorded output (vectors `output/cases.json`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from kettle.classad import ClassAd, Value, parse_expression
from kettle.classad.references import find_references
from kettle.classad.unparse import render_value
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.structs import Struct, field
from kettle.tools.printing.columns import FormatColumn, parse_format, unescape
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
    }
)
_NUMBERS = frozenset("diouxXeEfFgGaA")
_TAKES_WORD = frozenset({"AS", "PRINTF", "PRINTAS", "WIDTH", "OR"})
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
) -> PrintFormat:
    """Read a print-format file; UsageError if it cannot be read or selects nothing.

    `refusal` is how the tool says that it does not take the file, `no_aggregation` how it says that
    its rows are ads and nothing else; empty if they may be more.
    """
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except OSError:
        raise UsageError(f"Can't open select file: {path}\nError: {refusal} {path}") from None
    found = parse_print_format(text, renderers, attribute_renderers)
    if found.aggregation and no_aggregation:
        raise UsageError(f"{no_aggregation}\nError: {refusal} {path}")
    return found


def parse_print_format(
    text: str, renderers: Renderers, attribute_renderers: AttributeRenderers
) -> PrintFormat:
    """Read a print-format file's text; of an empty one nothing but the title is shown.

    Raises UsageError for what is no print format.
    """
    columns: list[Column] = []
    found = PrintFormat(Mask(columns))
    selecting = grouping = False
    seen = stray = False
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        word = stripped.split(None, 1)[0]
        rest = stripped[len(word) :].strip()
        if word == "SELECT":
            selecting, seen = True, True
            _read_select(found, rest)
        elif word == "WHERE":
            selecting = grouping = False
            found.constraint = rest
        elif word == "GROUP" and rest.upper().startswith("BY"):
            selecting, grouping = False, True
            if rest[2:].strip():
                found.group_by.append(rest[2:].split()[0])
        elif word == "SUMMARY":
            selecting = grouping = False
            found.summary = rest.upper() != "NONE"
        elif grouping:
            found.group_by.append(word)
        elif selecting:
            columns.append(_read_column(found, stripped, renderers, attribute_renderers))
        else:
            stray = True
    if not seen:
        if stray:
            # Compat: the reference crashes (test_a_print_format_of_nothing_shows_the_title).
            raise UsageError("the print-format file has no SELECT")
        found.summary = False
    return found


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
        elif word == "SEPARATOR":
            found.label = unescape(next(words, ""))
        elif word in _SELECT_TEXTS:
            setattr(found.mask, _SELECT_TEXTS[word], unescape(next(words, "")))


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


# Compat: values that stick out of their column do not widen it (vectors `output`).
_NEVER_WIDER = frozenset({"LOAD_AVG"})


def _read_column(
    found: PrintFormat, line: str, renderers: Renderers, attribute_renderers: AttributeRenderers
) -> Column:
    text, words = _take_expression(line)
    settings: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in _COLUMN_WORDS:
            settings[word] = next(rest, "") if word in _TAKES_WORD else ""
    try:
        expression = parse_expression(text)
    except ClassAdSyntaxError as error:
        raise UsageError(f"{text} is not an attribute or expression: {error}") from None
    column = Column(settings.get("AS", text), expression=expression, text=text)
    if found.label:
        column.label = column.heading + found.label
        column.left = False
    column.prefix, column.suffix = "NOPREFIX" not in settings, "NOSUFFIX" not in settings
    name = settings.get("PRINTAS", "")
    if name in renderers:
        column.shown = renderers[name]
    elif name in attribute_renderers:
        column.shown = attribute_renderers[name](text)
    elif name:
        found.warnings.append(f"Unknown argument {name} for PRINTAS")
    if "PRINTF" in settings:
        form = parse_format(settings["PRINTF"])
        column.printf = FormatColumn(form, text, expression)
        column.left = "-" in form.flags or form.letter not in _NUMBERS
    _set_width(column, settings)
    if name in _NEVER_WIDER and column.width is None:
        column.width, column.truncate = length(column.heading), False
    if column.printf is not None and column.printf.form.letter in _NUMBERS:
        # What a number's own format fills at the right stands at the right of a wider column.
        column.left = False
    return column


def _set_width(column: Column, settings: Mapping[str, str]) -> None:
    width = settings.get("WIDTH", "")
    if re.fullmatch(r"-?\d+", width):
        column.width = min(abs(int(width)), 4096)
        column.left = width.startswith("-")
    if "LEFT" in settings:
        column.left = True
    if "RIGHT" in settings:
        column.left = False


def _take_expression(line: str) -> tuple[str, list[str]]:
    """Return a column's expression and the words after it: it ends where a keyword begins."""
    for found in re.finditer(r"\S+", line):
        if found.start() and found[0] in _COLUMN_WORDS:
            return line[: found.start()].strip(), _split(line[found.start() :])
    return line, []
