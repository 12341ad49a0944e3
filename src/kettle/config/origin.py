"""Where a text was set."""

from __future__ import annotations

from kettle.named_tuples import NamedTuple

DEFAULT_SOURCE = "<Default>"
DETECTED_SOURCE = "<Detected>"
ENVIRONMENT_SOURCE = "<Environment>"
COMMAND_LINE_SOURCE = "<Command line>"


class Origin(NamedTuple):
    """A file name or a word in angle brackets, the line (0 for none), and the template used."""

    source: str
    line: int = 0
    template: str = ""

    def __str__(self) -> str:
        text = f"{self.source}, line {self.line}" if self.line else self.source
        return f"{text}, {self.template}" if self.template else text


class Asked(NamedTuple):
    """A statement of which is remembered what a check needs: its word, its text and its place."""

    word: str
    text: str
    origin: Origin
