"""The lines of a print-format file: words, and what they say of a column."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from kettle.classad import parse_expression
from kettle.errors import ClassAdSyntaxError
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern
from kettle.tools.printing.file_columns import FileColumn
from kettle.tools.printing.formats import KEPT, read_width, unescape
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


def read_column(
    words: Words, ways: Ways, label: str | None, *, truncates: bool
) -> FileColumn | None:
    """Read the line of a column; None if it describes none.

    `label` is what stands between a label and its value, None for columns without labels.
    """
    keywords = _FOLLOWED.keys() | _ALONE
    text = words.before(keywords)
    if not words.word:
        # A line without keywords is an expression with its quotes.
        text = words.line
    reader = _ColumnReader(text, words, ways, truncates=truncates)
    more = bool(words.word)
    while more:
        if words.word not in keywords:
            # The reference passes over it in silence.
            words.warn("", keywords)
        else:
            reader.take()
        more = words.step()
    column = reader.finish(label)
    try:
        column.expression = parse_expression(text)
    except ClassAdSyntaxError:
        # Keywords in small letters are part of the expression.
        small = next((word for word in text.split() if word.upper() in keywords), "")
        words.warn(f"attribute or expression is not valid: {text}", keywords, small)
    return column


class _ColumnReader:
    """The column of a line while its words are taken, in the order in which they stand."""

    def __init__(self, text: str, words: Words, ways: Ways, *, truncates: bool) -> None:
        self._words, self._ways, self._truncates = words, ways, truncates
        self._column = FileColumn("", text)
        self._name = ""
        self._form: str | None = "%v"
        # Whether nothing has said or taken away a format; `%v` may be said, too.
        self._usual = True
        self._width: int | None = None
        self._automatic = True
        self._asked_automatic = False
        self._cuts = self._never_cuts = False

    def take(self) -> None:
        """Take a keyword, and the word that belongs to it."""
        words, keyword = self._words, self._words.word
        if keyword in _FOLLOWED:
            if words.step():
                self._take_followed(keyword, words.word)
            else:
                # Compat: the reference crashes (test_a_print_format_of_nothing_shows_the_title).
                said = f"expected {_FOLLOWED[keyword]} at line {words.number} in SELECT"
                words.warn(said)
            return
        match keyword:
            case "NOPREFIX":
                self._column.prefix = False
            case "NOSUFFIX":
                self._column.suffix = False
            case "TRUNCATE":
                self._cuts, self._never_cuts = True, False
            case "FIT":
                self._never_cuts = True
            case "LEFT" | "RIGHT":
                self._column.left = keyword == "LEFT"
            case "ALWAYS":
                self._column.always = True
            case _:
                place = f"line {words.number} offset {words.start}"
                words.warn(
                    f"{keyword} was unexpected at {place} in SELECT", _FOLLOWED.keys() | _ALONE
                )

    def _take_followed(self, keyword: str, word: str) -> None:
        match keyword:
            case "AS":
                self._name = unescape(word, KEPT) if self._words.quoted else word
            case "PRINTF":
                self._say_form(word)
            case "OR":
                self._take_filler(word)
            case "WIDTH":
                self._take_width(word)
            case _:
                self._take_way(keyword, word)

    def _say_form(self, form: str | None) -> None:
        self._form, self._usual = form, False

    def _take_way(self, keyword: str, word: str) -> None:
        way = self._ways.get(word)
        if way is None:
            self._words.warn(f"Unknown argument {word} for {keyword}", self._ways)
            return
        self._column.way = way
        if keyword == "PRINTAS" or (self._usual and way.form):
            self._say_form(way.form or None)

    def _take_width(self, word: str) -> None:
        """Take a width, negative at the left, or that the column grows."""
        if word == "AUTO":
            self._automatic = self._asked_automatic = True
            self._cuts = False
            return
        found = _DIGITS.match(word)
        digits = 0 if found is None else read_width(found[2])
        self._width = -digits if found is not None and found[1] == "-" else digits
        self._automatic = False
        self._cuts = self._cuts or self._truncates
        if self._usual:
            self._say_form(None)

    def _take_filler(self, said: str) -> None:
        """Take what stands where there is no value."""
        if not said or said[0] not in _FILLERS:
            self._words.warn(f"Unknown argument {said} for OR", tuple(_FILLERS.strip()))
            return
        # The reference joins the bits of their places where several are said.
        place = _FILLERS.index(self._column.filler) | _FILLERS.index(said[0])
        self._column.filler = _FILLERS[place]
        self._column.fills = self._column.fills or said[:1] == said[1:2]

    def finish(self, label: str | None) -> FileColumn:
        """Return the column, with the format and the width that the words amount to."""
        column, width = self._column, self._width
        column.heading = self._name or column.text
        column.automatic = self._automatic or self._asked_automatic
        column.truncate = self._cuts and not self._never_cuts
        if label is not None:
            of_value = self._form_of_label() if self._form is None else self._form
            column.form_text = column.heading + label + of_value
            column.headed = False
            column.settle(0)
            return column
        form = self._form
        if column.way is None and form is None:
            if not width:
                form = "%v"
            elif self._truncates:
                side = "-" if width < 0 else ""
                column.left, width = column.left or width < 0, abs(width)
                form = f"%{side}{width}" + (f".{width}v" if column.truncate else "v")
        column.form_text = form
        column.settle(-length(column.heading) if width is None else width)
        return column

    def _form_of_label(self) -> str:
        """Return the format of a value behind a label where no word has said one."""
        width, column = self._width, self._column
        exact = "" if not width else f"{width}.{abs(width)}" if column.truncate else str(width)
        return f"%{exact}{'s' if column.way is not None else 'v'}"
