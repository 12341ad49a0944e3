"""The values an expression can have: what they are called, how they are told apart.

At the bottom of the room, so what any expression (`Expr`) and any ad (`Ad`) is stands here too: a
list is made of the one, and the other is a value. The kinds of expressions are in `nodes.py`, the
ad is `ad.ClassAd`.

Booleans, integers (64 bits, two's complement), reals and strings are Python's own. UNDEFINED and
ERROR are singletons. Times are two small classes. Inside the evaluator a list is an `ExprList`,
whose elements are evaluated when they are asked for; outside it is a Python list
(`ClassAd.evaluate` converts). Operators on values are in `operators.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, Union

from kettle.classad.calendar import moment_text, span_text
from kettle.classad.context import Context
from kettle.digits import MAX_INTEGER, MIN_INTEGER, saturate_32
from kettle.named_tuples import NamedTuple

_MODULUS: Final = 1 << 64


class Undefined:
    """The value of an attribute nobody set; there is one, UNDEFINED."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        return False

    def __copy__(self) -> Undefined:
        return self

    def __deepcopy__(self, memo: object) -> Undefined:
        return self

    def __reduce__(self) -> str:
        return "UNDEFINED"


class Error:
    """The value of an expression that makes no sense; there is one, ERROR."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ERROR"

    def __bool__(self) -> bool:
        return False

    def __copy__(self) -> Error:
        return self

    def __deepcopy__(self, memo: object) -> Error:
        return self

    def __reduce__(self) -> str:
        return "ERROR"


UNDEFINED: Final = Undefined()
ERROR: Final = Error()


class AbsoluteTime:
    """A moment: seconds since the epoch, and the offset east of UTC it is written in."""

    __slots__ = ("offset_seconds", "seconds")

    def __init__(self, seconds: int, offset_seconds: int = 0) -> None:
        self.seconds: Final = seconds
        self.offset_seconds: Final = offset_seconds

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbsoluteTime):
            return NotImplemented
        return (self.seconds, self.offset_seconds) == (other.seconds, other.offset_seconds)

    def __hash__(self) -> int:
        return hash((AbsoluteTime, self.seconds, self.offset_seconds))

    def __str__(self) -> str:
        return moment_text(self.seconds, self.offset_seconds)

    def __repr__(self) -> str:
        return f'absTime("{self}")'


class RelativeTime:
    """A span of time in seconds; it may be negative and may have a fraction."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds: Final = float(seconds)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RelativeTime):
            return NotImplemented
        return self.seconds == other.seconds

    def __hash__(self) -> int:
        return hash((RelativeTime, self.seconds))

    def __str__(self) -> str:
        return span_text(float(saturate_32(self.seconds)))

    def __repr__(self) -> str:
        return f'relTime("{self}")'


class Expr:
    """A parsed expression. Equal when the trees are the same (names without regard to case)."""

    __slots__ = ("_closure",)
    _closure: Closure | None
    # As it is printed in new and in old syntax.
    new_text: str
    old_text: str
    # The steps that an evaluation of it counts as.
    weight: int
    # How often the closures evaluated it, or the functions that were generated because of that.
    heat: int | Hot

    def text(self, *, old: bool = False) -> str:
        """Return the expression as it is printed in new or `old` syntax."""
        return self.old_text if old else self.new_text

    def write_out(self, *, old: bool) -> str:
        """Return the text, made anew."""
        return _language.write_out(self, old=old)

    @property
    def closure(self) -> Closure:
        """Return the compiled expression, a function of the evaluation's state."""
        closure = self._closure
        if closure is None:
            closure = self._closure = _language.evaluator.compile(self)
        return closure

    @property
    def is_literal(self) -> bool:
        """Return whether the expression is a plain value."""
        return False

    def evaluate(
        self, ad: Ad | None = None, target: Ad | None = None, context: Context | None = None
    ) -> Value:
        """Return the expression's value in `ad`, matched against `target`."""
        # From the first call on, this is the evaluator's function itself.
        return _language.evaluator.evaluate(self, ad, target, context)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expr):
            return NotImplemented
        return self is other or _language.same_expression(self, other)

    def __hash__(self) -> int:
        return hash(str(self).lower())

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


class Tree(Expr):
    """An expression that is more than a value: what is worked out of it once is kept."""

    __slots__ = ("heat", "new_text", "old_text", "weight")
    new_text: str
    old_text: str
    heat: int | Hot
    weight: int

    def __getattr__(self, name: str) -> str | int:
        # What was printed once is kept: most ads are printed more often than changed.
        if name == "heat":
            self.heat = 0
            return 0
        if name == "weight":
            self.weight = weight = _language.weigh(self)
            return weight
        if name not in ("new_text", "old_text"):
            raise AttributeError(name)
        text = self.write_out(old=name == "old_text")
        setattr(self, name, text)
        return text


class Ad:
    """An ad as values, printing and evaluation know it; `ad.ClassAd` is the only kind.

    `table` has its own attributes by lower-case name, as trees or as text not parsed yet; `scope`
    is the ad around a nested one.
    """

    __slots__ = ()
    table: dict[str, Expr | str]
    scope: Ad | None

    def names(self) -> list[str]:
        """Return the names of all attributes."""
        raise NotImplementedError

    def entry(self, key: str) -> Expr | None:
        """Return the expression under a lower-case name."""
        raise NotImplementedError

    def lookup(self, name: str) -> Expr | None:
        """Return the expression of an attribute, None if there is no such attribute."""
        raise NotImplementedError

    def text(self, name: str) -> str | None:
        """Return an attribute's expression in old syntax."""
        raise NotImplementedError

    def outermost(self) -> Ad:
        """Return the ad around all the ads this one is in; itself, if in none."""
        raise NotImplementedError


class PlainValues:
    """The elements of a list that are all values, none of them a list or an ad, worked out once.

    `texts` says how many of them are texts, `size` how many characters those have together.
    """

    __slots__ = ("_exact", "_folded", "size", "texts", "values")
    _exact: frozenset[str]
    _folded: frozenset[str]

    def __init__(self, values: tuple[Value, ...]) -> None:
        texts = [value for value in values if type(value) is str]
        self.values: Final = values
        self.texts: Final = len(texts)
        self.size: Final = sum(map(len, texts))

    def __getattr__(self, name: str) -> frozenset[str]:
        if name not in ("_exact", "_folded"):
            raise AttributeError(name)
        texts = [value for value in self.values if type(value) is str]
        made = frozenset(map(fold_case, texts) if name == "_folded" else texts)
        setattr(self, name, made)
        return made

    def holds(self, text: str, *, exactly: bool) -> bool:
        """Return whether one of them is the text, letters as they are or whatever their case."""
        return text in self._exact if exactly else fold_case(text) in self._folded


def plain_values(elements: tuple[Expr, ...]) -> PlainValues | None:
    """Return what is known of expressions that are all plain values; None if one is not."""
    values: list[Value] = []
    for element in elements:
        if not element.is_literal:
            return None
        value: Value = element.value  # type: ignore[attr-defined]
        if isinstance(value, ExprList | Ad | list):
            return None
        values.append(value)
    return PlainValues(tuple(values))


class ExprList:
    """A list inside the evaluator: expressions, and the ad that they stand in.

    `list[0]` evaluates its element in that ad, `scope`; a function that asks for all elements
    evaluates them in the ad of its call. None where the elements are values, or where the list
    was made by a function.

    `plain` is what is known of it if all its elements are values; None if they are not.
    """

    __slots__ = ("elements", "plain", "scope")
    plain: PlainValues | None

    def __init__(self, elements: tuple[Expr, ...], scope: Ad | None = None) -> None:
        self.elements: Final = elements
        self.scope: Final = scope

    def __getattr__(self, name: str) -> PlainValues | None:
        # Looked for once for each list, which the closure of a plain one makes only once.
        if name != "plain":
            raise AttributeError(name)
        self.plain = plain = plain_values(self.elements)
        return plain

    def __len__(self) -> int:
        return len(self.elements)


Value: TypeAlias = Union[
    bool,
    int,
    float,
    str,
    "list[Value]",
    Ad,
    AbsoluteTime,
    RelativeTime,
    Undefined,
    Error,
    ExprList,
]

# A function that was generated from an expression: of its ad, the other ad of a match, and the
# context; and what it returns where it has no answer.
Run: TypeAlias = Callable[["Ad", "Ad | None", Context], "Value | Missed"]


class Missed:
    """There is one, MISSED."""

    __slots__ = ()


MISSED: Final = Missed()


# So many evaluations by the closures take about as long as to generate a function.
HOT: Final = 200


class Hot:
    """The functions generated from an expression: for ads by themselves, and for those of a match.

    `misses` counts the times that none of them had an answer, `tries` how often one was generated.
    """

    __slots__ = ("alone", "matched", "misses", "tries")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Have no functions, as in the beginning."""
        self.alone: tuple[Run, ...] = ()
        self.matched: tuple[Run, ...] = ()
        self.misses = self.tries = 0


# A compiled expression: a function of the evaluation's `State`.
Closure: TypeAlias = Callable[[Any], Value]


class Evaluator(NamedTuple):
    """What makes a closure of an expression, and what evaluates one from scratch."""

    compile: Callable[[Expr], Closure]
    evaluate: Callable[[Expr, Ad | None, Ad | None, Context | None], Value]


class _Language:
    """What printing, comparing and evaluating are; the modules that know stand above this one."""

    __slots__ = ("evaluator", "load_evaluator", "same_expression", "weigh", "write_out")
    evaluator: Evaluator
    load_evaluator: Callable[[], Evaluator]
    same_expression: Callable[[Expr, Expr], bool]
    weigh: Callable[[Expr], int]
    write_out: Callable[..., str]

    def __getattr__(self, name: str) -> Evaluator:
        # Most tools never evaluate anything: the first one that does loads what it takes.
        if name != "evaluator":
            raise AttributeError(name)
        self.evaluator = evaluator = self.load_evaluator()
        Expr.evaluate = evaluator.evaluate  # type: ignore[method-assign,assignment]
        return evaluator


_language: Final = _Language()


def define_language(
    *,
    write_out: Callable[..., str],
    same_expression: Callable[[Expr, Expr], bool],
    weigh: Callable[[Expr], int],
    load_evaluator: Callable[[], Evaluator],
) -> None:
    """Say how expressions are printed, compared, weighed and evaluated.

    The package's `__init__` does.
    """
    _language.write_out = write_out
    _language.same_expression = same_expression
    _language.weigh = weigh
    _language.load_evaluator = load_evaluator


def fold_case(text: str) -> str:
    """Return the text with ASCII letters, and only those, in lower case."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


_LOWER: Final = {code: code + 32 for code in range(65, 91)}


def wrap_integer(number: int) -> int:
    """Return the number as 64 bits in two's complement would hold it."""
    if MIN_INTEGER <= number <= MAX_INTEGER:
        return number
    number &= _MODULUS - 1
    return number - _MODULUS if number > MAX_INTEGER else number


def saturate_integer(number: float) -> int:
    """Return a real truncated to an integer as x86-64 does: out of range is the smallest one."""
    if number != number or number >= 9.223372036854775807e18 or number < -9.223372036854775808e18:
        return MIN_INTEGER
    return int(number)
