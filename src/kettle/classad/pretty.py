"""Trees over several lines, as `unparse()` and pretty printers lay them out."""

from __future__ import annotations

from kettle.classad.nodes import (
    AdNode,
    Binary,
    Call,
    Conditional,
    ListNode,
    Parentheses,
    Selection,
    Subscript,
    Unary,
    children,
)
from kettle.classad.unparse import NEW_SPELLING, by_length, quote_name, unparse
from kettle.classad.values import Expr


def pretty(expr: Expr, *, indent: int = 0) -> str:
    """Return the expression in new syntax, its ads and lists one item a line."""
    if not _has_lines(expr):
        return unparse(expr)
    return _lay_out(expr, indent)


def _has_lines(expr: Expr) -> bool:
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, ListNode | AdNode):
            return True
        pending += children(node)
    return False


def _lay_out(expr: Expr, indent: int) -> str:
    if isinstance(expr, ListNode):
        return _pretty_list(expr, indent)
    if isinstance(expr, AdNode):
        return _pretty_ad(expr, indent)
    if isinstance(expr, Parentheses):
        return f"({pretty(expr.inner, indent=indent)})"
    if isinstance(expr, Unary):
        return f" {expr.operator}{pretty(expr.operand, indent=indent)}"
    if isinstance(expr, Call):
        return f"{expr.name}({','.join(pretty(item, indent=indent) for item in expr.arguments)})"
    if isinstance(expr, Selection):
        return f"{pretty(expr.base, indent=indent)}.{expr.name}"
    if isinstance(expr, Subscript):
        return f"{pretty(expr.base, indent=indent)}[{pretty(expr.index, indent=indent)}]"
    if isinstance(expr, Binary):
        left, right = pretty(expr.left, indent=indent), pretty(expr.right, indent=indent)
        return f"{left} {NEW_SPELLING.get(expr.operator, expr.operator)} {right}"
    assert isinstance(expr, Conditional)
    condition, no = pretty(expr.condition, indent=indent), pretty(expr.no, indent=indent)
    if expr.yes is None:
        return f"{condition} ?: {no}"
    return f"{condition} ? {pretty(expr.yes, indent=indent)} : {no}"


def _pretty_list(expr: ListNode, indent: int) -> str:
    blank = " " * (indent + 3)
    items = [f"{blank}   {pretty(item, indent=indent + 6)}" for item in expr.elements]
    body = ",\n".join(items)
    return f"\n{blank}{{\n" + (body + "\n" if body else "") + f"{blank}}}"


def _pretty_ad(expr: AdNode, indent: int) -> str:
    blank = " " * (indent + 4)
    names = sorted(expr.names.values(), key=by_length)
    lines = []
    for name in names:
        value = expr.table[name.lower()]
        assert isinstance(value, Expr)
        lines.append(f"{blank}    {quote_name(name)} = {pretty(value, indent=indent + 8)}")
    body = "; \n".join(lines)
    return f"\n{blank}[\n" + (body + "\n" if body else "") + f"{blank}]"
