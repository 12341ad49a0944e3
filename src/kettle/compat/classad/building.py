"""Expressions put together in Python: `Literal`, `Attribute`, `Function`."""

# ruff: noqa: N802, SLF001 - the wheel's names; `_of` is for the modules of this interface
from __future__ import annotations

from kettle.classad.nodes import AttributeReference, Call
from kettle.classad.nodes import Literal as LiteralNode
from kettle.classad.values import ExprList
from kettle.compat import classad2
from kettle.compat.classad.ads import ExprTree, tree_of
from kettle.compat.classad.names import ClassAdValueError
from kettle.compat.classad2 import ClassAdException
from kettle.compat.classad2.convert import is_time


def Literal(obj: object) -> ExprTree:
    """Return a value as an expression; one of an expression is what that is worth."""
    try:
        tree = tree_of(obj)
    except ClassAdException as error:
        raise ClassAdValueError(str(error)) from error
    made = ExprTree._of(tree)
    worth = made.simplify() if isinstance(obj, classad2.ExprTree) and not is_time(tree) else made
    found = worth._tree
    if isinstance(found, LiteralNode) and not isinstance(found.value, ExprList):
        return worth
    if isinstance(found, Call):
        # A time.
        return worth
    raise ClassAdValueError("Unable to convert expression to literal")


def Attribute(name: str) -> ExprTree:
    """Return a reference to the attribute of this name, whatever characters it has."""
    if not isinstance(name, str):
        raise TypeError("an attribute's name is a string")
    return ExprTree._of(AttributeReference(name))


def Function(name: str, *arguments: object) -> ExprTree:
    """Return the call of a function; texts are literals, names are `Attribute`s."""
    if not isinstance(name, str):
        raise TypeError("a function's name is a string")
    try:
        return ExprTree._of(Call(name, tuple(tree_of(one) for one in arguments)))
    except ClassAdException as error:
        raise ClassAdValueError(str(error)) from error
