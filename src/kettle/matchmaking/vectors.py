"""An expression for one request and all slots at once: arrays of truths and of numbers.

`&&`, `||`, `!`, comparisons and sums of columns are array operations; whatever else an expression
contains is asked of the evaluator once for each combination of the values that it looks at, and
remembered. The result is the evaluator's, for each slot (a property test says so).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kettle.classad import UNDEFINED, ClassAd, Expr
from kettle.classad.nodes import AttributeReference, Binary, Literal, Parentheses, Selection, Unary
from kettle.classad.operators import truth
from kettle.matchmaking.columns import Column, Columns, Joint, Numbers
from kettle.matchmaking.references import REQUEST, SLOT, Reaches, find_names
from kettle.matchmaking.slot_classes import is_plain

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


class Node:
    """A part of an expression; results for slots outside `where` mean nothing."""

    def truths(self, request: ClassAd, where: Where) -> Truths:
        """Return what the part is for a condition, slot by slot."""
        raise NotImplementedError

    def holds(self, request: ClassAd, where: Where) -> Where:
        """Return for which of the slots in `where` the part is true."""
        found: Where = where & (self.truths(request, where) == TRUE)
        return found

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

    def _look_up(self, request: ClassAd, where: Where) -> tuple[Column | Joint, _Table]:
        reach = self._reaches.find(self._expression, self._side, request)
        joint = self._columns.joint(reach.slot)
        key = (joint, *map(request.text, reach.request))
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

    def holds(self, request: ClassAd, where: Where) -> Where:
        joint, table = self._look_up(request, where)
        found: Where = where & (table.holds[joint.codes] if len(table.holds) > 1 else table.holds)
        return found

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
        self._text = expression.right

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
        self._column = columns.column(name)

    def numbers(self, request: ClassAd, where: Where) -> tuple[Numbers, bool]:
        found = self._column.numbers
        if self._column.clean:
            return found, True
        odd = where & np.isnan(found)
        if odd.any():
            found = np.where(odd, super().numbers(request, odd)[0], found)
        return found, False


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
        left = self._left.holds(request, where)
        return self._right.holds(request, left) if left.any() else left


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
        left = self._left.truths(request, where)
        found: Where = where & (left == TRUE)
        open_ = where & ((left == FALSE) | (left == UNKNOWN))
        return found | self._right.holds(request, open_) if open_.any() else found


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

    def truths(self, request: ClassAd, where: Where) -> Truths:
        found, odd = self._compute(request, where)
        result = np.broadcast_to(found, where.shape).astype(np.int8)
        if odd is not None:
            result = np.where(odd, self._whole.truths(request, odd), result)
        return result

    def holds(self, request: ClassAd, where: Where) -> Where:
        found, odd = self._compute(request, where)
        if odd is None:
            return where & found
        return (where & found & ~odd) | self._whole.holds(request, odd)

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
        found: Numbers = self._compute(left, right)
        if clean and also_clean:
            return found, True
        odd = where & np.isnan(found)
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
        # Expressions are told apart by identity: they are kept as long as their nodes.
        self._kept: list[Expr] = []

    def node(self, expression: Expr, side: str, home: ClassAd) -> Node:
        """Return what computes an expression that stands in an ad of one side.

        `home` is that ad; a slot stands for all that define alike what the expression names.
        """
        key = (id(expression), side, self.definitions(expression, home))
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = self._build(expression, side, home, 0)
        return found

    def definitions(self, expression: Expr, home: ClassAd) -> tuple[tuple[str, str | None], ...]:
        """Return the names in reach within an ad, and what of it decides how they are taken apart.

        That is the texts that are expressions; an empty one stands for any value.
        """
        found: dict[str, str | None] = {}
        todo = list(self._names_of(expression))
        while todo:
            name = todo.pop()
            if name in found:
                continue
            text = home.text(name)
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
        in_slot = scope != "target" if side == SLOT else scope == "target"
        if in_slot and self.columns.column(name).plain:
            return _Plain(expression, side, self.columns, self._reaches, name)
        return None


# Limit: how deep an expression is taken apart; what is deeper is asked of the evaluator.
_DEEPEST = 40
