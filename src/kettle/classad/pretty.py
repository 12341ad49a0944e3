"""Trees over several lines, as `unparse()` and pretty printers lay them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from kettle.classad.nodes import (
    BRACKET_DEPTH,
    MAX_DEPTH,
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

# Limit: how far a line stands in. No text has lists or ads so deep in one another that it is read;
# those that a program put together would be mostly blanks.
_MOST_INDENT: Final = 16 * (MAX_DEPTH // BRACKET_DEPTH)
# Text, or an expression and how far its lines stand in.
_Piece: TypeAlias = str | tuple[Expr, int]


def pretty(expr: Expr, *, indent: int = 0) -> str:
    """Return the expression in new syntax, its ads and lists one item a line.

    Raises RecursionError for lists and ads that lie deeper in one another than a text may have it.
    """
    lined = _with_lines(expr)
    out: list[str] = []
    pending: list[_Piece] = [(expr, indent)]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            out.append(piece)
        elif id(piece[0]) in lined:
            if piece[1] > _MOST_INDENT:
                raise RecursionError("lists and ads lie too deep in one another")
            pending += reversed(list(_pieces(*piece)))
        else:
            out.append(unparse(piece[0]))
    return "".join(out)


def _with_lines(expr: Expr) -> set[int]:
    """Return which parts of an expression are, or have in them, a list or an ad."""
    parts: list[tuple[Expr, int]] = [(expr, -1)]
    for place, (node, _) in enumerate(parts):
        parts += [(part, place) for part in _inside(node)]
    lined: set[int] = set()
    for node, around in reversed(parts):
        if isinstance(node, ListNode | AdNode):
            lined.add(id(node))
        if around >= 0 and id(node) in lined:
            lined.add(id(parts[around][0]))
    return lined


def _inside(node: Expr) -> list[Expr]:
    if not isinstance(node, AdNode):
        return children(node)
    return [entry for entry in node.table.values() if isinstance(entry, Expr)]


def _pieces(expr: Expr, indent: int) -> Iterator[_Piece]:
    """Yield what an expression with lines in it consists of."""
    if isinstance(expr, ListNode):
        yield from _list_pieces(expr, indent)
    elif isinstance(expr, AdNode):
        yield from _ad_pieces(expr, indent)
    elif isinstance(expr, Parentheses):
        yield from ("(", (expr.inner, indent), ")")
    elif isinstance(expr, Unary):
        yield from (f" {expr.operator}", (expr.operand, indent))
    elif isinstance(expr, Call):
        yield f"{expr.name}("
        for place, item in enumerate(expr.arguments):
            yield from ("," if place else "", (item, indent))
        yield ")"
    elif isinstance(expr, Selection):
        yield from ((expr.base, indent), f".{expr.name}")
    elif isinstance(expr, Subscript):
        yield from ((expr.base, indent), "[", (expr.index, indent), "]")
    elif isinstance(expr, Binary):
        spelling = NEW_SPELLING.get(expr.operator, expr.operator)
        yield from ((expr.left, indent), f" {spelling} ", (expr.right, indent))
    else:
        assert isinstance(expr, Conditional)
        yield (expr.condition, indent)
        yield from (" ?: ",) if expr.yes is None else (" ? ", (expr.yes, indent), " : ")
        yield (expr.no, indent)


def _list_pieces(expr: ListNode, indent: int) -> Iterator[_Piece]:
    blank = " " * (indent + 3)
    yield f"\n{blank}{{\n"
    for place, item in enumerate(expr.elements):
        yield from (f"{',' + chr(10) if place else ''}{blank}   ", (item, indent + 6))
    yield f"{chr(10) if expr.elements else ''}{blank}}}"


def _ad_pieces(expr: AdNode, indent: int) -> Iterator[_Piece]:
    blank = " " * (indent + 4)
    names = sorted(expr.names.values(), key=by_length)
    yield f"\n{blank}[\n"
    for place, name in enumerate(names):
        value = expr.table[name.lower()]
        assert isinstance(value, Expr)
        yield f"{'; ' + chr(10) if place else ''}{blank}    {quote_name(name)} = "
        yield (value, indent + 8)
    yield f"{chr(10) if names else ''}{blank}]"
