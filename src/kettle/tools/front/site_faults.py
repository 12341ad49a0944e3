"""What of a configuration only its readers can judge: rules, lists of who may do what, daemons.

Part of `kettle config check`; what settings say by themselves is `kettle.config.check`'s.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.classad import parse_expression
from kettle.config.cross_check import make, settings
from kettle.config.families import languages_of
from kettle.config.finding import ERROR, WARNING, Finding
from kettle.config.knob import split_list
from kettle.errors import ClassAdSyntaxError, ConfigError, TransformError
from kettle.levels import Level
from kettle.nearest import nearest_of
from kettle.patterns import late_pattern
from kettle.tools.front.setting_faults import find_setting_faults
from kettle.transforms.configured import macros_of
from kettle.transforms.old_form import is_old_form, read_old_form
from kettle.transforms.source import read_transform, tell_odd_name
from kettle.wire.security.negotiation import METHOD_BITS, canonical_method, display_method

if TYPE_CHECKING:
    from kettle.config.store import Config, Macro

_SETS = late_pattern(r"\s*(SET|DEFAULT|EVALSET)\s+([\w.]+)\s*,?\s+(?!=)(.*\S)\s*", re.IGNORECASE)
_LIST = late_pattern(r"(?:ALLOW|DENY)_(.+)")
_SECURITY = late_pattern(r"SEC_\w+?_(AUTHENTICATION|ENCRYPTION|INTEGRITY|NEGOTIATION)")
_METHODS = late_pattern(r"SEC_\w+?_AUTHENTICATION_METHODS")
_WISHES = ["REQUIRED", "PREFERRED", "OPTIONAL", "NEVER"]
_HOST = late_pattern(r"[\w.*\-]+|\[?[0-9A-Fa-f:.]+\]?")
_SLOT_TYPE = late_pattern(r"SLOT_TYPE_(\d+)")
_OTHER_LISTS = frozenset(
    {"ADMIN_COMMANDS", "SCRIPTS_TO_RUN_AS_EXECUTABLES", "SUBMIT_FROM_KNOWN_USERS_ONLY", "TRANSFER"}
)


def find_site_faults(config: Config) -> Iterator[Finding]:
    """Find what the readers of rules, lists and daemons would not take."""
    for key, macro in settings(config).items():
        if "transform" in languages_of(key):
            yield from _judge_rule(config, key, macro)
        elif _LIST.fullmatch(key):
            yield from _judge_list(config, key, macro)
        elif key.startswith("SEC_"):
            yield from _judge_security(config, key, macro)
        elif _SLOT_TYPE.fullmatch(key):
            yield from _judge_slot_type(config, key, macro)
    yield from _judge_daemons(config)
    yield from find_setting_faults(config, os.path.exists)


def _judge_rule(config: Config, key: str, macro: Macro) -> Iterator[Finding]:
    """Find the statement of a rule that makes no sense, at its own line."""
    text = (config.raw(key) or "").strip("\n")
    try:
        if is_old_form(text):
            read_old_form(config.expand(text), key)
        else:
            rule = read_transform(text, key, may_name_itself=False)
            odd_names: list[tuple[int, str]] = []
            rule.check(macros_of(config), odd_names)
            for line, name in odd_names:
                found = make(macro, WARNING, "rule", f"{key}: {tell_odd_name(name)}")
                yield found._replace(line=_line_in(config, macro, line))
            yield from _judge_expressions(config, macro, rule.body)
    except (TransformError, ConfigError) as error:
        said = f"{key}: {error.message.strip()}"
        line = _line_in(config, macro, error.line)
        hint = "" if error.nearest else error.hint
        found = make(macro, ERROR, "rule", said, error.nearest, hint)
        yield found._replace(line=line)


def _judge_expressions(config: Config, macro: Macro, body: str) -> Iterator[Finding]:
    """Find what a rule sets to no expression; what has macros is known only when it is applied."""
    for number, line in enumerate(body.split("\n"), 1):
        match = _SETS.fullmatch(line)
        if match is None or "$" in match[3] or match[3].endswith("\\"):
            continue
        try:
            parse_expression(match[3], old=True)
        except ClassAdSyntaxError as error:
            sentence = f"{macro.name}: {match[1]} {match[2]} needs an expression: {error}"
            found = make(macro, ERROR, "rule", sentence)
            yield found._replace(line=_line_in(config, macro, number))


def _line_in(config: Config, macro: Macro, line: int) -> int:
    """Return where in its file a line of a text of several lines is; else where the text ends."""
    end = macro.origin.line
    try:
        lines = config.sources.read_text(macro.origin.source).split("\n")[:end]
    except (OSError, ValueError):
        return end
    for first in range(end - 1, -1, -1):
        if re.match(rf"\s*{re.escape(macro.name)}\s*@=", lines[first], re.IGNORECASE):
            body = range(first + 1, end)
            kept = [n for n in body if lines[n].strip() and not lines[n].lstrip().startswith("#")]
            return kept[line - 1] + 1 if 0 < line <= len(kept) else end
    return end


def _judge_list(config: Config, key: str, macro: Macro) -> Iterator[Finding]:
    """Find entries of ALLOW_ and DENY_ that match nobody, and levels that there are not."""
    rest = key.partition("_")[2]
    levels = [level.value for level in Level]
    if not any(rest == level or rest.startswith(f"{level}_") for level in levels):
        near = nearest_of(rest, levels)
        if near and rest not in _OTHER_LISTS:
            kind = key.partition("_")[0]
            sentence = f"{rest} is no level of authorization"
            yield make(macro, WARNING, "unknown", sentence, f"{kind}_{near}")
        return
    for word in split_list(config.get(key) or ""):
        why = why_nobody(word)
        if why:
            yield make(macro, ERROR, "entry", f"{word} in {macro.name} matches nobody: {why}")


def why_nobody(word: str) -> str:
    """Return why an entry of a list of who may do what matches nobody, empty if it may."""
    from kettle.wire.security.authorization import parse_entry

    entry = parse_entry(word)
    host = entry.host
    if entry.user.startswith("+"):
        return ""
    if entry.user.count("@") > 1 or entry.user.endswith("@") or entry.user.startswith("@"):
        return f"{entry.user} is no USER@DOMAIN"
    if entry.network is not None or host == "*":
        return ""
    if "/" in host:
        return f"{host} is no network"
    if re.fullmatch(r"[\d.]+", host):
        return f"{host} is no address"
    if re.fullmatch(r"[\d.*]+", host) and host.count(".") > 3:
        return f"{host} has more than four parts"
    return "" if _HOST.fullmatch(host) else f"{host} is no host's name"


def _judge_security(config: Config, key: str, macro: Macro) -> Iterator[Finding]:
    """Find words of SEC_ that are no wishes and no methods."""
    text = config.get(key) or ""
    if _METHODS.fullmatch(key):
        known = [display_method(name) for name in METHOD_BITS]
        for word in split_list(text):
            if canonical_method(word) not in METHOD_BITS:
                sentence = f"{macro.name} names {word}, which is no method"
                yield make(macro, ERROR, "word", sentence, nearest_of(word, known))
    elif _SECURITY.fullmatch(key):
        word = text.strip().upper()
        # The first letter is what counts, as YES and NO do.
        if word and word not in {*_WISHES, "YES", "NO", "TRUE", "FALSE"}:
            sentence = f"{macro.name} = {text} is not one of {', '.join(_WISHES)}"
            yield make(macro, ERROR, "value", sentence, nearest_of(word, _WISHES))


def _judge_slot_type(config: Config, key: str, macro: Macro) -> Iterator[Finding]:
    """Find parts of a machine that make no sense."""
    from kettle.startd.slots import parse_slot_type

    custom = [
        name[len("MACHINE_RESOURCE_") :]
        for name in settings(config)
        if name.startswith("MACHINE_RESOURCE_") and "INVENTORY" not in name
    ]
    try:
        parse_slot_type(config.get(key) or "", [*custom, "GPUs"], key)
    except ConfigError as error:
        yield make(macro, ERROR, "value", error.message, hint=error.hint)


def _judge_daemons(config: Config) -> Iterator[Finding]:
    """Find daemons that the master could not start."""
    from kettle.master.daemons import OWN_DAEMONS

    macro = settings(config).get("DAEMON_LIST")
    for word in config.words("DAEMON_LIST") if macro is not None else ():
        name = word.strip("+").upper()
        if macro is not None and name not in {*OWN_DAEMONS, "MASTER"} and not config.get(name):
            sentence = f"DAEMON_LIST names {name}, and {name} is not set to a program"
            yield make(macro, ERROR, "word", sentence, nearest_of(name, [*OWN_DAEMONS, "MASTER"]))
