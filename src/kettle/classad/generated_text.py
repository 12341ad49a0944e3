"""The lines of a function that is being written, and the names in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kettle.classad.functions.table import LONGEST_SHORT
from kettle.classad.state import FAULT
from kettle.classad.values import ERROR, UNDEFINED, ExprList, Value
from kettle.named_tuples import NamedTuple


class Operand(NamedTuple):
    """What stands for a value in the text: its name, and what is known of it."""

    name: str
    # Whether it is true, false, undefined or error, and nothing else.
    logical: bool = False
    # Whether it is a constant, and which.
    constant: bool = False
    value: Value = UNDEFINED


def is_short(value: Value) -> bool:
    """Whether a constant is what calls of short values are for: neither a long text nor a list."""
    if type(value) is str:
        return len(value) <= LONGEST_SHORT
    return not isinstance(value, ExprList | list)


def guarded(call: Callable[[], Value]) -> Value:
    """Return what a call makes of constants."""
    try:
        return call()
    except FAULT:
        return ERROR


_WORDS: Final[list[tuple[Value, str]]] = [
    (True, "True"),
    (False, "False"),
    (UNDEFINED, "UNDEFINED"),
    (ERROR, "ERROR"),
]


class Text:
    """A function's lines so far; `constants` are what it is made with."""

    def __init__(self) -> None:
        self.lines: Final[list[str]] = []
        self.constants: Final[list[object]] = []
        self._places: Final[dict[object, str]] = {}
        self.level = 3
        self._variables = 0

    def say(self, line: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.level + line)

    def constant(self, value: object) -> str:
        """Return the name of a value that the function is made with."""
        place = (type(value), value) if type(value) in (int, str) else id(value)
        name = self._places.get(place)
        if name is None:
            name = self._places[place] = f"c{len(self.constants)}"
            self.constants.append(value)
        return name

    def variable(self) -> str:
        """Return a name that nothing has."""
        self._variables += 1
        return f"v{self._variables}"

    def literal(self, value: Value) -> Operand:
        """Return what stands for a constant."""
        for known, word in _WORDS:
            if value is known:
                return Operand(word, logical=True, constant=True, value=value)
        return Operand(self.constant(value), constant=True, value=value)

    def assign(self, name: str, made: Operand) -> None:
        """Give a name what an operand is."""
        self.say(f"{name} = {made.name}")

    def as_truth(self, made: Operand) -> Operand:
        """Return what logic takes the value for."""
        if made.logical:
            return made
        name = self.variable()
        self.say(f"{name} = {made.name}")
        self.say(f"if {name} is not True and {name} is not False: {name} = truth({name})")
        return Operand(name, logical=True)
