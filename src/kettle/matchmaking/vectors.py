"""An expression for one request and all slots at once: arrays of truths and of numbers.

`&&`, `||`, `!`, comparisons and sums of columns are array operations; whatever else an expression
contains is asked of the evaluator once for each combination of the values that it looks at, and
remembered. The result is the evaluator's, for each slot (a property test says so).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kettle.classad import UNDEFINED, ClassAd, Expr, Value
from kettle.classad.nodes import (
    AttributeReference,
    Binary,
    Call,
    Literal,
    Parentheses,
    Selection,
    Unary,
)
from kettle.classad.operators import truth
from kettle.matchmaking.columns import Column, Columns, Joint, Numbers, read_number
from kettle.matchmaking.references import REQUEST, SLOT, Reaches, find_names
from kettle.matchmaking.slot_classes import is_plain
from kettle.matchmaking.slots import read_text

Truths = NDArray[np.int8]
Where = NDArray[np.bool_]

FALSE, TRUE, UNKNOWN, WRONG = 0, 1, 2, 3
_NOT_YET = -1

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
# Rows are truths of the left side, columns of the right one.
_AND = np.array([[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 2, 3], [3, 3, 3, 3]], np.int8)
_OR = np.array([[0, 1, 2, 3], [1, 1, 1, 1], [2, 1, 2, 3], [3, 3, 3, 3]], np.int8)
_NOT = np.array([1, 0, 2, 3], np.int8)


def _narrow(where: Where, found: Where) -> Where:
    """Return where both are true; one value that stands for all slots makes nothing anew."""
    if len(found) > 1:
        return where & found
    return where if found[0] else np.zeros_like(where)


class Node:
    """A part of an expression; results for slots outside `where` mean nothing."""

    def truths(self, request: ClassAd, where: Where) -> Truths:
        """Return what the part is for a condition, slot by slot."""
        raise NotImplementedError

    def holds(self, request: ClassAd, where: Where) -> Where:
        """Return for which of the slots in `where` the part is true."""
        found: Where = where & (self.truths(request, where) == TRUE)
        return found

    def may_be_wrong(self, request: ClassAd, where: Where) -> bool:
        """Tell whether the part may be an error for a slot in `where`."""
        return bool((where & (self.truths(request, where) == WRONG)).any())

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        """Return the part's values, not a number where it is none; whether all are numbers.

        An array of one value stands for all slots.
        """
        found = self.truths(request, where)
        return np.where(found <= TRUE, found, np.nan), False


@dataclass(slots=True)
class _Table:
    """What the evaluator said of each combination of values."""

    truths: Truths
    holds: Where
    numbers: Numbers
    complete: bool = False
    # Whether one of them is an error.
    wrong: bool = True
    # Where it holds, slot by slot, as long as the slots are what they were.
    spread: Where | None = None
    spread_version: int = -1

    @classmethod
    def of(cls, size: int, before: _Table | None) -> _Table:
        table = cls(
            np.full(size, _NOT_YET, np.int8), np.zeros(size, np.bool_), np.full(size, np.nan)
        )
        if before is not None:
            old = len(before.truths)
            table.truths[:old], table.holds[:old] = before.truths, before.holds
            table.numbers[:old] = before.numbers
        return table


class _Leaf(Node):
    """Something for the evaluator: asked once for each combination of what it looks at."""

    def __init__(self, expression: Expr, side: str, columns: Columns, reaches: Reaches) -> None:
        self._expression = expression
        self._side = side
        self._columns = columns
        self._reaches = reaches
        # By the request's part of what it looks at.
        self._tables: dict[Hashable, _Table] = {}
        # Where it holds whatever the request, if it looks at none and every slot is known.
        self._settled: tuple[tuple[str, ...], Column | Joint, int, Where] | None = None

    def _look_up(self, request: ClassAd, where: Where) -> tuple[Column | Joint, _Table]:
        reach, texts = self._reaches.find(self._expression, self._side, request)
        joint = self._columns.joint(reach.slot)
        key = (joint, texts)
        size = len(joint.firsts)
        table = self._tables.get(key)
        if table is None or len(table.truths) < size:
            table = self._tables[key] = _Table.of(size, table)
            self._prepare(request, joint, table)
        if not table.complete:
            unknown = table.truths == _NOT_YET
            asked = where & unknown[joint.codes]
            if asked.any():
                for code in dict.fromkeys(joint.codes[asked].tolist()):
                    self._ask(request, joint, code, table)
            table.complete = not (table.truths == _NOT_YET).any()
            table.wrong = bool((table.truths == WRONG).any())
        return joint, table

    def _prepare(self, request: ClassAd, joint: Column | Joint, table: _Table) -> None:
        """Fill in what need not be asked."""

    def _ask(self, request: ClassAd, joint: Column | Joint, code: int, table: _Table) -> None:
        row = joint.firsts[code]
        if joint.codes[row] != code:
            # That slot has changed since.
            row = joint.firsts[code] = int(np.argmax(joint.codes == code))
        slot = self._columns.rows[row].ad
        mine, other = (slot, request) if self._side == SLOT else (request, slot)
        value = mine.evaluate_expression(self._expression, other)
        if isinstance(value, (bool, int, float)):
            table.numbers[code] = float(value)
        verdict = truth(value)
        if isinstance(verdict, bool):
            table.truths[code] = table.holds[code] = verdict
        else:
            table.truths[code] = UNKNOWN if verdict is UNDEFINED else WRONG

    def truths(self, request: ClassAd, where: Where) -> Truths:
        joint, table = self._look_up(request, where)
        return table.truths[joint.codes]

    def may_be_wrong(self, request: ClassAd, where: Where) -> bool:
        return self._look_up(request, where)[1].wrong and super().may_be_wrong(request, where)

    def holds(self, request: ClassAd, where: Where) -> Where:
        if self._settled is not None:
            names, joint, version, everywhere = self._settled
            if joint.version == version and self._columns.joint(names) is joint:
                return _narrow(where, everywhere)
        joint, table = self._look_up(request, where)
        if not table.complete:
            return where & table.holds[joint.codes]
        if table.spread is None or table.spread_version != joint.version:
            table.spread = table.holds[joint.codes] if len(table.holds) > 1 else table.holds
            table.spread_version = joint.version
        alone = self._reaches.slots_alone(self._expression, self._side)
        if alone is not None:
            self._settled = alone, joint, joint.version, table.spread
        return _narrow(where, table.spread)

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        joint, table = self._look_up(request, where)
        clean = table.complete and not np.isnan(table.numbers).any()
        return table.numbers[joint.codes] if len(table.numbers) > 1 else table.numbers, clean


class _StringTest(_Leaf):
    """`TARGET.Name == text`: equal without case, decided for all strings of the column at once."""

    def __init__(
        self, expression: Binary, side: str, columns: Columns, reaches: Reaches, name: str
    ) -> None:
        super().__init__(expression, side, columns, reaches)
        self._name = name
        right = expression.right
        assert isinstance(right, Literal | Selection)
        self._text: Literal | Selection = right
        self._is_of_text: dict[str | None, bool] = {}

    def is_of_text(self, request: ClassAd) -> bool:
        """Tell whether the request compares with a string, not with a number."""
        own = None if isinstance(self._text, Literal) else request.text(self._text.key)
        found = self._is_of_text.get(own)
        if found is None:
            found = isinstance(request.evaluate_expression(self._text), str)
            self._is_of_text[own] = found
        return found

    def _prepare(self, request: ClassAd, joint: Column | Joint, table: _Table) -> None:
        wanted = request.evaluate_expression(self._text)
        column = self._columns.column(self._name)
        if not isinstance(wanted, str) or joint is not column:
            return
        strings, equal = column.codes_of_string(wanted)
        table.truths[strings] = FALSE
        table.numbers[strings] = 0.0
        table.truths[equal] = TRUE
        table.numbers[equal] = 1.0
        table.holds[equal] = True


class _Plain(_Leaf):
    """An attribute of the slots whose texts are values."""

    def __init__(
        self, expression: Expr, side: str, columns: Columns, reaches: Reaches, name: str
    ) -> None:
        super().__init__(expression, side, columns, reaches)
        self.column = columns.column(name)

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        found = self.column.numbers
        if self.column.clean:
            return found, True
        odd = where & np.isnan(found)
        if odd.any():
            found = np.where(odd, super().numbers(request, odd)[0], found)
        return found, False


class _Constant(Node):
    """A value that stands in the expression itself."""

    def __init__(self, value: Value) -> None:
        number = float(value) if isinstance(value, (bool, int, float)) else np.nan
        self._numbers = np.array([number])
        self._clean = not isnan(number)
        verdict = truth(value)
        unknown = UNKNOWN if verdict is UNDEFINED else WRONG
        self._truths = np.array([int(verdict) if isinstance(verdict, bool) else unknown], np.int8)

    def truths(self, request: ClassAd, where: Where) -> Truths:
        del request
        return np.broadcast_to(self._truths, where.shape)

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        del request, where
        return self._numbers, self._clean


class _Wish(Node):
    """An attribute of the request: where it is plainly a number nobody need be asked."""

    def __init__(self, name: str, whole: _Leaf) -> None:
        self._name = name
        self._whole = whole
        self._known: dict[str, Numbers] = {}

    def truths(self, request: ClassAd, where: Where) -> Truths:
        return self._whole.truths(request, where)

    def holds(self, request: ClassAd, where: Where) -> Where:
        return self._whole.holds(request, where)

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        text = read_text(request, self._name) or ""
        found = self._known.get(text)
        if found is None:
            number = read_number(text)
            if isnan(number):
                return self._whole.numbers(request, where)
            found = self._known[text] = np.array([number])
        return found, True


class _Choice(Node):
    """`ifThenElse(condition, yes, no)`; as a condition it is asked about."""

    def __init__(self, condition: Node, yes: Node, no: Node, whole: _Leaf) -> None:
        self._condition, self._yes, self._no, self._whole = condition, yes, no, whole

    def truths(self, request: ClassAd, where: Where) -> Truths:
        return self._whole.truths(request, where)

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        verdicts = self._condition.truths(request, where)
        true, false = where & (verdicts == TRUE), where & (verdicts == FALSE)
        found = np.full(where.shape, np.nan)
        for chosen, branch in ((true, self._yes), (false, self._no)):
            if chosen.any():
                numbers = np.broadcast_to(branch.numbers(request, chosen)[0], where.shape)
                found[chosen] = numbers[chosen]
        return found, False


class _IsUndefined(Node):
    """`isUndefined(Name)` of an attribute whose texts are values."""

    def __init__(self, column: Column, whole: _Leaf) -> None:
        self._column, self._whole = column, whole

    def truths(self, request: ClassAd, where: Where) -> Truths:
        if self._column.clean:
            return np.zeros(where.shape, np.int8)
        return self._whole.truths(request, where)


class _Both(Node):
    """`a && b`."""

    def __init__(self, left: Node, right: Node) -> None:
        self._left, self._right = left, right

    def truths(self, request: ClassAd, where: Where) -> Truths:
        left = self._left.truths(request, where)
        open_ = where & ((left == TRUE) | (left == UNKNOWN))
        if not open_.any():
            return left
        return _AND[left, self._right.truths(request, open_)]

    def holds(self, request: ClassAd, where: Where) -> Where:
        # Where nothing is left nothing is asked, so that need not be found out before.
        return self._right.holds(request, self._left.holds(request, where))


class _Either(Node):
    """`a || b`."""

    def __init__(self, left: Node, right: Node) -> None:
        self._left, self._right = left, right

    def truths(self, request: ClassAd, where: Where) -> Truths:
        left = self._left.truths(request, where)
        open_ = where & ((left == FALSE) | (left == UNKNOWN))
        if not open_.any():
            return left
        return _OR[left, self._right.truths(request, open_)]

    def holds(self, request: ClassAd, where: Where) -> Where:
        found = self._left.holds(request, where)
        if found is where:
            return found
        open_ = where & ~found
        if not open_.any():
            return found
        if self._left.may_be_wrong(request, open_):
            open_ &= self._left.truths(request, open_) != WRONG
        return found | self._right.holds(request, open_)


class _Not(Node):
    """`!a`."""

    def __init__(self, inner: Node) -> None:
        self._inner = inner

    def truths(self, request: ClassAd, where: Where) -> Truths:
        return _NOT[self._inner.truths(request, where)]


class _Comparison(Node):
    """`a < b` and its kind: of numbers at once, of others by asking."""

    def __init__(self, sign: str, left: Node, right: Node, whole: _Leaf) -> None:
        self._compare = _COMPARISONS[sign]
        self._left, self._right, self._whole = left, right, whole

    def may_be_wrong(self, request: ClassAd, where: Where) -> bool:
        if isinstance(self._whole, _StringTest) and self._whole.is_of_text(request):
            return self._whole.may_be_wrong(request, where)
        _, odd = self._compute(request, where)
        return odd is not None and self._whole.may_be_wrong(request, odd)

    def truths(self, request: ClassAd, where: Where) -> Truths:
        if isinstance(self._whole, _StringTest) and self._whole.is_of_text(request):
            return self._whole.truths(request, where)
        found, odd = self._compute(request, where)
        result = np.broadcast_to(found, where.shape).astype(np.int8)
        if odd is not None:
            result = np.where(odd, self._whole.truths(request, odd), result)
        return result

    def holds(self, request: ClassAd, where: Where) -> Where:
        if isinstance(self._whole, _StringTest) and self._whole.is_of_text(request):
            return self._whole.holds(request, where)
        found, odd = self._compute(request, where)
        if odd is None:
            return _narrow(where, found)
        return (where & found & ~odd) | self._whole.holds(request, odd)

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        if isinstance(self._whole, _StringTest) and self._whole.is_of_text(request):
            return super().numbers(request, where)
        found, odd = self._compute(request, where)
        return super().numbers(request, where) if odd is not None else (found.astype(float), True)

    def _compute(self, request: ClassAd, where: Where) -> tuple[Where, Where | None]:
        """Return the comparison of what are numbers, and where something is not one."""
        left, clean = self._left.numbers(request, where)
        right, also_clean = self._right.numbers(request, where)
        found: Where = self._compare(left, right)
        if clean and also_clean:
            return found, None
        odd = where & (np.isnan(left) | np.isnan(right))
        return found, odd if odd.any() else None


class _Sum(Node):
    """`a + b` and its kind; as a condition it is asked about."""

    def __init__(self, sign: str, left: Node, right: Node, whole: _Leaf) -> None:
        self._compute = _SUMS[sign]
        self._left, self._right, self._whole = left, right, whole

    def truths(self, request: ClassAd, where: Where) -> Truths:
        return self._whole.truths(request, where)

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        left, clean = self._left.numbers(request, where)
        right, also_clean = self._right.numbers(request, where)
        with np.errstate(all="ignore"):
            found: Numbers = self._compute(left, right)
        # What grows beyond all numbers is an error to the evaluator, not an infinite one.
        missing = ~np.isfinite(found)
        if clean and also_clean and not missing.any():
            return found, True
        odd = where & missing
        if odd.any():
            found = np.where(odd, self._whole.numbers(request, odd)[0], found)
        return found, False


class Vectors:
    """Expressions made ready for the slots of one cycle."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._reaches = Reaches(columns)
        self._nodes: dict[Hashable, Node] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        # Of the ad that was asked about last.
        self._home: ClassAd | None = None
        self._home_size = 0
        self._definitions: dict[int, tuple[tuple[str, str | None], ...]] = {}
        # Expressions are told apart by identity: they are kept as long as their nodes.
        self._kept: list[Expr] = []

    def node(self, expression: Expr, side: str, home: ClassAd) -> Node:
        """Return what computes an expression that stands in an ad of one side.

        `home` is that ad; a slot stands for all that define alike what the expression names.
        """
        key = (id(expression), side, self.definitions(expression, home))
        found = self._nodes.get(key)
        if found is None:
            if self._is_endless(expression, home):
                found = _Leaf(expression, side, self.columns, self._reaches)
            else:
                found = self._build(expression, side, home, 0)
            self._nodes[key] = found
        return found

    def _is_endless(self, expression: Expr, home: ClassAd) -> bool:
        """Tell whether so many definitions stand for its names that only the evaluator may look.

        Where each attribute names the one before twice they double with every row. The evaluator
        has a bound for that, and what it says must not depend on who asks.
        """
        taken = 0
        todo = list(find_names(expression))
        while todo:
            scope, name = todo.pop()
            if scope == "target" or is_plain(home.text(name)):
                continue
            definition = home.lookup(name)
            if definition is None:
                continue
            taken += 1
            if taken > _MOST_DEFINITIONS:
                return True
            todo += find_names(definition)
        return False

    def definitions(self, expression: Expr, home: ClassAd) -> tuple[tuple[str, str | None], ...]:
        """Return the names in reach within an ad, and what of it decides how they are taken apart.

        That is the texts that are expressions; an empty one stands for any value.
        """
        if home is not self._home or len(home.table) != self._home_size:
            self._home, self._home_size, self._definitions = home, len(home.table), {}
        known = self._definitions.get(id(expression))
        if known is None:
            known = self._definitions[id(expression)] = self._find_definitions(expression, home)
        return known

    def _find_definitions(
        self, expression: Expr, home: ClassAd
    ) -> tuple[tuple[str, str | None], ...]:
        found: dict[str, str | None] = {}
        todo = list(self._names_of(expression))
        while todo:
            name = todo.pop()
            if name in found:
                continue
            raw = home.table.get(name)
            if type(raw) is Literal and isinstance(raw.value, int):
                found[name] = ""
                continue
            text = raw if type(raw) is str else read_text(home, name)
            if is_plain(text):
                found[name] = None if text is None else ""
                continue
            found[name] = text
            definition = home.lookup(name)
            if definition is not None:
                todo.extend(self._names_of(definition))
        return tuple(found.items())

    def _names_of(self, expression: Expr) -> tuple[str, ...]:
        names = self._names.get(id(expression))
        if names is None:
            # By identity: the expression is kept as long as what is known of it.
            self._kept.append(expression)
            names = tuple(dict.fromkeys(name for _, name in find_names(expression)))
            self._names[id(expression)] = names
        return names

    def _build(self, expression: Expr, side: str, home: ClassAd, depth: int) -> Node:
        whole = _Leaf(expression, side, self.columns, self._reaches)
        if depth > _DEEPEST:
            return whole
        if isinstance(expression, Parentheses):
            return self._build(expression.inner, side, home, depth + 1)
        if isinstance(expression, Unary) and expression.operator == "!":
            return _Not(self._build(expression.operand, side, home, depth + 1))
        if isinstance(expression, Binary):
            return self._binary(expression, side, home, depth, whole)
        if isinstance(expression, Literal):
            return _Constant(expression.value)
        if isinstance(expression, Call):
            return self._call(expression, side, home, depth, whole)
        return self._attribute(expression, side, home, depth) or whole

    def _binary(
        self, expression: Binary, side: str, home: ClassAd, depth: int, whole: _Leaf
    ) -> Node:
        sign = expression.operator
        if sign not in ("&&", "||") and sign not in _COMPARISONS and sign not in _SUMS:
            return whole
        left = self._build(expression.left, side, home, depth + 1)
        right = self._build(expression.right, side, home, depth + 1)
        if sign == "&&":
            return _Both(left, right)
        if sign == "||":
            return _Either(left, right)
        if sign in _COMPARISONS:
            tested = self._tested_string(expression, side, home)
            if tested is not None:
                whole = _StringTest(expression, side, self.columns, self._reaches, tested)
            return _Comparison(sign, left, right, whole)
        return _Sum(sign, left, right, whole)

    def _call(self, call: Call, side: str, home: ClassAd, depth: int, whole: _Leaf) -> Node:
        name, arguments = call.name.lower(), call.arguments
        if name == "ifthenelse" and len(arguments) == 3:
            parts = [self._build(each, side, home, depth + 1) for each in arguments]
            return _Choice(parts[0], parts[1], parts[2], whole)
        if name == "isundefined" and len(arguments) == 1:
            inner = self._build(arguments[0], side, home, depth + 1)
            if isinstance(inner, _Plain):
                return _IsUndefined(inner.column, whole)
        return whole

    def _tested_string(self, expression: Binary, side: str, home: ClassAd) -> str | None:
        """Return the slots' attribute that a request compares with a text of its own."""
        left, right = expression.left, expression.right
        if side != REQUEST or expression.operator != "==" or not isinstance(left, Selection):
            return None
        if not isinstance(left.base, AttributeReference) or left.base.key != "target":
            return None
        own = isinstance(right, Literal) or (
            isinstance(right, Selection)
            and isinstance(right.base, AttributeReference)
            and right.base.key == "my"
            and is_plain(home.text(right.key))
        )
        return left.key if own else None

    def _attribute(self, expression: Expr, side: str, home: ClassAd, depth: int) -> Node | None:
        """Return a column, or what defines the attribute in its own ad; None if it is neither."""
        scope, name = "", ""
        if isinstance(expression, AttributeReference):
            name = expression.key
        elif isinstance(expression, Selection) and isinstance(expression.base, AttributeReference):
            scope, name = expression.base.key, expression.key
        if not name or scope not in ("", "my", "target"):
            return None
        if scope != "target" and not is_plain(home.text(name)):
            definition = home.lookup(name)
            return None if definition is None else self._build(definition, side, home, depth + 1)
        if side == SLOT:
            in_slot, in_request = scope != "target", scope == "target"
        else:
            in_slot = scope == "target"
            in_request = scope == "my" or (not scope and home.text(name) is not None)
        if in_request:
            return _Wish(name, _Leaf(expression, side, self.columns, self._reaches))
        if in_slot and self.columns.column(name).plain:
            return _Plain(expression, side, self.columns, self._reaches, name)
        return None


# Limit: how many definitions are put in the places of an expression's names; one with more of them
# is asked of the evaluator as a whole.
_MOST_DEFINITIONS = 300
# Limit: how deep an expression is taken apart; what is deeper is asked of the evaluator.
_DEEPEST = 40
