"""Texts of users and peers in an event: none of them may end its line, or the event."""

from __future__ import annotations

from kettle.octets import words_of

# Limit: texts from users are cut to what the reference's readers take as one line.
MAX_TEXT = 8191


def one_line(text: str) -> str:
    """Return a text that stays on its line, whatever a user or a peer put into it."""
    if "\n" in text or "\r" in text:
        text = " ".join(words_of(text))
    # Blanks at the end are lost at reading, so that a cut may not leave any.
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT].rstrip()


# How much of a line that is wrong is told, in letters.
_SHOWN = 60


def quoted(line: str) -> str:
    """Return a wrong line for a message: its beginning, and how many letters follow that."""
    left = len(line) - _SHOWN
    return repr(line) if left <= 0 else f"{line[:_SHOWN]!r} and {left:,} more letters"
