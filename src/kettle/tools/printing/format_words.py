"""The lines of a print-format file: words, and what they say of a column."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from kettle.classad import parse_expression
from kettle.errors import ClassAdSyntaxError
from kettle.patterns import late_pattern
from kettle.structs import Struct
from kettle.tools.printing.columns import read_width, unescape
from kettle.tools.printing.file_columns import FileColumn
from kettle.tools.printing.ways import Ways
from kettle.tools.printing.widths import length

# A word, in quotes or bare; the quote that ends it may be missing.
_WORD = late_pattern(r"[ \t\r]*(?:([\"'])(.*?)(?:\1|\Z)|([^ \t\r]+))", re.DOTALL)
_DIGITS = late_pattern(r"[ \t]*([+-]?)(\d+)")
# What may stand where there is no value; one twice fills the column.
_FILLERS = " ?*.-_#0"
# What words say that are followed by another, for the complaint where there is none.
_FOLLOWED = {
    "AS": "column name after AS",
    "PRINTF": "format after PRINTF",
    "PRINTAS": "function name after PRINTAS",
    "RENDERAS": "function name after RENDERAS",
    "OR": "? or ?? after OR",
    "WIDTH": "number or AUTO after WIDTH",
}
_ALONE = frozenset(["NOPREFIX", "NOSUFFIX", "TRUNCATE", "LEFT", "RIGHT", "FIT", "AUTO", "ALWAYS"])


class Complaint(NamedTuple):
    """What is wrong in a line, in the reference's words; `meant` could stand for `word` there.

    Without a `text` the reference says nothing.
    """

    text: str
    line: int
    word: str = ""
    meant: tuple[str, ...] = ()

    def hint(self) -> str:
        """Return the nearest right word, in a question; empty if none is near."""
        from kettle.nearest import LOOSE, nearest_of  # for those alone who mistype

        near = nearest_of(self.word, self.meant, LOOSE)
        return f"did you mean {near}?" if near else ""


class Words:
    """The words of a line, one after the other."""

    def __init__(self, line: str, number: int, complaints: list[Complaint]) -> None:
        self.line, self.number, self._complaints = line, number, complaints
        self.word = ""
        self.quoted = False
        # Where the word begins; where the next is looked for.
        self.start = self._next = 0

    def step(self) -> bool:
        """Go to the next word; False if there is none."""
        found = _WORD.match(self.line, self._next)
        if found is None:
            self.word = ""
            return False
        self.quoted = found[1] is not None
        self.start, self._next = found.start(2 if self.quoted else 3), found.end()
        self.word = found[2] if self.quoted else found[3]
        return True

    def following(self) -> str:
        """Return the next word; empty if there is none."""
        self.step()
        return self.word

    def to_end(self) -> str:
        """Return the line from this word on."""
        return self.line[self.start :]

    def before(self, keywords: AbstractSet[str]) -> str:
        """Return the text from this word to the next keyword, which is the word then."""
        start = self.start
        while self.step():
            if self.word in keywords:
                end = self.start - self.quoted
                return self.line[start:end].strip()
        return self.line[start:].strip()

    def warn(self, text: str, meant: Iterable[str] = (), word: str | None = None) -> None:
        """Complain about this word of the line, or another; one of `meant` may be meant."""
        said = self.word if word is None else word
        self._complaints.append(Complaint(text, self.number, said, tuple(meant)))


class _Settings(Struct):
    """What the words behind a column say, in the order in which they say it."""

    name: str = ""
    form: str | None = "%v"
    # Whether nothing has said or taken away a format; `%v` may be said, too.
    usual: bool = True
    width: int | None = None
    automatic: bool = True
    asked_automatic: bool = False
    cuts: bool = False
    never_cuts: bool = False


def read_column(
    words: Words, ways: Ways, label: str | None, *, truncates: bool
) -> FileColumn | None:
    """Read the line of a column; None if it describes none."""
    keywords = _FOLLOWED.keys() | _ALONE
    text = words.before(keywords)
    if not words.word:
        # A line without keywords is an expression with its quotes.
        text = words.line
    column = FileColumn("", text)
    settings = _Settings()
    more = bool(words.word)
    while more:
        if words.word not in keywords:
            # The reference passes over it in silence.
            words.warn("", keywords)
        else:
            _take(words, column, settings, ways, truncates=truncates)
        more = words.step()
    column.heading = settings.name or text
    column.automatic = settings.automatic or settings.asked_automatic
    column.truncate = settings.cuts and not settings.never_cuts
    _settle(column, settings, label, truncates=truncates)
    try:
        column.expression = parse_expression(text)
    except ClassAdSyntaxError:
        # Keywords in small letters are part of the expression.
        small = next((word for word in text.split() if word.upper() in keywords), "")
        words.warn(f"attribute or expression is not valid: {text}", keywords, small)
    return column


def _take(
    words: Words, column: FileColumn, settings: _Settings, ways: Ways, *, truncates: bool
) -> None:
    """Take a keyword, and the word that belongs to it."""
    word = words.word
    if word in _FOLLOWED:
        if not words.step():
            # Compat: the reference crashes (test_a_print_format_of_nothing_shows_the_title).
            words.warn(f"expected {_FOLLOWED[word]} at line {words.number} in SELECT")
            return
        _take_followed(word, words, column, settings, ways, truncates=truncates)
        return
    match word:
        case "NOPREFIX":
            column.prefix = False
        case "NOSUFFIX":
            column.suffix = False
        case "TRUNCATE":
            settings.cuts, settings.never_cuts = True, False
        case "FIT":
            settings.never_cuts = True
        case "LEFT" | "RIGHT":
            column.left = word == "LEFT"
        case "ALWAYS":
            column.always = True
        case _:
            words.warn(
                f"{word} was unexpected at line {words.number} offset {words.start} in SELECT",
                _FOLLOWED.keys() | _ALONE,
            )


def _take_followed(
    keyword: str,
    words: Words,
    column: FileColumn,
    settings: _Settings,
    ways: Ways,
    *,
    truncates: bool,
) -> None:
    """Take the word behind a keyword."""
    word = words.word
    match keyword:
        case "AS":
            settings.name = unescape(word) if words.quoted else word
        case "PRINTF":
            settings.form, settings.usual = word, False
        case "OR":
            _take_filler(words, column)
        case "WIDTH":
            _take_width(word, settings, truncates=truncates)
        case _ if (way := ways.get(word)) is not None:
            column.way = way
            if keyword == "PRINTAS" or (settings.usual and way.form):
                settings.form, settings.usual = way.form or None, False
        case _:
            words.warn(f"Unknown argument {word} for {keyword}", ways)


def _take_width(word: str, settings: _Settings, *, truncates: bool) -> None:
    """Take a width, negative at the left, or that the column grows."""
    if word == "AUTO":
        settings.automatic = settings.asked_automatic = True
        settings.cuts = False
        return
    found = _DIGITS.match(word)
    digits = 0 if found is None else read_width(found[2])
    settings.width = -digits if found is not None and found[1] == "-" else digits
    settings.automatic = False
    settings.cuts = settings.cuts or truncates
    if settings.usual:
        settings.form, settings.usual = None, False


def _take_filler(words: Words, column: FileColumn) -> None:
    """Take what stands where there is no value."""
    said = words.word
    if not said or said[0] not in _FILLERS:
        words.warn(f"Unknown argument {said} for OR", tuple(_FILLERS.strip()))
        return
    column.filler = said[0]
    column.fills = column.fills or said[:1] == said[1:2]


def _settle(column: FileColumn, settings: _Settings, label: str | None, *, truncates: bool) -> None:
    """Make format and width of what was said."""
    form, width = settings.form, settings.width
    if label is not None:
        if form is None:
            exact = "" if not width else f"{width}.{abs(width)}" if column.truncate else str(width)
            form = f"%{exact}{'s' if column.way is not None else 'v'}"
        column.form_text = column.heading + label + form
        column.settle(0)
        return
    if column.way is None and form is None:
        if not width:
            form = "%v"
        elif truncates:
            column.left, width = column.left or width < 0, abs(width)
            side = "-" if settings.width is not None and settings.width < 0 else ""
            form = f"%{side}{width}" + (f".{width}v" if column.truncate else "v")
    column.form_text = form
    column.settle(-length(column.heading) if width is None else width)
