"""Carrying out the statements of a rule on an ad, in the order in which they stand.

`if`, here-documents and assignments are the configuration's (`kettle.config.reader`); what is
neither is a statement of `statements.py`. Without an ad the statements are only read: is there one
that makes no sense? Source: vectors `router/transforms.json`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.classad import parse_expression
from kettle.config.lines import LineReader
from kettle.config.reader import STATEMENT, Place, StatementReader, Trouble
from kettle.config.sources import MemorySources
from kettle.errors import ClassAdSyntaxError, ConfigError, TransformError
from kettle.patterns import late_pattern
from kettle.transforms.statements import take_apart

if TYPE_CHECKING:
    from kettle.transforms.editor import Editor
    from kettle.transforms.macros import TransformMacros

NOTHING = late_pattern(r"-[A-Za-z_][A-Za-z0-9_.]*\s*=")

# Limit: statements that one rule carries out.
MOST_STATEMENTS = 10_000
# What the name of an attribute is that expressions can mention.
_ATTRIBUTE = late_pattern(r"(?:(?:MY|TARGET)\.)?[A-Za-z_][A-Za-z0-9_]*", re.IGNORECASE)


class TransformReader(StatementReader):
    """Reads one rule; `steps` counts the statements that it carries out, assignments left out.

    `passed_over` counts those whose branch of an `if` is not in force.
    """

    def __init__(self, macros: TransformMacros, editor: Editor | None, name: str) -> None:
        super().__init__(macros, MemorySources())
        self.macros = macros
        self.editor = editor
        self.name = name
        self.steps = 0
        self.passed_over = 0
        # Names of attributes that no expression can mention, with their lines.
        self.odd_names: list[tuple[int, str]] = []
        self._number = 0

    def read_rule(self, text: str) -> None:
        """Carry out all statements; TransformError, with the line, for one that makes no sense."""
        lines = LineReader(text)
        try:
            self.read_lines(lines, Place(self.name))
        except Trouble as trouble:
            from kettle.config.remarks import render_all  # for those alone whose rules are wrong

            said = trouble.tail or trouble.hint or render_all(trouble.before)
            raise self._error(said, lines) from None
        except TransformError as error:
            raise self._error(error.message, lines, error.hint, error.nearest) from None

    def read_statement(self, line: str, lines: LineReader, place: Place) -> None:
        """Carry out one statement; brackets mean nothing here."""
        self._number = lines.number
        if STATEMENT.match(line):
            super().read_statement(line, lines, place)
        else:
            self.assign(line, lines, place)

    def assign(self, line: str, lines: LineReader, place: Place) -> None:
        """Carry out an assignment, or a statement; `+Attr = value` is `MY.Attr = value`.

        `-Attr = value`, which means something in a submit description, is taken and does nothing.
        """
        if line[0] == "+":
            line = f"MY.{line[1:]}"
        elif NOTHING.match(line):
            return
        if _is_assignment(line):
            super().assign(line, lines, place)
        else:
            self.execute(line)

    def truth_of(self, text: str, written: str) -> bool | None:
        """Return what an expression is worth in the ad, None for what is no truth there.

        Without an ad what mentions macros may be anything, and is not in force.
        Compat: what is false is false here; the reference takes it for no condition, and the rule
        fails, `condor_transform_ads` with 255; and before there is an ad it complains of any
        expression (test_a_condition_may_be_an_expression_over_the_ad,
        test_a_branch_of_an_expression_is_taken_or_not_without_a_word).
        """
        if self.macros.ad is None and "$" in written:
            return False
        try:
            tree = parse_expression(text, old=True)
        except ClassAdSyntaxError:
            return None
        if self.macros.ad is None:
            return False
        value = self.macros.ad.evaluate_expression(tree)
        return bool(value) if isinstance(value, (bool, int, float)) else None

    def pass_over(self, line: str) -> None:
        """Count a statement that another ad may have carried out."""
        others = STATEMENT.match(line) or line[0] == "+" or NOTHING.match(line)
        if not others and not _is_assignment(line):
            self.passed_over += 1

    def use(self, rest: str, number: int, place: Place) -> None:
        """Refuse it: rules are read once for each ad."""
        del rest, number, place
        raise Trouble(hint="use has no place in a transform")

    def include(self, rest: str, number: int, place: Place) -> None:
        """Refuse it: rules are read once for each ad."""
        del rest, number, place
        raise Trouble(hint="include has no place in a transform")

    def execute(self, text: str) -> None:
        """Carry out a statement of the transform language."""
        line = take_apart(text)
        self.steps += 1
        if self.steps > MOST_STATEMENTS:
            raise TransformError(f"the rule has more than {MOST_STATEMENTS} statements")
        if self.editor is None:
            is_plain = line.letters is None and "$" not in line.name
            if line.statement.names_attribute and is_plain and not _ATTRIBUTE.fullmatch(line.name):
                self.odd_names.append((self._number, line.name))
            return
        try:
            argument = self.macros.expand(line.rest)
        except ConfigError as error:
            raise TransformError(error.message) from None
        carry_out = line.statement.carry_out
        # What is about the rule as a whole is taken where the rule is read.
        if carry_out is not None:
            carry_out(line, argument, self.editor, self.macros)

    def _error(
        self, message: str, lines: LineReader, hint: str = "", nearest: str = ""
    ) -> TransformError:
        place = self.name, lines.number
        return TransformError(message, source=place[0], line=place[1], hint=hint, nearest=nearest)


def _is_assignment(line: str) -> bool:
    name = re.match(r"[^\s=:]*", line)
    rest = line[name.end() :].lstrip() if name else line
    return rest.startswith(("=", "@="))
