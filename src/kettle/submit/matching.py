"""The names that the patterns of `queue … matching` find, and what is told of patterns.

A description says by macros of its own what becomes of a pattern that finds nothing, of a name
that is found again, and whether folders count (`read_match_rules`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kettle.errors import Remark, SubmitError
from kettle.structs import Struct
from kettle.submit.arguments import LONGEST_PATTERN
from kettle.submit.job import evaluate
from kettle.submit.macros import STRICT_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kettle.submit.sources import SubmitSources

# The modes of `use strict : MODE`, and what of the names is true then.
STRICT_MODES = {
    "true": "true true true false true",
    "false": "false false false false false",
    "harsh": "true true true true true",
}
# What SubmitMatchDirectories may say, and the word of a queue statement that means the same.
DIRECTORIES = {"": "", "yes": "", "true": "", "no": "files", "false": "files", "never": "files"}
DIRECTORIES["only"] = "dirs"


class MatchRules(Struct):
    """What the names are, and what is told of patterns."""

    # `files`, `dirs`, or anything else for both.
    kind: str = ""
    warn_empty: bool = True
    fail_empty: bool = False
    warn_duplicates: bool = True
    allow_duplicates: bool = False


class Told(Protocol):
    """Who is told of odd patterns."""

    warnings: list[Remark]


def strict_template(mode: str) -> str | None:
    """Return the statements of `use strict : MODE`, None if there is no such mode."""
    values = STRICT_MODES.get(mode.lower())
    if values is None:
        return None
    return "\n".join(
        f"{name}={value}" for name, value in zip(STRICT_NAMES, values.split(), strict=True)
    )


def read_match_rules(
    kind: str, setting: Callable[[str, str], str | None], error: Callable[[str], SubmitError]
) -> MatchRules:
    """Return what a description wants of its patterns; raise SubmitError.

    `kind` is the queue statement's own word, which counts before SubmitMatchDirectories.
    """

    def is_wanted(name: str, other: str, default: bool) -> bool:
        text = setting(name, other)
        if not text:
            return default
        value = evaluate(text)
        if isinstance(value, (bool, int, float)):
            return bool(value)
        raise SubmitError(f"{name}={text} is invalid, must eval to a boolean.")

    warn = is_wanted("SubmitWarnEmptyMatches", "submit_warn_empty_matches", True)
    fail = is_wanted("SubmitFailEmptyMatches", "submit_fail_empty_matches", False)
    again = is_wanted("SubmitWarnDuplicateMatches", "submit_warn_duplicate_matches", True)
    allow = is_wanted("SubmitAllowDuplicateMatches", "submit_allow_duplicate_matches", False)
    folders = setting("SubmitMatchDirectories", "submit_match_directories") or ""
    if folders.lower() not in DIRECTORIES:
        raise error(f"{folders} is not a valid value for SubmitMatchDirectories")
    return MatchRules(kind or DIRECTORIES[folders.lower()], warn, fail, again, allow)


def find_matches(
    patterns: Sequence[str],
    rules: MatchRules,
    told: Told,
    sources: SubmitSources,
    error: Callable[[str], SubmitError],
) -> list[str]:
    """Return the names that match, each once unless the rules allow more; raise SubmitError.

    A pattern that matches nothing is warned of as in the reference: where another one stood before
    it and names are found behind it. It is refused wherever it stands.
    """
    found: list[str] = []
    # Where names stand among those of the first pattern that they match.
    known: dict[str, int] = {}
    waiting: list[Remark] = []
    refused: list[str] = []
    for number, pattern in enumerate(patterns):
        every, wanted = _names_of(pattern, rules.kind, sources)
        if not wanted:
            refused.append(f"'{pattern}'")
        if number and not wanted and rules.warn_empty:
            waiting.append(Remark(f"'{pattern}' does not match any files"))
        if every:
            told.warnings.extend(waiting)
            waiting.clear()
        again = set() if rules.allow_duplicates else known.keys() & set(wanted)
        found += [name for name in wanted if name not in again]
        if rules.warn_duplicates:
            told.warnings += [
                Remark(
                    f"'{name}' matching pattern '{pattern}' is a duplicate of item {known[name]}, "
                    "skipping"
                )
                for name in filter(again.__contains__, wanted)
            ]
        for place, name in enumerate(every):
            known.setdefault(name, place)
    if rules.fail_empty:
        _refuse(refused, told, error)
    return found


def _refuse(patterns: list[str], told: Told, error: Callable[[str], SubmitError]) -> None:
    if patterns:
        told.warnings.clear()
        # The blank at the end is the reference's.
        raise error(f"no matches for pattern(s): {' '.join(patterns)} ")


def _names_of(pattern: str, kind: str, sources: SubmitSources) -> tuple[list[str], list[str]]:
    """Return the names that a pattern matches, and those of them that are wanted."""
    every = sources.glob(pattern) if len(pattern) <= LONGEST_PATTERN else []
    if kind == "dirs":
        # Compat: what has no special letter is taken by the reference also if it is a file
        # (test_a_pattern_for_folders_finds_no_file).
        every = [name for name in every if name.endswith("/")]
    if kind == "files":
        return every, [name for name in every if not name.endswith("/")]
    return every, every
