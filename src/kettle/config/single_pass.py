"""Expansion in one pass, as `condor_config_val -macro` shows it: a text that is no value of a knob.

Unlike values (`expander.py`), the text is gone through once, from left to right; what has been
replaced is not looked at again, a macro put together from pieces stays text, and the first function
that cannot be computed ends it. Functions on paths know names only, and `$(DOLLAR)` stays. Observed
of 25.14.1 (tests/data/cli/admin/config_val.json).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.config import functions
from kettle.config.expander import (
    LEAST_WORK,
    LONGEST_TEXT,
    MOST_FOLLOWED,
    MOST_WORK,
    Level,
    Wanted,
    check_held,
    entered,
)
from kettle.config.growth import Foresight
from kettle.config.macro_search import MacroSearch, Reference
from kettle.errors import ConfigError
from kettle.named_tuples import NamedTuple
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

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
    "empty": "no list",
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
    foresight = Foresight(config.raw)
    growth = foresight.of_text(text)
    if growth.length > LONGEST_TEXT or growth.replacements > MOST_FOLLOWED:
        raise ConfigError(foresight.explain(growth))
    return _Pass(config).expand(text)


class _Level(Level[Passed]):
    """A text that is gone through, and what became of its macros so far."""

    __slots__ = ("count", "exist", "problem")

    def __init__(self, search: MacroSearch, name: str = "", defaults: int = 0) -> None:
        super().__init__(search, name, defaults)
        self.exist = self.count = 0
        self.problem = ""

    def next(self) -> Reference | None:
        """Return the macro that is to be replaced, None behind the last or where a problem is."""
        while self.found is None and not self.problem and (found := self.search.next()) is not None:
            self.search.position = found.end
            if found.name.upper() != "DOLLAR" or found.function or found.default_start:
                self.found = found
        return self.found

    def give(self, done: Passed) -> None:
        """Take what was gone through for this: a function's argument, or its macro's value."""
        if not self.take(done):
            # That it is mentioned exists.
            self.put(done._replace(exist=1))

    def put(self, value: Passed) -> None:
        """Put what became of the macro that was found last in its place."""
        found, self.found = self.found, None
        assert found is not None
        self.given.clear()
        self.search.replace(found, value.text)
        # The end of a function's text may be behind it, and the two a macro.
        self.search.position = found.start
        self.problem = value.problem
        self.exist |= bool(value.exist if self.problem else value.text) << self.count
        self.count += 1


class _Pass:
    """One pass through a text, and through those that it mentions."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._work = 0

    def expand(self, text: str) -> Passed:
        """Return what becomes of a text."""
        levels = [_Level(MacroSearch(text))]
        path: dict[str, None] = {}
        while True:
            level = levels[-1]
            found = level.next()
            if found is None:
                levels.pop()
                path.pop(level.name, None)
                done = Passed(level.search.text, level.exist, level.problem)
                if not levels:
                    return done
                levels[-1].give(done)
                continue
            self._work_more(max(LEAST_WORK, len(level.search.text)), path, found)
            if found.function and found.function != "ENV":
                try:
                    level.put(self._compute(found, level))
                except Wanted as wanted:
                    level.asked = wanted.name
                    name = entered(wanted.name, path)
                    path[name] = None
                    levels.append(_Level(MacroSearch(wanted.text), name))
                continue
            inner, name = self._look_up(found, level.search, path)
            if name:
                path[name] = None
            levels.append(_Level(inner, name, 0 if name else level.defaults + 1))
            check_held(levels[-1].defaults, len(inner.text))

    def _work_more(self, work: int, path: Iterable[str], found: Reference) -> None:
        """Count work by the measure of MOST_WORK; ConfigError where it is too much."""
        self._work += work
        if self._work > MOST_WORK or work > LONGEST_TEXT:
            raise ConfigError(f"the expansion of {next(iter(path), found.name)} has no end")

    def _look_up(
        self, found: Reference, search: MacroSearch, path: Collection[str]
    ) -> tuple[MacroSearch, str]:
        """Return the text that stands for a macro, and the name that it is of, if it is."""
        name, raw = "", None
        if found.function == "ENV":
            raw = self.config.environment.get(found.name)
            if raw is None and not found.default_start:
                raw = "UNDEFINED"
        elif raw := self.config.raw(found.name):
            name = entered(found.name, path)
        if raw or (raw is not None and found.function):
            return MacroSearch(raw), name
        return search.of_default(found) if found.default_start else MacroSearch(""), ""

    def _compute(self, found: Reference, level: _Level) -> Passed:
        function, body = found.function, found.name
        written = level.search.text[found.start : found.end]
        problems: list[functions.Problem] = []
        inside: list[str] = []

        def lookup(name: str) -> str | None:
            raw = self.config.raw(name)
            if raw is None:
                # A part of a text, not of the value of a name.
                return name if function == "SUBSTR" else None
            if name not in level.given:
                raise Wanted(name, raw)
            value = level.given[name]
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
            body = f"{name.strip(BLANKS)}{comma}{form}"
        random, say = self.config.sources.random, problems.append
        # What cannot be evaluated is the text itself, as if it were made with macros.
        call = functions.Call(function, body, lookup, random, say, None, lambda _: "$", None, True)
        value = functions.compute(call)
        # Compat: two numbers draw as in a value, where the reference complains of no third
        # (test_a_single_pass_draws_between_two_numbers).
        if body and [problem.kind for problem in problems] == ["empty"]:
            # A list of nothing.
            return Passed("")
        if problems:
            told = filter(None, (*inside, _told(problems)))
            return Passed(written, problem="\n".join(told))
        return Passed(value, 1, next(filter(None, inside), ""))


def _told(problems: list[functions.Problem]) -> str:
    """Return, in the words of this pass, what a function complained of."""
    found = next((one for one in problems if one.kind in _FIRST_OF_ALL), problems[0])
    kind = "no items" if found.kind == "no list" and not found.about else found.kind
    return f'ERROR "${found.function}() error: {_WORDS[kind].format(about=found.about)}"'
