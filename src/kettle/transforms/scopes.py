"""Expressions rewritten: other words for a scope, a rule's own attributes for their names."""

from __future__ import annotations

from collections.abc import Callable

from kettle.classad import ClassAd
from kettle.classad.flatten import flatten, written_out
from kettle.classad.nodes import (
    MAX_DEPTH,
    AdNode,
    AttributeReference,
    Binary,
    Call,
    Conditional,
    ListNode,
    Parentheses,
    Selection,
    Subscript,
    Unary,
    nesting,
    weigh,
)
from kettle.classad.values import Expr
from kettle.errors import TransformError

# Returns what stands for a name, None for the name itself.
Replace = Callable[[AttributeReference | Selection], Expr | None]

# Limit: what is filled in in one expression, as `weigh` counts it, and how deep in each other.
_MOST_FILLED = 10_000
_DEEPEST = 20


def with_scope(expr: Expr, scope: str, other: str) -> Expr:
    """Return the expression with `other` for a scope (in lower case); empty takes it away."""

    def replace(name: AttributeReference | Selection) -> Expr | None:
        if not isinstance(name, Selection) or not _is_scope(name.base, scope):
            return None
        if not other:
            return AttributeReference(name.name)
        return Selection(AttributeReference(other), name.name)

    return rebuild(expr, replace)


def filled_in(expr: Expr, rule: ClassAd) -> Expr:
    """Return the expression with what a rule's own attributes say in place of their names.

    What they leave open stays open: other names are those of the ad that the rule is applied to.
    Raises TransformError where that would be longer, or nested more deeply, than is read.
    """
    try:
        filled = _Filling(rule).fill(expr)
    except RecursionError:
        filled = None
    if filled is None or nesting(filled) > MAX_DEPTH:
        raise TransformError("what a rule's own names stand for is nested too deeply")
    return written_out(flatten(filled, rule))


class _Filling:
    """One expression that is filled in, and how much of that it had."""

    def __init__(self, rule: ClassAd) -> None:
        self._rule = rule
        self._left = _MOST_FILLED
        self._active: list[str] = []

    def fill(self, expr: Expr) -> Expr:
        return rebuild(expr, self._replace)

    def _replace(self, name: AttributeReference | Selection) -> Expr | None:
        own = isinstance(name, AttributeReference) or _is_scope(name.base, "my")
        found = self._rule.lookup(name.name) if own else None
        if found is None or name.key in self._active or len(self._active) >= _DEEPEST:
            return None
        self._left -= weigh(found)
        if self._left < 0:
            raise TransformError(f"a rule mentions its own {name.name} again and again")
        self._active.append(name.key)
        try:
            return self.fill(found)
        finally:
            self._active.pop()


def _is_scope(base: Expr, scope: str) -> bool:
    return isinstance(base, AttributeReference) and base.key == scope and not base.absolute


def rebuild(expr: Expr, replace: Replace) -> Expr:
    """Return the expression with its names replaced.

    Compat: what stands for a name among operators has brackets where it needs them; the reference
    writes none, and means something else (test_what_is_filled_in_stays_together).
    """
    match expr:
        case AttributeReference():
            return replace(expr) or expr
        case Selection() if not isinstance(expr.base, Binary | Subscript | Selection):
            return replace(expr) or Selection(_operand(expr.base, replace), expr.name)
        case Binary() | Subscript() | Selection():
            return _row(expr, replace)
        case Unary():
            return _signed(expr, replace)
        case Conditional():
            return _conditional(expr, replace)
        case Parentheses():
            return Parentheses(rebuild(expr.inner, replace))
        case Call():
            return Call(expr.name, tuple(rebuild(part, replace) for part in expr.arguments))
        case ListNode():
            return ListNode(tuple(rebuild(part, replace) for part in expr.elements))
        case AdNode():
            return _ad(expr, replace)
    return expr


def _row(expr: Binary | Subscript | Selection, replace: Replace) -> Expr:
    """Rewrite a row of operators, subscripts and names after dots, as long as somebody wrote it."""
    links: list[Binary | Subscript | Selection] = []
    first: Expr = expr
    while isinstance(first, Binary | Subscript | Selection):
        base = first.left if isinstance(first, Binary) else first.base
        if isinstance(first, Selection) and not isinstance(base, Binary | Subscript | Selection):
            # `a.b`, which may be a name of a scope's.
            break
        links.append(first)
        first = base
    result = _operand(first, replace)
    for link in reversed(links):
        if isinstance(link, Binary):
            result = Binary(link.operator, result, _operand(link.right, replace))
        elif isinstance(link, Subscript):
            result = Subscript(result, rebuild(link.index, replace))
        else:
            result = Selection(result, link.name)
    return result


def _signed(expr: Unary, replace: Replace) -> Expr:
    operators: list[str] = []
    inner: Expr = expr
    while isinstance(inner, Unary):
        operators.append(inner.operator)
        inner = inner.operand
    result = _operand(inner, replace)
    for operator in reversed(operators):
        result = Unary(operator, result)
    return result


def _conditional(expr: Conditional, replace: Replace) -> Expr:
    """Rewrite conditionals, in whose arms others may stand by the hundred, so in a loop."""
    pending: list[tuple[Expr, Expr | None]] = [(expr, None)]
    done: list[Expr] = []
    while pending:
        node, condition = pending.pop()
        if not isinstance(node, Conditional):
            done.append(_operand(node, replace))
        elif condition is None:
            pending += [(node, _operand(node.condition, replace)), (node.no, None)]
            if node.yes is not None:
                pending.append((node.yes, None))
        else:
            no = done.pop()
            done.append(Conditional(condition, None if node.yes is None else done.pop(), no))
    return done.pop()


def _ad(expr: AdNode, replace: Replace) -> AdNode:
    table: dict[str, Expr | str] = {
        key: rebuild(entry, replace) if isinstance(entry, Expr) else entry
        for key, entry in expr.table.items()
    }
    return AdNode(table, expr.names)


def _operand(expr: Expr, replace: Replace) -> Expr:
    """Rewrite what is part of an operation: what comes in whole stays together."""
    rebuilt = rebuild(expr, replace)
    is_name = isinstance(expr, AttributeReference | Selection)
    return (
        Parentheses(rebuilt) if is_name and isinstance(rebuilt, Binary | Conditional) else rebuilt
    )
