"""Which expressions look where no list of names says: no slot or request stands for another then.

What an expression looks at is told by names in `MY`, in `TARGET`, or in one of them. `OTHER.x`,
`.RIGHT.x`, `TARGET["x"]`, `(a ? TARGET : MY).x`, an ad as a value and the names around the two ads
of a match may lead anywhere.
"""

from __future__ import annotations

from typing import Final

from kettle.classad import Expr
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
from kettle.classad.state import AROUND, SPECIAL

# The moment is the same for all slots.
_ELSEWHERE: Final = (SPECIAL | AROUND) - {"currenttime"}


def is_scope(node: Expr) -> bool:
    """Tell whether an expression is `MY` or `TARGET`."""
    return (
        isinstance(node, AttributeReference) and not node.absolute and node.key in ("my", "target")
    )


def looks_elsewhere(expression: Expr) -> bool:
    """Tell whether an expression may look at more than the names that stand in it."""
    todo = [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, AttributeReference):
            if node.absolute or node.key in _ELSEWHERE:
                return True
        elif isinstance(node, Selection):
            if not is_scope(node.base) or node.key in _ELSEWHERE:
                return True
        elif isinstance(node, Subscript):
            # A number chooses from a list alone, a name from an ad.
            if not isinstance(node.index, Literal) or not isinstance(node.index.value, int):
                return True
            todo.append(node.base)
        else:
            todo.extend(parts(node))
    return False


def parts(node: Expr) -> tuple[Expr, ...]:
    """Return the expressions that one is made of, those of an ad that is written out included."""
    match node:
        case Parentheses():
            return (node.inner,)
        case Unary():
            return (node.operand,)
        case Binary():
            return (node.left, node.right)
        case Subscript():
            return (node.base, node.index)
        case Conditional():
            return tuple(each for each in (node.condition, node.yes, node.no) if each is not None)
        case Call():
            return node.arguments
        case ListNode():
            return node.elements
        case AdNode():
            return tuple(each for each in node.table.values() if isinstance(each, Expr))
    return ()
