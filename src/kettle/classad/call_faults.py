"""Calls that are an error whatever the ads say: of no function, or with a pattern that is none.

An expression with one parses, and its value is an error when it is first asked for: whoever looks
at texts that people write tells them of it before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kettle.classad.functions.library import find_function, function_names
from kettle.classad.functions.regex import compile_pattern
from kettle.classad.nodes import AdNode, Call, Literal, children
from kettle.classad.values import Expr
from kettle.named_tuples import NamedTuple
from kettle.nearest import nearest_of

# Functions whose first argument is a pattern.
_OF_PATTERNS: Final = frozenset(
    ("regexp", "regexpmember", "regexps", "replace", "replaceall", "stringlist_regexpmember")
)
# Limit: faults of one expression that are told.
_MOST_TOLD: Final = 5


class CallFault(NamedTuple):
    """What is wrong with a call, in a sentence, and which function was probably meant."""

    sentence: str
    nearest: str = ""


def find_call_faults(expr: Expr) -> list[CallFault]:
    """Return what is wrong with the calls in an expression, each once, from the left."""
    found = dict.fromkeys(fault for call in _calls(expr) if (fault := _fault_of(call)) is not None)
    return list(found)[:_MOST_TOLD]


def _calls(expr: Expr) -> Iterator[Call]:
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, Call):
            yield node
        if isinstance(node, AdNode):
            pending += [entry for entry in node.table.values() if isinstance(entry, Expr)]
        else:
            pending += reversed(children(node))


def _fault_of(call: Call) -> CallFault | None:
    if find_function(call.name) is None:
        return CallFault(f"{call.name}() is no function", nearest_of(call.name, function_names()))
    first = call.arguments[0] if call.arguments else None
    if call.name.lower() not in _OF_PATTERNS or not isinstance(first, Literal):
        return None
    pattern = first.value
    if not isinstance(pattern, str) or compile_pattern(pattern, "") is not None:
        return None
    return CallFault(f"{call.name}() has {pattern[:100]!r}, which is no pattern")
