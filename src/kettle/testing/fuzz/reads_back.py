"""Which expressions are read back from what is printed of them: nearly all.

The others are not in the reference either. Each is told by what is in it, not by its text, so that
a text with the same letters in it is still compared.
"""

from __future__ import annotations

from kettle.classad.nodes import AdNode, AttributeReference, Call, Literal, Selection, children
from kettle.classad.unparse import quote_name
from kettle.classad.values import Expr

# Old syntax reads a backslash as itself, but escapes a quote in a name with one.
_NOT_IN_OLD_NAMES = frozenset("'\\\n\r")


def reads_back(expr: Expr, *, old: bool = False) -> bool:
    """Return whether the expression is read back from its own text, in new or `old` syntax."""
    pending = [expr]
    while pending:
        node = pending.pop()
        if not _is_read(node, old=old):
            return False
        pending += children(node)
        if isinstance(node, AdNode):
            pending += [entry for entry in node.table.values() if isinstance(entry, Expr)]
    return True


def _is_read(node: Expr, *, old: bool) -> bool:
    if isinstance(node, Selection):
        # The name behind a dot is printed without the quotes that it needs, which this one does not
        # need there.
        return quote_name(node.name) == node.name or node.key == "parent"
    if isinstance(node, Call):
        # So is a function's, in the reference, too.
        return quote_name(node.name) == node.name
    if isinstance(node, Literal):
        # The character that ends a text.
        return not isinstance(node.value, str) or "\0" not in node.value
    if isinstance(node, AdNode):
        return all(_is_name_read(name, old=old) for name in node.names.values())
    return not isinstance(node, AttributeReference) or _is_name_read(node.name, old=old)


def _is_name_read(name: str, *, old: bool) -> bool:
    return "\0" not in name and not (old and _NOT_IN_OLD_NAMES & set(name))
