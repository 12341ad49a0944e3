"""From the text of a submit description to variables and queue statements.

The statements are those of the configuration language (`kettle.config.reader`) with `+Attr`,
`queue` and other words in the messages. What a queue statement means is `queue_statement.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.config import metaknobs
from kettle.config.conditions import Branches
from kettle.config.lines import LineReader
from kettle.config.reader import DEEPEST_INCLUDE, KEYWORDS, Place, StatementReader, Trouble
from kettle.errors import ConfigError, Form, Remark, StatementError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.structs import Struct
from kettle.submit.notices import ERROR_MARK

if TYPE_CHECKING:
    from kettle.submit.macros import SubmitMacros
    from kettle.submit.matching import MatchRules
    from kettle.submit.sources import SubmitSources

QUEUE = late_pattern(r"(?:queue|iterate)(?:\s+(.*))?$", re.IGNORECASE | re.DOTALL | re.ASCII)
OWN_ATTRIBUTE = late_pattern(r"([+-])([^\s=:@]*)\s*=\s*(.*)$", re.DOTALL | re.ASCII)
BARE = late_pattern(
    r"(?!(?:include|use|if|elif|else)\b)([A-Za-z_][\w.]*)\s+([^=:@]+)",
    re.IGNORECASE | re.ASCII,
)
# What of `@=`, `+=` and `+&&=` is in front of the equals sign.
BLANK = late_pattern(r"\s", re.ASCII)
JOINER = late_pattern(r"(@|\+[,;|&*]{0,2})$")
ATTRIBUTE_NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_.]*")


class QueueText(Struct):
    """A queue statement as written, and the line it stands on."""

    text: str
    line: int
    # What a complaint says instead of it (LineReader.breaks).
    told_line: int = 0


class SubmitReader(StatementReader):
    """Reads a submit description up to each of its queue statements."""

    keywords = (*KEYWORDS, "queue")
    sections = False
    word = "Queue"

    def __init__(self, macros: SubmitMacros, sources: SubmitSources, text: str, name: str) -> None:
        super().__init__(macros, _Adapted(sources))
        self.macros = macros
        self.lines = LineReader(text)
        self.place = Place(name)
        self.branches = Branches()
        # Lines of the command line, read before the first queue statement takes effect.
        self.appended: tuple[str, ...] = ()
        # What `use template : Name` stands for, by lower-case name.
        self.templates: dict[str, str] = {}

    def next_queue(self) -> QueueText | None:
        """Read statements up to the next `queue`; None at the end; raise SubmitError.

        Compat: a last line that no line break ends is one like others. The reference leaves the
        blanks around it: a statement or bracket behind some is refused, and to `queue A from ` they
        are items that there are none of (test_a_last_line_without_an_end_is_a_line).
        """
        while (line := self.lines.next_line()) is not None:
            self.macros.place = ("", f"ERROR on Line {self.lines.breaks} of submit file: ", "")
            try:
                if self.branches.read(line, self.table):
                    continue
                if not self.branches.enabled:
                    continue
                found = QUEUE.match(line)
                if found is not None:
                    self.read_appended()
                    self.macros.place = ("", at_queue(self.lines.breaks), "")
                    return QueueText(found.group(1) or "", self.lines.number, self.lines.breaks)
                self.read_statement(line, self.lines, self.place)
            except Trouble as trouble:
                raise self.parse_error(trouble.tail, trouble.before, trouble.hint) from None
            except ConfigError as error:
                raise self.parse_error(error.message) from None
        if self.branches.depth:
            where = self._at(self.place, self.lines.number, "")
            raise self.parse_error("endif(s) not found before end-of-file", (where,))
        self.read_appended()
        return None

    def read_appended(self) -> None:
        """Carry out the statements of the command line; raise SubmitError."""
        appended, self.appended = self.appended, ()
        for line in appended:
            bare = BARE.fullmatch(line.strip(BLANKS))
            try:
                # Compat: the command line need not write the equals sign (test_condor_submit.py).
                text = f"{bare.group(1)} = {bare.group(2)}" if bare else line.strip(BLANKS)
                self.read_statement(text, self.lines, self.place)
            except Trouble as trouble:
                raise self.parse_error(trouble.tail, trouble.before, trouble.hint) from None

    def parse_error(
        self, message: str, details: tuple[Remark, ...] = (), hint: str = ""
    ) -> StatementError:
        """Return the error for the line that was read last; it tells of earlier warnings, too.

        As in the reference the last of them comes first, behind the error itself. Compat: where a
        job has been made they are told at the end, as other warnings are
        (test_warnings_before_a_line_that_is_refused_are_told).
        """
        from kettle.config.remarks import render, render_all  # for those alone who are refused

        told, remarks = self.lines.breaks, (*details, Remark(hint))
        lines = [render_all(details, of_submit=True)]
        for warning in reversed(self.macros.warnings):
            behind = "|" if any(lines) else ""
            lines.append(f"{behind}Submit:0:{render(warning, of_submit=True)}")
        text = "\n".join(filter(None, (*lines, hint)))
        where = f"on Line {told} of {self.place.source}: {message}"
        end = f"\n\n{ERROR_MARK}Failed to parse command file (line {told})."
        error = StatementError(
            f"{where}\n{text}{end}" if text else where + end,
            source=self.place.source,
            line=self.lines.number,
            mark=f"\n{ERROR_MARK}",
        )
        error.complaint, error.told_line, error.remarks = message, told, remarks
        return error

    def no_statement(self, message: str) -> StatementError:
        """Return the error for a queue statement whose words make no sense."""
        return self.parse_error(message)

    def match_rules(self, kind: str) -> MatchRules:
        """Return what the description wants of patterns; raise SubmitError."""
        from kettle.submit.matching import read_match_rules  # few statements have patterns

        return read_match_rules(kind, self._setting, self.parse_error)

    def _setting(self, name: str, other: str) -> str | None:
        """Return the text of a macro, of its other name where the description has none of it."""
        raw = self.macros.raw(name if self.macros.is_set(name) else other)
        return None if raw is None else self.macros.expand(raw).strip(BLANKS)

    def extra_data(self) -> StatementError | None:
        """Return the error for what follows a queue statement, None if nothing does."""
        if self.lines.next_line() is None:
            return None
        return self.parse_error("Extra data found after queue statement")

    def assign(self, line: str, lines: LineReader, place: Place) -> None:
        """Carry out an assignment; `+Attr = value` is `MY.Attr = value`."""
        if line[0] in "+-":
            match = OWN_ATTRIBUTE.match(line)
            if match is not None and "@=" not in line.split("=")[0] + "=":
                sign, name, value = match.groups()
                name = self.table.expand(name)
                # Compat: in the reference it is the schedd that refuses such a name, when the jobs
                # are committed, so that a dry run takes it
                # (test_a_name_that_no_attribute_can_have_is_refused).
                if name and not ATTRIBUTE_NAME.fullmatch(name):
                    raise Trouble(hint=f"{name} is no attribute name")
                text = value.strip(BLANKS) if sign == "+" else "undefined"
                self.table.assign(f"MY.{name}", text, place.origin(lines.number))
                return
            if ":" in line and "@" not in line:
                raise self._colon(line, lines, place)
            if "@=" not in line:
                raise Trouble(hint=f'"{line}" is no assignment to an attribute')
        colon, equals = line.find(":"), line.find("=")
        if 0 <= colon < equals or (equals < 0 <= colon):
            raise self._colon(line, lines, place)
        name = JOINER.sub("", line[:equals]).strip(BLANKS)
        if equals > 0 and BLANK.search(name) and "$" not in name:
            # A configuration takes the first word then; a submit description does not.
            raise Trouble(hint=f'"{name}" is no name: there is a blank in it')
        super().assign(line, lines, place)

    def read_other(self, line: str, lines: LineReader, place: Place) -> None:
        """Refuse a line that is no assignment; in a template the equals sign may be left out."""
        bare = BARE.fullmatch(line) if place.template else None
        if bare is None:
            super().read_other(line, lines, place)
        else:
            self.table.assign(bare.group(1), bare.group(2), place.origin(lines.number))

    def use(self, rest: str, number: int, place: Place) -> None:
        """Carry out `use template : Name(arguments)…` or `use strict : MODE`.

        The templates are the configuration's (SUBMIT_TEMPLATE_<name>), the modes those of matching.
        """
        before, colon, items = rest.partition(":")
        items, category = items.strip(BLANKS), before.strip(BLANKS)
        if not colon:
            raise Trouble(hint="use needs a colon: use template : NAME")
        # Without a blank before the colon the reference shows the whole line instead.
        shown = self.table.expand(rest.strip(BLANKS)) if before[-1:].strip(BLANKS) else category
        where = self._at(place, number, f"at use {shown}:{items}")
        if category.lower() not in {"template", "strict"}:
            raise Trouble(where)
        for item in metaknobs.parse_items(items):
            text = self._template(category, item.name)
            said = f"Error: use {shown}: "
            if text is None:
                raise Trouble(where, _behind(Remark(f"{said}does not recognise {item.name}")))
            if place.depth >= DEEPEST_INCLUDE:
                raise Trouble(where, _behind(Remark(f"{said}{item.name} nesting too deep")))
            self._read_template(text, item, place, number, where)

    def _template(self, category: str, name: str) -> str | None:
        if category.lower() != "strict":
            return self.templates.get(name.lower())
        from kettle.submit.matching import strict_template  # few descriptions have modes

        return strict_template(name)

    def _read_template(
        self, text: str, item: metaknobs.Item, place: Place, number: int, where: Remark
    ) -> None:
        line = place.shown_line(number)
        inner = Place(place.source, place.depth + 1, f"use template:{item.name}", line)
        try:
            self.read_lines(LineReader(metaknobs.apply_arguments(text, item.arguments)), inner)
        except Trouble as trouble:
            if place.template:
                raise
            said = map(_behind, filter(_goes_on, trouble.before))
            raise Trouble(where, *said, tail=trouble.tail, hint=trouble.hint) from None

    def _colon(self, line: str, lines: LineReader, place: Place) -> Trouble:
        return Trouble(
            self._at(place, lines.number, f"cannot parse: {line}"),
            tail="invalid queue statement.",
        )


def _goes_on(remark: Remark) -> bool:
    """Tell whether a remark of a template is told where it is used; those with places are not."""
    return (remark.form != Form.PLACED and not remark.source) or remark.form == Form.STATED


def _behind(remark: Remark) -> Remark:
    if remark.form == Form.BEHIND:
        return remark
    from kettle.config.remarks import render  # for those alone whose templates are wrong

    return Remark(render(remark).lstrip(BLANKS), form=Form.BEHIND)


def at_queue(line: int) -> str:
    """Say that a problem was met at a queue statement."""
    return f"ERROR at Queue statement on Line {line}: "


class _Adapted:
    """Submit sources as the statement reader wants them; what it never asks raises."""

    def __init__(self, sources: SubmitSources) -> None:
        self.read_text = sources.read_text
        self.write_text = sources.write_text
        self.exists = sources.exists
        self.run_command = sources.run_command
        self.random = sources.random

    def list_directory(self, path: str) -> list[str]:
        """Submit descriptions read no folders."""
        raise NotADirectoryError(20, "Not a directory", path)

    def home_directory(self, user: str) -> str | None:
        """Submit descriptions have no homes."""
        del user
        return None

    def machine_facts(self) -> dict[str, str]:
        """The machine's facts come through the configuration."""
        return {}
