"""Which names an expression of a description mentions, whether it parses or not."""

from __future__ import annotations

import re

from kettle.patterns import late_pattern

_STRING = late_pattern(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)')
_NAME = late_pattern(
    r"(?<![\w.])(?:(MY|TARGET)\s*\.\s*)?([A-Za-z_]\w*)(?!\s*\()(?!\w)", re.IGNORECASE
)


def mentioned_names(text: str) -> set[tuple[str, str]]:
    """Return the names in an expression with their scope, all in lower case."""
    bare = _STRING.sub('""', text)
    return {(scope.lower(), name.lower()) for scope, name in _NAME.findall(bare)}
