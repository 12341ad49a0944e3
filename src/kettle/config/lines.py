"""From the lines of a file to the statements' lines: continuations, comments, here-documents.

Shared by the configuration and the submit language. What a line means is `reader.py`.
"""

from __future__ import annotations

import re

from kettle.octets import BLANKS
from kettle.patterns import late_pattern

# What is a setting or a statement of its own, where a part of a value is possible as well.
BEGINNING = late_pattern(
    r"[+-]?[A-Za-z_][\w.$()]*(?=\s*(?:[:@]|\+[,;|&*]{0,2})?=(?![=?!]))|"
    r"queue(?=\s*(?:$|\d|\w+(?:\s*,\s*\w+)*\s+(?:in|from|matching)\b))|"
    r"use(?=\s+\w+\s*:)|include(?=\b[^=:]*:)|(?:error|warning)(?=\s*:)|"
    r"(?:if|elif)(?=\s)|(?:else|endif)(?=\s*$)",
    re.IGNORECASE,
)
# What is said of such a line behind a comment inside a continued value, by kind.
DOUBTS = {
    "cut": "is no part of the value before it, which the comment above ends",
    "swallowed": "is a part of the value before it, as the comment above ends in a backslash",
}


class LineReader:
    """The logical lines of one text; `number` is the physical line that was read last."""

    def __init__(self, text: str, *, first_line: int = 1) -> None:
        self._lines = text.split("\n")
        # The end of the last line is not another line.
        if self._lines and not self._lines[-1]:
            self._lines.pop()
        self._next = 0
        self._offset = first_line - 1
        # What in the line read last may be meant otherwise: where, what, and the kind of DOUBTS.
        self.doubts: list[tuple[int, str, str]] = []
        self._is_cut = bool(text) and not text.endswith("\n")

    @property
    def number(self) -> int:
        """The physical line that was read last, counted from 1.

        Compat: also of a last line that no line break ends, which the reference counts one less
        (test_the_last_line_has_its_own_number_whether_or_not_it_ends).
        """
        return self._next + self._offset

    @property
    def breaks(self) -> int:
        """The line breaks read so far: what the reference calls a line's number in a complaint.

        It is one less than `number` behind a last line that no line break ends.
        """
        return self.number - (self._is_cut and self._next >= len(self._lines))

    @property
    def physical_lines(self) -> list[str]:
        """All lines as they stand in the text, those read already too."""
        return self._lines

    def next_line(self, end: str = "") -> str | None:
        """Return the next line that is neither blank nor a comment, joined; None at the end.

        Behind a comment inside a continued value `end` is a line of its own and no part of it, and
        so is what begins a statement.

        Compat: the reference leaves the blanks around a last line that no line break ends: those
        behind are part of the value, as a backslash there is, and before the name they are an error
        (test_a_last_line_is_a_line).
        """
        joined = ""
        self.doubts.clear()
        continued = is_commented = is_after_comment = False
        while self._next < len(self._lines):
            line = self._lines[self._next].strip(BLANKS)
            self._next += 1
            if line.startswith("#"):
                # Compat: a comment inside a continued value is skipped, as the manual says; in the
                # reference the value ends with the words of the comment, unless that ends in a
                # backslash (test_a_comment_inside_a_continued_value_is_skipped). What was meant as
                # a statement behind it is one here, too
                # (test_a_comment_at_the_end_of_a_continued_value_hides_no_statement).
                is_commented = continued
                is_after_comment |= continued and not line.endswith("\\")
                continue
            if is_commented and line and self._begins(line, end, cut=is_after_comment):
                self._next -= 1
                line = ""
            is_commented = is_after_comment = False
            if line.endswith("\\"):
                joined += line[:-1]
                continued = True
                continue
            joined += line
            if joined or continued:
                if joined.strip(BLANKS):
                    return joined
                joined, continued = "", False
                self.doubts.clear()
        return joined if joined.strip(BLANKS) else None

    def _begins(self, line: str, end: str, *, cut: bool) -> bool:
        """Tell whether a line behind a comment ends the value before it, and note what is odd."""
        found = BEGINNING.match(line)
        if found is not None:
            self.doubts.append((self.number, found.group(), "cut" if cut else "swallowed"))
        return cut and (found is not None or line == end)

    def next_physical(self) -> str | None:
        """Return the next line as it stands in the text, None at the end."""
        if self._next >= len(self._lines):
            return None
        self._next += 1
        return self._lines[self._next - 1]

    def rest(self) -> list[str]:
        """Return the physical lines not read yet, and read them."""
        lines = self._lines[self._next :]
        self._next = len(self._lines)
        return lines

    def here_document(self, tag: str) -> str | None:
        """Return the lines up to `@tag`, joined by newlines; None if the tag never comes."""
        end = "@" + tag
        collected: list[str] = []
        while (line := self.next_line(end)) is not None:
            if line == end:
                return "\n".join(collected)
            collected.append(line)
        return None
