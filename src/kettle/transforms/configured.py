"""The rules that a configuration names: JOB_TRANSFORM_NAMES, and what their texts are.

A rule of which nothing can be made is passed over and told; one with a statement that makes no
sense is a rule, and refuses what it is applied to (`test_job_rules.py`). Source: the manual, knob
JOB_TRANSFORM_NAMES; a real schedd's log.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from kettle.errors import ConfigError, TransformError
from kettle.transforms.macros import TransformMacros
from kettle.transforms.old_form import is_old_form, read_old_form
from kettle.transforms.source import Rule, Transform, read_transform, tell_odd_name

if TYPE_CHECKING:
    from kettle.config import Config


def read_rules(config: Config, names: str, prefix: str) -> tuple[list[Rule], list[str]]:
    """Return the rules that a list of names means, in order, and what is wrong with others.

    Compat: the ClassAd form still counts, as the requirements want it; the reference's schedd
    passes it over (test_rules_in_the_classad_form_count).
    """
    rules: list[Rule] = []
    problems: list[str] = []
    for name in filter(None, re.split(r"[,\s]+", names)):
        if name.upper() == "NAMES":
            continue
        knob = f"{prefix}{name}"
        text = (config.raw(knob) or "").strip("\n")
        if not text.strip():
            said = "not defined" if config.raw(knob) is None else "definition is empty"
            problems.append(f"{knob} {said}, ignoring.")
            continue
        origin = config.origin(knob)
        place = f"{knob} ({origin})" if origin else knob
        try:
            rules.append(_read(config, text, name))
        except (TransformError, ConfigError) as error:
            hint = f" ({error.hint})" if error.hint else ""
            where = f", line {error.line}" if error.line else ""
            problems.append(f"{place}{where}: {error.message.strip()}{hint}; ignoring it.")
            continue
        problems += (f"{place}: {said}" for said in _odd_names(config, rules[-1]))
    return rules, problems


def _odd_names(config: Config, rule: Rule) -> list[str]:
    """Return what is said of names of attributes that a rule has and no expression can mention."""
    found: list[tuple[int, str]] = []
    if isinstance(rule, Transform):
        # What makes no sense is told of when it is applied.
        with contextlib.suppress(TransformError):
            rule.check(macros_of(config), found)
    return [f"line {line}: {tell_odd_name(name)}" for line, name in found]


def _read(config: Config, text: str, name: str) -> Rule:
    if is_old_form(text):
        return read_old_form(config.expand(text), name)
    rule = read_transform(text, name, may_name_itself=False)
    if rule.iteration:
        raise TransformError("a job is transformed once: TRANSFORM has no place", line=rule.line)
    return rule


def macros_of(config: Config) -> TransformMacros:
    """Return new macros for rules of a configuration."""
    return TransformMacros(config.raw, config.environment.get, config.sources.random)
