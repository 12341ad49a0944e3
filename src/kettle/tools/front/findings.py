"""Draws and prints the findings of a check, for `kettle config check` and `kettle submit check`."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.config.finding import ERROR, NOTE, WARNING, Finding

_MARKS = {ERROR: ("✘", "31"), WARNING: ("!", "33"), NOTE: ("·", "2")}
# Limit: findings that are drawn; JSON has all.
_MOST_DRAWN = 500
# Limit: letters of one that are drawn: a text of the site's may be in it.
_MOST_LETTERS = 400


def render_findings(findings: list[Finding], *, colour: bool, below: str = "") -> str:
    """Return a block for each file: its name, a line for each finding, what to do below it.

    What is drawn stands below the name of one of them.
    """
    lines: list[str] = []
    source = below
    width = max((len(str(finding.line)) for finding in findings), default=1)
    for finding in findings[:_MOST_DRAWN]:
        if finding.source != source:
            source = finding.source
            lines.append(paint(visible(source) or "(nowhere)", "1", colour=colour))
        mark, code = _MARKS[finding.severity]
        number = str(finding.line or "").rjust(width)
        shown = f"  {paint(mark, code, colour=colour)} {paint(number, '2', colour=colour)}"
        lines.append(f"{shown}  {visible(shorten(finding.sentence))}")
        if finding.advice:
            lines.append(f"    {'':<{width}}  → {visible(finding.advice)}")
    if len(findings) > _MOST_DRAWN:
        lines.append(f"… and {len(findings) - _MOST_DRAWN} more: --json has all")
    return "".join(f"{line}\n" for line in lines)


def visible(text: str) -> str:
    """Return a text with escapes for what a terminal would obey or not show; lines stay lines.

    What is checked may be somebody else's: it moves no cursor and clears no screen.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else _escaped(letter) for letter in text
    )


def _escaped(letter: str) -> str:
    number = ord(letter)
    if 0xDC80 <= number <= 0xDCFF:
        # A byte that is of no UTF-8 text.
        number -= 0xDC00
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def shorten(text: str) -> str:
    """Return the beginning and the end of a text that would fill the screen."""
    if len(text) <= _MOST_LETTERS:
        return text
    return f"{text[: _MOST_LETTERS // 2]} … {text[-_MOST_LETTERS // 2 :]}"


def paint(text: str, code: str, *, colour: bool) -> str:
    """Return the text in a colour, where there may be one."""
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text


def count_findings(findings: list[Finding]) -> str:
    """Return how many findings there are of each severity, as words."""
    numbers = {
        severity: sum(finding.severity == severity for finding in findings)
        for severity in (ERROR, WARNING, NOTE)
    }
    said = [f"{n} {word}{'' if n == 1 else 's'}" for word, n in numbers.items() if n]
    return ", ".join(said) or "nothing is wrong"


def to_json(finding: Finding) -> Mapping[str, object]:
    """Return a finding as JSON has it."""
    return {
        "severity": finding.severity,
        "kind": finding.kind,
        "file": finding.source,
        "line": finding.line or None,
        "name": finding.name,
        "sentence": finding.sentence,
        "nearest": finding.nearest,
        "hint": finding.advice,
    }
