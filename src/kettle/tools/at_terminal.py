"""What a person at a terminal is told beyond the words of the reference.

Programs read what classic tools say on stderr, so that it stays the reference's to the byte; a
person would rather see where an expression does not parse. `kettle.tools.options.tell_more` asks
for it where stderr is a terminal (docs/decisions/0014-words-beside-the-reference.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from kettle.classad.pointing import point_at
from kettle.errors import ClassAdSyntaxError, KettleError


def draw_fault(error: BaseException, stderr: TextIO, said: str = "") -> None:
    """Draw where the expression behind an error does not parse, and write its hint.

    The expression is the error itself or what it was raised from. `said` is what was written of
    the error already; a hint that stands in it is not repeated.
    """
    drawn = next(filter(None, map(_draw, _causes(error))), "")
    hint = error.hint if isinstance(error, KettleError) else ""
    if hint in said:
        hint = ""
    elif not hint.startswith(" "):
        # Those of several lines have their own margin.
        hint = f"    {hint}"
    stderr.writelines(f"{part}\n" for part in (drawn, hint) if part)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _draw(error: BaseException) -> str:
    return point_at(error) if isinstance(error, ClassAdSyntaxError) else ""
