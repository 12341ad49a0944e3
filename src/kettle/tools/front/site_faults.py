"""What of a configuration only its readers can judge: rules, lists of who may do what, daemons.

Part of `kettle config check`; what settings say by themselves is `kettle.config.check`'s.
"""

from __future__ import annotations

import ipaddress
import os.path
import re
import socket
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
from kettle.tools.front.policy_faults import find_policy_faults
from kettle.tools.front.setting_faults import find_setting_faults
from kettle.tools.front.slot_faults import find_slot_faults, odd_resources, read_slot_type
from kettle.transforms.configured import macros_of
from kettle.transforms.old_form import is_old_form, read_old_form
from kettle.transforms.source import read_transform, tell_odd_name
from kettle.wire.security.setting_words import find_odd_words, is_list

if TYPE_CHECKING:
    from kettle.config.store import Config, Macro

_SETS = late_pattern(r"\s*(SET|DEFAULT|EVALSET)\s+([\w.]+)\s*,?\s+(?!=)(.*\S)\s*", re.IGNORECASE)
_LIST = late_pattern(r"(?:ALLOW|DENY)_(.+)")
_SLOT_TYPE = late_pattern(r"SLOT_TYPE_(\d+)")
_ANYBODY = ("*", "*/*", "*@*", "*@*/*")
_REFUSED = "nobody has {} then, whatever ALLOW_{} says"
# What somebody will hardly want to say of everybody.
_TOO_WIDE = {
    "ALLOW_ADMINISTRATOR": "anybody who is let in may stop daemons and change users' priorities",
    "ALLOW_CONFIG": "anybody who is let in may change what SETTABLE_ATTRS_CONFIG names",
    **{f"DENY_{level}": _REFUSED.format(level, level) for level in ("READ", "WRITE", "DAEMON")},
}
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
            yield from _judge_words(config, key, macro)
        elif _SLOT_TYPE.fullmatch(key):
            yield from _judge_slot_type(config, key, macro)
    yield from _judge_daemons(config)
    yield from _judge_interface(config)
    yield from find_policy_faults(config)
    yield from find_slot_faults(config)
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
    if not is_list(key):
        near = nearest_of(rest, [level.value for level in Level])
        if near and rest not in _OTHER_LISTS:
            kind = key.partition("_")[0]
            sentence = f"{rest} is no level of authorization"
            yield make(macro, WARNING, "unknown", sentence, f"{kind}_{near}")
        return
    yield from _judge_words(config, key, macro)
    why = _TOO_WIDE.get(key, "")
    if why and any(word in _ANYBODY for word in split_list(config.get(key) or "")):
        yield make(macro, WARNING, "entry", f"* in {macro.name}: {why}")


def _judge_words(config: Config, key: str, macro: Macro) -> Iterator[Finding]:
    """Find what daemons could not take for wishes, methods, or anybody."""
    for odd in find_odd_words(macro.name, config.get(key) or ""):
        yield make(macro, ERROR, odd.label, odd.sentence, odd.near)


def _judge_slot_type(config: Config, key: str, macro: Macro) -> Iterator[Finding]:
    """Find parts of a machine that make no sense."""
    try:
        read_slot_type(config, key)
        for word, name in odd_resources(config, key):
            said = f"{macro.name} names {word}, which counts as {name} for its first letter"
            yield make(macro, WARNING, "word", said, name)
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


def _judge_interface(config: Config) -> Iterator[Finding]:
    """Find what is no address, no pattern of some and no interface of this machine."""
    macro = settings(config).get("NETWORK_INTERFACE")
    text = (config.get("NETWORK_INTERFACE") or "").strip()
    if macro is None or not text or any(letter in text for letter in "*?$"):
        return
    try:
        ipaddress.ip_address(text)
    except ValueError:
        interfaces = [name for _, name in socket.if_nameindex()]
        if text not in interfaces:
            sentence = f"NETWORK_INTERFACE = {text} is no address, and no interface of this machine"
            yield make(macro, WARNING, "value", sentence, nearest_of(text, interfaces))
