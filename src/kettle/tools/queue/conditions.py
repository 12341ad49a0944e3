"""An expression of one side of a match in steps, and which of them decide.

Pure; whose expression it is, and what is said about it, is `analysis.py` and `machine_analysis.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kettle.classad import ClassAd, Expr, unparse
from kettle.classad.nodes import Binary, Parentheses

_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Step:
    """A condition, or two earlier steps taken together."""

    text: str
    expression: Expr
    operator: str = ""
    left: int = 0
    right: int = 0


def plan_steps(
    expression: Expr, steps: list[Step], define: Callable[[Expr], Expr | None] = lambda _: None
) -> int:
    """Append the steps of an expression, parts before the whole; return the number of the whole.

    `define` gives what is to be looked at in the place of a part.
    """
    inner = expression
    while (found := inner.inner if isinstance(inner, Parentheses) else define(inner)) is not None:
        inner = found
    if isinstance(inner, Binary) and inner.operator in ("&&", "||"):
        left = plan_steps(inner.left, steps, define)
        right = plan_steps(inner.right, steps, define)
        text = f"[{left}] {inner.operator} [{right}]"
        steps.append(Step(text, inner, inner.operator, left, right))
    else:
        # In new syntax, as the reference shows conditions.
        steps.append(Step(unparse(inner), inner))
    return len(steps) - 1


def telling_steps(
    job: ClassAd, steps: Sequence[Step], number: int, slots: Sequence[ClassAd]
) -> list[tuple[int, int]]:
    """Return the steps that decide, with how many slots meet each.

    Of alternatives, one that all slots meet is enough. Of conditions together, one that none meets
    is enough beside a single other one, and their number counts only where it is not that of one of
    them. Where there are no slots, no condition is told from another.
    """
    step = steps[number]
    if not step.operator:
        return [(number, _count(job, step, slots))]
    count = _count(job, step, slots)
    sides = [_count(job, steps[side], slots) for side in (step.left, step.right)]
    if step.operator == "||":
        for side, met in zip((step.left, step.right), sides, strict=True):
            if met == len(slots):
                return telling_steps(job, steps, side, slots)
    left, right = (telling_steps(job, steps, side, slots) for side in (step.left, step.right))
    if step.operator == "||":
        return [*left, *right, (number, count)]
    if slots and sides[0] == 0 and not steps[step.right].operator:
        right = []
    elif slots and sides[1] == 0 and not steps[step.left].operator:
        left = []
    return [*left, *right, *([] if count in sides else [(number, count)])]


def _count(job: ClassAd, step: Step, slots: Sequence[ClassAd]) -> int:
    return sum(job.evaluate_expression(step.expression, slot) in (True, 1) for slot in slots)


def wrap(text: str) -> str:
    """Return an expression in lines of 80 columns, broken after `&&` and `||`."""
    lines, line, depth = "", "", 0
    for part in re.findall(r"(?:\"(?:[^\"\\]|\\.)*\"|[^\"])+?(?:&&|\|\|)\s*|.+", text):
        words = part.strip()
        if line and len(line) + 1 + len(words) > _WIDTH:
            lines, line = f"{lines}{line}\n", ""
        line = f"{line} {words}" if line else " " * (4 + 2 * depth) + words
        bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"", "", words)
        depth = max(0, depth + bare.count("(") - bare.count(")"))
    return f"{lines}{line}\n"
