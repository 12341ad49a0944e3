"""Named ways to show a value: what `PRINTAS NAME` of a print-format file stands for.

A way takes the value of its column. One that renders makes another value of it, also where there is
none, and that value is printed by a format; the others make the text themselves, and a format that
is said beside them changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from kettle.classad import ClassAd, Value
from kettle.structs import Struct
from kettle.tools.printing.times import as_whole
from kettle.tools.printing.values import as_number

# What a way asks of the value: one of another kind is none to it.
Kind = Literal["whole", "real", "text", "any"]


class ColumnWidth(Protocol):
    """What a way may know of its column."""

    width: int
    automatic: bool


# From the value, the ad it is of and the column: a value, or None where there is nothing to show.
Made = Callable[[Value, ClassAd, ColumnWidth], "Value | None"]


class Way(Struct):
    """One named way; `form` is how what it makes is printed where the file says no format.

    `doc` is the manual's sentence of it.
    """

    doc: str
    kind: Kind
    make: Made
    form: str = ""
    renders: bool = True

    def taken(self, value: Value) -> Value:
        """Return what a way that renders is given for a value: something of its kind."""
        if self.kind == "text":
            return value if isinstance(value, str) else ""
        if self.kind == "any":
            return value
        number = as_number(value)
        return 0 if number is None else number if self.kind == "real" else as_whole(number)


Ways = Mapping[str, Way]


def text_of_ad(doc: str, show: Callable[[ClassAd], str | None]) -> Way:
    """Return a way that looks at the ad alone."""
    return Way(doc, "text", lambda _value, ad, _column: show(ad))


def text_of_whole(doc: str, show: Callable[[int], str]) -> Way:
    """Return a way that shows a whole number."""
    return Way(doc, "whole", lambda value, _ad, _column: show(_whole(value)), renders=False)


def text_of_real(doc: str, show: Callable[[float], str]) -> Way:
    """Return a way that shows a number."""
    return Way(doc, "real", lambda value, _ad, _column: show(as_number(value) or 0), renders=False)


def text_of_any(doc: str, show: Callable[[Value], str]) -> Way:
    """Return a way that shows a value of any kind."""
    return Way(doc, "any", lambda value, _ad, _column: show(value), renders=False)


def _whole(value: Value) -> int:
    return as_whole(as_number(value) or 0)
