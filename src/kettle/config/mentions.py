"""Which names a text of the configuration asks for in vain, and where else but in values that is.

A mention with a default asks for nothing, and a default counts only where its name has no value. A
function takes a name or a text: what has the form of a name is one. Part of the check of a whole
configuration (`cross_check.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kettle.config.macro_search import MacroSearch, Reference
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.config.origin import Asked, Origin
    from kettle.config.store import Config

# What `$(NAME)` may ask for and no setting is: filled in where it is used, some at submission.
_LIVE = frozenset(
    {"DOLLAR", "LOCALNAME", "SUBSYSTEM", "SUBSYS", "ITEMINDEX", "ROW", "STEP", "ITEM", "NODE"}
    | {"CLUSTER", "CLUSTERID", "PROCESS", "PROCID", "JOBID", "SUBMIT_FILE", "SUBMIT_TIME"}
)
# These take the name of a macro first; what they are given otherwise is computed.
_TAKES_NAME = frozenset({"INT", "REAL", "STRING", "SUBSTR", "EVAL"})
_NAME = late_pattern(r"\s*([A-Za-z_][\w.]*)\s*")
_WORDS = frozenset({"TRUE", "FALSE", "UNDEFINED", "ERROR"})
# Limit: defaults in defaults that are looked at.
_DEEPEST = 20


def find_missing(text: str, is_set: Callable[[str], bool]) -> list[str]:
    """Return the names that an expansion of the text asks for and that are not set, each once."""
    missing: dict[str, None] = {}
    waiting = [(text, 0)]
    while waiting:
        part, depth = waiting.pop(0)
        for found in _references(part):
            name = _asked_name(found)
            if not name or name.upper() in _LIVE or is_set(name):
                continue
            if not found.default_start:
                missing[name] = None
            elif depth < _DEEPEST:
                waiting.append((found.default(part), depth + 1))
    return list(missing)


def _references(text: str) -> Iterator[Reference]:
    search = MacroSearch(text)
    while (found := search.next()) is not None:
        yield found
        # What stands in the brackets of a function is a macro by itself.
        search.position = found.end if not found.function else found.start + 2


def _asked_name(found: Reference) -> str:
    """Return the name that a macro asks for, empty if for none: also `$ENV` asks for no setting."""
    if not found.function:
        return found.name if _NAME.fullmatch(found.name) else ""
    is_file_name = found.function[0] == "F" and found.function not in _TAKES_NAME
    if not (is_file_name or found.function in _TAKES_NAME):
        return ""
    match = _NAME.fullmatch(found.name.partition(",")[0])
    return "" if match is None or match[1].upper() in _WORDS else match[1]


def find_missing_then(config: Config, asked: Asked) -> list[tuple[str, str]]:
    """Return each name that a statement has asked for in vain, with why it was not set.

    A statement acts where it stands, other than a value, which counts when it is asked for.
    """
    missing: dict[str, str] = {}

    def is_set(name: str) -> bool:
        missing[name] = _why_missing(config, name, asked.origin)
        return not missing[name]

    return [(name, missing[name]) for name in find_missing(asked.text, is_set)]


def _why_missing(config: Config, name: str, here: Origin) -> str:
    found = config.find(name)
    if found is None:
        return f"nothing sets {name}"
    later = found.origin.source == here.source and found.origin.line > here.line
    if later and not config.was_set_again(name):
        return f"{name} is set only on line {found.origin.line}"
    return ""
