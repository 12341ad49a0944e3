"""What of single settings their readers would not take, or would take for something else.

Part of `kettle config check`, beside `site_faults.py`: jobs that run by the clock, sizes of logs,
kinds of messages, spans of time, methods of encryption, and paths where nothing is.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kettle.config.cross_check import make, settings
from kettle.config.declared import declared_knobs, names_of_levels
from kettle.config.finding import ERROR, NOTE, WARNING, Finding
from kettle.config.knob import (
    PathKnob,
    parse_boolean,
    parse_expression_text,
    parse_integer,
    parse_real,
    split_list,
)
from kettle.config.knobs.log import CATEGORIES
from kettle.config.knobs.security import CRYPTO_METHODS
from kettle.config.log_sizes import odd_unit
from kettle.config.origin import DEFAULT_SOURCE
from kettle.errors import ConfigError
from kettle.nearest import nearest_of
from kettle.octets import BLANKS, words_of
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.config.store import Config, Macro

CRON = late_pattern(
    r"((?:STARTD|SCHEDD)_CRON|BENCHMARKS)_(?!JOBLIST$|AUTOPUBLISH$|NAME$|LOG$|CONFIG_VAL$|"
    r"MAX_JOB_LOAD$)(\w+?)_([A-Z]+|JOB_LOAD|RECONFIG_RERUN)"
)
# fmt: off
CRON_WORDS = [
    "EXECUTABLE", "ARGS", "PERIOD", "MODE", "ENV", "PREFIX", "KILL", "CWD", "SLOTS", "RECONFIG",
    "RECONFIG_RERUN", "JOB_LOAD", "CONDITION", "METRICS", "OPTIONS",
]
_MODES = ["Periodic", "WaitForExit", "OneShot", "OnDemand"]
# fmt: on
_PERIOD = late_pattern(r"(\d+)\s*([A-Za-z]*)")
_DEBUG = late_pattern(r"(?:[A-Z_]+_DEBUG|ALL_DEBUG)")
# These have a truth value, or a number.
_NO_DEBUG = late_pattern(r"\w*(?:GAHP|DAGMAN|HIBERNATION|EVAL_SLOT_ATTRS|REUSE_EXTRA)_?\w*DEBUG")
_LOG_SIZE = late_pattern(r"MAX_\w+_LOG")
_CRYPTO = late_pattern(r"SEC_\w+?_CRYPTO_METHODS")
_SLOT_WORDS = ["PARTITIONABLE", "START", "RANK", "PREEMPT", "STARTD_ATTRS"]
_SLOT_KNOB = late_pattern(r"(SLOT_TYPE_\d+)_(\w+)")
# Files that daemons read, and that whoever sets them must have made.
_READ_FILES = late_pattern(
    r"CERTIFICATE_MAPFILE|CLASSAD_USER_MAPFILE_\w+|AUTH_SSL_\w+_(?:CAFILE|CADIR|CERTFILE|KEYFILE)|"
    r"(?:STARTD|SCHEDD)_CRON_\w+_EXECUTABLE|JOB_ROUTER_ENTRIES_FILE|EXTENDED_SUBMIT_HELPFILE|"
    r"PASSWORD_FILE|\w+_HOOK_(?:FETCH_WORK|PREPARE_JOB|UPDATE_JOB_INFO|JOB_EXIT)|"
    r"KERBEROS_\w+_KEYTAB|LOCAL_CREDMON_PRIVATE_KEY"
)
_FOLDERS = frozenset(
    {"LOG", "SPOOL", "EXECUTE", "LOCK", "RELEASE_DIR", "BIN", "SBIN", "LIB", "LIBEXEC", "LOCAL_DIR"}
)


def find_setting_faults(config: Config, exists: Callable[[str], bool]) -> Iterator[Finding]:
    """Find what is odd about single settings; `exists` tells of a path on this machine."""
    knobs = declared_knobs()
    for key, macro in settings(config).items():
        text = _expanded(config, macro)
        if text is None or macro.origin.source == DEFAULT_SOURCE:
            continue
        cron = CRON.fullmatch(key)
        if cron is not None:
            yield from _judge_cron(macro, cron, text)
        elif _LOG_SIZE.fullmatch(key) and not key.endswith("HISTORY_LOG"):
            yield from _judge_size(macro, text)
        elif _DEBUG.fullmatch(key) and not _NO_DEBUG.fullmatch(key):
            yield from _judge_categories(macro, text)
        elif key.startswith("SEC_"):
            yield from _judge_security(macro, key, text, known=key in knobs)
        elif key.startswith("SLOT_TYPE_"):
            yield from _judge_slot_knob(macro, key, text)
        if text and (isinstance(knobs.get(key), PathKnob) or _READ_FILES.fullmatch(key)):
            yield from _judge_path(macro, key, text, exists)


def _expanded(config: Config, macro: Macro) -> str | None:
    """Return the text of a setting; None where it cannot be expanded, which is told elsewhere."""
    try:
        return config.expand(macro.text).strip(BLANKS)
    except ConfigError:
        return None


def _judge_cron(macro: Macro, cron: re.Match[str], text: str) -> Iterator[Finding]:
    """Judge a setting of a program that runs by the clock."""
    word, wrong, near = cron[3], "", ""
    if cron[3] not in CRON_WORDS:
        near = nearest_of(word, CRON_WORDS)
        if near:
            meant = f"{cron[1]}_{cron[2]}_{near}"
            yield make(macro, WARNING, "unknown", f"nothing reads {macro.name}", meant)
        return
    if not text:
        return
    if word == "PERIOD":
        wrong, near = _wrong_period(text)
    elif word == "MODE":
        near = nearest_of(text, _MODES)
        wrong = "" if near.lower() == text.lower() else f"one of {', '.join(_MODES)}"
    elif word in ("KILL", "RECONFIG", "RECONFIG_RERUN") and parse_boolean(text) is None:
        wrong, near = "boolean", nearest_of(text, ["true", "false"])
    elif word == "JOB_LOAD":
        load = parse_real(text)
        wrong = "" if load is not None and 0 <= load <= 100 else "a real number from 0 to 100"
    elif word == "CONDITION":
        wrong = "" if _is_expression(text) else "an expression"
    if wrong:
        yield make(macro, ERROR, "value", f"{macro.name} = {text} is not {wrong}", near)


def _wrong_period(text: str) -> tuple[str, str]:
    """Return what a period is not, and what is meant by it; empty if it is one."""
    match = _PERIOD.fullmatch(text.strip())
    what = "a number with s, m or h behind it"
    if match is None:
        return what, ""
    unit = match[2][:1].lower()
    if text.strip() == f"{match[1]}{match[2]}" and unit in ("", "s", "m", "h"):
        return "", ""
    return what, f"{match[1]}{unit}" if unit in ("s", "m", "h") else ""


def _is_expression(text: str) -> bool:
    try:
        return parse_expression_text(text) is not None
    except ConfigError:
        return False


def _judge_size(macro: Macro, text: str) -> Iterator[Finding]:
    """Find a unit that nobody writes: of it the first letters count."""
    read = odd_unit(text)
    if read:
        sentence = f"{macro.name} = {text} is read as {read}"
        yield make(macro, WARNING, "value", sentence, read)


def _judge_categories(macro: Macro, text: str) -> Iterator[Finding]:
    """Find kinds of messages that there are not."""
    if parse_integer(text) is not None:
        return
    for word in re.split(r"[\s,|]+", text):
        name = word.lstrip("-").upper().partition(":")[0]
        full = name if name.startswith("D_") else f"D_{name}"
        if name and full not in CATEGORIES and "$" not in name:
            sentence = f"{macro.name} names {word}, which is no kind of message"
            yield make(macro, WARNING, "word", sentence, nearest_of(full, CATEGORIES))


def _judge_security(macro: Macro, key: str, text: str, *, known: bool) -> Iterator[Finding]:
    """Find unknown methods of encryption, and names that are nearly those of a level's feature."""
    if _CRYPTO.fullmatch(key):
        for word in split_list(text):
            if word.upper() not in CRYPTO_METHODS:
                sentence = f"{macro.name} names {word}, which is no method of encryption"
                yield make(macro, ERROR, "word", sentence, nearest_of(word, CRYPTO_METHODS))
    elif not known:
        names = [name for name in names_of_levels() if name.startswith("SEC_")]
        near = nearest_of(key, names) if key not in names else ""
        if near and abs(len(near) - len(key)) <= 1 and _differs_little(key, near):
            yield make(macro, WARNING, "unknown", f"nothing reads {macro.name}", near)


def _differs_little(name: str, near: str) -> bool:
    """Tell whether all words of two names but one are the same."""
    one, other = name.split("_"), near.split("_")
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _judge_slot_knob(macro: Macro, key: str, text: str) -> Iterator[Finding]:
    """Find a wrong truth value, and a name that is nearly one of a slot type's knobs."""
    match = _SLOT_KNOB.fullmatch(key)
    if match is None:
        return
    if match[2] == "PARTITIONABLE":
        if text and parse_boolean(text) is None:
            sentence = f"{macro.name} = {text} is not boolean"
            yield make(macro, ERROR, "value", sentence, nearest_of(text, ["true", "false"]))
        return
    near = nearest_of(match[2], _SLOT_WORDS)
    if near and match[2] not in _SLOT_WORDS and abs(len(near) - len(match[2])) <= 1:
        meant = f"{match[1]}_{near}"
        yield make(macro, WARNING, "unknown", f"nothing reads {macro.name}", meant)


def _judge_path(
    macro: Macro, key: str, text: str, exists: Callable[[str], bool]
) -> Iterator[Finding]:
    """Find paths where nothing is; a file that a daemon writes needs only its folder."""
    if any(letter in text for letter in "$*?|\n"):
        return
    must_be = key in _FOLDERS or _READ_FILES.fullmatch(key)
    # Behind a program are its arguments; some knobs are lists of folders.
    for path in filter(os.path.isabs, words_of(text)[0].split(",")):
        missing = path if must_be else os.path.dirname(path)
        if not exists(missing):
            what = "is not there" if missing == path else f"is in {missing}, which is not there"
            yield make(macro, NOTE, "path", f"{macro.name} = {path} {what}, on this machine")
