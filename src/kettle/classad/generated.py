"""Expressions that are asked often, as Python functions generated from them.

The closures of `compile.py` say what an expression means; a generated function says the same of the
ads it was made for: no state, no calls between operators, the attributes that an expression looks
into written out where they are used. It begins with what it takes for granted (which expression
is under a name, which names are not there) and returns MISSED where that does not hold, or where
a text is so long that reading it would count; the closures answer then. So what is generated need
not know everything, and a property test proves it equal wherever it answers. Texts up to
LONGEST_SHORT, lists of few elements, and all expressions that are light enough are together less
than an evaluation may read, so nothing counts that.

The text that is compiled is made of names that are chosen here, never of what an ad says: names
of attributes, texts and numbers are handed to it as values. Expressions of one shape share it.
"""

from __future__ import annotations

from typing import Any, Final

from kettle.classad.functions.table import LONGEST_SHORT, call_strict
from kettle.classad.generated_source import (
    ARITHMETIC,
    MOST_WEIGHT,
    OPERATOR_NAMES,
    UNARY_NAMES,
    UnsupportedError,
    Writer,
    source_of,
)
from kettle.classad.nodes import Literal
from kettle.classad.operators import BINARY, UNARY, Operation, truth
from kettle.classad.state import ANY_FAULT, FAULT, MOST_STEPS, State
from kettle.classad.values import (
    ERROR,
    MISSED,
    UNDEFINED,
    Ad,
    Expr,
    ExprList,
    Run,
    Value,
    fold_case,
    wrap_integer,
)
from kettle.digits import MAX_INTEGER, MIN_INTEGER
from kettle.remembered import Answers

# Functions that read more than this many steps together may come near what an evaluation may do.
_FEW_STEPS: Final = MOST_STEPS // 4


class MissedError(LookupError):
    """What a function was generated for does not hold."""


def _read(ad: Ad, key: str) -> Value:
    """Return the value under a name of an ad; MissedError if it is no value that is written out."""
    found = ad.entry(key)
    if found is None:
        return UNDEFINED
    if type(found) is not Literal:
        raise MissedError
    return found.value


def _named(ad: Ad, other: Ad, key: str) -> Value:
    """Return the value of a bare name, as `_read` does: the ad's own, else the other ad's."""
    found = ad.entry(key) or other.entry(key)
    if found is None:
        return UNDEFINED
    if type(found) is not Literal:
        raise MissedError
    return found.value


def _short(operation: Operation) -> Operation:
    def apply(left: Value, right: Value) -> Value:
        for value in (left, right):
            if type(value) is str and len(value) > LONGEST_SHORT:
                raise MissedError
        return operation(left, right)

    return apply


# All that a generated text may name besides its own values.
_WORLD: Final[dict[str, Any]] = {
    "ERROR": ERROR,
    "FAULT": FAULT,
    "FAULTS": (*ANY_FAULT, MissedError),
    "FEW": _FEW_STEPS,
    "INFINITE": float("inf"),
    "LEAST": MIN_INTEGER,
    "LISTS": (ExprList, list),
    "Literal": Literal,
    "MISSED": MISSED,
    "MOST": MAX_INTEGER,
    "State": State,
    "UNDEFINED": UNDEFINED,
    "call": call_strict,
    "fold": fold_case,
    "named": _named,
    "read": _read,
    "truth": truth,
    "wrap": wrap_integer,
    **{
        name: BINARY[operator] if operator in ARITHMETIC else _short(BINARY[operator])
        for operator, name in OPERATOR_NAMES.items()
    },
    **{name: UNARY[operator] for operator, name in UNARY_NAMES.items()},
}


def _compiled(source: str) -> Any:
    made: dict[str, Any] = {}
    exec(source, _WORLD, made)  # noqa: S102 - of names that are chosen here
    return made["make"]


# Limit: the bytes of the texts whose functions are remembered; what is compiled of one is three
# times as long.
_makers: Final = Answers(_compiled, 512 * 1024)


def generate(expr: Expr, ad: Ad, other: Ad | None) -> tuple[Run, int] | None:
    """Return a function that evaluates the expression in ads like these, and the bytes it takes.

    None if it is one for the closures alone.
    """
    if expr.weight > MOST_WEIGHT:
        return None
    writer = Writer(ad, other)
    try:
        result = writer.write(expr, 0)
    except (UnsupportedError, *ANY_FAULT):
        return None
    source = source_of(writer, result.name, matched=other is not None)
    run = _makers[source](*writer.constants)
    return run, 3 * len(source) + 200 * len(writer.constants) + writer.size + 1000
