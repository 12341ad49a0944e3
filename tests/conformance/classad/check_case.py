"""What has to hold for one case of the expression files; the list of complaints is the answer."""

from __future__ import annotations

from typing import Any

from kettle.classad import Context
from kettle.classad.parser import parse_expression
from kettle.classad.unparse import unparse
from kettle.errors import ClassAdSyntaxError

from .vectors import Case, describe, evaluate


def complaints(case: Case, named: dict[str, str], context: Context) -> list[str]:
    """Return what is wrong about the case under the context's rules."""
    wanted = dict(case)
    if context.strict and "strict" in case:
        wanted = _strict_wants(case)
    try:
        expr = parse_expression(case["expr"], strict=context.strict)
    except ClassAdSyntaxError as error:
        return [] if wanted.get("rejected") else [f"does not parse: {error}"]
    if wanted.get("rejected"):
        return [f"parses, as {unparse(expr)}"]
    wrong = []
    if "unparse" in wanted and unparse(expr) != wanted["unparse"]:
        wrong.append(f"prints {unparse(expr)}, not {wanted['unparse']}")
    old = wanted.get("unparse_old", wanted.get("unparse"))
    if old is not None and unparse(expr, old=True) != old:
        wrong.append(f"prints old {unparse(expr, old=True)!r}, not {old!r}")
    if "result" in wanted:
        found = describe(evaluate(case, named, context))
        if not agrees(found, wanted["result"]):
            wrong.append(f"is {found}, not {wanted['result']}")
    elif not wanted.get("parse_only"):
        # The reference raised, crashed or hung: any answer will do, as long as there is one.
        evaluate(case, named, context)
    return wrong


def _strict_wants(case: Case) -> Case:
    strict: Case = case["strict"]
    if strict.get("rejected"):
        return {"rejected": True}
    outcome = ("result", "exception", "crash", "hang", "rejected")
    wanted = {key: value for key, value in case.items() if key not in outcome}
    if not set(strict) & set(outcome):
        wanted.update({key: case[key] for key in outcome if key in case})
    wanted.update(strict)
    return wanted


def agrees(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Return whether a value is the wanted one, in every respect the vector mentions."""
    if found["type"] != wanted["type"]:
        # A span in a list reads as its seconds.
        return found["type"] == "relative time" and wanted["type"] == "real" and not wanted["text"]
    for key, value in wanted.items():
        if key == "value" and found["type"] == "relative time":
            continue
        if key == "value" and found["type"] == "list":
            if len(found["value"]) != len(value):
                return False
            if not all(agrees(a, b) for a, b in zip(found["value"], value, strict=True)):
                return False
        elif key == "text" and not value:
            # Elements of lists come without their text.
            continue
        elif found.get(key) != value:
            return False
    return True
