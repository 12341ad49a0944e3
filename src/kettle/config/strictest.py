"""What counts for a knob that forbids something, or limits it, where nobody can read its value.

Whoever is at work goes on with the value from before. Where there was none that could be read, the
default of such a knob may allow what the administrator meant to forbid: then the answer is the one
that allows least, which its row says (`Knob.strictest`, `MadeUp.strictest`). All others have their
defaults.
"""

from __future__ import annotations

from kettle.config.families import families_of
from kettle.config.strictest_texts import STRICTEST


def strictest(name: str) -> str | None:
    """Return the text that allows least for a knob, None for one that restricts nothing."""
    key = name.upper()
    found = STRICTEST.get(key)
    if found is not None:
        return found
    return next((row.strictest for row in families_of(key) if row.strictest), None)
