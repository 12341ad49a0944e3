"""How what is said about a configuration or a submit description is written: HTCondor's bytes.

Remarks (`kettle.errors`) are values, and whoever decides by them looks at their fields; here alone
their places become words (vectors, topics "message", "include").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import Form, Remark

if TYPE_CHECKING:
    from collections.abc import Iterable

# What is written before a place: of a configuration, and of a submit description, whose errors are
# entries of a stack with a name and a number.
_OF_CONFIG = ("Config source ", "Config source ")
_OF_SUBMIT = ("Submit:-1:", "")


def render(remark: Remark, *, of_submit: bool = False) -> str:
    """Return the line of a remark, in a submit description's words where it is one of those."""
    word = "Warning" if remark.is_warning else "Error"
    before = (_OF_SUBMIT if of_submit else _OF_CONFIG)[remark.is_warning]
    if remark.form == Form.MARKED:
        return before + remark.text
    if remark.form == Form.PLACED:
        depth = f", Include Depth {remark.depth}" if remark.depth else ""
        return f'{before}{word} "{remark.source}", Line {remark.line}{depth}: {remark.text}'
    if remark.form == Form.STATED:
        return f" {word} : {remark.text}"
    if remark.form == Form.READING:
        return f"Configuration Error Line {remark.line} while reading {remark.text}"
    if remark.form == Form.BEHIND:
        return f"|Submit:-1:{remark.text}"
    return remark.text


def render_all(remarks: Iterable[Remark], *, of_submit: bool = False) -> str:
    """Return remarks as lines, the empty ones left out."""
    lines = (render(remark, of_submit=of_submit) for remark in remarks)
    return "\n".join(line for line in lines if line)


def innermost(remarks: Iterable[Remark], source: str, line: int) -> tuple[str, int]:
    """Return the innermost place of an error that has a line; `source` and `line` for none."""
    for remark in remarks:
        if remark.form == Form.PLACED and remark.line and not remark.is_warning:
            return remark.source, remark.line
    return source, line


def sentence(remarks: Iterable[Remark], between: str, *, of_submit: bool = False) -> str:
    """Return what remarks say in one line, `between` them, without the places of errors.

    Those of warnings stay: they stand on other lines.
    """
    parts = []
    for remark in remarks:
        if remark.form == Form.READING:
            continue
        is_told = remark.form == Form.PLACED and not remark.is_warning
        parts += (remark.text if is_told else render(remark, of_submit=of_submit)).splitlines()
    return between.join(filter(None, map(str.strip, parts)))
