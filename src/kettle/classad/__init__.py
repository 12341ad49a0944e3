"""The ClassAd language: ads, expressions, matching.

    from kettle.classad import ClassAd
    ad = ClassAd({"Memory": 512})
    ad.insert_text("Requirements", "TARGET.Memory > Memory")

Standard library only; no I/O, no clock of its own (see `context.py`). From the bottom: `values`,
`nodes`, `parser` and `unparse`, `ad`, `state`, `functions/`, `compile`; nobody looks up.
"""

from __future__ import annotations

from kettle.classad.ad import ClassAd, parse_ad, parse_old_ad, to_expression
from kettle.classad.context import Context
from kettle.classad.forms import parse_ads
from kettle.classad.match import matches, symmetric_match
from kettle.classad.nodes import same_expression, weigh
from kettle.classad.parser import is_expression, parse_expression
from kettle.classad.unparse import unparse, write_out
from kettle.classad.values import (
    ERROR,
    UNDEFINED,
    AbsoluteTime,
    Evaluator,
    Expr,
    RelativeTime,
    Value,
    define_language,
)

__all__ = [
    "ERROR",
    "UNDEFINED",
    "AbsoluteTime",
    "ClassAd",
    "Context",
    "Expr",
    "RelativeTime",
    "Value",
    "is_expression",
    "matches",
    "parse_ad",
    "parse_ads",
    "parse_expression",
    "parse_old_ad",
    "symmetric_match",
    "to_expression",
    "unparse",
]


def _load_evaluator() -> Evaluator:
    from kettle.classad.compile import EVALUATOR

    return EVALUATOR


define_language(
    write_out=write_out,
    same_expression=same_expression,
    weigh=weigh,
    load_evaluator=_load_evaluator,
)
