"""Partial evaluation: an expression with everything an ad knows filled in.

What has a value becomes that value; what needs names from elsewhere stays, with the constants of
sums, products and logic gathered on the left. Source: vectors/classad/flatten.json.
"""

from __future__ import annotations

from typing import Final

from kettle.classad.ad import ClassAd, to_expression
from kettle.classad.compile import evaluate_lazily
from kettle.classad.context import Context
from kettle.classad.functions.library import find_function
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
    literal,
)
from kettle.classad.operators import truth
from kettle.classad.references import find_references
from kettle.classad.state import new_state
from kettle.classad.values import ERROR, UNDEFINED, Ad, Expr, ExprList, Value
from kettle.named_tuples import NamedTuple

_LOGIC: Final = frozenset({"&&", "||"})
# The constants among what these stand between come together on the left.
_GATHERED: Final = frozenset({"+", "*", "&", "|", "^"}) | _LOGIC

_OF_NAMES: Final = frozenset({"unparse", "unresolved"})


class CircleError(ValueError):
    """What is to be flattened leads back to itself."""


def flatten(
    expr: Expr,
    ad: ClassAd | None = None,
    context: Context | None = None,
    *,
    circles: bool = True,
) -> Expr:
    """Return the expression as far as it can be evaluated in `ad`; a `Literal` if wholly.

    A list or an ad that a function made is a value, and a `Literal` too; one that is written out
    stays the expression that it is. Where `circles` are not allowed, an attribute that it refers to
    and that leads back to itself is a CircleError; else that is undefined, as its value is.
    """
    top = ad if ad is not None else ClassAd()
    return _Flattening(top, top, context, None if circles else _Entries()).flatten(expr)


def written_out(expr: Expr) -> Expr:
    """Return a list or an ad that is a value as it is written, and all else as it is."""
    if isinstance(expr, Literal) and isinstance(expr.value, ExprList | ClassAd):
        return to_expression(expr.value)
    return expr


class _Entries:
    """The attributes that references led to: those that are looked into now, and all so far."""

    __slots__ = ("seen", "under_way")

    def __init__(self) -> None:
        self.seen: Final[dict[tuple[int, int], Ad]] = {}
        self.under_way: Final[set[tuple[int, int]]] = set()


class _Flattening:
    """One partial evaluation, the ad it happens in, and that in which it began.

    `entries` are there where a circle is refused.
    """

    __slots__ = ("_ad", "_context", "_entries", "_top")

    def __init__(
        self, ad: Ad, top: ClassAd, context: Context | None, entries: _Entries | None
    ) -> None:
        self._ad: Final = ad
        self._top: Final = top
        self._context: Final = context
        self._entries: Final = entries

    def flatten(self, expr: Expr) -> Expr:
        match expr:
            case Literal():
                return expr
            case AttributeReference() | Selection():
                return self._reference(expr)
            case Parentheses():
                inner = self.flatten(expr.inner)
                return inner if isinstance(inner, Literal) else Parentheses(inner)
            case Unary():
                operand = self.flatten(expr.operand)
                rebuilt = Unary(expr.operator, operand)
                return self._value(rebuilt) if isinstance(operand, Literal) else rebuilt
            case Binary() | Subscript():
                return self._split(expr).whole()
            case Conditional():
                return self._conditional(expr)
            case Call():
                return self._call(expr)
            case ListNode():
                return ListNode(tuple(written_out(self.flatten(part)) for part in expr.elements))
        assert isinstance(expr, AdNode)
        return self._nested(expr)

    def _nested(self, expr: AdNode) -> Expr:
        # The names inside are looked up inside, in all ads there, and nowhere else.
        around: Ad = ClassAd() if self._ad is self._top else self._ad
        own = evaluate_lazily(expr, new_state(around, None, self._context))
        ad = own if isinstance(own, ClassAd) else ClassAd()
        inside = _Flattening(ad, self._top, self._context, self._entries)
        table: dict[str, Expr | str] = {}
        for key, entry in expr.table.items():
            assert isinstance(entry, Expr)
            table[key] = written_out(inside.flatten(entry))
        return AdNode(table, expr.names)

    def _value(self, expr: Expr) -> Expr:
        """Return the expression's value as a literal."""
        return literal(evaluate_lazily(expr, new_state(self._ad, None, self._context)))

    def _reference(self, expr: AttributeReference | Selection) -> Expr:
        # An ad written out in the expression does not see the ad around it here.
        base: Expr = expr
        while isinstance(base, Selection | Parentheses):
            base = base.base if isinstance(base, Selection) else base.inner
        around: Ad = self._ad
        if isinstance(base, AdNode):
            around = ClassAd()
        elif isinstance(base, AttributeReference) and base.absolute:
            around = self._top
        if self._entries is not None:
            self._refuse_circle(expr, around, self._entries)
        value = evaluate_lazily(expr, new_state(around, None, self._context))
        if isinstance(value, ClassAd | ExprList):
            return expr
        if value is UNDEFINED and find_references(expr, around)[1]:
            # Some name it needs is nowhere: it may be known elsewhere. What is undefined by the
            # ad's own word is so for good.
            return expr
        return literal(value)

    def _refuse_circle(
        self, expr: AttributeReference | Selection, around: Ad, entries: _Entries
    ) -> None:
        """Look into what the reference leads to; CircleError where that leads back to itself.

        Source: runs of the wheel's `flatten`: it flattens that, too, but no ad.
        """
        start: Value = around
        if isinstance(expr, Selection):
            start = evaluate_lazily(expr.base, new_state(around, None, self._context))
        ad = start if isinstance(start, Ad) else None
        while ad is not None and ad.entry(expr.key) is None:
            ad = ad.scope
        found = None if ad is None else ad.entry(expr.key)
        if ad is None or found is None or isinstance(found, AdNode):
            return
        mark = (id(found), id(ad.table))
        if mark in entries.under_way:
            raise CircleError
        if mark in entries.seen:
            return
        entries.seen[mark] = ad
        entries.under_way.add(mark)
        _Flattening(ad, self._top, self._context, entries).flatten(found)
        entries.under_way.discard(mark)

    def _call(self, expr: Call) -> Expr:
        if find_function(expr.name) is None:
            return literal(ERROR)
        arguments = tuple(self.flatten(argument) for argument in expr.arguments)
        rebuilt = Call(expr.name, arguments)
        if not all(argument.is_literal for argument in arguments):
            return rebuilt
        # Some are about the expression under a name, which its value no longer tells.
        return self._value(expr if expr.name.lower() in _OF_NAMES else rebuilt)

    def _conditional(self, expr: Conditional) -> Expr:
        # In a loop, as the arms may be conditionals by the hundred: what is left of those that
        # were looked at comes off `done` when the condition that waits for them is joined to it.
        pending: list[tuple[Expr, Expr | None]] = [(expr, None)]
        done: list[Expr] = []
        while pending:
            node, condition = pending.pop()
            if not isinstance(node, Conditional):
                done.append(self.flatten(node))
                continue
            if condition is not None:
                other = done.pop()
                yes = None if node.yes is None else done.pop()
                done.append(self._joined(condition, yes, other))
                continue
            condition = self.flatten(node.condition)
            arms: list[Expr] = [node.no] if node.yes is None else [node.no, node.yes]
            if node.yes is not None and isinstance(condition, Literal):
                chosen = truth(condition.value)
                if chosen is True or chosen is False:
                    pending.append((node.yes if chosen else node.no, None))
                    continue
                if chosen is not UNDEFINED:
                    done.append(literal(chosen))
                    continue
                condition = node.condition
            pending.append((node, condition))
            pending += [(arm, None) for arm in arms]
        return done.pop()

    def _joined(self, condition: Expr, yes: Expr | None, no: Expr) -> Expr:
        rebuilt = Conditional(condition, yes, no)
        known = yes is None and isinstance(condition, Literal) and isinstance(no, Literal)
        return self._value(rebuilt) if known else rebuilt

    def _split(self, expr: Expr) -> _Part:
        """Return what a row of operators and subscripts comes to, however long it is.

        The constants of one operator's chain come together, apart from the rest.
        """
        links: list[Binary | Subscript] = []
        first = expr
        while isinstance(first, Binary | Subscript):
            links.append(first)
            first = first.left if isinstance(first, Binary) else first.base
        result = _part(self.flatten(first))
        for link in reversed(links):
            if isinstance(link, Binary) and link.operator in _GATHERED:
                result = self._combine(link.operator, result, self._split(link.right))
            else:
                result = _part(self._operation(link, result.whole()))
        return result

    def _operation(self, link: Binary | Subscript, left: Expr) -> Expr:
        rebuilt: Expr
        if isinstance(link, Binary):
            right = self.flatten(link.right)
            rebuilt = Binary(link.operator, left, right)
        else:
            right = self.flatten(link.index)
            rebuilt = Subscript(left, right)
        known = isinstance(left, Literal) and isinstance(right, Literal)
        return self._value(rebuilt) if known else rebuilt

    def _combine(self, operator: str, left: _Part, right: _Part) -> _Part:
        # Compat: of two constants the value is what evaluating says; the reference looks at the
        # other side even where the first decides, so that `1 || ""` is an error to it alone
        # (test_what_decides_alone_decides_in_part_too).
        if operator in _LOGIC and (left.rest is None) is not (right.rest is None):
            known, other = (left, right) if left.rest is None else (right, left)
            assert isinstance(known.constant, Literal)
            decided = truth(known.constant.value)
            if isinstance(decided, bool):
                return _decided(operator, other, value=decided)
        if operator not in (left.operator, right.operator) and (left.operator or right.operator):
            return _Part(None, Binary(operator, left.whole(), right.whole()))
        return self._gathered(operator, left, right)

    def _gathered(self, operator: str, left: _Part, right: _Part) -> _Part:
        """Return two parts with their constants together; another operator's stays with it."""
        parts = [
            part if part.operator in ("", operator) else part.as_rest() for part in (left, right)
        ]
        constants = [part.constant for part in parts if part.constant is not None]
        rest = _chained(operator, [part.rest for part in parts if part.rest is not None])
        if not constants:
            return _Part(None, rest)
        constant = constants[0]
        if len(constants) == 2:
            constant = self._value(Binary(operator, *constants))
        return _Part(constant, rest, operator if rest is not None else "")


def _decided(operator: str, other: _Part, *, value: bool) -> _Part:
    """Return what a truth value and a rest come to: the value decides, or hardly counts."""
    if value is (operator == "||"):
        return _Part(literal(value), None)
    if value:
        # Compat: the reference drops the constant of the other side (`true && 2 + x`), as it does
        # where other operators meet in a chain (test_no_constant_is_lost_where_operators_meet).
        return _Part(None, other.whole())
    if other.operator == operator:
        return other
    return _Part(literal(value), other.whole(), operator)


class _Part(NamedTuple):
    """What is left of an expression: `constant`, `rest`, or both with their operator between."""

    constant: Expr | None
    rest: Expr | None
    operator: str = ""

    def whole(self) -> Expr:
        """Return it as one expression."""
        found = [part for part in (self.constant, self.rest) if part is not None]
        whole = _chained(self.operator, found)
        assert whole is not None
        return whole

    def as_rest(self) -> _Part:
        """Return it with its constant among the rest."""
        return _Part(None, self.whole())


def _part(expr: Expr) -> _Part:
    """Return an expression as a part: all constant, or all rest."""
    return _Part(expr, None) if isinstance(expr, Literal) else _Part(None, expr)


def _chained(operator: str, parts: list[Expr]) -> Expr | None:
    """Return the parts with an operator between, evaluated from the left as it is written."""
    whole: Expr | None = None
    for part in parts:
        links: list[Expr] = []
        rest = part
        while whole is not None and isinstance(rest, Binary) and rest.operator == operator:
            links.append(rest.right)
            rest = rest.left
        for link in (rest, *reversed(links)):
            whole = link if whole is None else Binary(operator, whole, link)
    return whole
