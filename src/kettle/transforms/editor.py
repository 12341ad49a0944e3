"""Changing an ad as a rule says: what each change does, what of it is told, where it has to end.

Both forms of rules come down to these. Source: vectors `router/transforms.json`, and what the real
`condor_transform_ads` tells with `-verbose`.
"""

from __future__ import annotations

import re
from sys import getsizeof
from typing import TYPE_CHECKING, Final, Protocol

from kettle.classad import ClassAd, Expr, parse_expression, to_expression, unparse
from kettle.classad.compile import evaluate_lazily
from kettle.classad.functions.regex import search_in_time
from kettle.classad.parser import parse_beginning
from kettle.classad.state import new_state
from kettle.classad.unparse import render_value
from kettle.classad.values import ERROR, UNDEFINED
from kettle.errors import ClassAdSyntaxError, TransformError
from kettle.patterns import error_number, late_pattern
from kettle.patterns.perl import compile_perl
from kettle.remembered import Answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kettle.classad.values import Value

# Limit: characters of one value, of all that one rule writes into one ad, and of a name; attributes
# of an ad. A rule of twenty lines can double each in every line.
LONGEST_VALUE = 1 << 18
MOST_WRITTEN = 1 << 24
LONGEST_NAME = 1024
MOST_ATTRIBUTES = 20_000
# Limit: changes that one rule makes to one ad.
MOST_CHANGES = 100_000

_NEW_NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_GROUP = re.compile(r"\\([0-9])")
# What a pattern is said to have that is wrong in a way of its own.
_OTHER_PATTERN_ERROR = 103


class Telling(Protocol):
    """Whoever wants to know what is done."""

    def step(self, text: str) -> None:
        """Hear what is done next."""

    def error(self, text: str) -> None:
        """Hear what could not be done; the rule goes on."""


class Journal:
    """Keeps what it is told: the steps and the errors, each in order."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.errors: list[str] = []

    def step(self, text: str) -> None:
        """Keep a step."""
        self.steps.append(text)

    def error(self, text: str) -> None:
        """Keep an error."""
        self.errors.append(text)


class Editor:
    """One rule's changes to one ad; `changed` are their names by lower-case name."""

    def __init__(self, ad: ClassAd, telling: Telling) -> None:
        self.ad = ad
        self.telling = telling
        self.changed: dict[str, str] = {}
        self._written = 0
        self._changes = 0

    # -- What statements do -------------------------------------------------------------------

    def set(self, name: str, text: str, word: str = "SET") -> None:
        """Set an attribute to an expression as written."""
        self.telling.step(f"{word} {name} to {text}")
        if word == "DEFAULT":
            if name in self.ad:
                return
            self.telling.step(f"SET {name} to {text}")
        expr = _whole(text)
        if expr is None:
            self.telling.error(f"ERROR: SET {name} invalid expression : {text}")
        else:
            self._put(name, expr, len(text))

    def evaluate_and_set(self, name: str, text: str) -> None:
        """Set an attribute to what an expression is worth."""
        self.telling.step(f"EVALSET {name} to {text}")
        expr = _beginning(text)
        if expr is None:
            self.telling.error(f"ERROR: EVALSET {name} could not evaluate : {text}")
            return
        self.set_value(name, self.evaluate(expr))

    def set_expression(self, name: str, expr: Expr) -> None:
        """Set an attribute to an expression that is read already."""
        text = unparse(expr, old=True)
        self.telling.step(f"SET {name} to {text}")
        self._put(name, expr, len(text))

    def set_value(self, name: str, value: Value) -> None:
        """Set an attribute to a value, and tell which."""
        text = as_text(value)
        self._put(name, to_expression(value), len(text))
        self.telling.step(f"    SET {name} to {text}")

    def evaluate(self, expr: Expr, target: ClassAd | None = None) -> Value:
        """Return what an expression is worth in the ad; what is in a list stays as it is."""
        return evaluate_lazily(expr, new_state(self.ad, target))

    def evaluate_text(self, name: str, text: str) -> str | None:
        """Return an expression's value as a macro has it; None, and told, where it is none."""
        self.telling.step(f"EVALMACRO {name} to {text}")
        expr = _beginning(text)
        if expr is None:
            self.telling.error(f"ERROR: EVALMACRO {name} could not evaluate : {text}")
            return None
        shown = as_text(self.evaluate(expr))
        self._count(len(shown))
        self.telling.step(f"          {name} = {shown}")
        return shown

    def copy(self, name: str, to: str) -> None:
        """Give an attribute's expression to another name too.

        Compat: a name that is none is told of; the reference tells of those that a pattern makes
        with -verbose only (test_a_name_that_a_pattern_makes_and_that_is_none_is_told).
        """
        self.telling.step(f"COPY {name} to {to}")
        expr = self._taken(name, to, "COPY")
        if expr is not None:
            self._put_copy(to, expr)

    def rename(self, name: str, to: str) -> None:
        """Give an attribute another name; what had that name is gone."""
        self.telling.step(f"RENAME {name} to {to}")
        expr = self._taken(name, to, "RENAME")
        if expr is not None:
            self._remove(name)
            self._put_copy(to, expr)

    def delete(self, name: str) -> None:
        """Delete an attribute if it is there."""
        self.telling.step(f"DELETE {name}")
        if name in self.ad:
            self._remove(name)

    def matching(self, pattern: str, letters: str, template: str) -> Iterator[tuple[str, str]]:
        """Yield each attribute whose name matches, and what the template makes of the match.

        In the order of their names' bytes; an error is told where the pattern is none.

        Compat: also what a job has of its cluster; in the reference's schedd patterns see only what
        the job has by itself (test_patterns_see_what_a_job_has_of_its_cluster).
        """
        compiled = _compile(pattern, letters)
        if isinstance(compiled, int):
            self.telling.error(
                f"ERROR: Error compiling regex '{pattern}'. {compiled}. this entry will be ignored."
            )
            return
        found = []
        for name in self.ad.names():
            try:
                match = search_in_time(compiled, name.encode("utf-8", "surrogateescape"))
            except TimeoutError:
                raise TransformError(f"the pattern {pattern} takes too long") from None
            if match is not None and not ("g" in letters and match.start()):
                found.append((name, _filled(template, match)))
        yield from sorted(found)

    # -- How ------------------------------------------------------------------------------------

    def _taken(self, name: str, to: str, word: str) -> Expr | None:
        if not _NEW_NAME.fullmatch(to) or len(to) > LONGEST_NAME:
            shown = to if len(to) <= LONGEST_NAME else to[:80] + "…"
            self.telling.error(f"ERROR: {word} {name} new name {shown} is not valid")
            return None
        return self.ad.lookup(name)

    def _put_copy(self, name: str, expr: Expr) -> None:
        """Set an attribute to what another has: in memory it is one, in all that is written two.

        It may be longer than a rule's own values may, for it does not grow.
        """
        self._count(len(name) + len(unparse(expr, old=True)))
        self._insert(name, expr)

    def _put(self, name: str, expr: Expr, size: int) -> None:
        if size > LONGEST_VALUE:
            raise TransformError(f"{name} gets longer than {LONGEST_VALUE} characters")
        self._count(size)
        self._insert(name, expr)

    def _insert(self, name: str, expr: Expr) -> None:
        if not name or len(name) > LONGEST_NAME:
            raise TransformError(f"{name[:80]!r} cannot be the name of an attribute")
        if len(self.ad.table) >= MOST_ATTRIBUTES and name not in self.ad:
            raise TransformError(f"the ad gets more than {MOST_ATTRIBUTES} attributes")
        self.ad.insert(name, expr)
        self.changed.setdefault(name.lower(), name)

    def _remove(self, name: str) -> None:
        self._count(1)
        parent = self.ad.parent
        if parent is not None and name in parent:
            # It would be seen through otherwise.
            self.ad.insert(name, to_expression(UNDEFINED))
        else:
            self.ad.discard(name)
        self.changed.setdefault(name.lower(), name)

    def _count(self, size: int) -> None:
        self._written += size
        self._changes += 1
        if self._written > MOST_WRITTEN or self._changes > MOST_CHANGES:
            raise TransformError("the rule writes more than any ad has")


def _whole(text: str) -> Expr | None:
    """Return the expression that a text is, as in ads; None where it is none."""
    try:
        return parse_expression(text, old=True)
    except ClassAdSyntaxError:
        return None


def _beginning(text: str) -> Expr | None:
    """Return the expression that a text begins with, in new syntax; None where there is none.

    Compat: what follows it means nothing, a comment for example; SET reads its text as a whole, and
    as an ad does (test_what_is_evaluated_ends_where_its_expression_ends).
    """
    try:
        return parse_beginning(text)
    except ClassAdSyntaxError:
        return None


def as_text(value: Value) -> str:
    """Return a value as macros and messages have it: strings without quotes, else old syntax.

    Compat: an ad has its brackets; the reference has lines there of which no expression is made
    (test_a_macro_can_be_an_ad).
    """
    if isinstance(value, str):
        return value
    if value is UNDEFINED:
        return "undefined"
    if value is ERROR:
        return "error"
    if isinstance(value, bool | int | float):
        return render_value(value, old=True)
    return unparse(to_expression(value), old=True)


# Limit: the bytes of the patterns that are remembered, compiled; a compiled one takes up to twenty
# times what its text does.
_MOST_BYTES: Final = 1 << 20
_TIMES: Final = 20


def _compile(pattern: str, letters: str) -> re.Pattern[bytes] | int:
    """Return a compiled pattern, or the reference's number for what is wrong with it."""
    return _compiled[pattern, letters]


def _compile_anew(wanted: tuple[str, str]) -> re.Pattern[bytes] | int:
    pattern, letters = wanted
    flags = re.IGNORECASE | (re.MULTILINE if "m" in letters else 0)
    written = pattern.encode("utf-8", "surrogateescape")
    try:
        return compile_perl(written, flags, lazy="U" in letters)
    except re.error as error:
        return error_number(error) or _OTHER_PATTERN_ERROR
    except (OverflowError, RecursionError):
        return _OTHER_PATTERN_ERROR


_compiled: Final = Answers(_compile_anew, _MOST_BYTES, lambda wanted: _TIMES * getsizeof(wanted[0]))


def _filled(template: str, match: re.Match[bytes]) -> str:
    """Return a template with the groups of a match; of a group that there is not it says so."""
    highest = max((n for n in range(match.re.groups + 1) if match.group(n) is not None), default=0)

    def group(found: re.Match[str]) -> str:
        number = int(found.group(1))
        if number > highest:
            return found.group()
        return (match.group(number) or b"").decode("utf-8", "surrogateescape")

    return _GROUP.sub(group, template)
