"""Since when an expression has its value (STARTD_LATCH_EXPRS): `<Name>Value` and `<Name>Time`.

`use POLICY : DESKTOP` asks so how long the machine has been busy with others' work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.digits import MAX_INTEGER

# What has a time of its own.
_OURS = "numdynamicslots"
# Limit: each is evaluated in each slot at every look.
_MOST = 100


@dataclass(slots=True)
class Latch:
    """An expression's value, None where it has none, and when it became that; 0: at no time."""

    value: int | None = None
    changed_at: int = 0


def latch_names(words: Sequence[str]) -> list[str]:
    """Return which expressions are looked at, each once."""
    found: dict[str, str] = {}
    for word in words:
        if word.lower() != _OURS:
            found.setdefault(word.lower(), word)
    return list(found.values())[:_MOST]


def look(latches: dict[str, Latch], names: Sequence[str], ad: ClassAd, today: int) -> None:
    """Evaluate the expressions in a slot's ad, and note which have changed."""
    for gone in latches.keys() - set(names):
        del latches[gone]
    for name in names:
        latch = latches.setdefault(name, Latch())
        found = ad.evaluate(name)
        value = None
        if isinstance(found, (bool, int, float)) and abs(found) <= MAX_INTEGER:
            value = int(found)
        if value != latch.value:
            latch.value, latch.changed_at = value, today


def publish(latches: dict[str, Latch], ad: ClassAd) -> None:
    """Put values and times into a slot's ad; those of a constant have no value of their own."""
    for name, latch in latches.items():
        text = ad.text(name)
        constant = text is None or text.strip().lower() in {"true", "false"} or text.isdecimal()
        if latch.value is not None and not constant:
            ad[f"{name}Value"] = latch.value
        if latch.changed_at:
            ad[f"{name}Time"] = latch.changed_at
