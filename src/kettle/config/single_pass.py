"""Expansion in one pass, as `condor_config_val -macro` shows it: a text that is no value of a knob.

Unlike values (`expander.py`), the text is gone through once, from left to right; what has been
replaced is not looked at again, a macro put together from pieces stays text, and the first function
that cannot be computed ends it. Functions on paths know names only, and `$(DOLLAR)` stays. Observed
of 25.14.1 (tests/data/cli/admin/config_val.json).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kettle.config import functions
from kettle.config.expander import DEEPEST, LONGEST_TEXT, MOST_REPLACEMENTS, enter
from kettle.config.growth import Foresight
from kettle.config.macro_search import MacroSearch, Reference
from kettle.errors import ConfigError
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.config.store import Config

# What a function can lack (`functions.Problem`), as it is said here.
_WORDS = {
    "format": "'{about}' is not a valid format specifier",
    "string format": "'{about}' is not a valid format specifier",
    "integer": "{about} does not evaluate to an integer",
    "real": "{about} does not evaluate to a real",
    "no length": "no length specified",
    "start": "{about} is invalid start",
    "length": "{about} is invalid length",
    "index": "'{about}' is invalid index",
    "no items": "no list",
    "no list": "no list named {about}",
    "range": "index {about} is out of range",
    "empty": "is empty",
    "argument": "invalid {about}",
    "order": "min > max",
}
# Of several, this is told whatever comes before it.
_FIRST_OF_ALL = frozenset({"no items", "no list"})
# What gives nothing for a name that is not defined, and knows no suffix.
_OF_PATHS = late_pattern(r"F\w*|BASENAME|DIRNAME")


class Passed(NamedTuple):
    """What became of a text.

    `exist` has a bit for each macro, the first's lowest, that is set where it gave something;
    `problem` is what ended the pass, empty for none.
    """

    text: str
    exist: int = 0
    problem: str = ""


def expand_once(text: str, config: Config) -> Passed:
    """Expand a text in one pass; ConfigError for a circle or for what would grow without end."""
    foresight = Foresight(config.raw, DEEPEST)
    growth = foresight.of_text(text)
    if growth.length > LONGEST_TEXT or growth.replacements > MOST_REPLACEMENTS:
        raise ConfigError(foresight.explain(growth))
    return _Pass(config).expand(text, ())


class _Pass:
    """One pass through a text, and through those that it mentions."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.replaced = 0

    def expand(self, text: str, active: tuple[str, ...]) -> Passed:
        exist = count = 0
        problem = ""
        search = MacroSearch(text)
        while not problem and (found := search.next()) is not None:
            search.position = found.end
            if found.name.upper() == "DOLLAR" and not (found.function or found.default_start):
                continue
            self.replaced += 1
            if self.replaced > MOST_REPLACEMENTS or len(search.text) > LONGEST_TEXT:
                raise ConfigError(f"the expansion of {(*active, found.name)[0]} has no end")
            value = self._value(found, search.text, active)
            search.replace(found, value.text)
            # The end of a function's text may be behind it, and the two a macro.
            search.position = found.start
            problem = value.problem
            exist |= bool(value.exist if problem else value.text) << count
            count += 1
        return Passed(search.text, exist, problem)

    def _value(self, found: Reference, text: str, active: tuple[str, ...]) -> Passed:
        if found.function == "ENV":
            value = self.config.environment.get(found.name)
            if value is None:
                value = found.default(text) if found.default_start else "UNDEFINED"
            return self._inside(value, active)
        if found.function:
            return self._compute(found, text[found.start : found.end], active)
        raw = self.config.raw(found.name)
        if raw:
            return self._inside(raw, enter(found.name, active))
        return self._inside(found.default(text), active)

    def _inside(self, text: str, active: tuple[str, ...]) -> Passed:
        """Return what a text that is mentioned becomes; that it is mentioned exists."""
        return self.expand(text, active)._replace(exist=1)

    def _compute(self, found: Reference, written: str, active: tuple[str, ...]) -> Passed:
        function, body = found.function, found.name
        problems: list[functions.Problem] = []
        inside: list[str] = []

        def lookup(name: str) -> str | None:
            raw = self.config.raw(name)
            if raw is None:
                # A part of a text, not of the value of a name.
                return name if function == "SUBSTR" else None
            value = self.expand(raw, enter(name, active))
            inside.append(value.problem)
            return value.text

        if _OF_PATHS.fullmatch(function) and self.config.raw(body) is None:
            return Passed("")
        if function == "SUBSTR" and body.count(",") < 2:
            # One number is a length.
            name, _, length = body.partition(",")
            if not name:
                return Passed("")
            body = f"{name},0,{length}"
        elif function in ("INT", "REAL"):
            name, comma, form = body.partition(",")
            body = f"{name.strip()}{comma}{form}"
        random, say = self.config.sources.random, problems.append
        # What cannot be evaluated is the text itself, as if it were made with macros.
        call = functions.Call(function, body, lookup, random, say, None, raw=lambda _: "$")
        value = functions.compute(call)
        if problems:
            return Passed(written, problem=_told(problems))
        return Passed(value, 1, next(filter(None, inside), ""))


def _told(problems: list[functions.Problem]) -> str:
    """Return, in the words of this pass, what a function complained of."""
    found = next((one for one in problems if one.kind in _FIRST_OF_ALL), problems[0])
    kind = "no items" if found.kind == "no list" and not found.about else found.kind
    return f'ERROR "${found.function}() error: {_WORDS[kind].format(about=found.about)}"'
