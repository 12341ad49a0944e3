"""The syntax tree of an expression: immutable nodes, compared by structure.

Nodes know their parts and nothing else. What they mean is in `compile.py`, how they are printed
in `unparse.py`, what they refer to in `references.py`. Nodes are shared freely: the same text in
ten thousand ads is one tree, compiled once.

Chains such as `a + b + c` or `a.b.c` lean to the left and can be thousands of links long, so
everything that walks a tree walks the left spine in a loop, not by recursion.
"""

from __future__ import annotations

from typing import Final

from kettle.classad.text import quote_old, render_real
from kettle.classad.values import (
    ERROR,
    UNDEFINED,
    AbsoluteTime,
    Closure,
    Expr,
    RelativeTime,
    Tree,
    Value,
)


class Literal(Expr):
    """A value written out."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value: Final = value
        self._closure = None

    @property
    def is_literal(self) -> bool:
        """Return that it is."""
        return True

    @property
    def weight(self) -> int:  # type: ignore[override]
        """Return the steps that it counts as."""
        return weigh(self)

    @property
    def old_text(self) -> str:  # type: ignore[override]
        """Return the value as old syntax writes it; most are in one ad only, and not remembered."""
        value = self.value
        if type(value) is str:
            return quote_old(value)
        if type(value) is int:
            return str(value)
        return render_real(value, old=True) if type(value) is float else self._text(old=True)

    @property
    def new_text(self) -> str:  # type: ignore[override]
        """Return the value as new syntax writes it."""
        value = self.value
        return render_real(value) if type(value) is float else self._text(old=False)

    def _text(self, *, old: bool) -> str:
        value = self.value
        if type(value) is int:
            return str(value)
        if value is True:
            return "true"
        return "false" if value is False else self.write_out(old=old)


class AttributeReference(Tree):
    """`name`, or `.name` for one of the outermost ad."""

    __slots__ = ("absolute", "key", "name")

    def __init__(self, name: str, *, absolute: bool = False) -> None:
        self.name: Final = name
        self.key: Final = name.lower()
        self.absolute: Final = absolute
        self._closure = None


class Selection(Tree):
    """`base.name`: an attribute of the ad that `base` is."""

    __slots__ = ("base", "key", "name")

    def __init__(self, base: Expr, name: str) -> None:
        self.base: Final = base
        self.name: Final = name
        self.key: Final = name.lower()
        self._closure = None


class Subscript(Tree):
    """`base[index]`: an element of a list, an attribute of an ad."""

    __slots__ = ("base", "index")

    def __init__(self, base: Expr, index: Expr) -> None:
        self.base: Final = base
        self.index: Final = index
        self._closure = None


class Unary(Tree):
    """`-a`, `+a`, `!a`, `~a`."""

    __slots__ = ("operand", "operator")

    def __init__(self, operator: str, operand: Expr) -> None:
        self.operator: Final = operator
        self.operand: Final = operand
        self._closure = None


class Parentheses(Tree):
    """`(a)`; kept, because people recognise their own text by it."""

    __slots__ = ("inner",)

    def __init__(self, inner: Expr) -> None:
        self.inner: Final = inner
        self._closure = None


class Binary(Tree):
    """`left operator right`; the operators `=?=` and `=!=` are always under these names."""

    __slots__ = ("left", "operator", "right")

    def __init__(self, operator: str, left: Expr, right: Expr) -> None:
        self.operator: Final = operator
        self.left: Final = left
        self.right: Final = right
        self._closure = None


class Conditional(Tree):
    """`condition ? yes : no`, or `condition ?: no` where `yes` is None."""

    __slots__ = ("condition", "no", "yes")

    def __init__(self, condition: Expr, yes: Expr | None, no: Expr) -> None:
        self.condition: Final = condition
        self.yes: Final = yes
        self.no: Final = no
        self._closure = None


class Call(Tree):
    """`name(arguments)`."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str, arguments: tuple[Expr, ...]) -> None:
        self.name: Final = name
        self.arguments: Final = arguments
        self._closure = None


class ListNode(Tree):
    """`{ a, b }`."""

    __slots__ = ("elements",)

    def __init__(self, elements: tuple[Expr, ...]) -> None:
        self.elements: Final = elements
        self._closure = None


class AdNode(Tree):
    """`[ a = 1; b = 2 ]`: names in lower case to expressions, and their first spelling."""

    __slots__ = ("names", "table")

    def __init__(
        self,
        table: dict[str, Expr | str],
        names: dict[str, str],
        closure: Closure | None = None,
    ) -> None:
        """`closure` is what evaluates it where that is no new ad of its table."""
        self.table: Final = table
        self.names: Final = names
        self._closure = closure


TRUE: Final = Literal(True)
FALSE: Final = Literal(False)
UNDEFINED_LITERAL: Final = Literal(UNDEFINED)
ERROR_LITERAL: Final = Literal(ERROR)
_SMALL: Final = tuple(Literal(number) for number in range(-16, 1025))


def literal(value: Value) -> Literal:
    """Return the literal of a plain value, shared where it is a common one."""
    if value is True:
        return TRUE
    if value is False:
        return FALSE
    if type(value) is int and -16 <= value <= 1024:
        return _SMALL[value + 16]
    if value is UNDEFINED:
        return UNDEFINED_LITERAL
    if value is ERROR:
        return ERROR_LITERAL
    return Literal(value)


def same_expression(left: Expr, right: Expr) -> bool:
    """Return whether two trees are the same."""
    pending: list[tuple[Expr, Expr]] = [(left, right)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        if type(one) is not type(other) or not _same_labels(one, other):
            return False
        parts, others = _parts(one), _parts(other)
        if len(parts) != len(others):
            return False
        pending += zip(parts, others, strict=True)
    return True


def _same_labels(one: Expr, other: Expr) -> bool:
    """Return whether two nodes of one kind say the same, whatever their parts are."""
    match one, other:
        case Literal(), Literal():
            return _same_value(one.value, other.value)
        case AttributeReference(), AttributeReference():
            return one.key == other.key and one.absolute == other.absolute
        case Selection(), Selection():
            return one.key == other.key
        case Unary(), Unary():
            return one.operator == other.operator
        case Binary(), Binary():
            return one.operator == other.operator
        case Conditional(), Conditional():
            return (one.yes is None) == (other.yes is None)
        case Call(), Call():
            return one.name == other.name
        case AdNode(), AdNode():
            return one.table.keys() == other.table.keys()
    return True


def children(expr: Expr) -> list[Expr]:
    """Return the expressions one is made of, in order; an ad's entries are not among them."""
    if isinstance(expr, Binary):
        return [expr.left, expr.right]
    if isinstance(expr, Parentheses):
        return [expr.inner]
    if isinstance(expr, Unary):
        return [expr.operand]
    if isinstance(expr, Conditional):
        yes = [] if expr.yes is None else [expr.yes]
        return [expr.condition, *yes, expr.no]
    if isinstance(expr, Call):
        return list(expr.arguments)
    if isinstance(expr, ListNode):
        return list(expr.elements)
    if isinstance(expr, Subscript):
        return [expr.base, expr.index]
    return [expr.base] if isinstance(expr, Selection) else []


def weigh(expr: Expr) -> int:
    """Return what an evaluation of the expression counts as: its nodes and the bytes of its texts.

    The elements of a list and the attributes of an ad are weighed by themselves, when they are
    evaluated.
    """
    nodes = size = 0
    pending = [expr]
    while pending:
        node = pending.pop()
        nodes += 1
        if type(node) is Literal:
            if type(node.value) is str:
                size += len(node.value)
        elif not isinstance(node, ListNode):
            pending += children(node)
    return 1 + (nodes >> 3) + (size >> 6)


# Limit: the reference gives up at this depth too; a bracket costs it six of its levels, a prefix
# operator or a conditional, in either arm of another one, two. Shown by the vectors in deep.json
# and by test_as_many_conditionals_are_read_as_the_wheel_reads.
MAX_DEPTH: Final = 995
BRACKET_DEPTH: Final = 6
CHAIN_DEPTH: Final = 2


def nesting(expr: Expr) -> int:
    """Return how deep an expression is nested, in the levels of MAX_DEPTH.

    Of an ad that is written out the entries count that were parsed: all others are within bounds.
    """
    deepest = 0
    pending = [(expr, 0)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        if isinstance(node, Subscript):
            pending += [(node.base, depth), (node.index, depth + BRACKET_DEPTH)]
            continue
        if isinstance(node, AdNode):
            inner = [entry for entry in node.table.values() if isinstance(entry, Expr)]
        else:
            inner = children(node)
        levels = _LEVELS.get(type(node), 0)
        pending += [(part, depth + levels) for part in inner]
    return deepest


_LEVELS: Final[dict[type[Expr], int]] = {
    Parentheses: BRACKET_DEPTH,
    Call: BRACKET_DEPTH,
    ListNode: BRACKET_DEPTH,
    AdNode: BRACKET_DEPTH,
    Unary: CHAIN_DEPTH,
    Conditional: CHAIN_DEPTH,
}


def size_in_steps(expr: Expr) -> int:
    """Return what it counts as to read or write the whole expression: 8 nodes, or 64 bytes.

    That is with the elements of its lists and the attributes of its ads.
    """
    nodes = size = 0
    pending = [expr]
    while pending:
        node = pending.pop()
        nodes += 1
        if type(node) is Literal:
            if type(node.value) is str:
                size += len(node.value)
        else:
            pending += _parts(node)
    return 1 + (nodes >> 3) + (size >> 6)


def _parts(expr: Expr) -> list[Expr]:
    """Return the expressions a node is made of, in an order that is the same for equal nodes."""
    if not isinstance(expr, AdNode):
        return children(expr)
    entries = [expr.table[key] for key in sorted(expr.table)]
    assert all(isinstance(entry, Expr) for entry in entries)
    return [entry for entry in entries if isinstance(entry, Expr)]


def _same_value(one: Value, other: Value) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, float) and one != one:
        return other != other
    if isinstance(one, AbsoluteTime | RelativeTime | bool | int | float | str):
        return one == other
    return one is other
