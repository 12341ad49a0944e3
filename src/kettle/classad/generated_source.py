"""The text of a function that evaluates one expression in ads of one kind.

`generated.py` compiles it.
An attribute that is a value is read where it is used; one that is an expression is written out in
its place, after the question whether the ad still has that one. What the names in the text mean
is `generated.py`'s; `operation_*` and `unary_*` are the operators, `c0` and so on what the function
is made with, `v1` and so on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from kettle.classad.functions.library import find_function
from kettle.classad.functions.table import FREE, LONGEST_SHORT, StrictFunction
from kettle.classad.generated_text import Operand, Text, guarded, is_short
from kettle.classad.nodes import (
    AttributeReference,
    Binary,
    Call,
    Conditional,
    ListNode,
    Literal,
    Parentheses,
    Selection,
    Unary,
)
from kettle.classad.operators import BINARY, COMPARISONS, UNARY
from kettle.classad.state import AROUND, SPECIAL
from kettle.classad.values import UNDEFINED, Ad, Expr, ExprList, Value, fold_case

# Limit: an expression that is larger, with those it looks into, is left to the closures; so is
# one in which operators stand so deep in one another.
_MOST_NODES: Final = 400
_MOST_LEVELS: Final = 40
# Limit: so is one that names lists of more elements, however often one and the same: the closures
# count what is compared with them.
_MOST_ELEMENTS: Final = 400
# What an element takes with its places in the sets that it is looked for in.
_ELEMENT_BYTES: Final = 200
# Limit: what is heavier is left to the closures, which count what they read.
MOST_WEIGHT: Final = 100


class UnsupportedError(ValueError):
    """The expression is one for the closures."""


ARITHMETIC: Final = frozenset("+-*")
_IDENTITY: Final = frozenset({"=?=", "=!="})
OPERATOR_NAMES: Final[dict[str, str]] = {
    operator: f"operation_{number}" for number, operator in enumerate(BINARY)
}
UNARY_NAMES: Final[dict[str, str]] = {
    operator: f"unary_{number}" for number, operator in enumerate(UNARY)
}


class Writer(Text):
    """Writes the function of one expression for an ad and the other ad of a match, if any."""

    def __init__(self, ad: Ad, other: Ad | None) -> None:
        super().__init__()
        self._ads: Final = (ad, other)
        self._nodes = 0
        self._elements = 0
        # The attributes whose expressions are being written out: one in itself is circular.
        self._under_way: Final[set[tuple[int, int]]] = set()
        # What must not be an attribute: `my` and `target`, of which ad.
        self.absent: Final[set[tuple[str, int]]] = set()
        self.calls = False
        # The bytes of what is made for this expression alone, beside its constants.
        self.size = 0

    def _block(self, condition: str, expr: Expr, side: int) -> Operand:
        """Write the expression in a block of its own, after `condition`."""
        self.say(condition)
        self.level += 1
        if self.level > _MOST_LEVELS:
            raise UnsupportedError
        return self.write(expr, side)

    # -- Expressions ------------------------------------------------------------------------

    def write(self, expr: Expr, side: int) -> Operand:
        """Write what computes the expression in the ad of that side; return what stands for it."""
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise UnsupportedError
        if isinstance(expr, Literal):
            return self.literal(expr.value)
        writer = _WRITERS.get(type(expr))
        if writer is None:
            raise UnsupportedError
        return writer(self, expr, side)

    def parentheses(self, expr: Parentheses, side: int) -> Operand:
        """`(a)`."""
        return self.write(expr.inner, side)

    def plain_list(self, expr: ListNode, _side: int) -> Operand:
        """`{ 1, "a" }`: one and the same list in any ad, if all its elements are values."""
        self._elements += len(expr.elements)
        if self._elements > _MOST_ELEMENTS:
            raise UnsupportedError
        plain = (made := ExprList(expr.elements)).plain
        if plain is None or plain.size > LONGEST_SHORT:
            raise UnsupportedError
        self.size += _ELEMENT_BYTES * len(plain.values) + 2 * plain.size
        return self.literal(made)

    def reference(self, expr: AttributeReference, side: int) -> Operand:
        """`name`."""
        if expr.absolute:
            raise UnsupportedError
        return self._attribute(side, expr.key, bare=True)

    def selection(self, expr: Selection, side: int) -> Operand:
        """`MY.name` and `TARGET.name`."""
        base = expr.base
        if not isinstance(base, AttributeReference) or base.absolute:
            raise UnsupportedError
        if base.key not in ("my", "target"):
            raise UnsupportedError
        self.absent.add((base.key, side))
        if base.key == "my":
            return self._attribute(side, expr.key, bare=False)
        if self._ads[1] is None:
            return self.literal(UNDEFINED)
        return self._attribute(1 - side, expr.key, bare=False)

    def _attribute(self, side: int, key: str, *, bare: bool) -> Operand:
        if key in SPECIAL or key in AROUND:
            raise UnsupportedError
        at, found = side, self._entry(side, key)
        if found is None and bare and self._ads[1] is not None:
            at, found = 1 - side, self._entry(1 - side, key)
        if found is None or isinstance(found, Literal):
            return self._value_of(side, at, key, bare=bare)
        return self._written_out(found, side, at, key)

    def _entry(self, side: int, key: str) -> Expr | None:
        ad = self._ads[side]
        assert ad is not None
        return ad.entry(key)

    def _value_of(self, side: int, at: int, key: str, *, bare: bool) -> Operand:
        """Write what reads an attribute that is a value written out, or not there."""
        name, held = self.variable(), self.constant(key)
        missing = f"read(a{side}, {held})"
        if bare and self._ads[1] is not None:
            missing = f"named(a{side}, a{1 - side}, {held})"
        self.say(f"{name} = get{side}({held})")
        self.say(f"if type({name}) is Literal: {name} = {name}.value")
        if at != side:
            self.say(f"elif {name} is None and up{side} is None:")
            self.say(f"    {name} = get{at}({held})")
            self.say(f"    if type({name}) is Literal: {name} = {name}.value")
            self.say(f"    else: {name} = read(a{at}, {held})")
        elif not bare:
            self.say(f"elif {name} is None and up{side} is None: {name} = UNDEFINED")
        self.say(f"else: {name} = {missing}")
        return Operand(name)

    def _written_out(self, found: Expr, side: int, at: int, key: str) -> Operand:
        """Write the expression that is under a name, and the question whether it still is."""
        mark = (id(found), at)
        if mark in self._under_way or found.weight > MOST_WEIGHT:
            raise UnsupportedError
        held, expr = self.constant(key), self.constant(found)
        wrong = f"get{at}({held}) is not {expr} and a{at}.entry({held}) is not {expr}"
        if at != side:
            wrong = f"a{side}.entry({held}) is not None or {wrong}"
        self.say(f"if {wrong}: return MISSED")
        self._under_way.add(mark)
        made = self.write(found, at)
        self._under_way.discard(mark)
        return made

    def unary(self, expr: Unary, side: int) -> Operand:
        """`-a`, `!a`."""
        inner = self.write(expr.operand, side)
        if inner.constant:
            return self.literal(UNARY[expr.operator](inner.value))
        name = self.variable()
        otherwise = f"{UNARY_NAMES[expr.operator]}({inner.name})"
        if expr.operator != "!":
            self.say(f"{name} = {otherwise}")
            return Operand(name)
        self.say(
            f"{name} = False if {inner.name} is True else"
            f" True if {inner.name} is False else {otherwise}"
        )
        return Operand(name, logical=True)

    def conditional(self, expr: Conditional, side: int) -> Operand:
        """`a ? b : c` and `a ?: c`."""
        if expr.yes is not None:
            return self._choice(expr.condition, expr.yes, expr.no, side)
        name = self.variable()
        first = self.write(expr.condition, side)
        self.assign(name, first)
        last = self._block(f"if {name} is UNDEFINED:", expr.no, side)
        self.assign(name, last)
        self.level -= 1
        return Operand(name, logical=first.logical and last.logical)

    def _choice(self, condition: Expr, yes: Expr, no: Expr, side: int) -> Operand:
        chosen = self.as_truth(self.write(condition, side))
        name = self.variable()
        one = self._block(f"if {chosen.name} is True:", yes, side)
        self.assign(name, one)
        self.level -= 1
        other = self._block(f"elif {chosen.name} is False:", no, side)
        self.assign(name, other)
        self.level -= 1
        self.say(f"else: {name} = {chosen.name}")
        return Operand(name, logical=one.logical and other.logical)

    def call(self, expr: Call, side: int) -> Operand:
        """`name(arguments)` of a function of values, and `ifThenElse`."""
        key = expr.name.lower()
        if key == "ifthenelse" and len(expr.arguments) == 3:
            return self._choice(*expr.arguments, side)
        function = find_function(key)
        # What nobody knows now a program may still add.
        if function is None or not isinstance(function.apply, StrictFunction):
            raise UnsupportedError
        if not function.apply.may_repeat:
            raise UnsupportedError
        arguments = [self.write(argument, side) for argument in expr.arguments]
        made = self._call_prepared(function.apply, arguments)
        if made is None:
            made = self._call_short(function.apply, arguments)
        return made or self._call_strict(function.apply, arguments, side)

    def _call_prepared(self, function: StrictFunction, arguments: list[Operand]) -> Operand | None:
        """Write the call of what a function makes of its constant arguments, if it has any way."""
        if function.prepare is None:
            return None
        prepared = function.prepare([each.value if each.constant else FREE for each in arguments])
        if prepared is None:
            return None
        free = [each for each in arguments if not each.constant]
        if not free:
            return self.literal(guarded(prepared.call))
        self.size += prepared.size
        self._expect_short(free, prepared.longest)
        return self._guarded_call(prepared.call, ", ".join(each.name for each in free))

    def _call_short(self, function: StrictFunction, arguments: list[Operand]) -> Operand | None:
        """Write the call of a function of short values, if it is one; its value of constants."""
        short = function.short
        if short is None or not all(is_short(each.value) for each in arguments if each.constant):
            return None
        if all(each.constant for each in arguments):
            return self.literal(guarded(lambda: short([each.value for each in arguments])))
        self._expect_short(arguments, LONGEST_SHORT)
        return self._guarded_call(short, f"[{', '.join(each.name for each in arguments)}]")

    def _expect_short(self, arguments: list[Operand], longest: int) -> None:
        """Write the question whether all are short texts, or neither texts nor lists."""
        most = self.constant(longest)
        for each in arguments:
            if not each.constant and not each.logical:
                self.say(f"if type({each.name}) is str:")
                self.say(f"    if len({each.name}) > {most}: return MISSED")
                self.say(f"elif type({each.name}) in LISTS: return MISSED")

    def _guarded_call(self, function: Callable[..., Value], arguments: str) -> Operand:
        name = self.variable()
        self.say(f"try: {name} = {self.constant(function)}({arguments})")
        self.say(f"except FAULT: {name} = ERROR")
        return Operand(name)

    def _call_strict(
        self, function: StrictFunction, arguments: list[Operand], side: int
    ) -> Operand:
        """Write the call of a function that reads the state, or counts what it reads."""
        name, called = self.variable(), self.constant(function.call)
        self.calls = True
        match = "None, None" if self._ads[1] is None else "a0, a1"
        self.say(f"if state is None: state = State(a0, {match}, context)")
        self.say(f"state.ad = a{side}")
        names = ", ".join(each.name for each in arguments)
        self.say(f"{name} = call({called}, state, [{names}])")
        self.say("if state.steps > FEW: return MISSED")
        return Operand(name)

    # -- Operators --------------------------------------------------------------------------

    def binary(self, expr: Binary, side: int) -> Operand:
        """`a operator b`."""
        if expr.operator in ("&&", "||"):
            return self._logic(expr, side)
        left = self.write(expr.left, side)
        right = self.write(expr.right, side)
        if left.constant and right.constant and type(left.value) is not str:
            return self.literal(BINARY[expr.operator](left.value, right.value))
        if expr.operator in ARITHMETIC:
            return self._arithmetic(expr.operator, left, right)
        if expr.operator in COMPARISONS:
            return self._comparison(expr.operator, left, right)
        if expr.operator in _IDENTITY:
            return self._identity(expr.operator, left, right)
        name = self.variable()
        general = f"{name} = {OPERATOR_NAMES[expr.operator]}({left.name}, {right.name})"
        if expr.operator == "/" and right.constant:
            general = self._quotient(name, left, right) + general
        self.say(general)
        return Operand(name)

    def _logic(self, expr: Binary, side: int) -> Operand:
        first = self.as_truth(self.write(expr.left, side))
        on, off = ("True", "False") if expr.operator == "&&" else ("False", "True")
        if first.constant and first.name in (off, "ERROR"):
            return first
        name = self.variable()
        self.assign(name, first)
        second = self.as_truth(
            self._block(f"if {name} is {on} or {name} is UNDEFINED:", expr.right, side)
        )
        self.say(
            f"if {name} is {on} or {second.name} is {off} or {second.name} is ERROR:"
            f" {name} = {second.name}"
        )
        self.level -= 1
        return Operand(name, logical=True)

    def _identity(self, operator: str, left: Operand, right: Operand) -> Operand:
        """Write `a =?= b` or `a =!= b`."""
        name = self.variable()
        sign = "" if operator == "=?=" else "not "
        kind = type(right.value).__name__
        if "UNDEFINED" in (left.name, right.name):
            self.say(f"{name} = {sign}({left.name} is {right.name})")
        elif right.constant and kind in ("bool", "int", "str"):
            self.say(
                f"{name} = {sign}(type({left.name}) is {kind} and {left.name} == {right.name})"
            )
        else:
            self.say(f"{name} = {OPERATOR_NAMES[operator]}({left.name}, {right.name})")
        return Operand(name, logical=True)

    def _quotient(self, name: str, left: Operand, right: Operand) -> str:
        """Write the division of usual numbers by a number; return how the line of others begins."""
        if type(right.value) is int and right.value > 0:
            self.say(f"if type({left.name}) is int and {left.name} >= 0:")
            self.say(f"    {name} = {left.name} // {right.name}")
            return "else: "
        if type(right.value) is float and right.value:
            self.say(f"if type({left.name}) is float or type({left.name}) is int:")
            self.say(f"    {name} = {left.name} / {right.name}")
            self.say(f"    if {name} == INFINITE: {name} = ERROR")
            return "else: "
        return ""

    def _arithmetic(self, operator: str, left: Operand, right: Operand) -> Operand:
        name = self.variable()
        word = "if"
        for kind in (int, float):
            tests = [
                f"type({each.name}) is {kind.__name__}"
                for each in (left, right)
                if not each.constant
            ]
            if any(each.constant and type(each.value) is not kind for each in (left, right)):
                continue
            self.say(f"{word} {' and '.join(tests)}:")
            self.say(f"    {name} = {left.name} {operator} {right.name}")
            if kind is int:
                self.say(f"    if not LEAST <= {name} <= MOST: {name} = wrap({name})")
            else:
                self.say(f"    if {name} == INFINITE: {name} = ERROR")
            word = "elif"
        general = f"{name} = {OPERATOR_NAMES[operator]}({left.name}, {right.name})"
        self.say(general if word == "if" else f"else: {general}")
        return Operand(name)

    def _comparison(self, operator: str, left: Operand, right: Operand) -> Operand:
        name = self.variable()
        general = f"{OPERATOR_NAMES[operator]}({left.name}, {right.name})"
        plain = f"{name} = {left.name} {operator} {right.name}"
        known = [each for each in (left, right) if each.constant]
        word = "if"
        if known and type(known[0].value) is str:
            self._comparison_with_text(name, operator, left, right)
            return Operand(name, logical=True)
        for kind in (int, float):
            if known and type(known[0].value) is not kind:
                continue
            tests = [
                f"type({each.name}) is {kind.__name__}"
                for each in (left, right)
                if not each.constant
            ]
            self.say(f"{word} {' and '.join(tests)}: {plain}")
            word = "elif"
        self.say(f"{name} = {general}" if word == "if" else f"else: {name} = {general}")
        return Operand(name, logical=True)

    def _comparison_with_text(
        self, name: str, operator: str, left: Operand, right: Operand
    ) -> None:
        general = f"{name} = {OPERATOR_NAMES[operator]}({left.name}, {right.name})"
        if operator not in ("==", "!=") or not isinstance(right.value, str):
            self.say(general)
            return
        size, folded = self.constant(len(right.value)), self.constant(fold_case(right.value))
        same = (
            f"({left.name} == {right.name} or"
            f" (len({left.name}) == {size} and fold({left.name}) == {folded}))"
        )
        sign = "" if operator == "==" else "not "
        self.say(f"if type({left.name}) is str: {name} = {sign}{same}")
        self.say(f"else: {general}")


_WRITERS: Final[dict[type[Expr], Callable[[Writer, Any, int], Operand]]] = {
    AttributeReference: Writer.reference,
    Binary: Writer.binary,
    Call: Writer.call,
    Conditional: Writer.conditional,
    ListNode: Writer.plain_list,
    Parentheses: Writer.parentheses,
    Selection: Writer.selection,
    Unary: Writer.unary,
}


def source_of(writer: Writer, result: str, *, matched: bool) -> str:
    """Return what defines `make`, which makes the function of what it is to hold."""
    names = ", ".join(f"c{number}" for number in range(len(writer.constants)))
    body = [*_opening(writer, matched=matched)]
    if writer.calls:
        body.append("state = None")
    lines = [f"def make({names}):", "    def run(a0, a1, context):", "        try:"]
    lines += [*("            " + line for line in body), *writer.lines]
    lines += [
        f"            return {result}",
        "        except FAULTS: return MISSED",
        "    return run",
    ]
    return "\n".join(lines)


def _opening(writer: Writer, *, matched: bool) -> Iterator[str]:
    """Yield what names the parts of the ads, and asks whether they are ads of the usual kind.

    One that nothing looks into may be any.
    """
    written = "\n".join(writer.lines)
    sides = (0, 1) if matched and "a1" in written else (0,)
    outside = []
    for side in sides:
        yield f"table{side} = a{side}.table"
        if f"get{side}(" in written:
            yield f"get{side} = table{side}.get"
        yield f"up{side} = a{side}.parent"
        outside.append(f"a{side}.scope is not None")
    if len(sides) > 1:
        outside.append("table0 is table1")
    for key, side in sorted(writer.absent):
        outside.append(f"{key!r} in table{side}")
        if key == "target" and not matched:
            outside.append(f"up{side} is not None")
    yield f"if {' or '.join(outside)}: return MISSED"
