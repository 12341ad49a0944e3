"""Slips of the pen in the conditions of a configuration: `kettle config check`.

What can be judged of such a text without knowing what machines and jobs have is
`kettle.config.check`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.attributes.slips import known_names, nearest_of_jobs
from kettle.classad.references import find_references
from kettle.config.cross_check import make, settings
from kettle.config.families import is_policy
from kettle.config.finding import WARNING, Finding
from kettle.config.knob import parse_expression_text, split_list
from kettle.errors import ConfigError
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.config.store import Config, Macro

_OF_JOBS = "SYSTEM_PERIODIC_"
# A text, which may have quotes in it, or what is between single quotes; either may lack its end.
_QUOTED = late_pattern(r'"(?:[^"\\]|\\.)*+(?:"|$)|' r"'((?:[^'\\]|\\.)*+)(?:'|$)")
# Limit: names of one expression that are looked at.
_MOST_NAMES = 200


def find_policy_faults(config: Config) -> Iterator[Finding]:
    """Find texts in single quotes, and names that are nearly those of a job's attributes."""
    own = {name.lower() for name in split_list(config.get("SUBMIT_ATTRS") or "")}
    for key, macro in settings(config).items():
        if not is_policy(key):
            continue
        try:
            text = config.expand(macro.text)
            expr = parse_expression_text(text)
        except ConfigError:
            # That is told as it is.
            continue
        yield from _find_quoted(macro, text)
        if expr is None or not key.startswith(_OF_JOBS):
            continue
        for asked in sorted(find_references(expr, None)[1])[:_MOST_NAMES]:
            scope, _, name = asked.rpartition(".")
            near = "" if scope or name.lower() in own else nearest_of_jobs(name)
            if near:
                sentence = f"{macro.name} asks for {name}, which no job has by itself"
                yield make(macro, WARNING, "attribute", sentence, near)


def _find_quoted(macro: Macro, text: str) -> Iterator[Finding]:
    """Find names in single quotes of which a text was probably meant."""
    for match in _QUOTED.finditer(text):
        name = match[1] if match[0].endswith("'") else None
        if name is not None and name.lower() not in known_names():
            sentence = f"in {macro.name}, '{name}' is the name of an attribute"
            yield make(
                macro, WARNING, "quotes", sentence, hint=f'a text has double quotes: "{name}"'
            )
