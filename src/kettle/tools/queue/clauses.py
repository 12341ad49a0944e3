"""An expression of one side of a match, numbered clause by clause, and which of them decide.

Pure; whose expression it is, and what stands around it, is `analysis.py` and `machine_analysis.py`.
The rules by which clauses are left out are the reference's: what is known without the other side
is worked out first, then each clause is counted, and one that decides for both sides of an `&&` or
`||` stands for the whole.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr, unparse
from kettle.classad.nodes import (
    AdNode,
    AttributeReference,
    Binary,
    Call,
    Conditional,
    ListNode,
    Literal,
    Parentheses,
    Selection,
    Subscript,
    Unary,
)
from kettle.classad.operators import COMPARISONS
from kettle.classad.references import find_references

_COMPARISONS = frozenset({*COMPARISONS, "=?=", "=!="})
_NONE = -1
# Limit: how deep an expression is taken apart; what lies deeper is one condition.
_MOST_LEVELS = 400
# How much of a table is shown, as its numbers on the command line say: whole texts behind parts
# that stand far above, behind all parts; what decides nothing, too.
SHOW_TEXT, SHOW_ALL_TEXTS, SHOW_ALL = 1, 2, 4
# What a constant side of `&&` or `||` is marked with: for good, or as the time is now.
_MARKS = {(True, False): "T", (False, False): "F", (True, True): "t", (False, True): "f"}


@dataclass(slots=True, eq=False)
class Clause:
    """A condition, or two earlier ones taken together."""

    expression: Expr
    # "!", "||", "&&", or nothing for a condition by itself.
    operator: str = ""
    left: int = _NONE
    right: int = _NONE
    # Whether it looks at the time.
    varies: bool = False
    # What it is without the other side, if that is all it needs.
    fixed: bool | None = None
    # The clause that stands for this one, and whether nobody needs to see this one.
    stands: int = _NONE
    idle: bool = False
    label: str = ""
    # How many of the other side meet it: as they are, and as they would be when drained.
    met: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def count(self) -> int:
        """Return how many meet it in either way."""
        return sum(self.met)

    def title(self) -> str:
        """Return what stands for it in the table: what was said of it, its parts, or its text."""
        return self.label or self.parts() or unparse(self.expression)

    def parts(self) -> str:
        """Return the numbers it is made of; empty for a condition by itself."""
        if self.operator == "!":
            return f" ! [{self.left}]" if self.left != _NONE else ""
        return f"[{self.left}] {self.operator} [{self.right}]" if self.operator else ""


class _Plan:
    """The clauses of one expression, gathered parts before the whole."""

    def __init__(self, ad: ClassAd) -> None:
        self._ad = ad
        self.clauses: list[Clause] = []

    def walk(
        self, expr: Expr, inline: Collection[str], *, kept: bool, level: int = 0
    ) -> tuple[int, bool]:
        """Append what is to be seen by itself; return the number of the whole, and if it varies.

        `kept` says that the whole is to be seen even if it is no condition; `inline` names the
        attributes that are looked at in the place of where they are used.
        """
        if isinstance(expr, Parentheses):
            return self.walk(expr.inner, inline, kept=True, level=level + 1)
        operator = expr.operator if isinstance(expr, (Unary, Binary)) else ""
        varies = _asks_time(expr)
        sides, inline = self._looked_into(expr, inline, level)
        logical = operator in ("!", "&&", "||") and bool(sides)
        numbers = []
        for side in sides:
            number, varied = self.walk(side, inline, kept=logical, level=level + 1)
            numbers.append(number)
            varies = varies or varied
        if len(numbers) == 1 and numbers[0] != _NONE:
            if operator == "!" and numbers[0] == len(self.clauses) - 1:
                self._negate(expr)
            return numbers[0], varies
        if not (kept or logical or operator in _COMPARISONS):
            return _NONE, varies
        left, right = [*numbers, _NONE, _NONE][:2]
        clause = Clause(expr, operator if logical else "", left, right, varies)
        if isinstance(expr, (Call, Literal)):
            clause.label = unparse(expr)
        self.clauses.append(clause)
        return len(self.clauses) - 1, varies

    def _looked_into(
        self, expr: Expr, inline: Collection[str], level: int
    ) -> tuple[list[Expr], Collection[str]]:
        """Return the parts in which conditions are looked for, and what is inline in them."""
        if isinstance(expr, AttributeReference) and expr.key in inline and not expr.absolute:
            definition = self._ad.lookup(expr.name)
            return ([] if definition is None else [definition]), ()
        return (_sides(expr) if level < _MOST_LEVELS else []), inline

    def _negate(self, expr: Expr) -> None:
        """Let the clause before stand for its opposite, which takes its number."""
        last = self.clauses[-1]
        last.expression, last.operator = expr, "!"
        if last.label:
            last.label = f"! {last.label}"


def _asks_time(expr: Expr) -> bool:
    if isinstance(expr, AttributeReference):
        return expr.key == "currenttime"
    return isinstance(expr, Call) and expr.name.lower() == "time" and not expr.arguments


def _sides(expr: Expr) -> list[Expr]:
    """Return the parts in which conditions are looked for; none in arguments, lists and ads."""
    if isinstance(expr, Unary):
        return [expr.operand]
    if isinstance(expr, Binary):
        return [expr.left, expr.right]
    if isinstance(expr, Subscript):
        return [expr.base, expr.index]
    if isinstance(expr, Selection):
        return [expr.base]
    if isinstance(expr, Conditional):
        return [side for side in (expr.condition, expr.yes, expr.no) if side is not None]
    assert isinstance(expr, (AdNode, AttributeReference, Call, ListNode, Literal))
    return []


def plan_clauses(ad: ClassAd, expression: Expr, inline: Collection[str] = ()) -> list[Clause]:
    """Return the clauses of an expression of an ad, parts before the whole.

    The attributes named by `inline`, in lower case, are looked into where they stand by themselves.
    """
    plan = _Plan(ad)
    plan.walk(expression, inline, kept=True)
    return plan.clauses


def render_clauses(clauses: Sequence[Clause]) -> str:
    """Return the numbered list of all clauses, as they were planned."""
    lines = []
    for number, clause in enumerate(clauses):
        text = clause.parts()
        if not text:
            before = f"[{clause.left}] " if clause.left != _NONE else ""
            text = before + unparse(clause.expression)
        lines.append(f"    {f'[{number}]':<6} : {text}\n")
    return "".join(lines)


def reduce_clauses(
    ad: ClassAd,
    clauses: list[Clause],
    others: Sequence[ClassAd],
    drained: Sequence[ClassAd] = (),
) -> None:
    """Count how many of the other side meet each clause, and leave out what decides nothing.

    `drained` are more of the other side, as they would be if they were empty; counted apart.
    """
    for clause in clauses:
        if not find_references(clause.expression, ad)[1]:
            clause.fixed = ad.satisfies(clause.expression)
    for number, clause in enumerate(clauses):
        if clause.operator in ("&&", "||"):
            _settle(clauses, number)
        elif clause.operator == "!" and not clause.label and clause.left != _NONE:
            clause.label = f" ! [{clause.left}]{_mark(clauses, clause.left)}"
    for clause in clauses:
        _pass_through(clauses, clause)
    for number, clause in enumerate(clauses):
        if clause.stands == _NONE and not clause.idle and clause.fixed is None:
            _count(ad, clauses, number, others, drained)


def render_counts(
    clauses: Sequence[Clause], kind: str, details: int = 0, *, with_drained: bool = False
) -> str:
    """Return the table of the clauses that decide; `kind` is what the other side consists of."""
    if with_drained:
        heads = ("  Slots      If    ", " Matched   Drained ", "--------- ---------")
    else:
        heads = (f"{kind:>5}s", " Matched ", "-" * 9)
    margin = "   " if details & SHOW_ALL else ""
    lines = [
        f"{margin}       {heads[0]}\n",
        f"{margin}Step  {heads[1]} Condition\n",
        f"{margin}----- {heads[2]} ---------\n",
    ]
    for number, clause in enumerate(clauses):
        decides = clause.stands == _NONE and not clause.idle
        if not (decides or margin):
            continue
        if clause.fixed is not None:
            words = ("not now", "now") if clause.varies else ("never", "always")
            count = f"{words[clause.fixed]:>9}"
        elif with_drained:
            count = f"{clause.met[0]:9d} {clause.met[1]:9d}"
        else:
            count = f"{clause.count:9d}"
        line = f"{f'[{number}]':<5} {count}  {clause.title()}"
        if clause.fixed is None:
            line += _whole_text(clause, number, details, line)
        lines.append(f"{(' * ' if decides else margin) if margin else ''}{line}\n")
    return "".join(lines)


def _whole_text(clause: Clause, number: int, details: int, line: str) -> str:
    """Return the text of what is shown by its parts alone, where that is wanted."""
    near = (clause.left, clause.right) == (number - 2, number - 1)
    if not clause.operator or not details & (SHOW_TEXT | SHOW_ALL_TEXTS):
        return ""
    if near and not details & SHOW_ALL_TEXTS:
        return ""
    return f" ( {wrap(unparse(clause.expression), indent=len(line) + 3)} )"


def _mark(clauses: Sequence[Clause], number: int) -> str:
    clause = clauses[number]
    return "" if clause.fixed is None else _MARKS[clause.fixed, clause.varies]


def _settle(clauses: list[Clause], number: int) -> None:
    """Work out what the constant sides of `&&` or `||` leave of it."""
    clause = clauses[number]
    left, right = clauses[clause.left], clauses[clause.right]
    marks = _mark(clauses, clause.left), _mark(clauses, clause.right)
    clause.label = f"[{clause.left}]{marks[0]} {clause.operator} [{clause.right}]{marks[1]}"
    both = clause.left, clause.right
    fixed = left.fixed, right.fixed
    # What decides alone: false beside &&, true beside ||.
    deciding = clause.operator == "||"
    varying = left.fixed is not None and left.varies, right.fixed is not None and right.varies
    if deciding in fixed:
        side = fixed.index(deciding)
        clause.fixed = deciding
        clause.varies = all(varying) if deciding else any(varying)
        soft = varying[side] and (not deciding or fixed[1 - side] is not False or varying[1 - side])
    elif None not in fixed:
        clause.fixed, clause.varies = not deciding, any(varying)
        return
    elif fixed == (None, None):
        return
    else:
        side = fixed.index(None)
        soft = varying[1 - side] if deciding else clause.varies
    clause.stands = _followed(clauses, both[side])
    if not soft:
        _forget(clauses, both[1 - side])


def _followed(clauses: Sequence[Clause], number: int) -> int:
    while clauses[number].stands != _NONE:
        number = clauses[number].stands
    return number


def _forget(clauses: list[Clause], number: int) -> None:
    """Mark a clause, and what it is made of, as nothing to be seen."""
    clause = clauses[number]
    clause.idle = True
    for side in (clause.left, clause.right):
        if side != _NONE:
            _forget(clauses, side)


def _pass_through(clauses: list[Clause], clause: Clause) -> None:
    """Name, for the sides of a clause, what stands for them."""
    changed = False
    if clause.left != _NONE and clauses[clause.left].stands != _NONE:
        clause.left, changed = clauses[clause.left].stands, True
    if clause.right != _NONE and clauses[clause.right].stands != _NONE:
        clause.right, changed = clauses[clause.right].stands, True
    if changed:
        clause.label = ""


def _count(
    ad: ClassAd,
    clauses: list[Clause],
    number: int,
    others: Sequence[ClassAd],
    drained: Sequence[ClassAd],
) -> None:
    clause = clauses[number]
    left, right = clause.left, clause.right
    joined = bool(clause.operator) and _NONE not in (left, right)
    if joined:
        _shorten(clauses, clause, len(others) + len(drained))
    clause.met = [
        sum(ad.satisfies(clause.expression, other) for other in some) for some in (others, drained)
    ]
    if not joined:
        return
    if clause.operator == "&&":
        for side, other in ((left, right), (right, left)):
            if clauses[side].count == clause.count:
                clauses[other].idle |= clauses[other].count > clause.count
                clause.stands = _followed(clauses, side)
                clause.label = ""
                return
    _pass_through(clauses, clause)


def _shorten(clauses: list[Clause], clause: Clause, everybody: int) -> None:
    """Let one side stand for a clause where its count alone says what the whole is."""
    sides = clause.left, clause.right
    counts = [clauses[side].count for side in sides]
    useful, useless = _NONE, _NONE
    if clause.operator == "&&" and 0 in counts:
        useful = sides[counts.index(0)]
    elif clause.operator == "||":
        if everybody in counts:
            at = counts.index(everybody)
        elif (counts[0] == 0) != (counts[1] == 0):
            at = int(counts[0] == 0)
        else:
            at = _NONE
        if at != _NONE:
            useful, useless = sides[at], sides[1 - at]
    if useless != _NONE:
        _forget(clauses, useless)
    if useful != _NONE:
        clause.stands = _followed(clauses, useful)
    else:
        _pass_through(clauses, clause)


def wrap(text: str, said: str = "", width: int = 80, indent: int = 4) -> str:
    """Return an expression broken after `&&` and `||` so that lines fit; what was `said` before it.

    Deeper parentheses stand further in. The text is not indented at its beginning. As in the
    reference, what was said before counts as part of the same lines.
    """
    found = said + text
    at = start = last = 0
    depth = depth_at_last = indent
    position, before, joined = indent, "", False
    while at < len(found):
        letter = found[at]
        joins = letter in "&|" and before == letter
        depth += 2 * ((letter == "(") - (letter == ")"))
        if position >= width and last != start:
            found = f"{found[:last]}\n{' ' * max(0, depth_at_last)}{found[last + 1 :]}"
            at += max(0, depth_at_last)
            start = last = last + 1
            position = at - start
            depth_at_last = depth
        if joined:
            last, depth_at_last = at, depth
        before, joined = letter, joins
        at += 1
        position += 1
    return found
