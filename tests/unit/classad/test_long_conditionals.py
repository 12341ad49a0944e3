"""Conditionals in the arms of conditionals: as many as the wheel reads, and no stack runs out."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from kettle.classad import ClassAd, Expr, parse_expression, unparse
from kettle.classad.flatten import flatten
from kettle.classad.never import why_never_true
from kettle.classad.nodes import (
    AttributeReference,
    Conditional,
    ListNode,
    Unary,
    literal,
    same_expression,
    weigh,
)
from kettle.classad.pretty import pretty
from kettle.classad.references import find_references
from kettle.classad.values import HOT
from kettle.compat import classad, classad2
from kettle.errors import ClassAdSyntaxError
from kettle.transforms.scopes import with_scope

# How many levels 25.14.1's classad2 reads of each shape (asked of the wheel by bisection).
WHEEL: dict[str, tuple[Callable[[int], str], int]] = {
    "else": (lambda many: "x == 0 ? 0 : " * many + "2", 497),
    "else of nothing": (lambda many: "x ?: " * many + "2", 497),
    "yes": (lambda many: "x ? " * many + "1" + " : 2" * many, 497),
    "conditions in brackets": (lambda many: "(x) ? 1 : " * many + "2", 495),
    "values in brackets": (lambda many: "x ? (1) : " * many + "2", 494),
    "a call in the end": (lambda many: "x ? 1 : " * many + "{1, f(2)}", 491),
    "conditions with a default": (lambda many: "x ?: y ? 1 : " * many + "2", 497),
    "each in brackets": (lambda many: "(x ? 1 : " * many + "2" + ")" * many, 124),
    "every second in brackets": (lambda many: "x ? 1 : (y ? 2 : " * many + "2" + ")" * many, 99),
}


@pytest.mark.parametrize("shape", WHEEL)
def test_as_many_conditionals_are_read_as_the_wheel_reads(shape: str) -> None:
    text, most = WHEEL[shape]
    expr = parse_expression(text(most))
    assert parse_expression(unparse(expr)) == expr
    with pytest.raises(ClassAdSyntaxError, match="nested too deeply"):
        parse_expression(text(most + 1))


def chain(many: int) -> str:
    return "".join(f"x=={number}?{number}:" for number in range(many)) + "-1"


@pytest.mark.parametrize("module", [classad, classad2], ids=["version 1", "version 2"])
@pytest.mark.parametrize("shape", ["else", "else of nothing", "yes"])
def test_the_interfaces_do_all_with_a_long_row(module: Any, shape: str) -> None:
    text, most = WHEEL[shape]
    tree = module.ExprTree(text(most))
    ad = module.ClassAd({"x": 0, "e": tree})
    assert str(module.ExprTree(repr(tree))) == str(tree)
    assert pickle.loads(pickle.dumps(ad)) == ad
    assert copy.deepcopy(ad) == ad
    assert tree.eval(ad) == {"else": 0, "else of nothing": 0, "yes": 2}[shape]
    assert ad.flatten(tree) == tree.eval(ad)
    assert "x" in ad.internalRefs(tree)
    for printed in (str(ad), ad.printOld(), ad.printJson()):
        assert printed.count("?") == most


def test_every_branch_of_a_row_is_reached_by_closures_and_by_what_is_generated() -> None:
    expr = parse_expression(chain(400))
    ads = {number: ClassAd() for number in (0, 1, 200, 399, 400)}
    for number, ad in ads.items():
        ad["x"] = number
    for _ in range(3 * HOT):
        for number, ad in ads.items():
            assert expr.evaluate(ad) == (number if number < 400 else -1)


def test_a_row_short_enough_to_be_generated_says_the_same() -> None:
    expr = parse_expression(chain(20))
    for number in range(22):
        ad = ClassAd()
        ad["x"] = number
        assert {expr.evaluate(ad) for _ in range(2 * HOT)} == {number if number < 20 else -1}


def grown(many: int, end: Expr, *, yes: bool) -> Expr:
    """Return a tree that no text can be: conditionals in one arm of conditionals."""
    name = AttributeReference("x")
    for number in range(many):
        value = literal(number)
        end = Conditional(name, end, value) if yes else Conditional(name, value, end)
    return end


@pytest.mark.parametrize("yes", [False, True])
def test_what_walks_through_expressions_needs_no_stack_for_conditionals(yes: bool) -> None:
    many = 5000
    tree, again = (grown(many, literal(7), yes=yes) for _ in range(2))
    assert same_expression(tree, again)
    assert unparse(tree).count("?") == many
    assert weigh(tree) > many // 8
    assert find_references(tree, None) == (set(), {"x"})
    ad = ClassAd()
    ad["x"] = yes
    assert tree.evaluate(ad) == 7
    assert flatten(tree, ad) == literal(7)
    assert unparse(flatten(tree)) == unparse(tree)
    assert unparse(with_scope(tree, "my", "")) == unparse(tree)
    assert why_never_true(tree) == ""
    never = parse_expression('"never"')
    assert why_never_true(Conditional(AttributeReference("x"), never, never)) != ""


def test_lines_of_a_list_in_a_long_row_are_laid_out() -> None:
    tree = grown(5000, ListNode((literal(1),)), yes=False)
    assert pretty(tree).endswith("x ? 0 : \n   {\n      1\n   }")


def test_a_long_row_of_prefixes_is_rewritten() -> None:
    tree: Expr = AttributeReference("x")
    for _ in range(5000):
        tree = Unary("!", tree)
    assert unparse(with_scope(tree, "my", "")) == unparse(tree)
