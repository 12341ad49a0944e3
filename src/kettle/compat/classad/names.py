"""The exceptions and enumerations of version 1's `classad`."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, ClassVar

from kettle.compat.classad2.names import ClassAdException


class ClassAdParseError(ClassAdException, ValueError, SyntaxError, RuntimeError):
    """A text that is no ad or no expression."""

    def __str__(self) -> str:
        # Compat: the wheel's text is always "None", that of a SyntaxError without a place. Shown by
        # test_an_error_of_a_text_says_what_is_wrong.
        return str(self.args[0]) if self.args else ""


class ClassAdValueError(ClassAdException, ValueError, RuntimeError, TypeError):
    """A value that cannot be what is asked for."""


class ClassAdTypeError(ClassAdException, TypeError, ValueError):
    """An argument of the wrong type."""


class ClassAdEvaluationError(ClassAdException, TypeError, RuntimeError):
    """An expression whose value is an error where one is needed."""


class ClassAdInternalError(ClassAdException, ValueError, RuntimeError):
    """What should not happen."""


class ClassAdEnumError(ClassAdException, TypeError):
    """A number that an enumeration does not have."""


class ClassAdOSError(ClassAdException, OSError, RuntimeError):
    """What the system refused."""


class Value(enum.IntEnum):
    """The values that Python has no value for. Neither is true."""

    names: ClassVar[Mapping[str, Any]]
    values: ClassVar[Mapping[int, Any]]

    Error = 1
    Undefined = 2

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"classad.classad.Value.{self.name}"


class Parser(enum.IntEnum):
    """The forms that ads come in; Auto tells them apart."""

    names: ClassVar[Mapping[str, Any]]
    values: ClassVar[Mapping[int, Any]]

    Auto = 0
    Old = 1
    New = 2

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"classad.classad.Parser.{self.name}"


# As enumerations of version 1 find their members.
for _kind in (Value, Parser):
    _kind.names = dict(_kind.__members__)
    _kind.values = {int(one): one for one in _kind}
