"""Every knob that is declared, found by walking the tables: for checks of a whole configuration.

Who reads a knob names it and needs none of this; daemons that take over a new configuration, and
tools that judge one, do.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kettle.config import knobs
from kettle.config.bare_names import BARE_NAMES
from kettle.config.families import families_of
from kettle.config.forgiving import placed
from kettle.config.knob import (
    Family,
    Knob,
    boolean,
    expression,
    integer,
    real,
    string,
)
from kettle.config.mentions import find_mentioned
from kettle.config.table_readers import READERS
from kettle.config.unread import find_area
from kettle.errors import ConfigError
from kettle.levels import CONFIGURED
from kettle.nearest import LOOSE, Nearest, nearest_of
from kettle.octets import BLANKS

if TYPE_CHECKING:
    from kettle.config.store import Config, Macro


# With this module, and not when somebody asks: a daemon's files may have been replaced by then.
_TABLES = [
    importlib.import_module(f"{knobs.__name__}.{module.name}")
    for module in pkgutil.iter_modules(knobs.__path__)
]

BARE_KINDS: dict[str, Callable[..., Knob[Any]]] = {
    "boolean": boolean,
    "expression": expression,
    "integer": integer,
    "real": real,
    "text": string,
}
# How much of two names is the same, of which one is two letters longer and the other a slip.
_ALIKE = 0.9
_LISTS_OF_RIGHTS = ("ALLOW_", "DENY_")


def declared_knobs() -> dict[str, Knob[Any]]:
    """Return all knobs by upper-case name."""
    return dict(_declared())


@functools.cache
def _declared() -> dict[str, Knob[Any]]:
    return {row.name.upper(): row for row in _rows() if isinstance(row, Knob)}


def families_of_knobs() -> list[Family[Any]]:
    """Return all rows that stand for the knobs of a pattern."""
    return [row for row in _rows() if isinstance(row, Family)]


@functools.cache
def _patterns() -> tuple[tuple[re.Pattern[str], Family[Any]], ...]:
    return tuple((_pattern(row), row) for row in families_of_knobs())


def names_of_levels() -> set[str]:
    """Return the names of the knobs that there are for each level or direction."""
    patterns = [row.pattern for row in families_of_knobs()]
    return {
        pattern.replace(field, context)
        for pattern in patterns
        for field in ("{level}", "{context}")
        if field in pattern
        for context in CONFIGURED
    }


def _rows() -> list[object]:
    """Return everything that the tables of knobs hold, and what has no default and no reader."""
    return [*(row for module in _TABLES for row in _rows_of(module)), *_bare_knobs()]


def _rows_of(module: ModuleType) -> list[object]:
    """Return everything that a module's tables of knobs hold."""
    groups = [group for group in vars(module).values() if isinstance(group, type)]
    return [row for group in groups for row in vars(group).values()]


@functools.cache
def _bare_knobs() -> tuple[Knob[Any], ...]:
    """Return a row for each name that nothing reads and that has no default."""
    rows = []
    for kinds in BARE_NAMES.values():
        for kind, names in kinds.items():
            for name in names.split():
                row = BARE_KINDS[kind](None, doc="Known, without a default.", unread=True)
                row.name = name
                rows.append(row)
    return tuple(rows)


def check_values(config: Config) -> None:
    """Raise ConfigError, naming the place, for the first value that its knob does not take."""
    for fault in find_faults(config):
        raise fault


def find_faults(config: Config) -> Iterator[ConfigError]:
    """Yield an error, naming the place, for each value that its knob does not take.

    A circle of macros is one too, whoever reads them. The configuration must not forgive. What
    nothing reads does no harm: a site's slip there must not keep its daemons from what they read.
    """
    for name, fault in find_wrong(config):
        if not find_area(name)[0]:
            yield fault


def find_own_faults(config: Config) -> Iterator[ConfigError]:
    """Yield an error for each wrong value that the daemon whose configuration it is reads.

    That is what is its own and what all daemons have. What is another daemon's is for that one to
    stop for; the configuration must not forgive.
    """
    for name, fault in find_wrong(config):
        if _is_own(config, name):
            yield fault


def find_own_senseless(config: Config) -> Iterator[tuple[Macro, str]]:
    """Yield what `find_senseless` finds of what the daemon whose configuration it is reads."""
    for macro, sentence in find_senseless(config):
        if _is_own(config, config.plain_name(macro.name)):
            yield macro, sentence


def _is_own(config: Config, name: str) -> bool:
    """Tell whether a name in upper case is read by the daemon whose configuration it is."""
    table = _tables_by_name().get(name) or _tables_of_families(name)
    readers = READERS.get(table, (config.subsystem,))
    return bool(table) and config.subsystem in readers and not find_area(name)[0]


@functools.cache
def _tables_by_name() -> dict[str, str]:
    """Return the table of each knob, by its names in upper case."""
    found = {}
    for module in _TABLES:
        for row in _rows_of(module):
            if isinstance(row, Knob):
                table = module.__name__.rpartition(".")[2]
                found[row.name.upper()] = table
    return found


def _tables_of_families(name: str) -> str:
    """Return the table of a name that sites, or levels, make up; empty if it is of no family."""
    for module in _TABLES:
        for row in _rows_of(module):
            if isinstance(row, Family) and _pattern(row).fullmatch(name):
                return module.__name__.rpartition(".")[2]
    return ""


def find_wrong(config: Config) -> Iterator[tuple[str, ConfigError]]:
    """Yield an error for each value that its knob does not take, with the name that is set so."""
    for macro in config.entries():
        name = config.plain_name(macro.name)
        wrong: ConfigError | None = None
        try:
            # Of several families of knobs one that takes the value is enough.
            for knob in knobs_of(name) if config.get(name) is not None else ():
                try:
                    config[knob]
                    break
                except ConfigError as error:
                    wrong = wrong or error
            else:
                if wrong is not None:
                    raise wrong
        except ConfigError as error:
            yield name, error if error.source else placed(error, config.origin(name))


def find_senseless(config: Config) -> Iterator[tuple[Macro, str]]:
    """Yield each setting whose value is taken and makes no sense, with why and what counts."""
    for macro in config.entries():
        try:
            text = config.expand(macro.text).strip(BLANKS)
        except ConfigError:
            # That is an error, and told as one.
            continue
        # Of several families of knobs one for which it makes sense is enough.
        knobs = knobs_of(macro.name.upper().rpartition(".")[2])
        reasons = [knob.why_senseless(text) for knob in knobs] if text else []
        if reasons and all(reasons):
            yield macro, f"{macro.name} = {text} {reasons[-1]}"


def knobs_of(name: str) -> Iterator[Knob[Any]]:
    """Yield the knob of a name in upper case, else one of each family that the name is of."""
    knob = _declared().get(name)
    if knob is not None:
        yield knob
        return
    for pattern, row in _patterns():
        match = pattern.fullmatch(name)
        if match is not None:
            yield row[match[1]]


def explain_wrong(config: Config, name: str, text: str) -> str:
    """Say what is wrong with a text for a name, empty if nothing is."""
    knob = declared_knobs().get(config.plain_name(name))
    try:
        expanded = config.expand(text)
        if knob is not None and expanded:
            knob.parse(expanded)
    except ConfigError as error:
        return str(error)
    return ""


def _pattern(family: Family[Any]) -> re.Pattern[str]:
    """Return what matches the names of a family; one that any name is of has none."""
    before, _, rest = family.pattern.partition("{")
    after = rest.partition("}")[2]
    if not before and not after:
        return re.compile(r"(?!)")
    return re.compile(rf"{re.escape(before)}(\w+){re.escape(after)}", re.IGNORECASE)


def find_slips(config: Config) -> Iterator[tuple[str, str, str]]:
    """Yield (name, where, nearest knob) of settings that look like misspelt knobs.

    Any name may be set, so only one that nothing mentions and that is very near to a knob's is
    reported.
    """
    for macro in find_strangers(config):
        is_own = any(family.is_sure for family in families_of(macro.name.upper()))
        near = "" if is_own else find_meant(config, macro.name)
        if near and "." not in macro.name:
            yield macro.name, str(macro.origin), near


def find_strangers(config: Config) -> Iterator[Macro]:
    """Yield the settings whose names are no knobs' and that no other setting mentions.

    Names of knobs are also those that are made up and known to count for nothing.
    What stands before a dot says whose setting it is, and does not count.
    """
    declared = declared_knobs()
    # They have no default, so no row of their own.
    unset = names_of_levels()
    mentioned = find_mentioned(config)
    # A site's own daemons, whose settings the master reads by their names.
    listed = (config.get("DAEMON_LIST") or "").upper()
    own = tuple(word for word in re.split(r"[\s,+]+", listed) if word and word not in declared)
    theirs = tuple(f"{word}_" for word in own)
    for macro in config.entries():
        name = macro.name.upper().rpartition(".")[2]
        if not (
            name in declared or name in unset or name in mentioned or config.find_default(name)
        ) and not (name in own or name.startswith(theirs) or find_area(name)[0]):
            yield macro


def find_meant(config: Config, name: str) -> str:
    """Return the knob that a name is a slip of the pen for, empty if it is none."""
    plain = name.upper().rpartition(".")[2]
    near = nearest_knob(config, plain)
    apart = abs(len(near) - len(plain))
    if apart <= 1:
        return near
    # Two letters are missing, or too many, of a long name.
    return nearest_of(plain, [near], _ALIKE) if apart == 2 else ""


def nearest_knob(config: Config, name: str) -> str:
    """Return the knob that a name is most like, also one without a default; empty for none."""
    # Of a list of rights that has another level more is told elsewhere.
    bare = _names_without_default(not name.upper().startswith(_LISTS_OF_RIGHTS))
    return nearest_of(name, filter(None, (config.nearest(name), bare.of(name))), LOOSE)


@functools.cache
def _names_without_default(with_rights: bool) -> Nearest:
    names = {key: knob.name for key, knob in declared_knobs().items() if knob.default is None}
    rights = [key for key in names_of_levels() if key.startswith(_LISTS_OF_RIGHTS)]
    return Nearest((*names.values(), *(rights if with_rights else ())))
