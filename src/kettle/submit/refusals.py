"""Where a value stands that was refused, and the nearest right one.

The reference's words for a wrong value name neither file nor line. Every step asks for its commands
through `JobBuilder`, which remembers them; whoever catches a refusal asks here which of those it
speaks of, and adds the answer as the error's hint, so that the reference's words stay as they are.
"""

from __future__ import annotations

import re
import signal
from functools import cache
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse, Notification
from kettle.errors import ConfigError
from kettle.patterns import late_pattern
from kettle.submit import grid, program, registry, transfer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kettle.errors import LanguageError
    from kettle.submit.macros import SubmitMacros, Variable

UNIVERSES = ("docker", "container", *(one.name.lower() for one in JobUniverse))
SIGNALS = tuple(one.name for one in signal.Signals if one < signal.SIGRTMIN)
# What a command may say, where it is one of a few words.
WORDS: dict[str, tuple[str, ...]] = {
    "universe": tuple(
        name for name in UNIVERSES if program.NAMES.get(name) not in program.UNSUPPORTED
    ),
    "remote_universe": UNIVERSES,
    "remote_remote_universe": UNIVERSES,
    "notification": tuple(one.name.lower() for one in Notification),
    "should_transfer_files": tuple(transfer.SHOULD),
    "when_to_transfer_output": tuple(transfer.WHEN),
    "kill_sig": SIGNALS,
    "remove_kill_sig": SIGNALS,
    "hold_kill_sig": SIGNALS,
    "checkpoint_exit_signal": SIGNALS,
    "grid_resource": tuple(grid.GRID_TYPES),
    "skip_filechecks": ("warn", "true", "false"),
}
TRUTHS = ("true", "false", "yes", "no")
# Limit: the signs of a value that a hint shows.
_LONGEST = 60
_IN_QUOTES = late_pattern(r"'([^'\n]*)'|\"([^\"\n]*)\"")
# Names shorter than this stand in other words by chance ("hold" in "should").
_SHORTEST_PART = 6


def hint_for(error: LanguageError, asked: Sequence[str], macros: SubmitMacros) -> str:
    """Return file, line and text of what a refusal speaks of; empty where it is nothing given.

    `asked` are the names that were looked at until then, the last one last.
    """
    circle = re.search(r"refers to itself: (.*)", error.message)
    if circle is not None:
        lines = (_told(macros, name, error) for name in dict.fromkeys(circle[1].split(" -> ")))
        return "\n".join(filter(None, lines))
    best, most = "", (0, 0, 0)
    for place, name in enumerate(asked):
        score = _nearness(error, _variable(macros, name), macros)
        if score and (score, len(name), place) > most:
            best, most = name, (score, len(name), place)
    if not best and isinstance(error, ConfigError) and asked:
        best = asked[-1]
    return _told(macros, best, error) if best else ""


def nearest_value(command: str, text: str, others: tuple[str, ...] = ()) -> str:
    """Return the word closest to a misspelt one of a command that takes few; else empty.

    `others` are the words of a command that is not known to take few.
    """
    words = _words_of(command) or others
    word = text.split()[0] if command == "grid_resource" and text.split() else text
    known = {one.lower(): one for one in words}
    if not known or word.lower() in known:
        return ""
    import difflib  # for those alone who mistype

    for key in (word.lower(), f"sig{word.lower()}"):
        if key in known:
            return known[key]
    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return known[close[0]] if close else ""


@cache
def _words_of(command: str) -> tuple[str, ...]:
    for row in registry.all_commands():
        names = (row.name, *row.aliases, row.attribute)
        if command.lower() in (name.lower() for name in names if name):
            return WORDS.get(row.name, ())
    return WORDS.get(command.lower(), ())


def _variable(macros: SubmitMacros, name: str) -> Variable | None:
    key = name.upper()
    return macros.row_variables.get(key) or macros.variables.get(key)


def _nearness(error: LanguageError, variable: Variable | None, macros: SubmitMacros) -> int:
    """Return how much of a variable a message shows.

    Its text counts 2, the text or a word of it in quotes 2, its name 1.
    """
    if variable is None:
        return 0
    text = _expanded(variable, macros)
    has_text = text and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", error.message)
    quoted = {word for pair in _IN_QUOTES.findall(error.message) for word in pair if word}
    is_quoted = text in quoted or not quoted.isdisjoint(re.split(r"[\s,]+", text))
    # That it is an error names no command of that name.
    said = error.message.replace("ERROR:", "").replace("Parse error in", "")
    is_named = any(_is_named(name, said) for name in _all_names(variable.name))
    return 2 * bool(has_text) + 2 * is_quoted + is_named


def _all_names(name: str) -> Iterable[str]:
    bare = name[3:] if name[:3].upper() == "MY." else name
    return _names_of_rows().get(bare.lower(), [bare])


@cache
def _names_of_rows() -> dict[str, list[str]]:
    """Return all names of a command, its attribute with them, by each of them in small letters."""
    found: dict[str, list[str]] = {}
    for row in registry.all_commands():
        names = [name for name in (row.name, *row.aliases, row.attribute) if name]
        for name in names:
            found.setdefault(name.lower(), names)
    return found


def _is_named(name: str, message: str) -> bool:
    """Tell whether a message has a name, however it is written: job_lease, JobLease, job lease."""
    if re.search(rf"\b{re.escape(name)}\b", message, re.IGNORECASE):
        return True
    joined = re.sub(r"[\s_]", "", message).lower()
    bare = name.replace("_", "").lower()
    return len(bare) >= _SHORTEST_PART and bare in joined


def _expanded(variable: Variable, macros: SubmitMacros) -> str:
    try:
        return macros.expand(variable.text).strip() if "$" in variable.text else variable.text
    except ConfigError:
        return variable.text


def _told(macros: SubmitMacros, name: str, error: LanguageError) -> str:
    variable = _variable(macros, name)
    if variable is None:
        return ""
    shown = variable.text if len(variable.text) <= _LONGEST else f"{variable.text[:_LONGEST]}…"
    shown = shown.replace("\n", " ")
    given = f"+{name[3:]}" if name[:3].upper() == "MY." else variable.name
    line = f"{variable.origin}: {given} = {shown}"
    if isinstance(error, ConfigError):
        return f"       {line}"
    is_truth = error.message.endswith("must eval to a boolean.")
    near = nearest_value(variable.name, _expanded(variable, macros), TRUTHS if is_truth else ())
    return f"       {line}. Did you mean '{near}'?" if near else f"       {line}"
