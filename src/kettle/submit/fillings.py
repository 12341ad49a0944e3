"""Texts of a description as what fills them in for each job: one formatting, nothing searched.

Most texts that change from job to job are a few constants with a number or an item between them.
Where a text's macros stand, and what those of them are that do not change, is found out once. A
text that is anything else, with a default or a `$$()` in it, is expanded anew for each job.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kettle.config import functions
from kettle.config.expander import LEAST_WORK, MOST_FILLED, template_of
from kettle.named_tuples import NamedTuple
from kettle.submit.macros import LIVE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.config.macro_search import Reference
    from kettle.submit.macros import SubmitMacros

# Limit: the pieces of one text, those of the texts that it mentions included. Names that mention
# the next one twice double them each.
_MOST_PIECES = 500


class Computed(NamedTuple):
    """A macro function in a text: under which name its value is filled in, and how it is got."""

    key: str
    compute: Callable[[functions.Call], str]
    call: functions.Call


class Filling(NamedTuple):
    """What returns a text for each job: its form and what is computed for it, None for no form."""

    make: Callable[[], str]
    form: str | None
    computed: tuple[Computed, ...] = ()


class _UnfitError(Exception):
    """The text is no template, or one without end."""


def filled(macros: SubmitMacros, text: str) -> str | Filling:
    """Return the expanded text if it is the same for all jobs, else what returns a job's.

    What is returned is good as long as the description's variables stay as they are, and for rows
    that are plain (`SubmitMacros.is_plain_row`). ConfigError for a circle.
    """
    if "$" not in text:
        return text
    expanded, is_live = macros.watch(macros.expand, text)
    if not is_live:
        return expanded
    reader = _FormReader(macros)
    try:
        form = reader.form_of(text, ())
    except _UnfitError:
        return Filling(partial(macros.expand, text), None)
    computed = tuple(reader.computed)
    if not computed:
        return Filling(partial(form.__mod__, macros.live), form)
    return Filling(partial(_fill, macros, text, form, computed), form, computed)


def _fill(macros: SubmitMacros, text: str, form: str, computed: tuple[Computed, ...]) -> str:
    for key, compute, call in computed:
        value = compute(call)
        if "$" in value or len(value) > LEAST_WORK:
            # What a function gives is looked at again.
            return macros.expand(text)
        macros.live[key] = value
    return form % macros.live


class _FormReader:
    """Makes the form of one text: a format string over what is live, and what is computed."""

    def __init__(self, macros: SubmitMacros) -> None:
        self._macros = macros
        self._left = _MOST_PIECES
        self.computed: list[Computed] = []

    def form_of(self, text: str, active: tuple[str, ...]) -> str:
        """Return the form of a text, met inside the names that are `active`."""
        if "$" not in text:
            return text.replace("%", "%%")
        template = template_of(text)
        self._left -= 1 if template is None else len(template.macros)
        if template is None or self._left < 0 or len(active) >= MOST_FILLED:
            raise _UnfitError
        pieces: list[str] = []
        for part, found in zip(template.before, template.macros, strict=True):
            pieces += (part.replace("%", "%%"), self._form_of_macro(found, active))
        pieces.append(template.behind.replace("%", "%%"))
        return "".join(pieces)

    def _form_of_macro(self, found: Reference, active: tuple[str, ...]) -> str:
        macros = self._macros
        if found.function:
            return self._computed_form(found, active)
        key = found.name.upper()
        if key in macros.row_variables:
            return f"%({key})s"
        if key in macros.variables:
            text = macros.variables[key].text
        elif key in LIVE_NAMES:
            return f"%({LIVE_NAMES[key]})s"
        else:
            text = macros.defaults.get(key) or ""
        if key in active or len(text) > LEAST_WORK:
            raise _UnfitError
        return self.form_of(text, (*active, key))

    def _computed_form(self, found: Reference, active: tuple[str, ...]) -> str:
        macros = self._macros
        key = f"\0{len(macros.live)}"
        # Its place is taken, so that no other function gets it.
        macros.live[key] = ""
        compute = functions.function_of(found.function).compute

        live, rows, variables = macros.live, macros.row_variables, macros.variables

        def value(name: str) -> str | None:
            upper = name.upper()
            if upper in LIVE_NAMES and upper not in rows and upper not in variables:
                return live[LIVE_NAMES[upper]]
            return macros.value(name, active)

        call = functions.Call(
            found.function,
            found.name,
            value,
            macros.draw,
            macros.take_problem,
            macros.absolute,
            macros.raw,
        )
        self.computed.append(Computed(key, compute, call))
        return f"%({key})s"
