"""Partial evaluation: an expression with everything an ad knows filled in.

What has a value becomes that value; what needs names from elsewhere stays, with the constants of
sums, products and logic gathered on the left. Source: vectors/classad/flatten.json.
"""

from __future__ import annotations

from typing import Final

from kettle.classad.ad import ClassAd, to_expression
from kettle.classad.compile import evaluate_lazily, new_state
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
from kettle.classad.values import ERROR, UNDEFINED, Expr, ExprList

_COMMUTATIVE: Final = frozenset({"+", "*", "&", "|", "^", "&&", "||"})
_GATHERED: Final = frozenset({"+", "*", "&", "|", "^"})


def flatten(expr: Expr, ad: ClassAd | None = None, context: Context | None = None) -> Expr:
    """Return the expression as far as it can be evaluated in `ad`; a `Literal` if wholly."""
    return _Flattening(ad if ad is not None else ClassAd(), context).flatten(expr)


class _Flattening:
    """One partial evaluation, and the ad it happens in."""

    __slots__ = ("_ad", "_context")

    def __init__(self, ad: ClassAd, context: Context | None) -> None:
        self._ad: Final = ad
        self._context: Final = context

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
            case Binary():
                return self._binary(expr)
            case Conditional():
                return self._conditional(expr)
            case Call():
                return self._call(expr)
            case ListNode():
                return ListNode(tuple(self.flatten(element) for element in expr.elements))
            case Subscript():
                return self._subscript(expr)
        assert isinstance(expr, AdNode)
        return self._nested(expr)

    def _subscript(self, expr: Subscript) -> Expr:
        base, index = self.flatten(expr.base), self.flatten(expr.index)
        rebuilt = Subscript(base, index)
        known = _is_known(base) and isinstance(index, Literal)
        return self._value(rebuilt) if known else rebuilt

    def _nested(self, expr: AdNode) -> Expr:
        inside = _Flattening(ClassAd(), self._context)
        table: dict[str, Expr | str] = {}
        for key, entry in expr.table.items():
            assert isinstance(entry, Expr)
            table[key] = inside.flatten(entry)
        return AdNode(table, expr.names)

    def _value(self, expr: Expr) -> Expr:
        """Return the expression's value as an expression."""
        return to_expression(evaluate_lazily(expr, new_state(self._ad, None, self._context)))

    def _reference(self, expr: Expr) -> Expr:
        # An ad written out in the expression does not see the ad around it here.
        base = expr
        while isinstance(base, Selection):
            base = base.base
        around = ClassAd() if isinstance(base, AdNode) else self._ad
        value = evaluate_lazily(expr, new_state(around, None, self._context))
        if isinstance(value, ClassAd | ExprList):
            return expr
        if value is UNDEFINED and find_references(expr, around)[1]:
            # Some name it needs is nowhere: it may be known elsewhere. What is undefined by the
            # ad's own word is so for good.
            return expr
        return literal(value)

    def _call(self, expr: Call) -> Expr:
        if find_function(expr.name) is None:
            return literal(ERROR)
        arguments = tuple(self.flatten(argument) for argument in expr.arguments)
        rebuilt = Call(expr.name, arguments)
        return self._value(rebuilt) if all(a.is_literal for a in arguments) else rebuilt

    def _conditional(self, expr: Conditional) -> Expr:
        condition = self.flatten(expr.condition)
        if expr.yes is None:
            if isinstance(condition, Literal) and condition.value is not UNDEFINED:
                return condition
            other = self.flatten(expr.no)
            known = isinstance(condition, Literal) and isinstance(other, Literal)
            return other if known else Conditional(condition, None, other)
        if isinstance(condition, Literal):
            chosen = truth(condition.value)
            if chosen is True:
                return self.flatten(expr.yes)
            if chosen is False:
                return self.flatten(expr.no)
            if chosen is UNDEFINED:
                return Conditional(expr.condition, self.flatten(expr.yes), self.flatten(expr.no))
            return literal(chosen)
        return Conditional(condition, self.flatten(expr.yes), self.flatten(expr.no))

    def _binary(self, expr: Binary) -> Expr:
        links: list[Binary] = []
        base: Expr = expr
        while isinstance(base, Binary):
            links.append(base)
            base = base.left
        result = self.flatten(base)
        for link in reversed(links):
            result = self._combine(link.operator, result, self.flatten(link.right))
        return result

    def _combine(self, operator: str, left: Expr, right: Expr) -> Expr:
        if isinstance(left, Literal) and isinstance(right, Literal):
            return self._value(Binary(operator, left, right))
        if operator in _COMMUTATIVE and isinstance(right, Literal):
            left, right = right, left
        if operator in ("&&", "||") and isinstance(left, Literal):
            decided = truth(left.value)
            if isinstance(decided, bool):
                return literal(decided) if decided is (operator == "||") else right
        if operator in _GATHERED and isinstance(left, Literal):
            inner = right
            if isinstance(inner, Binary) and inner.operator == operator:
                first = inner.left
                if isinstance(first, Literal):
                    return Binary(operator, self._value(Binary(operator, left, first)), inner.right)
        return Binary(operator, left, right)


def _is_known(expr: Expr) -> bool:
    if isinstance(expr, ListNode):
        return all(map(_is_known, expr.elements))
    return isinstance(expr, Literal)
