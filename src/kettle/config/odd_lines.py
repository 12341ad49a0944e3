"""Lines whose end means something else than it looks like, in all languages made of statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kettle.config.finding import WARNING, Finding
from kettle.config.lines import DOUBTS, LineReader
from kettle.octets import BLANKS


def find_odd_lines(lines: Sequence[str], source: str) -> Iterator[Finding]:
    """Yield what a comment makes of the line behind it in a value, and a useless backslash.

    Such a line may be a statement or not (`lines.py`); a last line cannot be continued.
    """
    reader = LineReader("\n".join(lines))
    while reader.next_line() is not None:
        for number, what, kind in reader.doubts:
            yield Finding(WARNING, kind, source, number, what, DOUBTS[kind])
    ends = [line.strip(BLANKS).endswith("\\") for line in lines[-1:]]
    if any(ends) and not lines[-1].lstrip(BLANKS).startswith("#"):
        text = "the last line ends in a backslash, and nothing continues it"
        yield Finding(WARNING, "backslash", source, len(lines), "\\", text)
