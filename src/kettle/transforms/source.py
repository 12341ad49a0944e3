"""A rule: its name, whom it is for, how often it is applied, and what it does.

Taken out of a text are NAME, REQUIREMENTS, UNIVERSE and TRANSFORM, wherever they stand; nothing
that follows TRANSFORM is a statement. A text that begins with a bracket is the ClassAd form
(`old_form.py`). Source: vectors `router/transforms.json`; the manual, ClassAd transforms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from kettle.classad import ClassAd, Expr, parse_expression
from kettle.config.lines import LineReader
from kettle.errors import ClassAdSyntaxError, TransformError
from kettle.patterns import late_pattern
from kettle.structs import Struct
from kettle.transforms.editor import Editor, Telling
from kettle.transforms.reader import TransformReader
from kettle.transforms.statements import OF_THE_RULE

if TYPE_CHECKING:
    from kettle.transforms.macros import TransformMacros

_ENVELOPE = late_pattern(rf"({'|'.join(OF_THE_RULE)})\s+(?![=:])(.*)$", re.IGNORECASE | re.DOTALL)
_HERE = late_pattern(r"[^\s=]*\s*@=(\S+)\s*$")
_TRIVIAL = late_pattern(r"1\s*")


class Rule(Protocol):
    """What both forms of rules can do."""

    name: str

    def applies_to(self, ad: ClassAd) -> bool:
        """Tell whether the rule is for this ad."""

    def apply(self, ad: ClassAd, macros: TransformMacros, telling: Telling) -> dict[str, str]:
        """Change the ad; return the names of what changed by lower-case name.

        TransformError where the rule makes no sense; the ad may be changed in part.
        """


class Transform(Struct):
    """A rule of the transform language.

    `iteration` is what TRANSFORM says, empty for once, and `line` where; `rest` are the lines that
    follow it: items may stand there.
    """

    name: str
    body: str
    requirements: Expr | None = None
    universe: str = ""
    iteration: str = ""
    line: int = 0
    rest: str = ""

    def applies_to(self, ad: ClassAd) -> bool:
        """Tell whether its REQUIREMENTS are true of the ad, if it has any."""
        return self.requirements is None or ad.satisfies(self.requirements)

    def apply(self, ad: ClassAd, macros: TransformMacros, telling: Telling) -> dict[str, str]:
        """Carry out its statements on the ad."""
        editor = Editor(ad, telling)
        macros.ad = ad
        macros.on_problem = telling.error
        try:
            TransformReader(macros, editor, self.name).read_rule(self.body)
        finally:
            macros.ad = None
        return editor.changed

    def check(self, macros: TransformMacros, odd_names: list[tuple[int, str]] | None = None) -> int:
        """Return how many statements it has; TransformError if one makes no sense.

        Those in a branch of an `if` that is not in force count: it may be for some ad. Names of
        attributes that no expression can mention are put into `odd_names`, with their lines. Its
        assignments are made: what is only a configuration can be asked afterwards.
        """
        macros.ad = None
        reader = TransformReader(macros, None, self.name)
        reader.read_rule(self.body)
        if odd_names is not None:
            odd_names += reader.odd_names
        return reader.steps + reader.passed_over


def tell_odd_name(name: str) -> str:
    """Return the sentence about the name of an attribute that no expression can mention."""
    return f"no expression can mention an attribute {name!r}: a name is letters, digits and _"


def read_transform(text: str, name: str, *, may_name_itself: bool = True) -> Transform:
    """Take a rule's text apart; TransformError for REQUIREMENTS that are no expression.

    `may_name_itself` is not given where the configuration has named it.
    """
    physical = text.split("\n")
    lines = LineReader(text)
    rule = Transform(name, "")
    before, tag = 0, ""
    while (line := lines.next_line()) is not None:
        first, before = before, lines.number
        if tag:
            tag = "" if line == tag else tag
            continue
        if here := _HERE.match(line):
            tag = f"@{here.group(1)}"
            continue
        found = _ENVELOPE.match(line)
        if found is None:
            continue
        word, argument = found.group(1).upper(), found.group(2).strip()
        if word == "TRANSFORM":
            rule.iteration = "" if _TRIVIAL.fullmatch(argument) else argument
            rule.line, rule.rest = before, "\n".join(lines.rest())
            del physical[first:]
            break
        # The numbers of the lines that follow stay.
        physical[first:before] = [""] * (before - first)
        _take(rule, word, argument, before, may_name_itself=may_name_itself)
    rule.body = "\n".join(physical)
    return rule


def _take(rule: Transform, word: str, argument: str, line: int, *, may_name_itself: bool) -> None:
    match word:
        case "NAME":
            rule.name = argument if may_name_itself and argument else rule.name
        case "UNIVERSE":
            rule.universe = argument
        case "REQUIREMENTS":
            rule.requirements = _requirements(rule, argument, line)
        case _:
            raise LookupError(f"nothing takes {word} out of a rule")


def _requirements(rule: Transform, text: str, line: int) -> Expr:
    try:
        return parse_expression(text)
    except ClassAdSyntaxError as error:
        raise TransformError(
            f"invalid REQUIREMENTS : {text}", source=rule.name, line=line, hint=str(error)
        ) from None
