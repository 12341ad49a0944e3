"""What is odd about a whole configuration, as a list of findings with file and line.

Which values a knob takes and which names are slips of the pen is decided in `declared.py`, which
expressions can never be true in `classad/never.py`, which spellings are old in `deprecated.py`.
Nothing is changed, and nothing of it is forgiven.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from kettle.classad.call_faults import find_call_faults
from kettle.classad.never import why_never_true
from kettle.config import knob
from kettle.config.cross_check import find_cross_faults, make
from kettle.config.declared import (
    explain_wrong,
    find_meant,
    find_strangers,
    find_wrong,
    knobs_of,
)
from kettle.config.deprecated import find_newer
from kettle.config.families import families_of, is_policy
from kettle.config.finding import ERROR, NOTE, WARNING, Finding, order_findings
from kettle.config.lines import DOUBTS
from kettle.config.loading import AUTOMATIC
from kettle.config.odd_lines import find_odd_lines
from kettle.config.origin import Origin
from kettle.config.remarks import innermost, render, sentence
from kettle.config.sources import is_command
from kettle.config.templates import TEMPLATES
from kettle.errors import ConfigError, Form, Remark
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.config.store import Config

_WORD = late_pattern(r"[A-Za-z_]\w*")
_ASSIGNED = late_pattern(r"\s*[\w.$()]+\s*(?:[+:]?|\+?[,;|&*]{0,2}|@)=(?P<value>.*)", re.DOTALL)
# What is found of one word of a list, of which others may be wrong, too.
_OF_WORDS = frozenset({"entry", "word", "undefined"})
# Limit: characters of a reason that a finding shows.
_MOST_SHOWN = 240


def check_config(
    config: Config, more: Callable[[Config], Iterable[Finding]] | None = None
) -> list[Finding]:
    """Return what is odd about a configuration, in the order of its files and lines.

    `more` finds what only readers of other languages can judge.
    """
    config = config.remembering()
    strict = config.strictly()
    findings = [*_find_said(strict), *_find_wrong_values(strict), *_find_names(strict)]
    findings += _find_senseless(strict, {finding.name.upper() for finding in findings})
    findings += find_cross_faults(config)
    findings += _find_lines(config)
    if more is not None:
        findings += more(config)
    findings = _without_doubles([_where_used(config, finding) for finding in findings])
    order = {name: index for index, name in enumerate(config.files)}
    findings.sort(key=lambda finding: order.get(finding.source, len(order)))
    return order_findings(findings)


def _where_used(config: Config, finding: Finding) -> Finding:
    """Return a finding with a place in a file: that of the setting that uses a template by itself.

    What such a template sets has that setting's name in place of a file's.
    """
    origin = config.origin(finding.source) if finding.source[:9].upper() == AUTOMATIC else None
    if origin is None:
        return finding
    return finding._replace(source=origin.source, line=origin.line)


def _without_doubles(findings: list[Finding]) -> list[Finding]:
    """Leave out notes on settings of which more is told, and what is told of a value twice."""
    severe = {_key(finding) for finding in findings if finding.severity != NOTE}
    values: set[tuple[str, int, str]] = set()
    kept = []
    for finding in findings:
        key = _key(finding)
        # The rest of the check says it in words of its own, of what a knob does not take.
        is_told = key in values and finding.kind not in _OF_WORDS
        if not is_told and not (finding.severity == NOTE and key in severe):
            kept.append(finding)
        if finding.kind == "value":
            values.add(key)
    return kept


def _key(finding: Finding) -> tuple[str, int, str]:
    return finding.source, finding.line, finding.name.upper()


def broken_config(error: ConfigError) -> Finding:
    """Return the finding for a configuration that could not be read at all."""
    remarks = error.remarks or (Remark(error.message),)
    source, line = innermost(remarks, error.source, error.line)
    # Which file and line it is, is said by the finding.
    text = sentence(remarks, "; ") or error.message
    return Finding(ERROR, "syntax", source, line, "", text, hint=error.hint)


def _find_said(config: Config) -> Iterator[Finding]:
    """Find what the reading of the files complained of: older syntax, and their own warnings."""
    for remark in (*config.warnings, *config.problems):
        if remark.form == Form.PLACED:
            kind, hint = ("deprecated", "write = instead") if remark.is_obsolete else ("said", "")
            said = remark.text.strip(BLANKS)
            yield Finding(WARNING, kind, remark.source, remark.line, "", said, hint=hint)
        else:
            first = config.files[0] if config.files else ""
            yield Finding(WARNING, "said", first, 0, "", render(remark))


def _find_lines(config: Config) -> Iterator[Finding]:
    for name in config.files:
        try:
            lines = config.sources.read_text(name).splitlines()
        except (OSError, ValueError):
            # It was a command, or is gone.
            continue
        # What comments make of lines behind them has the reader said.
        yield from (one for one in find_odd_lines(lines, name) if one.kind not in DOUBTS)


def _find_wrong_values(config: Config) -> Iterator[Finding]:
    """Find values that their knobs do not take, and macros that refer to each other in a ring."""
    told = set()
    for name, error in find_wrong(config):
        told.add(name)
        origin = config.origin(name) or Origin(error.source, error.line)
        said = error.complaint
        yield Finding(ERROR, "value", origin.source, origin.line, name, said, hint=error.hint)
    for macro in config.entries():
        _, dot, plain = macro.name.rpartition(".")
        if dot and config.plain_name(macro.name) not in told:
            wrong = explain_wrong(config, plain, macro.text)
            if wrong:
                yield make(macro, ERROR, "value", wrong)


def _find_names(config: Config) -> Iterator[Finding]:
    """Find names that nothing reads, and those that have a newer spelling."""
    for macro in config.entries():
        newer, sentence = find_newer(macro.name.rpartition(".")[2])
        if newer and not macro.origin.template:
            said = f"{macro.name} {sentence}"
            yield make(macro, WARNING, "deprecated", said, newer, f"write {newer}")
    used = _find_words(config)
    for macro in find_strangers(config):
        plain = macro.name.upper().rpartition(".")[2]
        if macro.origin.template or plain in used or find_newer(plain)[0]:
            continue
        families = families_of(plain)
        if any(family.is_sure for family in families):
            continue
        near = find_meant(config, macro.name)
        if near:
            yield make(macro, WARNING, "unknown", f"nothing reads {macro.name}", near)
        elif not families:
            yield make(macro, NOTE, "unused", f"nothing reads {macro.name}, and nothing uses it")


def _find_words(config: Config) -> set[str]:
    """Return, in upper case, every word by which the configuration or our templates may use a name.

    That is more than what is mentioned as a macro (`mentions.py`): lists and conditions have names
    as plain words, and a text that was replaced later used some, so the files are read again. What
    stands on the left of an assignment is none.
    """
    texts = [entry.text for entry in config.entries()]
    texts += [text for group in TEMPLATES.values() for text in group.values()]
    for path in config.files:
        if not is_command(path):
            try:
                texts.append(_without_names(config.sources.read_text(path)))
            except (OSError, ValueError):
                continue
    return {word.upper() for text in texts for word in _WORD.findall(text)}


def _without_names(text: str) -> str:
    """Return a file's text without comments and without the names that it sets."""
    kept = []
    for line in text.splitlines():
        if line.lstrip(BLANKS).startswith("#"):
            continue
        match = _ASSIGNED.fullmatch(line)
        kept.append(match["value"] if match else line)
    return "\n".join(kept)


def _find_senseless(config: Config, told: set[str]) -> Iterator[Finding]:
    """Find expressions with calls that are always an error, and policies that are never true.

    What is wrong otherwise is told already. Those of our own templates are as they are meant.
    """
    for macro in config.entries():
        plain = macro.name.upper().rpartition(".")[2]
        policy = is_policy(plain)
        if macro.origin.template or plain in told or not (policy or _is_expression(plain)):
            continue
        try:
            expr = knob.parse_expression_text(config.expand(macro.text))
        except ConfigError as error:
            if policy:
                sentence = f"{macro.name} is no expression: {error.message}"
                yield make(macro, ERROR, "value", sentence)
            continue
        if expr is None:
            continue
        faults = find_call_faults(expr)
        for fault in faults:
            yield make(macro, WARNING, "call", f"in {macro.name}, {fault.sentence}", fault.nearest)
        why = why_never_true(expr) if policy and not faults else ""
        if why:
            sentence = f"{macro.name} can never be true: {_shorten(why)}"
            yield make(macro, WARNING, "never", sentence)


def _is_expression(name: str) -> bool:
    return any(row.kind == knob.ExpressionKnob.kind for row in knobs_of(name))


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
