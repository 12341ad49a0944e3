"""Print-format files: the text that `-print-format` names, read into a `Mask`.

Keywords are known in upper case only, at the beginning of a line or after the column they belong
to. What a PRINTAS name does is the tool's: it brings its tables of renderers. Source: the manual's
page on print formats; details from recorded output (vectors `output/cases.json`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kettle.classad import ClassAd, Expr, parse_expression
from kettle.classad.references import find_references
from kettle.classad.unparse import render_value
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.runtime.storage.texts import read_text
from kettle.structs import Struct, field
from kettle.tools.printing.columns import Columns
from kettle.tools.printing.file_columns import FileMask
from kettle.tools.printing.format_words import Complaint, Words, read_column
from kettle.tools.printing.formats import KEPT, unescape
from kettle.tools.printing.values import written
from kettle.tools.printing.ways import Ways

_SELECT_TEXTS = {
    "RECORDPREFIX": "row_prefix",
    "RECORDSUFFIX": "row_suffix",
    "FIELDPREFIX": "field_prefix",
    "FIELDSUFFIX": "field_suffix",
}


class PrintFormat(Struct):
    """What a print-format file says."""

    mask: FileMask
    constraint: str = ""
    group_by: list[Expr] = field(default_factory=list)
    headings: bool = True
    title: bool = True
    summary: bool = False
    # The summary is one that the file describes: these columns of one row, headings above it.
    own_summary: bool = False
    summary_mask: FileMask = field(default_factory=lambda: FileMask([], field_prefix=""))
    # What a row is where it is no job: `UNIQUE` values of the columns, or an `AUTOCLUSTER`.
    aggregation: str = ""
    # What stands between a label and its value; None where columns have no labels.
    label: str | None = None
    # What is wrong; the file is used all the same.
    complaints: list[Complaint] = field(default_factory=list)
    path: str = ""

    def names(self) -> set[str]:
        """Return the attributes that its columns say; beside the job's id, if a row is a job."""
        return self.own_names() | (set() if self.aggregation else {"ClusterId", "ProcId"})

    def own_names(self) -> set[str]:
        """Return the attributes that its columns look at."""
        wanted: set[str] = set()
        grouped = () if self.aggregation else self.group_by
        for expression in (*(column.expression for column in self.mask.columns), *grouped):
            if expression is not None:
                internal, external = find_references(expression, ClassAd())
                wanted |= {name.rpartition(".")[2] for name in (*internal, *external)}
        return wanted

    def complain(self, *, at_terminal: bool) -> list[str]:
        """Return the lines for stderr: the reference's words, for a person with their places."""
        said = []
        for each in self.complaints:
            hint = each.hint() if at_terminal else ""
            if each.text:
                said.append(f"{each.text}\n")
            if at_terminal and (each.text or hint):
                what = "" if each.text else f"{each.word} is no keyword, "
                said.append(f"    {self.path}, line {each.line}{hint and f': {what}{hint}'}\n")
        return said

    def take_columns(self, columns: Columns) -> None:
        """Add the columns of a command line: with them there are rows and their headings alone."""
        self.mask.take_columns(columns)
        self.title = self.summary = self.own_summary = False

    def render_summary(self, summary: ClassAd) -> str:
        """Return the two lines of the file's own summary, which are empty without columns."""
        mask = self.summary_mask
        return (mask.render_headings() or "\n") + mask.render(summary)

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

        Compat: upwards, also where DESCENDING is said
        (test_rows_are_in_the_order_of_what_their_values_look_like).
        """
        return sorted(ads, key=lambda ad: "".join(f"{_order(ad, key)}\n" for key in self.group_by))


def _order(ad: ClassAd, key: Expr) -> str:
    """Return what an ad is put in order by: the value as it is written, not what it amounts to."""
    return written(ad.evaluate_expression(key))


def read_print_format(
    path: str,
    ways: Ways,
    *,
    refusal: str = "invalid select file",
    no_aggregation: str = "",
    truncates: bool = True,
) -> PrintFormat:
    """Read a print-format file; UsageError if it cannot be read.

    `ways` are the names that PRINTAS knows; `truncates` says whether a column of fixed width is cut
    there and shows values of every kind; `refusal` is how the tool says that it does not take the
    file, `no_aggregation` how it says that its rows are ads and nothing else; empty if they may be
    more.
    """
    try:
        text = read_text(path)
    except OSError:
        raise UsageError(f"Can't open select file: {path}\nError: {refusal} {path}") from None
    found = parse_print_format(text, ways, truncates=truncates)
    found.path = path
    if found.aggregation and no_aggregation:
        raise UsageError(f"{no_aggregation}\nError: {refusal} {path}")
    return found


def parse_print_format(text: str, ways: Ways, *, truncates: bool = True) -> PrintFormat:
    """Read a print-format file's text; of an empty one nothing but the title is shown.

    Raises UsageError for what is no print format.
    """
    found = PrintFormat(FileMask([]))
    section = ""
    seen = stray = False
    for number, line in _lines(text):
        words = Words(line, number, found.complaints)
        words.step()
        if words.word in _SECTIONS:
            section = words.word
            seen = seen or section == "SELECT"
            if not _begin(section, found, words):
                continue
        match section:
            case "SELECT" | "SUMMARY":
                column = read_column(words, ways, found.label, truncates=truncates)
                if column is not None:
                    mask = found.mask if section == "SELECT" else found.summary_mask
                    mask.columns.append(column)
            case "WHERE":
                found.constraint = words.to_end().strip()
            case "GROUP":
                _read_key(found, words)
            case "":
                stray = True
    if not seen and stray:
        # Compat: the reference crashes (test_a_print_format_of_nothing_shows_the_title).
        raise UsageError("the print-format file has no SELECT")
    return found


def _begin(section: str, found: PrintFormat, words: Words) -> bool:
    """Read what begins a section; False if the line says nothing that belongs into it."""
    match section:
        case "SELECT":
            _read_select(found, words)
        case "SUMMARY":
            _read_summary(found, words)
        case "GROUP":
            return words.step() and (words.word != "BY" or words.step())
        case "JOIN":
            _read_join(words)
        case _:
            return words.step()
    return False


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something with their numbers, without the blanks around them."""
    begun: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.endswith("\\"):
            begun.append(stripped[:-1])
            continue
        if begun:
            stripped = "".join([*begun, stripped])
            begun = []
        if stripped and not stripped.startswith("#"):
            yield number, stripped


_SUMMARIES = ("STANDARD", "NONE")
_HEADER_WORDS = (
    *("BARE", "NOTITLE", "NOHEADER", "UNIQUE", "FROM", "LABEL", "SEPARATOR", "NOSUMMARY"),
    *_SELECT_TEXTS,
)
_SECTIONS = frozenset({"SELECT", "SUMMARY", "WHERE", "AND", "JOIN", "GROUP"})


def _read_key(found: PrintFormat, words: Words) -> None:
    """Read what rows are in the order of; upwards and downwards are the same here."""
    text = words.before({"AS", "ASCENDING", "DESCENDING"})
    try:
        found.group_by.append(parse_expression(text))
    except ClassAdSyntaxError:
        words.warn(f"GROUP BY expression is not valid: {text}")


def _read_summary(found: PrintFormat, words: Words) -> None:
    found.summary = found.own_summary = True
    while words.step():
        if words.word in _SUMMARIES:
            found.summary, found.own_summary = words.word == "STANDARD", False
        else:
            words.warn(f"Unknown argument {words.word} for SELECT", _SUMMARIES)


def _read_join(words: Words) -> None:
    """Complain of what joins ads to others: the reference knows no more of it than the word.

    Compat: it crashes of a name that nothing follows (test_a_join_is_complained_of).
    """
    if not words.step():
        return
    said = "expected data set name before ON or USING"
    if words.word not in {"ON", "USING"}:
        if not words.step():
            return
        said = f"{words.word} was unexpected"
    words.warn(f"{said} at line {words.number} offset {words.start} in JOIN")


def _read_select(found: PrintFormat, words: Words) -> None:
    while words.step():
        word = words.word
        if word == "BARE":
            found.headings = found.title = False
        elif word == "NOTITLE":
            found.title = False
        elif word == "NOHEADER":
            found.headings = False
        elif word == "UNIQUE":
            found.aggregation = "UNIQUE"
        elif word == "FROM":
            if words.following() == "AUTOCLUSTER":
                found.aggregation = "AUTOCLUSTER"
        elif word == "LABEL":
            found.label = " = "
        elif word == "SEPARATOR" and found.label is not None:
            found.label = unescape(words.following(), KEPT)
        elif word in _SELECT_TEXTS:
            setattr(found.mask, _SELECT_TEXTS[word], unescape(words.following(), KEPT))
        elif word != "NOSUMMARY":
            words.warn(f"Warning: Unknown header argument {word} for SELECT", _HEADER_WORDS)
