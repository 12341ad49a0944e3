"""`ClassAd` and `ExprTree` of version 1: an expression knows its ad and takes part in operations.

Beyond that they are the classes of version 2. What version 1 does beyond its documentation is
taken from runs of the wheel 24.12: the scripts of tests/data/compat/version1.
"""

# ruff: noqa: SLF001 - the private members are of the two classes here and of their bases
from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from kettle.classad import ERROR, UNDEFINED, Expr
from kettle.classad import ClassAd as Ad
from kettle.classad.ad import to_expression
from kettle.classad.compile import evaluate_lazily
from kettle.classad.nodes import Binary, Literal, Subscript, literal
from kettle.classad.state import new_state
from kettle.compat import classad2
from kettle.compat.classad.failures import FAILURES, failures_raised
from kettle.compat.classad.names import (
    ClassAdEvaluationError,
    ClassAdParseError,
    ClassAdTypeError,
    ClassAdValueError,
    Value,
)
from kettle.compat.classad2 import ClassAdException
from kettle.compat.classad2.ads import ad_of_mapping
from kettle.compat.classad2.comparisons import note_error
from kettle.compat.classad2.convert import (
    CONTEXT,
    from_python,
    is_time,
    ready_value,
    to_python,
)
from kettle.compat.classad2.depth import MOST_LEVELS, VALUE_LEVELS, bounded, one_level_less

_VALUES: Final = {
    classad2.Value.Undefined: Value.Undefined,
    classad2.Value.Error: Value.Error,
}
_NO_NUMBER: Final = "Unable to convert expression to numeric type."


class ClassAd(classad2.ClassAd):
    """A mapping of names, without regard to case, to values and expressions.

    An ad in an ad is read as a dictionary.

    Compat: bytes are values and no names, texts of ads or expressions, which they are to the wheel.
    Shown by test_bytes_are_no_names.
    """

    __slots__ = ()

    @bounded
    def __init__(self, input: str | Mapping[str, Any] | None = None) -> None:  # noqa: A002
        """Make an ad of nothing, of a text in new syntax, or of a dictionary."""
        if isinstance(input, classad2.ClassAd):
            self._ad = input._ad.copy()
        elif isinstance(input, Mapping):
            self._ad = _ad_of(input)
        else:
            try:
                # A text ends at a NUL: version 1 hands it to C so.
                super().__init__(input.partition("\0")[0] if isinstance(input, str) else input)
            except ClassAdException as error:
                raise ClassAdParseError(str(error)) from error

    @classmethod
    def _of_engine(cls, ad: Ad) -> ClassAd:
        made = cls.__new__(cls)
        made._ad = ad
        return made

    @bounded
    def __getitem__(self, key: str) -> Any:
        return _shown(ready_value(self._found(key), _as_dictionary, self._tree_of_mine))

    @bounded
    def __setitem__(self, key: str, value: Any) -> None:
        with _value_errors():
            super().__setitem__(key, classad2.ExprTree._of(tree_of(value)))

    def __delitem__(self, key: str) -> None:
        # In version 1 what is not there is gone already.
        with contextlib.suppress(KeyError):
            super().__delitem__(key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassAd) and bool(super().__eq__(other))

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[ClassAd], tuple[str]]:
        # Compat: the wheel cannot pickle an ad, nor copy one deeply. Shown by
        # test_an_ad_and_its_expressions_can_be_pickled.
        return ClassAd, (repr(self),)

    # In version 1 these can be gone through once.
    def keys(self) -> Iterator[str]:  # type: ignore[override]
        """Return an iterator over the names."""
        return iter(super().keys())

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        """Return an iterator over what `self[name]` is of each name."""
        return iter(super().values())

    def items(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        """Return an iterator over names and values."""
        return iter(super().items())

    def update(self, *given: Any, **named: Any) -> None:
        """Set what a mapping has, or a row of pairs."""
        if given and not isinstance(given[0], Iterable):
            raise ClassAdTypeError("Must provide a dictionary-like object to update()")
        super().update(*given, **named)

    def _tree_of_mine(self, tree: Expr) -> ExprTree:
        return ExprTree._of(tree, self)

    def lookup(self, attr: str) -> ExprTree:
        """Return an attribute's expression, which knows this ad; KeyError if there is none."""
        return self._tree_of_mine(self._found(attr))

    @bounded
    def eval(self, attr: str) -> Any:
        """Return an attribute's value in this ad; KeyError if there is no such attribute."""
        return self.lookup(attr).eval()

    @bounded
    def flatten(self, expr: Any) -> Any:
        """Return the expression with what this ad knows filled in; a text is a value."""
        with _unanswered():
            rest = super().flatten(_expression_of(expr))
        return ExprTree._of(rest._tree) if isinstance(rest, classad2.ExprTree) else _shown(rest)

    def matches(self, ad: classad2.ClassAd) -> bool:
        """Return whether the other ad's Requirements are true with this one as TARGET."""
        try:
            return super().matches(ad)
        except ClassAdEvaluationError:
            # References in a circle are no wish.
            return False

    def externalRefs(self, expr: Any) -> list[str]:  # noqa: N802
        """Return the names in the expression that this ad does not have; a text is a value."""
        with _unanswered():
            return [name for name in super().externalRefs(_expression_of(expr)) if name]

    def internalRefs(self, expr: Any) -> list[str]:  # noqa: N802
        """Return the names in the expression that this ad has; a text is a value."""
        # The wheel's words, for both.
        with _unanswered("Unable to determine external references."):
            return [name for name in super().internalRefs(_expression_of(expr)) if name]


class ExprTree(classad2.ExprTree):
    """An expression, which knows the ad it was read from.

    Operators make expressions of expressions, comparisons too: `sameAs` tells whether two are
    alike. Its truth and number are those of its value.

    Compat: what operators make is printed with the parentheses that it needs, where the wheel
    prints `a + b * 2` for a product. Shown by
    test_what_operators_make_is_printed_so_that_it_is_read_again.
    """

    __slots__ = ("_scope",)
    _scope: ClassAd | None

    @bounded
    def __init__(self, expr: str | classad2.ExprTree) -> None:
        """Parse a text in new syntax, or copy an expression."""
        self._scope = expr._scope if isinstance(expr, ExprTree) else None
        if isinstance(expr, classad2.ExprTree):
            self._tree = expr._tree
            return
        if not isinstance(expr, str):
            raise TypeError(f"an expression is a text, not {type(expr).__name__}")
        try:
            super().__init__(expr.partition("\0")[0])
        except ClassAdException as error:
            raise ClassAdParseError(f"{expr!r} is no expression") from error

    @classmethod
    def _of(cls, tree: Expr, scope: ClassAd | None = None) -> ExprTree:
        made = cls.__new__(cls)
        made._tree, made._scope = tree, scope
        return made

    def __reduce__(self) -> tuple[type[ExprTree], tuple[str]]:
        return ExprTree, (repr(self),)

    # -- Values -----------------------------------------------------------------------------

    @bounded
    def eval(
        self, scope: classad2.ClassAd | None = None, target: classad2.ClassAd | None = None
    ) -> Any:
        """Return the value in `scope`, by default in the ad that the expression was read from.

        ClassAdEvaluationError where references go in a circle, and where `.name` has no ad.
        """
        with failures_raised():
            return _shown(to_python(self._value(scope, target), _as_dictionary, self._beside))

    @bounded
    def simplify(
        self, scope: classad2.ClassAd | None = None, target: classad2.ClassAd | None = None
    ) -> ExprTree:
        """Return the value of the expression as an expression.

        Compat: of a list or an ad the wheel makes what ends the process when it is looked at. Shown
        by test_a_list_that_is_simplified_is_a_list.
        """
        if target is not None and not isinstance(target, classad2.ClassAd):
            raise TypeError("target must be a ClassAd")
        with failures_raised():
            return ExprTree._of(to_expression(self._value(scope, target)))

    def _value(self, scope: classad2.ClassAd | None, target: classad2.ClassAd | None) -> Any:
        # Version 1 looks at no scope and no target that is not an ad.
        mine = self._scope if scope is None else scope
        if not isinstance(mine, classad2.ClassAd):
            mine = None
        if not isinstance(target, classad2.ClassAd):
            target = None
        theirs = None if mine is None or target is None or target._ad is mine._ad else target._ad
        ours = None if mine is None else mine._ad
        state = new_state(ours, theirs, CONTEXT)
        value = evaluate_lazily(self._tree, state)
        if (state.failed or state.circular) and not FAILURES:
            raise ClassAdEvaluationError("Unable to evaluate expression")
        if not FAILURES:
            note_error(value, self._tree, ours, theirs)
        return value

    def _beside(self, tree: Expr) -> ExprTree:
        return ExprTree._of(tree, self._scope)

    def __bool__(self) -> bool:
        value = self.eval()
        if value is Value.Error:
            raise ClassAdEvaluationError("Unable to evaluate expression.")
        return bool(value)

    def __int__(self) -> int:
        # Compat: of an infinite number the wheel makes the least one of 64 bits. Shown by
        # test_an_infinite_number_is_no_integer.
        value = self.eval()
        return int(_read(value, int) if isinstance(value, str) else _number(value))

    def __float__(self) -> float:
        value = self.eval()
        return float(_read(value, _float) if isinstance(value, str) else _number(value))

    @bounded
    def __getitem__(self, index: int) -> Any:
        value = self.eval()
        # What Python says of a number that is written out is what the wheel says.
        written = isinstance(self._tree, Literal) or is_time(self._tree)
        if not isinstance(value, list | str) and not written:
            raise ClassAdValueError("ClassAd expression is unsubscriptable.")
        return value[index]

    def sameAs(self, expr: classad2.ExprTree) -> bool:  # noqa: N802
        """Return whether the other expression is the same, names in it spelled alike."""
        if not isinstance(expr, classad2.ExprTree):
            raise TypeError(f"an expression is compared, not {type(expr).__name__}")
        return classad2.ExprTree._of(self._tree) == classad2.ExprTree._of(expr._tree)

    # -- Operations -------------------------------------------------------------------------

    def _with(self, operator: str, other: object) -> ExprTree:
        with _value_errors():
            return ExprTree._of(Binary(operator, self._tree, tree_of(other)))

    def _after(self, operator: str, other: object) -> ExprTree:
        with _value_errors():
            return ExprTree._of(Binary(operator, tree_of(other), self._tree))

    def _compared(self, operator: str, other: object) -> ExprTree:
        """Return a comparison; with what no expression can be, whether that is something else."""
        try:
            return self._with(operator, other)
        except (ClassAdException, TypeError):
            return ExprTree._of(literal(operator in ("!=", "=!=")))

    def and_(self, expr: object) -> ExprTree:
        """Return `self && expr`."""
        return self._with("&&", expr)

    def or_(self, expr: object) -> ExprTree:
        """Return `self || expr`."""
        return self._with("||", expr)

    def is_(self, expr: object) -> ExprTree:
        """Return `self =?= expr`."""
        return self._compared("=?=", expr)

    def isnt_(self, expr: object) -> ExprTree:
        """Return `self =!= expr`."""
        return self._compared("=!=", expr)

    def _get(self, index: object) -> ExprTree:
        return ExprTree._of(Subscript(self._tree, tree_of(index)))

    def __eq__(self, other: object) -> ExprTree:  # type: ignore[override]
        return self._compared("==", other)

    def __ne__(self, other: object) -> ExprTree:  # type: ignore[override]
        return self._compared("!=", other)

    def __lt__(self, other: object) -> ExprTree:
        return self._with("<", other)

    def __le__(self, other: object) -> ExprTree:
        return self._with("<=", other)

    def __gt__(self, other: object) -> ExprTree:
        return self._with(">", other)

    def __ge__(self, other: object) -> ExprTree:
        return self._with(">=", other)

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __add__(self, other: object) -> ExprTree:
        return self._with("+", other)

    def __radd__(self, other: object) -> ExprTree:
        return self._after("+", other)

    def __sub__(self, other: object) -> ExprTree:
        return self._with("-", other)

    def __rsub__(self, other: object) -> ExprTree:
        return self._after("-", other)

    def __mul__(self, other: object) -> ExprTree:
        return self._with("*", other)

    def __rmul__(self, other: object) -> ExprTree:
        return self._after("*", other)

    def __truediv__(self, other: object) -> ExprTree:
        return self._with("/", other)

    def __rtruediv__(self, other: object) -> ExprTree:
        return self._after("/", other)

    def __mod__(self, other: object) -> ExprTree:
        return self._with("%", other)

    def __rmod__(self, other: object) -> ExprTree:
        return self._after("%", other)

    def __and__(self, other: object) -> ExprTree:
        return self._with("&", other)

    def __rand__(self, other: object) -> ExprTree:
        return self._after("&", other)

    def __or__(self, other: object) -> ExprTree:
        return self._with("|", other)

    def __ror__(self, other: object) -> ExprTree:
        return self._after("|", other)

    def __xor__(self, other: object) -> ExprTree:
        return self._with("^", other)

    def __rxor__(self, other: object) -> ExprTree:
        return self._after("^", other)

    def __lshift__(self, other: object) -> ExprTree:
        return self._with("<<", other)

    def __rlshift__(self, other: object) -> ExprTree:
        return self._after("<<", other)

    def __rshift__(self, other: object) -> ExprTree:
        return self._with(">>", other)

    def __rrshift__(self, other: object) -> ExprTree:
        return self._after(">>", other)


def of_version_2(ad: classad2.ClassAd) -> ClassAd:
    """Return an ad of version 2, no copy of it, as one of version 1."""
    return ClassAd._of_engine(ad._ad)


def tree_of(value: object, levels: int = VALUE_LEVELS) -> Expr:
    """Return the expression that a value of Python's is; ClassAdException if it can be none.

    So many `levels` of lists and dictionaries may lie in it.
    """
    if value is Value.Undefined:
        return literal(UNDEFINED)
    if value is Value.Error:
        return literal(ERROR)
    if isinstance(value, classad2.ExprTree):
        return value._tree
    if isinstance(value, classad2.ClassAd):
        return to_expression(value._ad)
    if isinstance(value, Mapping):
        return to_expression(_ad_of(value, levels))
    return from_python(value, tree_of, levels)


def given_value(value: object) -> Expr:
    """Return the expression that a value of Python's is; ClassAdValueError if it can be none."""
    with _value_errors():
        return tree_of(value)


def _expression_of(value: Any) -> classad2.ExprTree:
    if isinstance(value, classad2.ExprTree):
        return value
    return classad2.ExprTree._of(given_value(value))


def to_value(value: Any, scope: ClassAd | None = None) -> Any:
    """Return a value of the engine's as Python's."""
    return _shown(to_python(value, _as_dictionary, lambda tree: ExprTree._of(tree, scope)))


def _ad_of(mapping: Mapping[Any, Any], levels: int = MOST_LEVELS) -> Ad:
    if "" in mapping:
        raise ClassAdValueError("Unable to insert a value without a name.")
    with _value_errors():
        inside = one_level_less(levels)
        return ad_of_mapping({key: _wrapped(value, inside) for key, value in mapping.items()})


def _wrapped(value: object, levels: int) -> classad2.ExprTree:
    return classad2.ExprTree._of(tree_of(value, levels))


def _as_dictionary(ad: Ad) -> dict[str, Any]:
    """Return an ad in an ad, or in a value: its expressions know a copy of it."""
    copy = ad.copy()
    copy.scope = None
    around = ClassAd._of_engine(copy)
    return {name: around[name] for name in around}


def _shown(value: Any) -> Any:
    """Return a value of version 2's as version 1 has it; times are in UTC and do not say so."""
    if isinstance(value, classad2.Value):
        return _VALUES[value]
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, list):
        return [_shown(one) for one in value]
    return value


def _read(text: str, kind: Callable[[str], float]) -> float:
    """Return the number that a text is, as C reads it: none is 0, nothing may follow."""
    if not text:
        return 0
    if text == text.rstrip() and "_" not in text:
        with contextlib.suppress(ValueError):
            return kind(text)
    # The wheel's words, for reals too.
    raise ClassAdValueError("Unable to convert string to integer.")


def _float(text: str) -> float:
    return float.fromhex(text) if "0x" in text.lower() else float(text)


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, Value):
        return value
    raise ClassAdValueError(_NO_NUMBER)


@contextlib.contextmanager
def _value_errors() -> Iterator[None]:
    try:
        yield
    except ClassAdException as error:
        raise ClassAdValueError(str(error)) from error


@contextlib.contextmanager
def _unanswered(told: str = "") -> Iterator[None]:
    """Have version 2's ValueError, which is no ClassAdException, be that of version 1."""
    try:
        yield
    except ClassAdException:
        raise
    except ValueError as error:
        raise ClassAdValueError(told or str(error)) from None
