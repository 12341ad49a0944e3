"""Lines whose end means something else than it looks like, in all languages made of statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.config.finding import WARNING, Finding
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SETTING = late_pattern(
    r"[+-]?[A-Za-z_][\w.]*(?=\s*[+:@]?=(?![=?!]))|(?:queue|use|include)\b(?!\s*=)", re.IGNORECASE
)


def find_odd_lines(lines: Sequence[str], source: str) -> Iterator[Finding]:
    """Yield what looks like a setting and is a part of the one before, and a useless backslash.

    A comment inside a continued value does not end it; a last line cannot be continued.
    """
    begun = comment = 0
    for number, line in enumerate((line.strip(BLANKS) for line in lines), 1):
        if line.startswith("#"):
            comment = number if begun else 0
            continue
        found = _SETTING.match(line) if comment else None
        if found is not None:
            text = (
                f"belongs to the value that begins on line {begun}: the comment on line {comment} "
                "does not end it, a blank line does"
            )
            yield Finding(WARNING, "swallowed", source, number, found.group(), text)
        begun = (begun or number) if line.endswith("\\") else 0
        comment = 0
    if begun and not comment:
        text = "the last line ends in a backslash, and nothing continues it"
        yield Finding(WARNING, "backslash", source, len(lines), "\\", text)
