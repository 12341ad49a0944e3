"""What settings say of each other: lists of names that nothing defines, macros that nobody sets.

Part of the check of a whole configuration (`check.py`); here is what needs more than one setting.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from kettle.config.declared import declared_knobs, find_senseless, knobs_of
from kettle.config.families import FAMILIES, families_of, languages_of
from kettle.config.finding import ERROR, NOTE, WARNING, Finding
from kettle.config.knob import split_list
from kettle.config.macro_search import closing_bracket
from kettle.config.mentions import find_missing, find_missing_then
from kettle.config.ranges import PORT
from kettle.config.unread import find_unread
from kettle.nearest import Nearest
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.config.origin import Origin
    from kettle.config.store import Config, Macro

# A list of names, and the setting that each of them needs; {} stands for the name.
_LISTS = [(name, family.needs) for family in FAMILIES for name in family.lists]
_GROUP_NUMBER = late_pattern(r"GROUP_(?:QUOTA|QUOTA_DYNAMIC|PRIO_FACTOR)_(.+)")
_LOCAL_NAME = late_pattern(r"-local-?name\s+(\S+)")
_OPEN = late_pattern(r"\$\([\w.]*(?:[^\w.:)]|$)")
_BEFORE_DEFAULT = late_pattern(r"\$\([\w.]*:")
# Limit: openings with a default that are looked at in one text.
_MOST_OPEN = 50
# fmt: off
_SUBSYSTEMS = [
    "MASTER", "COLLECTOR", "NEGOTIATOR", "SCHEDD", "STARTD", "SHADOW", "STARTER", "SHARED_PORT",
    "TOOL", "SUBMIT", "JOB_ROUTER", "GRIDMANAGER", "CREDD", "DAGMAN", "GAHP", "C_GAHP", "HAD",
    "KBDD", "REPLICATION", "TRANSFERER", "ROOSTER", "DEFRAG", "GANGLIAD",
]
# fmt: on


def find_cross_faults(config: Config) -> Iterator[Finding]:
    """Find what settings say of each other and is not so."""
    yield from _find_lists(config)
    yield from _find_groups(config)
    yield from _find_mentions(config)
    yield from _find_prefixes(config)
    yield from _find_words_without_meaning(config)
    yield from _find_ports(config)
    for macro, sentence in find_senseless(config):
        yield make(macro, WARNING, "range", sentence, _nearest_value(config, macro))
    for macro, why in find_unread(config):
        yield make(macro, NOTE, "unread", f"{macro.name} counts for nothing: {why}")


def _nearest_value(config: Config, macro: Macro) -> str:
    """Return what is meant by a value that makes no sense, empty where nobody can tell."""
    rows = knobs_of(config.plain_name(macro.name))
    near = (row.nearest(config.expand(macro.text).strip(BLANKS)) for row in rows)
    return next(filter(None, near), "")


def make(
    macro: Macro, severity: str, kind: str, sentence: str, nearest: str = "", hint: str = ""
) -> Finding:
    """Return a finding at the place of a setting."""
    origin = macro.origin
    return Finding(severity, kind, origin.source, origin.line, macro.name, sentence, nearest, hint)


def settings(config: Config) -> dict[str, Macro]:
    """Return what a site has set, by plain name in upper case."""
    return {
        macro.name.upper().rpartition(".")[2]: macro
        for macro in config.entries()
        if not macro.origin.template
    }


def _find_lists(config: Config) -> Iterator[Finding]:
    """Find names of lists that nothing defines, and definitions that no list names."""
    found = settings(config)
    for name, pattern in _LISTS:
        listed = [word for word in split_list(config.get(name) or "") if word.upper() != "NAMES"]
        before, _, after = pattern.partition("{}")
        defined = _defined(found, name, before, after)
        if name in found:
            yield from _find_undefined(config, found[name], pattern, listed, defined)
        upper = {word.upper() for word in listed}
        for word in defined if not after else ():
            key = f"{before}{word}"
            is_beside = any(family.is_beside for family in families_of(key))
            if word not in upper and not word.endswith("NAMES") and not is_beside:
                macro = found[key]
                yield make(macro, NOTE, "unlisted", f"{name} does not name {word}")


def _defined(found: dict[str, Macro], name: str, before: str, after: str) -> list[str]:
    """Return the names that settings of a pattern define, in upper case."""
    return [
        key[len(before) : len(key) - len(after)]
        for key in found
        if before and key.startswith(before) and key.endswith(after) and key != name
    ]


def _find_undefined(
    config: Config, macro: Macro, pattern: str, listed: list[str], defined: list[str]
) -> Iterator[Finding]:
    """Find the names of one list that nothing defines."""
    words = Nearest(defined)
    for word in listed:
        needed = pattern.format(word)
        if config.raw(needed) is None:
            sentence = f"{macro.name} names {word}, and nothing sets {needed}"
            yield make(macro, WARNING, "undefined", sentence, words.of(word))


def _find_groups(config: Config) -> Iterator[Finding]:
    """Find quotas that are no numbers, and those of groups that there are not."""
    names = list(split_list(config.get("GROUP_NAMES") or ""))
    words = Nearest(names)
    upper = {name.upper() for name in names} | {"<NONE>"}
    # Two knobs of all groups begin as those of one group do.
    knobs = declared_knobs()
    for key, macro in settings(config).items():
        match = _GROUP_NUMBER.fullmatch(key)
        if match is None or key in knobs:
            continue
        number = config.real(key)
        if number is None:
            sentence = f"{macro.name} = {macro.text} is not a number"
            yield make(macro, ERROR, "value", sentence)
        elif key.startswith("GROUP_QUOTA_DYNAMIC_") and not 0 <= number <= 1:
            sentence = f"{macro.name} = {macro.text} makes no sense: it is a share, from 0 to 1"
            yield make(macro, WARNING, "range", sentence)
        group = match[1].removeprefix("DYNAMIC_")
        if group not in upper:
            near = words.of(group)
            yield make(macro, WARNING, "undefined", f"GROUP_NAMES does not name {group}", near)


def _find_mentions(config: Config) -> Iterator[Finding]:
    """Find macros that nobody sets, in values and statements, and those that are not closed."""
    own = Nearest(macro.name for macro in config.entries())
    for macro in config.entries():
        plain = macro.name.upper().rpartition(".")[2]
        if macro.origin.template or languages_of(plain):
            continue
        if _is_open(macro.text.replace("$$(", "")):
            yield make(macro, WARNING, "macro", f"a $( of {macro.name} is not closed by )")
        for name in find_missing(macro.text, lambda name: config.find(name) is not None):
            yield _tell_missing(config, macro.name, macro.origin, name, f"nothing sets {name}", own)
    for asked in config.asked:
        # What a statement looks for must be there by then.
        for name, why in find_missing_then(config, asked):
            yield _tell_missing(config, asked.word, asked.origin, name, why, own)


def _is_open(text: str) -> bool:
    """Tell whether nothing closes a `$(` of a text."""
    with_default = islice(_BEFORE_DEFAULT.finditer(text), _MOST_OPEN)
    return bool(_OPEN.search(text)) or any(
        closing_bracket(text, found.end()) < 0 for found in with_default
    )


def _tell_missing(
    config: Config, who: str, origin: Origin, name: str, why: str, own: Nearest
) -> Finding:
    # A knob that has no default may be left unset: it is empty then.
    is_plain_knob = name.upper() in declared_knobs()
    is_there = config.find(name) is not None
    near = "" if is_plain_knob or is_there else own.of(name) or config.nearest(name)
    severity = NOTE if is_plain_knob and not is_there else WARNING
    said = f"{who} mentions $({name}), and {why}"
    return Finding(severity, "undefined", origin.source, origin.line, who, said, near)


def _find_prefixes(config: Config) -> Iterator[Finding]:
    """Find what stands before a dot and is nearly a daemon's name."""
    words = Nearest(_SUBSYSTEMS)
    known = {*_SUBSYSTEMS, *_own_instances(config)}
    for macro in config.entries():
        prefix = macro.name.upper().partition(".")[0]
        # A template's own instance of a daemon may be called like one.
        if "." not in macro.name or prefix in known or macro.origin.template:
            continue
        near = words.of(prefix)
        if near:
            yield make(macro, WARNING, "unknown", f"{prefix} is no daemon's name", near)


def _find_words_without_meaning(config: Config) -> Iterator[Finding]:
    """Find assignments whose name has more words than the first, which is what they set."""
    for name, words, origin in config.wordy:
        is_statement = name.lower() in ("use", "include")
        hint = f"{name} needs a colon: {name} {words} : ..." if is_statement else ""
        said = f"this sets {name}; {words} means nothing"
        if not origin.template:
            yield Finding(WARNING, "words", origin.source, origin.line, name, said, hint=hint)


def _own_instances(config: Config) -> set[str]:
    """Return, in upper case, what a site calls daemons of its own and instances of others."""
    names = {word.upper() for word in split_list(config.get("DAEMON_LIST") or "")}
    for macro in config.entries():
        if macro.name.upper().endswith("_ARGS"):
            names.update(name.upper() for name in _LOCAL_NAME.findall(macro.text))
    return names


def _find_ports(config: Config) -> Iterator[Finding]:
    """Find ports that there are not, and a range that ends before it begins."""
    found = settings(config)
    low, high = (config.integer(name) for name in ("LOWPORT", "HIGHPORT"))
    if low is not None and high is not None and low > high and "HIGHPORT" in found:
        sentence = f"HIGHPORT {high} is below LOWPORT {low}: no port is left"
        yield make(found["HIGHPORT"], ERROR, "value", sentence)
    for name in ("COLLECTOR_HOST", "CONDOR_HOST", "FLOCK_COLLECTOR_HOSTS"):
        for word in split_list(config.get(name) or "") if name in found else ():
            _, colon, port = word.partition("?")[0].rpartition(":")
            if colon and port.isdigit() and not PORT.holds(int(port)):
                sentence = f"{name} names port {port}, and none is above {PORT.most}"
                yield make(found[name], ERROR, "value", sentence)
