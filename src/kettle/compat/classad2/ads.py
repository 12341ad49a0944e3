"""`ClassAd` and `ExprTree` as the wheel's `classad2` has them, on Kettle's engine.

What the wheel's classes do beyond their documentation is taken from runs of it: the scripts of
tests/data/compat. The two classes make each other, so they are in one module.
"""

# ruff: noqa: N802, SLF001 - the wheel's names; the private members are of these two classes
from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Final

from kettle.classad import ClassAd as Ad
from kettle.classad import Expr, parse_expression
from kettle.classad.ad import parse_ad_at, to_expression
from kettle.classad.compile import evaluate_lazily, evaluate_once
from kettle.classad.nodes import AdNode, AttributeReference, Literal, Selection, children
from kettle.classad.state import new_state
from kettle.classad.unparse import library_order, unparse
from kettle.classad.values import Value as EngineValue
from kettle.compat.classad2.comparisons import note_error
from kettle.compat.classad2.convert import (
    CONTEXT,
    from_python,
    in_this_world,
    is_time,
    ready_value,
    to_python,
    whole_text,
)
from kettle.compat.classad2.depth import (
    MOST_LEVELS,
    VALUE_LEVELS,
    bounded,
    one_level_less,
    too_deep,
)
from kettle.compat.classad2.names import LAST_ERROR, ClassAdException, Value
from kettle.errors import ClassAdSyntaxError

if TYPE_CHECKING:
    from kettle.classad.references import Found

_NOT_AN_AD: Final = "Unable to parse string into a ClassAd."


class ClassAd(MutableMapping[str, Any]):
    """A mapping of names, without regard to case, to values and expressions.

    Reading gives Python's values: int, float, bool, str, datetime, list, `ClassAd`, `Value`, and
    an `ExprTree` for anything that has to be evaluated first.

    Compat: HTCondor's own functions are known at once; to the wheel they are errors until a program
    has called `parseOne` or imported `htcondor2`
    (test_functions_of_htcondor_are_known_from_the_start).
    """

    __slots__ = ("__weakref__", "_ad")
    _ad: Ad

    @bounded
    def __init__(self, input: str | dict[str, Any] | None = None) -> None:  # noqa: A002
        """Make an ad of nothing, of a text in new syntax, or of a dictionary.

        What follows the closing bracket of the text means nothing.
        """
        if input is None:
            self._ad = Ad()
        elif isinstance(input, dict):
            self._ad = ad_of_mapping(input)
        elif isinstance(input, str):
            self._ad = _read_ad(whole_text(input))
        else:
            raise TypeError("input must be None, str, or dict")

    @classmethod
    def _of(cls, ad: Ad) -> ClassAd:
        """Return the engine's ad, no copy of it, as a ClassAd."""
        made = cls.__new__(cls)
        made._ad = ad
        return made

    @bounded
    def __repr__(self) -> str:
        return unparse(self._ad)

    @bounded
    def __str__(self) -> str:
        from kettle.classad.pretty import pretty

        return pretty(to_expression(self._ad))

    def __reduce__(self) -> tuple[type[ClassAd], tuple[str]]:
        return ClassAd, (repr(self),)

    # -- The mapping ------------------------------------------------------------------------

    def __getitem__(self, key: str) -> Any:
        try:
            return ready_value(self._found(key), wrap_ad, wrap_tree)
        except RecursionError:
            raise too_deep() from None

    def _found(self, key: str) -> Expr:
        if not isinstance(key, str):
            raise TypeError("ClassAd keys are strings")
        found = self._ad.lookup(whole_text(key))
        if found is None:
            raise KeyError(key)
        return found

    @bounded
    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError("ClassAd keys are strings")
        tree = _tree_of(value)
        if not key:
            raise ClassAdException("Insert(key, v) failed")
        self._ad.insert(whole_text(key), tree)

    def __delitem__(self, key: str) -> None:
        if not isinstance(key, str):
            raise TypeError("ClassAd keys are strings")
        whole_text(key)
        try:
            del self._ad[key]
        except KeyError:
            raise KeyError(key) from None

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            raise TypeError("ClassAd keys are strings")
        return whole_text(key) in self._ad

    def __iter__(self) -> Iterator[str]:
        # A list made first: the wheel's loops may change the ad.
        return iter(library_order(self._ad))

    def __len__(self) -> int:
        return len(self._ad)

    @bounded
    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, ClassAd)
        return _same(to_expression(self._ad), to_expression(other._ad))

    __hash__ = None  # type: ignore[assignment]

    # -- Expressions ------------------------------------------------------------------------

    def lookup(self, attr: str) -> ExprTree:
        """Return an attribute's expression, as it is written; KeyError if there is none."""
        return ExprTree._of(self._found(attr))

    def eval(self, attr: str) -> Any:
        """Return an attribute's value in this ad; KeyError if there is no such attribute."""
        return self.lookup(attr).eval(self)

    @bounded
    def flatten(self, expr: ExprTree) -> Any:
        """Return the expression with what this ad knows filled in.

        It is an `ExprTree`, or a value where nothing was left open. ValueError where references go
        in a circle, though the value of that is undefined (the script unanswered.py).
        """
        from kettle.classad.flatten import CircleError, flatten

        try:
            rest = flatten(_checked(expr)._tree, self._ad, CONTEXT, circles=False)
        except CircleError:
            raise ValueError("Unable to flatten expression.") from None
        ready = isinstance(rest, Literal) or is_time(rest)
        return ready_value(rest, wrap_ad, wrap_tree) if ready else wrap_tree(rest)

    def externalRefs(self, expr: ExprTree) -> list[str]:
        """Return the names in the expression that this ad does not have; `['']` if none.

        ValueError where references go in a circle, or something is selected from what is neither
        an ad nor undefined.
        """
        found = self._references(expr)
        return _names(found.external, found.external_fault, "external")

    def internalRefs(self, expr: ExprTree) -> list[str]:
        """Return the names in the expression that this ad has; `['']` if there are none.

        ValueError as `externalRefs` has it, and where that is so of what is selected from.
        """
        found = self._references(expr)
        return _names(found.internal, found.internal_fault, "internal")

    @bounded
    def _references(self, expr: ExprTree) -> Found:
        from kettle.classad.references import search_references

        return search_references(_checked(expr)._tree, self._ad)

    # -- Matching ---------------------------------------------------------------------------

    @bounded
    def matches(self, ad: ClassAd) -> bool:
        """Return whether the other ad's Requirements are true with this one as TARGET."""
        if not isinstance(ad, ClassAd):
            raise TypeError("ad must be a ClassAd")
        try:
            requirements = ad.lookup("requirements")
        except KeyError:
            return False
        result = requirements.eval(scope=ad, target=self)
        # `Value` is an integer too, but neither of its members is true.
        return isinstance(result, int | float) and type(result) is not Value and bool(result)

    def symmetricMatch(self, ad: ClassAd) -> bool:
        """Return whether each ad's Requirements are true with the other one as TARGET."""
        return self.matches(ad) and ad.matches(self)

    # -- Printing ---------------------------------------------------------------------------

    @bounded
    def printOld(self) -> str:
        """Return the ad in old syntax, one line an attribute.

        Compat: what follows a NUL in a text is printed, too; the wheel's whole output ends there,
        and that of `printJson`. Shown by test_what_follows_a_nul_is_printed.
        """
        return unparse(self._ad, old=True)

    @bounded
    def printJson(self) -> str:
        """Return the ad as JSON."""
        from kettle.classad.forms_json import to_json

        return to_json(self._ad)

    formatOld = printOld  # noqa: N815
    formatJson = printJson  # noqa: N815


class ExprTree:
    """An expression. It does not know which ad it came from: `eval` is told."""

    __slots__ = ("__weakref__", "_tree")
    _tree: Expr

    @bounded
    @in_this_world
    def __init__(self, expr: str | ExprTree | None = None) -> None:
        """Parse a text in new syntax; copy an expression; None is `undefined`.

        Compat: a comment up to the end of the text is allowed; for the wheel it hides the bracket
        that it puts behind the text. Shown by test_a_comment_may_end_an_expression.
        """
        text = "undefined" if expr is None else whole_text(str(expr))
        try:
            self._tree = parse_expression(text)
        except ClassAdSyntaxError:
            # What the wheel takes besides is what it takes between `[expression =` and `]`.
            found = _read_ad(f"[expression = {text}]").lookup("expression")
            assert found is not None
            self._tree = found

    @classmethod
    def _of(cls, tree: Expr) -> ExprTree:
        made = cls.__new__(cls)
        made._tree = tree
        return made

    @bounded
    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        assert isinstance(other, ExprTree)
        return _same(self._tree, other._tree)

    __hash__ = None  # type: ignore[assignment]

    @bounded
    def __str__(self) -> str:
        from kettle.classad.pretty import pretty

        return pretty(self._tree)

    @bounded
    def __repr__(self) -> str:
        return unparse(self._tree)

    def __reduce__(self) -> tuple[type[ExprTree], tuple[str]]:
        # Compat: the wheel cannot pickle an expression, nor copy one deeply. Shown by
        # test_an_expression_can_be_pickled.
        return ExprTree, (repr(self),)

    def eval(self, scope: ClassAd | None = None, target: ClassAd | None = None) -> Any:
        """Return the value of the expression in `scope`, matched against `target`.

        Elements of a list that have to be evaluated first are expressions in it. Without a scope
        there is no target either, and what asks for the outermost ad, as `.name` does, raises
        ClassAdException.
        """
        try:
            return to_python(self._value(scope, target), wrap_ad, wrap_tree)
        except RecursionError:
            raise too_deep() from None

    @bounded
    def simplify(self, scope: ClassAd | None = None, target: ClassAd | None = None) -> ExprTree:
        """Return the value of the expression as an expression."""
        return ExprTree._of(to_expression(self._value(scope, target)))

    def _value(self, scope: ClassAd | None, target: ClassAd | None) -> EngineValue:
        mine, theirs = _scopes(scope, target)
        if mine is None:
            value = value_without_ad(self._tree)
        else:
            value = evaluate_once(self._tree, mine, theirs, CONTEXT)
        note_error(value, self._tree, mine, theirs)
        return value


def value_without_ad(tree: Expr) -> EngineValue:
    """Return the value of an expression in no ad; ClassAdException if it asks for the outermost.

    Compat: where a condition, or the left of `&&`, is an error the wheel asks in the rest too.
    Shown by test_an_arm_that_is_not_taken_needs_no_ad.
    """
    state = new_state(None, None, CONTEXT)
    value = evaluate_lazily(tree, state)
    if state.failed:
        raise ClassAdException("failed to evaluate expression")
    return value


def wrap_ad(ad: Ad) -> ClassAd:
    """Return a copy of an ad of the engine's; it does not know the ad around it any more."""
    copy = ad.copy()
    copy.scope = None
    return ClassAd._of(copy)


def wrap_tree(tree: Expr) -> ExprTree:
    """Return an expression of the engine's."""
    return ExprTree._of(tree)


def ad_of_mapping(mapping: Mapping[Any, Any], levels: int = MOST_LEVELS) -> Ad:
    """Return the ad a mapping is, `levels` deep; what has an empty name is left out."""
    ad = Ad()
    inside = one_level_less(levels)
    for key, value in mapping.items():
        if not isinstance(key, str):
            # Compat: the wheel raises a SystemError here; shown by
            # test_what_makes_the_wheel_fault_raises_what_can_be_caught.
            raise TypeError("ClassAd keys are strings")
        tree = _tree_of(value, inside)
        if key:
            ad.insert(key, tree)
    return ad


def _tree_of(value: object, levels: int = VALUE_LEVELS) -> Expr:
    if isinstance(value, ExprTree):
        return value._tree
    if isinstance(value, ClassAd):
        return to_expression(value._ad)
    if isinstance(value, Mapping):
        return to_expression(ad_of_mapping(value, levels))
    return from_python(value, _tree_of, levels)


@in_this_world
def _read_ad(text: str) -> Ad:
    try:
        return parse_ad_at(text, 0)[0]
    except (ClassAdSyntaxError, RecursionError) as error:
        LAST_ERROR.text = str(error)
        raise ClassAdException(_NOT_AN_AD) from None


def _checked(expr: ExprTree) -> ExprTree:
    if not isinstance(expr, ExprTree):
        raise TypeError("expr must be an ExprTree")
    return expr


def _names(found: list[str], fault: int | None, which: str) -> list[str]:
    """Return the names in order; ValueError if the search for them has no answer.

    Compat: none is a list of one empty name, as a program that splits text has it; shown by the
    script expressions.py. Which have no answer is shown by the script unanswered.py.
    """
    if fault is not None:
        raise ValueError(f"Unable to determine {which} references.")
    return sorted(found, key=str.lower) or [""]


def _scopes(scope: ClassAd | None, target: ClassAd | None) -> tuple[Ad | None, Ad | None]:
    if scope is not None and not isinstance(scope, ClassAd):
        raise TypeError("scope must be a ClassAd")
    if target is not None and not isinstance(target, ClassAd):
        raise TypeError("target must be a ClassAd")
    if scope is None or target is None or scope._ad is target._ad:
        return None if scope is None else scope._ad, None
    return scope._ad, target._ad


def _same(one: Expr, other: Expr) -> bool:
    """Return whether two expressions are the same, names in them spelled alike.

    The names that an ad gives its attributes may differ in case, those it refers to may not.

    Compat: infinite numbers and those that are none are the same as themselves, which they are not
    in the wheel (test_an_ad_is_the_same_as_its_copy_whatever_its_numbers).
    """
    if one != other:
        return False
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if isinstance(left, AdNode) and isinstance(right, AdNode):
            pending += _entries(Ad.view_of(left, None), Ad.view_of(right, None))
            continue
        if isinstance(left, AttributeReference | Selection):
            assert isinstance(right, AttributeReference | Selection)
            if left.name != right.name:
                return False
        pending += zip(children(left), children(right), strict=True)
    return True


def _entries(one: Ad, other: Ad) -> list[tuple[Expr, Expr]]:
    pairs = [(one.lookup(name), other.lookup(name)) for name in one.names()]
    return [(left, right) for left, right in pairs if left is not None and right is not None]


def of_engine(ad: Ad) -> ClassAd:
    """Return an ad of the engine's, no copy of it, as a ClassAd: for one nobody else keeps."""
    return ClassAd._of(ad)


def to_engine(ad: ClassAd) -> Ad:
    """Return the engine's ad that a ClassAd holds, no copy of it."""
    return ad._ad
