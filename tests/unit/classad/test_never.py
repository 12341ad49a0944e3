"""Expressions that no ad makes true are told, with the reason; of others nothing is said."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.classad.never import why_never_true


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(Memory > 10) && (Memory < 5)", "Memory > 10 and Memory < 5 are never true together"),
        ("5 > Memory && X && 5 <= memory", "5 > Memory and 5 <= memory are never true together"),
        ("Memory > 5 && Memory <= 5", "Memory > 5 and Memory <= 5 are never true together"),
        ('Arch == "X86" && Arch == "ARM"', "never true together"),
        ('Arch == "X86" && Arch > 3', "never true together"),
        ("Owner == undefined", "Owner == undefined is always undefined: =?= asks for it"),
        ("KeyboardIdle > 60 && false", "it is always false"),
        ("false || (X && 1 > 2)", "it is always false"),
        ("X ? false : 1 > 2", "it is always false"),
        ('"TRUE"', "it is a string, which is never true"),
        ("(X == 1 && X == 2) || (Y < 1 && Y > 2)", "X == 1 and X == 2 are never true together"),
        ("NoSuchFunction(3)", "it is always error"),
        ("JobStatus =!= JobStatus", "JobStatus is compared with itself"),
        ("X && (a * b) < (a * b)", "a * b is compared with itself"),
        ("time() < 0", "time() is never less than 0"),
        ("0 > CurrentTime", "CurrentTime is never less than 0"),
        ("time() == -1", "time() is never less than 0"),
    ],
)
def test_the_reason_is_told(text: str, why: str) -> None:
    assert why in why_never_true(parse_expression(text, old=True))


@pytest.mark.parametrize(
    "text",
    [
        "false",
        "(False)",
        "undefined",
        "0",
        "true",
        "Memory > 4 && Memory < 5",
        "Memory >= 5 && Memory <= 5",
        "Memory > 10 || Memory < 5",
        "MY.Memory > 10 && TARGET.Memory < 5",
        'Arch == "X86" && Arch == "x86"',
        "Owner =?= undefined",
        "Owner =!= undefined && Owner",
        "X ? false : Y",
        "X ?: false",
        "time() < 2",
        "time() >= -1",
        "time() < time()",
        "random(5) != random(5)",
        "JobStatus =?= JobStatus",
        "JobStatus <= JobStatus",
        "random() > 5",
        "random(9) > 10",
        "CurrentTime > 1800000000",
        "MY.CurrentTime > 1800000000 && X",
        "X || CurrentTime + 5 > 4102444800",
        'userHome("root") == "/nowhere"',
        'userMap("groups", "nobody") == "staff"',
        'formatTime(0, "%H") == "25"',
        'eval("Memory > 3")',
        "X == 1 && X == 1.0",
        "1 + 1",
    ],
)
def test_of_what_may_be_true_or_is_a_plain_word_nothing_is_said(text: str) -> None:
    assert why_never_true(parse_expression(text, old=True)) == ""


@pytest.mark.parametrize("memory", [-1, 0, 4, 5, 5.5, 6, "5", None, True])
@pytest.mark.parametrize("one", ["<", "<=", ">", ">=", "=="])
@pytest.mark.parametrize("other", ["<", "<=", ">", ">=", "=?="])
def test_what_is_said_holds_for_every_ad(memory: object, one: str, other: str) -> None:
    for number in (4, 5, 6):
        text = f"Memory {one} 5 && Memory {other} {number}"
        expr = parse_expression(text, old=True)
        ad = ClassAd() if memory is None else ClassAd({"Memory": memory})
        if why_never_true(expr):
            assert ad.evaluate_expression(expr) is not True, text


def test_a_long_chain_is_no_deep_one() -> None:
    text = " && ".join(f"A{number} > 1" for number in range(5000))
    assert why_never_true(parse_expression(text, old=True)) == ""


def test_only_the_first_demands_of_an_attribute_are_compared_with_its_others() -> None:
    """Else a chain of thousands would be looked through for each of its parts."""
    for before, why in ((15, "X > 10 and X < 5 are never true together"), (16, "")):
        text = " && ".join([*["X > 0"] * before, "X > 10", "X < 5"])
        assert why_never_true(parse_expression(text, old=True)) == why
