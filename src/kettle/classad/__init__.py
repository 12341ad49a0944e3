"""The ClassAd language: ads, expressions, matching.

    from kettle.classad import ClassAd
    ad = ClassAd({"Memory": 512})
    ad.insert_text("Requirements", "TARGET.Memory > Memory")

Standard library only; no I/O, no clock of its own (see `context.py`).
"""

from __future__ import annotations

from kettle.classad.ad import ClassAd, parse_ad, parse_old_ad, to_expression
from kettle.classad.context import Context
from kettle.classad.forms import parse_ads
from kettle.classad.match import matches, symmetric_match
from kettle.classad.nodes import Expr
from kettle.classad.parser import parse_expression
from kettle.classad.unparse import unparse
from kettle.classad.values import ERROR, UNDEFINED, AbsoluteTime, RelativeTime, Value

__all__ = [
    "ERROR",
    "UNDEFINED",
    "AbsoluteTime",
    "ClassAd",
    "Context",
    "Expr",
    "RelativeTime",
    "Value",
    "matches",
    "parse_ad",
    "parse_ads",
    "parse_expression",
    "parse_old_ad",
    "symmetric_match",
    "to_expression",
    "unparse",
]
