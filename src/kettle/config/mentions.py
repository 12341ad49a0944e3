"""Which names a text of the configuration mentions, and which of them it asks for in vain.

A mention with a default asks for nothing, and a default counts only where its name has no value.
Which arguments of functions are names is said by their table (`functions.py`): one that takes a
text as well is never asked in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kettle.config.functions import function_of, parse_real
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
_NAME = late_pattern(r"[A-Za-z_][\w.]*")
# Limit: defaults in defaults that are looked at.
_DEEPEST = 20


def find_mentioned(config: Config) -> set[str]:
    """Return, in upper case, the names that values and statements may ask for, also as defaults.

    A name with a prefix is one without it, too: `$(SCHEDD.NAME)` has the value of NAME where there
    is no other.
    """
    texts = dict.fromkeys(macro.text for macro in config.entries())
    texts.update(dict.fromkeys(asked.text for asked in config.asked))
    names = {
        name.upper()
        for text in texts
        for found in (_references(text, with_defaults=True) if "$" in text else ())
        for name, _ in _names_of(found)
    }
    return names | {name.rpartition(".")[2] for name in names}


def find_missing(text: str, is_set: Callable[[str], bool]) -> list[str]:
    """Return the names that an expansion of the text asks for and that are not set, each once."""
    missing: dict[str, None] = {}
    waiting = [(text, 0)]
    while waiting:
        part, depth = waiting.pop(0)
        for found in _references(part):
            for name, is_needed in _names_of(found):
                if not is_needed or name.upper() in _LIVE or is_set(name):
                    continue
                if not found.default_start:
                    missing[name] = None
                elif depth < _DEEPEST:
                    waiting.append((found.default(part), depth + 1))
    return list(missing)


def _references(text: str, *, with_defaults: bool = False) -> Iterator[Reference]:
    search = MacroSearch(text)
    while (found := search.next()) is not None:
        yield found
        # What stands in the brackets of a function is a macro by itself.
        search.position = found.start + 2 if found.function or with_defaults else found.end


def _names_of(found: Reference) -> Iterator[tuple[str, bool]]:
    """Yield each name that a macro may ask for, and whether it needs it; `$ENV` asks for none."""
    if not found.function:
        if _NAME.fullmatch(found.name):
            yield found.name, True
    elif found.function != "ENV":
        for name, takes in function_of(found.function).names(found.name):
            if _NAME.fullmatch(name):
                yield name, takes.is_needed and parse_real(name) is None


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
