"""What the qualifiers of `condor_q -better-analyze:WORDS` and `-reverse-analyze` ask for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.structs import Struct
from kettle.tools.queue.clauses import SHOW_ALL

if TYPE_CHECKING:
    from kettle.tools.queue.wish import Wish


class AnalysisWish(Struct):
    """Which side is explained, and how much is said."""

    # Each condition of Requirements, also where nothing is wrong.
    detailed: bool = False
    # A row for each group of jobs, or for each slot.
    summary: bool = False
    # The slots, not the jobs.
    reverse: bool = False
    # The groups that no slot takes, alone.
    unmatchable: bool = False
    priority: bool = False
    # The names of slots behind their counts.
    names: bool = False
    # The bits of `clauses`.
    details: int = 0

    @property
    def tells_autoclusters(self) -> bool:
        """Whether -verbose tells what the schedd said of autoclusters, not the groups made here."""
        return not (self.reverse or self.summary or self.unmatchable)


# The words, in the order in which they are looked for, and how much of each is enough.
_WORDS = (
    ("summary", 1),
    ("reverse", 1),
    ("priority", 2),
    ("noprune", 3),
    ("diagnostic", 4),
    ("show-work", 4),
    ("slot-exprs", 4),
    ("ifthenelse", 2),
    ("memory", 3),
)


def read_analysis(wish: Wish) -> AnalysisWish:
    """Return what the command line's options ask for together.

    Compat: `diagnostic`, `show-work` and `memory`, which show the reference at work, change
    nothing, nor does `ifthenelse` (test_words_that_show_the_reference_at_work_change_nothing).
    """
    found = AnalysisWish(
        names="verbose" in wish.flags,
        unmatchable="unmatchable" in wish.flags,
        priority=bool(wish.priorities_file),
    )
    for option, qualifiers in wish.analyses:
        if option == "reverse-analyze":
            found.reverse, found.priority = True, False
            found.details |= _bits(qualifiers)
            continue
        found.detailed |= option == "better-analyze"
        for word in re.split(r"[,:]", qualifiers):
            _take(found, word.strip())
    if found.details and found.reverse:
        found.detailed = True
    if "nouserprios" in wish.flags:
        found.priority = False
    return found


def _take(found: AnalysisWish, word: str) -> None:
    name = next(
        (name for name, least in _WORDS if len(word) >= least and name.startswith(word.lower())),
        "",
    )
    match name:
        case "summary":
            found.summary, found.priority = True, False
        case "reverse":
            found.reverse, found.priority = True, False
        case "priority":
            found.priority = True
        case "noprune":
            found.details |= SHOW_ALL
        case "":
            found.details |= _bits(word)
        case _:
            pass


def _bits(text: str) -> int:
    found = 0
    for number in re.split(r"[,+]", text):
        digits = "".join(re.findall(r"\d", number))
        found |= int(digits[:9]) if digits else 0
    return found
