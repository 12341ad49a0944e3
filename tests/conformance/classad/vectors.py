"""Reading the ClassAd vectors, and saying a value the way they say it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from kettle.classad import ClassAd, Context
from kettle.classad.ad import parse_ad
from kettle.classad.compile import evaluate_lazily
from kettle.classad.nodes import AdNode, Expr, ListNode, Literal
from kettle.classad.parser import parse_expression
from kettle.classad.state import new_state
from kettle.classad.unparse import render_value, unparse
from kettle.classad.values import ERROR, UNDEFINED, AbsoluteTime, ExprList, RelativeTime, Value

FOLDER = Path(__file__).parents[2] / "data" / "vectors" / "classad"

Case = dict[str, Any]


def load(name: str) -> dict[str, Any]:
    """Return a whole file of vectors."""
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document


def context_ad(text: str | None, named: dict[str, str]) -> ClassAd | None:
    """Return the ad a case is evaluated in; `@1` names one of the file's."""
    return None if text is None else parse_ad(named.get(text, text))


def describe(value: Value) -> dict[str, Any]:
    """Return the value as `result` has it."""
    if value is UNDEFINED:
        return {"type": "undefined"}
    if value is ERROR:
        return {"type": "error"}
    if isinstance(value, bool):
        return {"type": "boolean", "value": value}
    if isinstance(value, int):
        return {"type": "integer", "value": value}
    if isinstance(value, float):
        number = value if math.isfinite(value) else str(value)
        return {"type": "real", "value": number, "text": render_value(value)}
    if isinstance(value, str):
        return {"type": "string", "value": value}
    if isinstance(value, AbsoluteTime):
        return {"type": "absolute time", "text": render_value(value)}
    if isinstance(value, RelativeTime):
        return {"type": "relative time", "text": render_value(value)}
    if isinstance(value, ExprList):
        elements = [_element(element) for element in value.elements]
        return {"type": "list", "value": elements, "text": render_value(value)}
    assert isinstance(value, ClassAd)
    return {"type": "classad", "text": render_value(value)}


def _element(expr: Expr) -> dict[str, Any]:
    if isinstance(expr, Literal):
        return describe(expr.value)
    if isinstance(expr, ListNode):
        return describe(ExprList(expr.elements))
    if isinstance(expr, AdNode):
        return {"type": "classad", "text": unparse(expr)}
    return {"type": "expression", "text": unparse(expr)}


def evaluate(case: Case, named: dict[str, str], context: Context) -> Value:
    """Return the value of the case's expression, lists not evaluated through."""
    expr = parse_expression(case["expr"], strict=context.strict)
    my = context_ad(case.get("my"), named)
    target = context_ad(case.get("target"), named)
    return evaluate_lazily(expr, new_state(my, target, context))
