"""Trees to Python closures: the reference evaluator.

A compiled expression is a function of a `State`, which knows the ad names are looked up in, the
ad on the other side of a match, and the context. Scoping is decided here: a name is looked up in
the current ad, the ads around it, then, outside strict mode, in the other ad of the match. A
reference that comes back to itself is UNDEFINED.

Operators are specialised on literals where that is what makes policies fast; what the operators
mean is in `operators.py`, what functions do in `functions/`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kettle.classad.ad import ClassAd, to_expression
from kettle.classad.context import AMBIENT, Context
from kettle.classad.functions.library import find_function
from kettle.classad.functions.table import (
    SMALL,
    LazyFunction,
    StrictFunction,
    call_plain,
    call_strict,
)
from kettle.classad.nodes import (
    AdNode,
    AttributeReference,
    Binary,
    Call,
    Conditional,
    ListNode,
    Literal,
    Parentheses,
    Selection,
    Subscript,
    Unary,
)
from kettle.classad.operators import BINARY, COMPARISONS, UNARY, Operation, truth
from kettle.classad.state import (
    ANY_FAULT,
    FAULT,
    State,
    evaluate_entry,
    new_state,
    resolve,
)
from kettle.classad.values import (
    ERROR,
    HOT,
    MISSED,
    UNDEFINED,
    Ad,
    Closure,
    Evaluator,
    Expr,
    ExprList,
    Hot,
    Missed,
    Value,
    fold_case,
)
from kettle.digits import wrap_32


def evaluate_lazily(expr: Expr, state: State) -> Value:
    """Return the value; lists come as `ExprList`, their elements not evaluated."""
    if isinstance(expr, Literal):
        return expr.value
    try:
        return expr.closure(state)
    except ANY_FAULT:
        return ERROR


def evaluate(
    expr: Expr,
    ad: Ad | None = None,
    target: Ad | None = None,
    context: Context | None = None,
) -> Value:
    """Return the value of the expression in `ad`, matched against `target`; lists as lists."""
    if context is None:
        context = AMBIENT.context
    value = _by_generated(expr, ad, target, context)
    if value is MISSED:
        state = new_state(ad, target, context)
        return finished(evaluate_lazily(expr, state), state)
    if type(value) is ExprList:
        return finished(value, new_state(ad, target, context))
    return value  # type: ignore[return-value]


def evaluate_once(expr: Expr, ad: Ad | None, target: Ad | None, context: Context) -> Value:
    """Return the value as `evaluate_lazily` does, by a generated function if there is one."""
    value = _by_generated(expr, ad, target, context)
    if value is MISSED:
        return evaluate_lazily(expr, new_state(ad, target, context))
    return value  # type: ignore[return-value]


def _by_generated(expr: Expr, ad: Ad | None, target: Ad | None, context: Context) -> Value | Missed:
    """Return what a generated function makes of the expression; MISSED if there is none for it."""
    if type(expr) is Literal:
        return expr.value
    if ad is None or context.strict:
        return MISSED
    heat = expr.heat
    if type(heat) is Hot:
        for run in heat.alone if target is None else heat.matched:
            value = run(ad, target, context)
            if value is not MISSED:
                return value
    elif heat < HOT:  # type: ignore[operator]
        expr.heat = heat + 1  # type: ignore[misc,operator]
        return MISSED
    # Loaded here: most programs evaluate nothing so often.
    from kettle.classad.hot import cool

    cool(expr, heat, ad, target)  # type: ignore[arg-type]
    return MISSED


def finished(value: Value, state: State) -> Value:
    """Return the value with its lists evaluated through."""
    if not isinstance(value, ExprList):
        return value
    try:
        return _finish_list(value, state)
    except ANY_FAULT:
        return ERROR


def _finish_list(value: ExprList, state: State) -> Value:
    state.spend(len(value.elements) << 3)
    if value.plain is not None:
        return list(value.plain.values)
    result: list[Value] = []
    for element in value.elements:
        item = state.evaluate_in(element, value.scope)
        result.append(_finish_list(item, state) if isinstance(item, ExprList) else item)
    return result


def _compile_literal(expr: Expr) -> Closure:
    assert isinstance(expr, Literal)
    value = expr.value
    return lambda _state: value


def _compile_reference(expr: Expr) -> Closure:
    assert isinstance(expr, AttributeReference)
    key = expr.key
    if expr.absolute:
        return lambda state: state.absolute(key)

    def run(state: State) -> Value:
        ad = state.ad
        if ad is None:
            return UNDEFINED
        found = ad.table.get(key)
        if type(found) is Literal:
            return found.value
        return resolve(state, ad, key, alternate=True)

    return run


def _compile_selection(expr: Expr) -> Closure:
    assert isinstance(expr, Selection)
    if isinstance(expr.base, AttributeReference) and not expr.base.absolute:
        if expr.base.key == "target":
            return _compile_target(expr)
        if expr.base.key == "my":
            return _compile_my(expr)
    if not isinstance(expr.base, Selection | Subscript):
        start, name = expr.base.closure, expr.key
        return lambda state: select(state, start(state), name)
    return _compile_row(expr)


def _compile_row(expr: Selection | Subscript) -> Closure:
    """Compile a row of names and subscripts, which is as long as somebody wrote it."""
    links: list[Callable[[State, Value], Value]] = []
    base: Expr = expr
    while isinstance(base, Selection | Subscript):
        links.append(_selecting(base.key) if isinstance(base, Selection) else _indexing(base.index))
        base = base.base
    links.reverse()
    start = base.closure

    def run(state: State) -> Value:
        value = start(state)
        for link in links:
            value = link(state, value)
        return value

    return run


def _selecting(key: str) -> Callable[[State, Value], Value]:
    return lambda state, base: select(state, base, key)


def _indexing(index: Expr) -> Callable[[State, Value], Value]:
    position = index.closure
    return lambda state, base: subscript(state, base, position(state))


def _compile_target(expr: Selection) -> Closure:
    key = expr.key
    base = expr.base.closure

    def run(state: State) -> Value:
        ad = state.ad
        if ad is state.left and ad is not None:
            other = state.right
        elif ad is state.right and ad is not None:
            other = state.left
        else:
            return select(state, base(state), key)
        if other is None or "target" in ad.table:
            return select(state, base(state), key)
        found = other.table.get(key)
        if type(found) is Literal:
            return found.value
        return resolve(state, other, key, alternate=False)

    return run


def _compile_my(expr: Selection) -> Closure:
    key = expr.key
    base = expr.base.closure

    def run(state: State) -> Value:
        ad = state.ad
        if ad is None or state.strict or "my" in ad.table:
            return select(state, base(state), key)
        found = ad.table.get(key)
        if type(found) is Literal:
            return found.value
        return resolve(state, ad, key, alternate=False)

    return run


def select(state: State, base: Value, key: str) -> Value:
    """Return attribute `key` of an ad, or the list of them for a list of ads."""
    if isinstance(base, ClassAd):
        return resolve(state, base, key, alternate=False)
    if base is UNDEFINED:
        return UNDEFINED
    if isinstance(base, ExprList):
        selected = []
        for element in base.elements:
            value = select(state, state.evaluate_in(element, state.ad), key)
            selected.append(to_expression(value))
        return ExprList(tuple(selected), base.scope)
    return ERROR


def _compile_subscript(expr: Expr) -> Closure:
    assert isinstance(expr, Subscript)
    return _compile_row(expr)


def subscript(state: State, base: Value, index: Value) -> Value:
    """Return `base[index]`."""
    if base is ERROR or index is ERROR:
        return ERROR
    if base is UNDEFINED or index is UNDEFINED:
        return UNDEFINED
    if isinstance(base, ExprList) and type(index) is int:
        # Compat: the reference counts in 32 bits
        # (test_what_the_reference_makes_of_odd_arguments).
        position = wrap_32(index)
        if 0 <= position < len(base.elements):
            return state.evaluate_in(base.elements[position], base.scope)
        return ERROR
    if isinstance(base, ClassAd) and isinstance(index, str):
        found = base.entry(index.lower())
        return UNDEFINED if found is None else evaluate_entry(state, found, base)
    return ERROR


def _compile_unary(expr: Expr) -> Closure:
    operations: list[Callable[[Value], Value]] = []
    inner: Expr = expr
    while isinstance(inner, Unary):
        operations.append(UNARY[inner.operator])
        inner = inner.operand
    operand = inner.closure
    if len(operations) == 1:
        operation = operations[0]
        return lambda state: operation(operand(state))
    operations.reverse()

    def run(state: State) -> Value:
        value = operand(state)
        for apply in operations:
            value = apply(value)
        return value

    return run


def _compile_parentheses(expr: Expr) -> Closure:
    while isinstance(expr, Parentheses):
        expr = expr.inner
    return expr.closure


def _bare(expr: Expr) -> Expr:
    while isinstance(expr, Parentheses):
        expr = expr.inner
    return expr


def _compile_binary(expr: Expr) -> Closure:
    assert isinstance(expr, Binary)
    if expr.operator in ("&&", "||"):
        return _compile_logic(expr)
    if isinstance(_bare(expr.left), Binary):
        return _compile_chain(expr)
    left = expr.left.closure
    operation = BINARY[expr.operator]
    constant = _bare(expr.right)
    if isinstance(constant, Literal):
        return _compile_with_constant(expr.operator, left, constant.value, operation)
    right = expr.right.closure
    test = COMPARISONS.get(expr.operator)
    if test is not None:

        def compare(state: State) -> Value:
            one = left(state)
            other = right(state)
            if type(one) is int and type(other) is int:
                return test(one, other)
            if type(one) is str and type(other) is str:
                size = len(one) + len(other)
                if size > SMALL and not state.charge(size):
                    return ERROR
            return operation(one, other)

        return compare
    if expr.operator in ("=?=", "=!="):

        def identify(state: State) -> Value:
            one = left(state)
            other = right(state)
            if type(one) is str and len(one) > SMALL and not state.charge(len(one)):
                return ERROR
            return operation(one, other)

        return identify
    return lambda state: operation(left(state), right(state))


def _compile_with_constant(
    name: str, left: Closure, constant: Value, operation: Operation
) -> Closure:
    test = COMPARISONS.get(name)
    if test is not None and type(constant) is int:
        number = constant

        def compare(state: State) -> Value:
            value = left(state)
            return test(value, number) if type(value) is int else operation(value, number)

        return compare
    if type(constant) is str and name in ("==", "!="):
        lowered = fold_case(constant)
        positive = name == "=="
        length = len(constant)

        def compare_text(state: State) -> Value:
            value = left(state)
            if type(value) is str:
                return (
                    value == constant or (len(value) == length and fold_case(value) == lowered)
                ) is positive
            return operation(value, constant)

        return compare_text
    if type(constant) is str and test is not None:

        def compare_order(state: State) -> Value:
            value = left(state)
            if type(value) is str and len(value) > SMALL and not state.charge(len(value)):
                return ERROR
            return operation(value, constant)

        return compare_order
    if constant is UNDEFINED and name == "=?=":
        return lambda state: left(state) is UNDEFINED
    if constant is UNDEFINED and name == "=!=":
        return lambda state: left(state) is not UNDEFINED
    return lambda state: operation(left(state), constant)


def _compile_chain(expr: Binary) -> Closure:
    """Compile `a + b - c …` to a loop over its links, however many there are."""
    steps: list[tuple[Operation, Closure]] = []
    base: Expr = expr
    while isinstance(base, Binary) and base.operator not in ("&&", "||"):
        steps.append((BINARY[base.operator], base.right.closure))
        base = base.left
    steps.reverse()
    start = base.closure

    def run(state: State) -> Value:
        value = start(state)
        for operation, right in steps:
            other = right(state)
            if type(other) is str and type(value) is str:
                size = len(value) + len(other)
                if size > SMALL and not state.charge(size):
                    return ERROR
            value = operation(value, other)
        return value

    return run


def _compile_logic(expr: Binary) -> Closure:
    links: list[Closure] = []
    base: Expr = expr
    while isinstance(base, Binary) and base.operator == expr.operator:
        links.append(base.right.closure)
        base = base.left
    links.append(base.closure)
    links.reverse()
    decisive = expr.operator == "||"
    first = links[0]
    if len(links) == 2:
        second = links[1]

        def run_pair(state: State) -> Value:
            one = first(state)
            if one is not True and one is not False:
                one = truth(one)
            if one is decisive or one is ERROR:
                return one
            other = second(state)
            if other is not True and other is not False:
                other = truth(other)
            if one is not UNDEFINED or other is ERROR or other is decisive:
                return other
            return UNDEFINED

        return run_pair
    rest = tuple(links[1:])

    def run(state: State) -> Value:
        result = truth(first(state))
        for link in rest:
            if result is decisive or result is ERROR:
                return result
            other = truth(link(state))
            if result is not UNDEFINED or other is ERROR or other is decisive:
                result = other
        return result

    return run


def _compile_conditional(expr: Expr) -> Closure:
    # Conditionals in either arm of one are further branches of it, so that to take one of a
    # thousand costs no depth: `[condition, yes, no]`, where an arm is such a branch or a closure.
    whole: list[Any] = [None]
    pending: list[tuple[Expr, list[Any], int]] = [(expr, whole, 0)]
    while pending:
        node, around, place = pending.pop()
        if not isinstance(node, Conditional):
            around[place] = node.closure
            continue
        branch: list[Any] = [node.condition.closure, None, None]
        around[place] = branch
        pending.append((node.no, branch, 2))
        if node.yes is not None:
            pending.append((node.yes, branch, 1))
    first = whole[0]

    def run(state: State) -> Value:
        place = first
        while type(place) is list:
            condition, yes, no = place
            value = condition(state)
            if yes is None:
                if value is not UNDEFINED:
                    return value  # type: ignore[no-any-return]
                place = no
                continue
            chosen = truth(value)
            if chosen is not True and chosen is not False:
                return chosen
            place = yes if chosen else no
        return place(state)  # type: ignore[no-any-return]

    return run


def _compile_call(expr: Expr) -> Closure:
    assert isinstance(expr, Call)
    function = find_function(expr.name)
    if function is None:
        return lambda state: _call_late(expr, state)
    if isinstance(function.apply, LazyFunction):
        lazy = function.apply.call
        arguments = expr.arguments

        def run_lazy(state: State) -> Value:
            try:
                return lazy(state, arguments)
            except FAULT:
                return ERROR

        return run_lazy
    assert isinstance(function.apply, StrictFunction)
    strict, plain, price = function.apply.call, function.apply.plain, function.apply.price
    closures = tuple(argument.closure for argument in expr.arguments)
    if plain is not None:
        return lambda state: call_plain(
            plain, state, [closure(state) for closure in closures], price
        )

    def run(state: State) -> Value:
        return call_strict(strict, state, [closure(state) for closure in closures], price)

    return run


def _call_late(expr: Call, state: State) -> Value:
    """Call what a program may have added since the expression was compiled; nothing is ERROR."""
    if find_function(expr.name) is None:
        return ERROR
    return _compile_call(expr)(state)


def _compile_list(expr: Expr) -> Closure:
    assert isinstance(expr, ListNode)
    elements = expr.elements
    always = ExprList(elements)
    if always.plain is not None:
        # Values are what they are in any ad: it is one and the same list for all of them.
        return lambda _state: always

    def run(state: State) -> Value:
        made = ExprList(elements, state.ad)
        made.plain = None
        return made

    return run


def _compile_ad(expr: Expr) -> Closure:
    assert isinstance(expr, AdNode)
    return lambda state: ClassAd.view_of(expr, state.ad)


# Each kind of node to what makes it a function of the state.
_COMPILERS: Final[dict[type[Expr], Callable[[Expr], Closure]]] = {
    Literal: _compile_literal,
    AttributeReference: _compile_reference,
    Selection: _compile_selection,
    Subscript: _compile_subscript,
    Unary: _compile_unary,
    Parentheses: _compile_parentheses,
    Binary: _compile_binary,
    Conditional: _compile_conditional,
    Call: _compile_call,
    ListNode: _compile_list,
    AdNode: _compile_ad,
}


def compile_expression(expr: Expr) -> Closure:
    """Return the function of the state that an expression means; `Expr.closure` remembers it."""
    return _COMPILERS[type(expr)](expr)


EVALUATOR: Final = Evaluator(compile_expression, evaluate)
