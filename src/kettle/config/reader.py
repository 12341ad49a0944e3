"""From the text of a file to statements that are carried out one after the other.

Assignments, `if`, `include`, `use`, `error` and `warning`. The submit language is read by the
same class with another table. What is set goes to a `Table`; which files are read first is
`loading.py`. Messages have the reference's words and places, and where those say too little one
line more (vectors, topics "message", "include", "if structure").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.config import metaknobs
from kettle.config.conditions import Branches
from kettle.config.lines import DOUBTS, LineReader
from kettle.config.origin import Asked, Origin
from kettle.config.sources import command_in, describe_failure, split_command, wait_status
from kettle.config.templates import TEMPLATES
from kettle.errors import ConfigError, Form, Remark
from kettle.octets import BLANKS, words_of
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.config.sources import Sources
    from kettle.config.table import Table

# What is said begins with a colon; the others say of themselves what they lack.
# With an = and no colon before it, `use` and `include` are names like any other that are set.
STATEMENT = late_pattern(
    r"@?(?:(use|include)(?=[\s:]|$)(?![^:]*=)|(error|warning)(?=\s*:))\s*(.*)$",
    re.IGNORECASE | re.ASCII,
)
NAME = late_pattern(r"[^\s=:]*", re.ASCII)
IDENTIFIER = late_pattern(r"[A-Za-z0-9_./]+")
# What stands over a section of a Windows file means nothing.
SECTION = late_pattern(r"\[[^\s=:]*", re.ASCII)
KEYWORDS = ("if", "elif", "else", "endif", "include", "use", "error", "warning")

# Limit: files that include each other have to stop somewhere; the reference's bound.
DEEPEST_INCLUDE = 20
# Limit: statements that are told one by one; the next one ends the reading.
MOST_TOLD = 100
# Limit: statements with macros that are remembered, for a check of them.
MOST_ASKED = 1000


# What stands between a name and its value, and the words before it that nobody reads.
OPERATOR = re.compile(r"[^=:@+]*(?P<kind>@=|\+(?P<mark>(?P<one>[,;|&*])(?P=one)?)?=|[=:])")


class Trouble(Exception):  # noqa: N818 - an error on its way to becoming a ConfigError
    """A statement that cannot be carried out.

    `before` are what comes before the line that names the place, the innermost place first; `tail`
    is what follows it; `hint` is our own last line where the reference's words say too little.
    """

    def __init__(self, *before: Remark, tail: str = "", hint: str = "") -> None:
        super().__init__(tail)
        self.before = before
        self.tail = tail
        self.hint = hint

    def ends_with(self) -> tuple[Remark, Remark]:
        """Return what follows the line that names the place."""
        return Remark(self.tail), Remark(self.hint)


class Unended(Trouble):
    """A here-document whose end never comes: all the rest of the text is its own."""


class Place:
    """Where the reader is: the file, how deep in includes, and which `use` it is carrying out."""

    __slots__ = ("depth", "line", "source", "template")

    def __init__(self, source: str, depth: int = 0, template: str = "", line: int = 0) -> None:
        self.source = source
        self.depth = depth
        self.template = template
        self.line = line

    def origin(self, number: int) -> Origin:
        """Return the origin for something read at this place."""
        if self.template:
            return Origin(self.source, self.line, f"{self.template}+{number - 1}")
        return Origin(self.source, number)

    def shown_line(self, number: int) -> int:
        """The line in the file, also while a template is carried out."""
        return self.line if self.template else number


def join_to(earlier: str | None, mark: str | None, value: str) -> str:
    """Return the value of `NAME += value`: what the name had before, a mark, and the new text.

    The mark stands between plus and equals sign; a double one, as of `+&&=`, gets blanks around it.
    """
    if not earlier:
        return value
    between = mark or " "
    return f"{earlier} {between} {value}" if len(between) > 1 else f"{earlier}{between}{value}"


Tell = Callable[[ConfigError], object]


class StatementReader:
    """Reads texts into a table.

    The first statement that is wrong ends it, but where somebody wants to hear of all: then `tell`
    hears of each, and it counts for nothing. A structure that is wrong always ends it.
    """

    # What a line that means nothing may have meant.
    keywords: tuple[str, ...] = KEYWORDS
    # Whether a line that begins with a bracket is the head of a section, which says nothing.
    sections = True

    def __init__(self, table: Table, sources: Sources, tell: Tell | None = None) -> None:
        self.table = table
        self.sources = sources
        self._tell = tell
        self._told = 0
        # The statements that asked for macros, for whoever checks what was read.
        self.asked: list[Asked] = []
        # The assignments with words between name and operator, which mean nothing.
        self.wordy: list[Asked] = []

    def read_root(self, text: str, source: str, what: str) -> None:
        """Read a file that nobody includes; raise ConfigError with file and line."""
        place = Place(source)
        lines = LineReader(text)
        try:
            self.read_lines(lines, place)
        except Trouble as trouble:
            head = Remark(f"{what} {source}", source, lines.number, form=Form.READING)
            parts = (*self.table.warnings, *trouble.before, head, *trouble.ends_with())
            raise complain(parts, source, lines.number) from None

    def read_lines(self, lines: LineReader, place: Place) -> None:
        """Carry out all statements of a text; raise Trouble."""
        branches = Branches(self.truth_of)
        while (line := lines.next_line()) is not None:
            try:
                if branches.read(line, self.table):
                    continue
                if branches.enabled:
                    self._warn_of_comments(lines, place)
                    self._try_statement(line, lines, place)
                else:
                    self.pass_over(line)
            except ConfigError as error:
                raise Trouble(tail=error.message) from None
            except Unended as unended:
                if branches.depth:
                    raise self._unclosed(lines, place, unended) from None
                raise
        if branches.depth:
            raise self._unclosed(lines, place)

    def _unclosed(self, lines: LineReader, place: Place, unended: Trouble | None = None) -> Trouble:
        """Return that an `if` has no end, behind what is said of a here-document without one."""
        before = unended.before if unended is not None else ()
        where = self._at(place, lines.number, "")
        return Trouble(*before, where, tail="endif(s) not found before end-of-file")

    def truth_of(self, text: str, written: str) -> bool | None:
        """Return the truth of what is no simple condition; None, as it has none here."""
        del text, written
        return None

    def pass_over(self, line: str) -> None:
        """Hear of a line whose branch of an `if` is not in force; it means nothing here."""

    def _warn_of_comments(self, lines: LineReader, place: Place) -> None:
        """Say what a comment inside a continued value makes of the line behind it."""
        for number, what, kind in lines.doubts:
            said = self._at(place, number, f"{what} {DOUBTS[kind]}", is_warning=True)
            self.table.warnings.append(said)

    def _try_statement(self, line: str, lines: LineReader, place: Place) -> None:
        try:
            self.read_statement(line, lines, place)
        except (Trouble, ConfigError) as error:
            if self._tell is None or place.template or self._told >= MOST_TOLD:
                raise
            self._told += 1
            if isinstance(error, Trouble):
                parts = (*error.before, *error.ends_with())
            else:
                parts = (Remark(error.message), Remark(error.hint))
            self._tell(complain(parts, place.source, lines.number))

    def read_statement(self, line: str, lines: LineReader, place: Place) -> None:
        """Carry out one statement; raise Trouble or ConfigError."""
        match = STATEMENT.match(line)
        if match is not None:
            word, rest = (match.group(1) or match.group(2)).lower(), match.group(3).strip(BLANKS)
            self._note(word, rest, place.origin(lines.number))
            if word == "use":
                self.use(rest, lines.number, place)
            elif word == "include":
                self.include(rest, lines.number, place)
            else:
                self.say(word, rest.removeprefix(":").strip(BLANKS), lines.number, place)
        elif not (self.sections and SECTION.fullmatch(line)):
            self.assign(line, lines, place)

    def _note(self, word: str, rest: str, origin: Origin) -> None:
        if "$" in rest and not origin.template and len(self.asked) < MOST_ASKED:
            self.asked.append(Asked(word, rest, origin))

    def _note_words(self, name: str, words: str, origin: Origin) -> None:
        if len(self.wordy) < MOST_ASKED:
            self.wordy.append(Asked(name, words.strip(BLANKS), origin))

    def assign(self, line: str, lines: LineReader, place: Place) -> None:
        """Carry out an assignment, or hand over what is none."""
        name = NAME.match(line)
        rest = line[name.end() :].lstrip(BLANKS) if name else line
        written = name.group() if name else ""
        operator = OPERATOR.match(rest)
        if operator is None:
            self.read_other(line, lines, place)
            return
        # What stands before a continuation that nothing follows is part of it.
        value = rest[operator.end() :].lstrip(BLANKS)
        kind = operator["kind"]
        if operator.start("kind"):
            self._note_words(written, rest[: operator.start("kind")], place.origin(lines.number))
        if kind == "@=":
            self.assign_here_document(written, value, lines, place)
            return
        if kind == ":":
            text = f"obsolete use of ':' for parameter assignment at {written} : {value}"
            said = self._at(place, lines.number, text, is_warning=True)
            said.is_obsolete = True
            self.table.warnings.append(said)
        full_name = self.full_name(written, lines.number, place)
        if kind.startswith("+"):
            value = join_to(self.table.raw(full_name), operator["mark"], value)
        self.table.assign(full_name, value, place.origin(lines.number))

    def assign_here_document(self, name: str, tag: str, lines: LineReader, place: Place) -> None:
        """Carry out `NAME @=tag`, whose value ends at a line `@tag`."""
        full_name = self.full_name(name, lines.number, place)
        text = lines.here_document(tag)
        if text is None:
            said = f"Found end-of-file while scanning for '@{tag}' in {place.source}"
            number = place.shown_line(lines.number)
            raise Unended(Remark(said, place.source, number, form=Form.MARKED))
        self.table.assign(full_name, text, place.origin(lines.number))

    def full_name(self, name: str, number: int, place: Place) -> str:
        """Return a name with its macros replaced; in a template only arguments are.

        Raises Trouble where it has characters that no name has.
        """
        full = name if place.template or "$" not in name else self.table.expand(name)
        if not IDENTIFIER.fullmatch(full):
            raise Trouble(self._at(place, number, f"Illegal Identifier: <{full}>"))
        return full

    def read_other(self, line: str, lines: LineReader, place: Place) -> None:
        """Refuse a line that is neither statement nor assignment."""
        from kettle.nearest import LOOSE, nearest_of  # for those alone who mistype

        del lines, place
        word = words_of(line)[0]
        if word.lower() in ("error", "warning"):
            raise Trouble(hint=f"{word} needs a colon before what it says: {word} : TEXT")
        near = nearest_of(word, self.keywords, LOOSE)
        hint = f'; did you mean "{near}"?' if near else ""
        raise Trouble(hint=f'"{line}" is neither an assignment nor a statement{hint}')

    def say(self, word: str, text: str, number: int, place: Place) -> None:
        """Carry out `error : text` or `warning : text`."""
        text = self.table.expand(text)
        said = self._at(place, number, text, is_warning=word == "warning")
        if place.template:
            said.form = Form.STATED
        if word == "error":
            raise Trouble(said)
        self.table.warnings.append(said)

    def use(self, rest: str, number: int, place: Place) -> None:
        """Carry out `use CATEGORY:NAME…`."""
        written, colon, items = rest.partition(":")
        # What is said of it is the category where a blank ends it, else all that was written.
        shown = self.table.expand(written.rstrip(BLANKS) if written[-1:].isspace() else rest)
        category, items = self.table.expand(written).strip(BLANKS), items.strip(BLANKS)
        if not colon:
            raise Trouble(hint="use needs CATEGORY:NAME, such as ROLE:Personal")
        if not category:
            raise Trouble(
                Remark(f"Error: use needs a keyword before : {items}"),
                self._at(place, number, f"at use :{items}"),
                hint="use needs CATEGORY:NAME, such as ROLE:Personal",
            )
        if metaknobs.find_category(category) is None:
            raise Trouble(
                self._at(place, number, f"at use {shown}:{items}"),
                hint=f"there is no category {category}; the categories are {', '.join(TEMPLATES)}",
            )
        for item in metaknobs.parse_items(items) or ([metaknobs.Item("", None)] if items else []):
            self._use_item(category, item, shown, items, number, place)

    def _use_item(
        self, category: str, item: metaknobs.Item, shown: str, items: str, number: int, place: Place
    ) -> None:
        where = self._at(place, number, f"at use {shown}:{items}")
        text = metaknobs.find_template(category, item.name)
        if text is None:
            raise Trouble(
                Remark(f"Error: use {shown}: does not recognise {item.name}"),
                where,
                hint=self._template_hint(category, item.name, place, number),
            )
        if place.depth >= DEEPEST_INCLUDE:
            raise Trouble(where, hint="templates use each other without end")
        name = f"use {metaknobs.find_category(category)}:"
        name += metaknobs.template_name(category, item.name)
        inner = Place(place.source, place.depth + 1, name, place.shown_line(number))
        try:
            self.read_lines(LineReader(metaknobs.apply_arguments(text, item.arguments)), inner)
        except Trouble as trouble:
            if place.template:
                raise
            said = [remark for remark in trouble.before if remark.form == Form.STATED]
            if not said:
                text = f"Internal Configuration Error: use {shown}: {item.name} is invalid"
                said = [Remark(text)]
            raise Trouble(*said, where, tail=trouble.tail, hint=trouble.hint) from None

    @staticmethod
    def _template_hint(category: str, name: str, place: Place, number: int) -> str:
        """Return one line with file, line, the name and what was probably meant."""
        where = f"{place.source}, line {place.shown_line(number)}"
        nearest = metaknobs.nearest_template(category, name)
        if nearest:
            advice = f"did you mean use {category}:{nearest}?"
        else:
            known = TEMPLATES[metaknobs.find_category(category) or ""]
            advice = f"the templates are {', '.join(known)}"
        return f"{where}: there is no template {category}:{name}; {advice}"

    def include(self, rest: str, number: int, place: Place) -> None:
        """Carry out `include [ifexist] [command [into FILE]] : PATH` (`output` is `command`)."""
        before, colon, place_named = rest.partition(":")
        if not colon:
            raise Trouble(hint="include needs a colon before the file: include : PATH")
        words = words_of(before)
        target = self.table.expand(place_named.strip(BLANKS)).strip(BLANKS)
        asked = _read_words(words)
        if asked is None:
            what = "expected filename after keyword 'into'" if words[-1] == "into" else ""
            said = f"unexpected keyword(s) '{' '.join(words)}' after include {what}"
            raise Trouble(self._at(place, number, said))
        if_exists, is_command, into = asked
        cache = self.table.expand(into)
        # What a command says is from `COMMAND |`, as if it had been written so.
        source = f"{target} |" if is_command and not target.endswith("|") else target
        inner = Place(source, place.depth + 1)
        outer = Place(target, inner.depth)
        if inner.depth >= DEEPEST_INCLUDE:
            raise Trouble(self._in(outer, 0, "includes nested too deep"))
        try:
            command = command_in(source)
        except ValueError as error:
            raise Trouble(self._in(outer, 0, describe_failure(error))) from None
        text = self._included_text(command, outer, inner, if_exists, cache)
        if text is not None:
            self._read_included(text, outer, inner)

    def _read_included(self, text: str, outer: Place, inner: Place) -> None:
        self.table.files.append(inner.source)
        lines = LineReader(text)
        try:
            self.read_lines(lines, inner)
        except Trouble as trouble:
            where = self._in(outer, lines.number, trouble.tail)
            raise Trouble(*trouble.before, where, hint=trouble.hint) from None

    def _included_text(
        self, command: str | None, outer: Place, inner: Place, if_exists: bool, cache: str
    ) -> str | None:
        if cache and self.sources.exists(cache):
            inner.source = cache
            return self._text_of(cache, outer, if_exists=False)
        if command is None:
            return self._text_of(outer.source, outer, if_exists=if_exists)
        try:
            status, text = self.sources.run_command(split_command(command))
        except (OSError, ValueError) as error:
            # Compat: what need not be there is never told of; the reference tells of it beside the
            # next error, whatever that is (test_what_need_not_be_there_is_not_told_of).
            if if_exists:
                return None
            raise Trouble(self._in(outer, 0, describe_failure(error))) from None
        if cache and status == 0:
            self._keep(text, cache, outer)
        elif cache and if_exists:
            return None
        elif cache:
            # Compat: as the reference counts it, which is the status that wait(2) tells
            # (test_a_failing_command_is_named_as_the_reference_names_it).
            raise Trouble(self._in(outer, 0, f"exited with error {wait_status(status)}"))
        return text

    def _text_of(self, path: str, inner: Place, *, if_exists: bool) -> str | None:
        try:
            return self.sources.read_text(path)
        except IsADirectoryError:
            return ""
        except (OSError, ValueError) as error:
            if if_exists:
                return None
            why = getattr(error, "strerror", None) or str(error)
            raise Trouble(self._in(inner, 0, f"can't open file {path}: {why}")) from None

    def _keep(self, text: str, path: str, inner: Place) -> None:
        try:
            self.sources.write_text(path, text)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            said = self._in(inner, 0, f"can't open '{path}' for write")
            raise Trouble(said, hint=why) from None

    def _at(self, place: Place, number: int, text: str, *, is_warning: bool = False) -> Remark:
        line = place.shown_line(number)
        return Remark(text, place.source, line, form=Form.PLACED, is_warning=is_warning)

    def _in(self, place: Place, number: int, text: str) -> Remark:
        # Compat: the depth is that in the file's own includes; the reference counts one more in
        # local files that are read after includes of others (test_rare_texts.py). Nor do we name,
        # as it does behind another error, a file that `ifexist` or `into` did not find.
        return Remark(text, place.source, number, place.depth, form=Form.PLACED)


def complain(parts: tuple[Remark, ...], source: str, line: int) -> ConfigError:
    """Return the error of a file, written as the reference writes it."""
    from kettle.config.remarks import render_all  # for those alone whose files are wrong

    error = ConfigError(render_all(parts), source=source, line=line)
    error.remarks = parts
    return error


def _read_words(words: list[str]) -> tuple[bool, bool, str] | None:
    """Return what stands before the colon of an include, None if it means nothing.

    That is whether the file may be missing, whether it is a command, and where to keep what it
    says. The words have no order, but that `into` follows `command`.
    """
    if_exists = is_command = False
    into = ""
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "ifexist":
            if_exists = True
        elif word in {"command", "output"}:
            is_command = True
        elif word == "into" and is_command and rest:
            into = rest.pop()
        else:
            return None
    return if_exists, is_command, into
