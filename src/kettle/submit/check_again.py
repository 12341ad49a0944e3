"""What else is wrong with a description beyond the first fault, for which it is refused.

A statement that is at fault is left out, and the rest is looked at again. Pure: whoever calls says
how a text becomes a submission.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kettle.config.finding import ERROR, Finding, order_findings
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.submit.build import Submission
from kettle.submit.check import Report, check_submission
from kettle.submit.registry import attribute_of

# Limit: statements that are left out; whoever has more mends these first.
MOST_LEFT_OUT = 20
# What leaving a statement out may bring is not told: what nothing uses any more, and warnings.
_TOLD = frozenset({"value", "syntax", "missing"})
_HERE_DOCUMENT = late_pattern(r"@=\s*(\w+)\s*$", re.ASCII)


def check_description(
    make: Callable[[str], Submission],
    text: str,
    refuse: Callable[[int | None], object] | None = None,
) -> Report:
    """Return what a description would do, with all of its faults.

    `make` prepares a text; `refuse` is that of `check_submission`. The report is the one of the
    text as it is; further faults are added to its findings.
    """
    submission = make(text)
    # What is included stands elsewhere, and stays as it is.
    file = submission.reader.place.source
    first = report = check_submission(submission, refuse)
    found = {_key(finding): finding for finding in first.findings}
    left_out = set[str]()
    for _ in range(MOST_LEFT_OUT):
        fault = report.refusal
        # What lacks is at no command's line: with others left out it says nothing.
        if fault is None or not fault.name or fault.source != file:
            break
        shorter = without_statement(text, fault.line)
        if shorter == text:
            break
        text = shorter
        left_out.add(attribute_of(fault.name).lower())
        report = check_submission(make(text), refuse)
        if attribute_of(report.lacks).lower() in left_out:
            # It is there, and was told of.
            break
        for finding in report.findings:
            is_told = finding.severity == ERROR and finding.kind in _TOLD and finding.name
            if is_told:
                found.setdefault(_key(finding), finding)
    first.findings = order_findings(list(found.values()))
    return first


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.source, finding.line, finding.kind, finding.name, finding.sentence


def without_statement(text: str, line: int) -> str:
    """Return a description whose statement at a line, counted from 1, is blank lines.

    A statement has the lines that go on with a backslash, or up to the end of its here-document.
    """
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return text
    first = last = line - 1
    while first and lines[first - 1].rstrip(BLANKS).endswith("\\"):
        first -= 1
    while last + 1 < len(lines) and lines[last].rstrip(BLANKS).endswith("\\"):
        last += 1
    opened = _HERE_DOCUMENT.search(lines[last])
    if opened is not None:
        end = f"@{opened[1]}"
        last = next(
            (at for at in range(last + 1, len(lines)) if lines[at].strip(BLANKS) == end), last
        )
    lines[first : last + 1] = [""] * (last + 1 - first)
    return "\n".join(lines)
