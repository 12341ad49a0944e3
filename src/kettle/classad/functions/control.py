"""Functions that see expressions, not values: choice, evaluation, contexts, inspection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kettle.classad.ad import ClassAd, to_expression
from kettle.classad.functions.convert import text_of
from kettle.classad.functions.regex import compile_pattern, matches_any
from kettle.classad.functions.table import Function, Price, lazy, strict
from kettle.classad.nodes import UNDEFINED_LITERAL, AttributeReference, Selection, size_in_steps
from kettle.classad.operators import truth
from kettle.classad.parser import parse_expression
from kettle.classad.pretty import pretty
from kettle.classad.references import search_references
from kettle.classad.state import State, evaluate_entry, other_ad
from kettle.classad.unparse import render_value
from kettle.classad.values import ERROR, UNDEFINED, Ad, Expr, ExprList, Value
from kettle.errors import ClassAdSyntaxError

# What a letter counts as that is read as part of an expression, or a node that is written as text;
# and how many nodes an expression may have for each step of its weight.
_READ_BYTES: Final = 32
_NODES_OF_A_STEP: Final = 8
# What each element of a list counts as in which an expression is evaluated.
_CONTEXT_BYTES: Final = 16


def if_then_else(state: State, arguments: tuple[Expr, ...]) -> Value:
    """`ifThenElse(condition, yes, no)`."""
    if len(arguments) != 3:
        return ERROR
    chosen = truth(arguments[0].closure(state))
    if chosen is True:
        return arguments[1].closure(state)
    return arguments[2].closure(state) if chosen is False else chosen


def evaluate_text(state: State, values: list[Value]) -> Value:
    """`eval(text)`: in the ad the call stands in; what is undefined is no text."""
    if len(values) != 1 or values[0] in (UNDEFINED, ERROR):
        return ERROR
    text = text_of(values[0])
    # What reads it, and what it then is, cost more than its letters.
    state.spend(_READ_BYTES * len(text))
    try:
        expr = parse_expression(text)
    except ClassAdSyntaxError:
        return ERROR
    return expr.closure(state)


def unparse_attribute(state: State, arguments: tuple[Expr, ...]) -> Value:
    """`unparse(name)`: the expression under the name, as text."""
    if len(arguments) != 1:
        return ERROR
    argument = arguments[0]
    if isinstance(argument, Selection):
        return ""
    if not isinstance(argument, AttributeReference):
        return ERROR
    found = state.ad.entry(argument.key) if state.ad is not None else None
    if found is None:
        return ""
    state.spend(_READ_BYTES * _NODES_OF_A_STEP * size_in_steps(found))
    return pretty(found)


def unresolved(state: State, arguments: tuple[Expr, ...]) -> Value:
    """`unresolved(name[, pattern])`: what the expression needs that its ad does not have.

    Compat: a pattern that is no text is an ERROR; the reference's API raises an exception, as with
    a wrong number of arguments (test_wrong_arguments_are_an_error_and_no_exception).
    """
    if len(arguments) not in (1, 2):
        return ERROR
    if not isinstance(arguments[0], AttributeReference | Selection):
        return ERROR
    found = _asked_about(state, arguments[0])
    if found is None:
        return UNDEFINED
    expr, ad = found
    state.spend(_READ_BYTES * (_NODES_OF_A_STEP * expr.weight + len(ad.names())))
    found_names = search_references(expr, ad, other_ad(state, ad.outermost()), state)
    # Compat: those that were found until the search had no answer, as in the reference
    # (the script unanswered.py).
    external = set(found_names.external[: found_names.external_fault])
    # Compat: the order is that of the names with TARGET where no such ad is there, as in the
    # reference (functions.py of the scripts).
    in_match = state.right is not None
    ordered = sorted(
        external - {""}, key=lambda name: (_without_target(name) if in_match else name).lower()
    )
    names = [_without_target(name) for name in ordered]
    if len(arguments) == 1:
        return ",".join(names)
    pattern = arguments[1].closure(state)
    if not isinstance(pattern, str):
        return ERROR
    compiled = compile_pattern(pattern, "i", state)
    if compiled is None:
        return ERROR
    try:
        return bool(pattern) and matches_any(state, compiled, names)
    except TimeoutError:
        return ERROR


def _without_target(name: str) -> str:
    """Return a name that is looked up in the other ad as that ad has it."""
    beginning, dot, rest = name.partition(".")
    return rest if dot and beginning.lower() == "target" else name


def _attribute_meant(state: State, argument: Expr) -> tuple[Expr, Ad] | None:
    key, ad = "", state.ad
    if isinstance(argument, AttributeReference):
        key = argument.key
    elif isinstance(argument, Selection):
        base = argument.base.closure(state)
        key, ad = argument.key, base if isinstance(base, ClassAd) else None
    if ad is None or not key:
        return None
    expr = ad.entry(key)
    return None if expr is None else (expr, ad)


def _asked_about(state: State, argument: Expr) -> tuple[Expr, Ad] | None:
    """Return the expression whose names are asked for: of an attribute in either ad of a match.

    `MY` and `SELF` are all of the ad, the time needs nothing.
    """
    found = _attribute_meant(state, argument)
    if found is not None:
        return found
    ad = state.ad
    assert isinstance(argument, AttributeReference | Selection)
    if ad is None:
        return None
    at_home = not isinstance(argument, Selection) or isinstance(
        argument.base.closure(state), ClassAd
    )
    if argument.key == "currenttime" and at_home and not state.strict:
        return UNDEFINED_LITERAL, ad
    if not isinstance(argument, AttributeReference) or argument.absolute:
        return None
    if argument.key in ("my", "self") and not state.strict:
        return to_expression(ad), ad
    other = None if state.strict else other_ad(state, ad)
    entry = None if other is None else other.entry(argument.key)
    return None if entry is None or other is None else (entry, other)


def debug(state: State, values: list[Value]) -> Value:
    """`debug(value)`: the value, which is also reported."""
    if len(values) != 1:
        return ERROR
    if state.context.debug is not None:
        state.context.debug(render_value(values[0]))
    return values[0]


def evaluate_in_each(state: State, arguments: tuple[Expr, ...]) -> Value:
    """`evalInEachContext(expression, list)`."""
    if len(arguments) != 2:
        return ERROR
    contexts = arguments[1].closure(state)
    if contexts is UNDEFINED:
        return UNDEFINED
    if not isinstance(contexts, ExprList):
        return ERROR
    state.spend(_CONTEXT_BYTES * len(contexts.elements))
    values = _in_each(state, arguments[0], contexts)
    return ExprList(tuple(to_expression(value) for value in values), state.ad)


def count_matches(state: State, arguments: tuple[Expr, ...]) -> Value:
    """`countMatches(expression, list)`."""
    if len(arguments) != 2:
        return ERROR
    contexts = arguments[1].closure(state)
    if contexts is UNDEFINED:
        return 0
    if not isinstance(contexts, ExprList):
        return ERROR
    state.spend(_CONTEXT_BYTES * len(contexts.elements))
    outcomes = _in_each(state, arguments[0], contexts)
    return sum(truth(outcome) is True for outcome in outcomes)


def _in_each(state: State, expr: Expr, contexts: ExprList) -> Iterator[Value]:
    """Yield the values of an expression in ads of a list.

    An attribute stands for its expression: `MY.RequireGPUs` for what the job requires, of which
    each ad of the list is asked.
    """
    meant = None if state.strict else _expression_meant(state, expr)
    for element in contexts.elements:
        context = state.evaluate_in(element, state.ad)
        if not isinstance(context, ClassAd):
            yield UNDEFINED if context is UNDEFINED else ERROR
            continue
        before, state.context_ad = state.context_ad, context
        try:
            if meant is None:
                yield state.evaluate_in(expr, context)
            else:
                yield evaluate_entry(state, meant, context)
        finally:
            state.context_ad = before


def _expression_meant(state: State, expr: Expr) -> Expr | None:
    """Return the expression of the attribute that an expression refers to, None if there is none.

    Compat: the ads of the match come before those of the list; shown by functions_control.json.
    """
    if isinstance(expr, AttributeReference):
        start = state.ad
        if expr.absolute:
            start = state.outermost()
        return _found_around(state, start, expr.key, alternate=not expr.absolute)
    if isinstance(expr, Selection):
        base = expr.base.closure(state)
        if isinstance(base, ClassAd):
            return _found_around(state, base, expr.key, alternate=False)
    return None


def _found_around(state: State, start: Ad | None, key: str, *, alternate: bool) -> Expr | None:
    current = start
    while current is not None:
        found = current.entry(key)
        if found is not None:
            return found
        current = current.scope
    other = other_ad(state, start) if alternate and start is not None else None
    return None if other is None else other.entry(key)


# fmt: off
CONTROL: Final[tuple[Function, ...]] = (
    lazy("ifThenElse", "ifThenElse(condition, yes, no)",
         "`yes` if the condition is true, `no` if it is false; the other one is not evaluated.",
         if_then_else, ("ifThenElse(true,1,error)", "1"), ("ifThenElse(false,1,2)", "2"),
         ("ifThenElse(undefined,1,2)", "undefined")),
    strict("eval", "eval(text)", "The value of the expression the text is.",
           evaluate_text, ('eval("1 + 2")', "3"), ('[ a = 2; b = eval("a * 3") ].b', "6"),
           ('eval("1 +")', "error"),
           may_repeat=False, price=Price(steps=3)),
    lazy("unparse", "unparse(name)", "The text of the expression under the name.",
         unparse_attribute, ("[ a = 1 + 2; b = unparse(a) ].b", '"1 + 2"'),
         ("[ a = x ?: 2; c = unparse(a) ].c", '"x ?: 2"')),
    lazy("unresolved", "unresolved(name[, pattern])",
         "The names the expression under the name needs from elsewhere; with a pattern, whether "
         "one of them matches it.",
         unresolved, ("[ a = b + c; c = 1; d = unresolved(a) ].d", '"b"'),
         ("[ a = x + y; r = unresolved(a) ].r", '"x,y"'),
         ('[ a = Memory; r = unresolved(a,"^mem") ].r', "true")),
    strict("debug", "debug(value)", "The value, which is reported to the log on the way.",
           debug, ("debug(1)", "1"), ('debug("a")', '"a"'),
           may_repeat=False),
    lazy("evalInEachContext", "evalInEachContext(expression, list)",
         "The list of the expression's values in each ad of the list.",
         evaluate_in_each, ("evalInEachContext(p + 1,{ [ p = 1 ],[ p = 2 ] })", "{ 2,3 }"),
         ("evalInEachContext(q,{ [ p = 1 ],[ q = 2 ] })", "{ undefined,2 }")),
    lazy("countMatches", "countMatches(expression, list)",
         "In how many ads of the list the expression is true.",
         count_matches, ("countMatches(p > 1,{ [ p = 1 ],[ p = 2 ] })", "1"),
         ("countMatches(p,{ [ p = true ],[ q = 1 ] })", "1")),
)
# fmt: on
