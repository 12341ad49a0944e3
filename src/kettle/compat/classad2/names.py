"""The enumerations, the exception and the last error of the `classad2` interface."""

from __future__ import annotations

import enum
from typing import Final


class ClassAdException(Exception):  # noqa: N818 - the wheel's name
    """What cannot be read or converted; the one exception of the interface that is its own."""


class Value(enum.IntEnum):
    """The values that Python has no value for."""

    Error = 1
    Undefined = 2


class ParserType(enum.IntEnum):
    """The forms ads come in. Auto tells old from new; FileAuto knows XML and JSON too."""

    Auto = -1
    Old = 0
    XML = 1
    JSON = 2
    New = 3
    FileAuto = 4


class _LastError:
    """Why the last thing that went wrong did."""

    __slots__ = ("text",)

    def __init__(self) -> None:
        self.text = ""


LAST_ERROR: Final = _LastError()


def lastError() -> str:  # noqa: N802 - the wheel's name
    """Return why the last text that could not be read could not, or the last value is an error.

    Of values it is told that a text was compared with what is none.

    Compat: the reference's own sentences are not copied; ours say where in the text it was. Shown
    by test_the_last_error_says_where_in_the_text_it_was.
    """
    return LAST_ERROR.text
