"""One pass through a text of the command line; what it shows is recorded (tests/data/cli/admin)."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.config.single_pass import Passed, expand_once
from kettle.errors import ConfigError


def test_what_was_replaced_is_not_looked_at_again() -> None:
    config = Config.from_text("A = B\nB = 7\n")
    assert expand_once("$($(A))-$(A)-$(DOLLAR)", config) == Passed("$(B)-B-$(DOLLAR)", 3)


def test_the_first_function_that_cannot_be_computed_ends_it() -> None:
    config = Config.from_text("A = 1\n")
    said = 'ERROR "$INT() error: x does not evaluate to an integer"'
    assert expand_once("$(A)$INT(x)$(A)", config) == Passed("1$INT(x)$(A)", 1, said)


def test_a_circle_is_an_error() -> None:
    config = Config.from_text("A = $(B)\nB = $(A)\n")
    with pytest.raises(ConfigError, match="A refers to itself: A -> B -> A"):
        expand_once("$(A)", config)


def test_what_grows_without_end_is_an_error() -> None:
    config = Config.from_text("".join(f"A{n} = $(A{n + 1})$(A{n + 1})\n" for n in range(40)))
    with pytest.raises(ConfigError, match="has no end"):
        expand_once("$(A0)", config)
    with pytest.raises(ConfigError, match="has no end"):
        expand_once("$(A0)", Config.from_text("A0 = " + "$(X:y)" * 110_000 + "\n"))
    with pytest.raises(ConfigError, match="has no end"):
        expand_once("$ENV(X)", Config.from_text("", environment={"X": "$ENV(X)"}))


def test_names_inside_names_have_no_bound_but_time() -> None:
    """As in the expansion of values; the reference makes 1,000 at least."""
    count = 5000
    text = "".join(f"A{n} = <$(A{n + 1})>\n" for n in range(count)) + f"A{count} = x\n"
    assert expand_once("$(A0)", Config.from_text(text)).text == "<" * count + "x" + ">" * count


def test_a_long_circle_is_told_by_its_ends() -> None:
    text = "".join(f"A{n} = $(A{(n + 1) % 5000})\n" for n in range(5000))
    said = "A7 refers to itself: A7 -> A8 -> A9 -> A10 -> 4,993 more -> A4 -> A5 -> A6 -> A7"
    with pytest.raises(ConfigError) as raised:
        expand_once("$(A7)", Config.from_text(text))
    assert raised.value.message == said


def test_functions_inside_each_other_have_no_bound_but_time() -> None:
    """As names; the reference makes 10,000 and, of 40,000, its stack ends."""
    count = 10_000
    text = "".join(f"A{n} = $INT(A{n + 1})\n" for n in range(count)) + f"A{count} = 7\n"
    assert expand_once("$INT(A0)", Config.from_text(text)).text == "7"


def test_defaults_inside_each_other_end_with_a_sentence() -> None:
    config = Config.from_text("")
    assert expand_once("$(A:" * 3000 + "x" + ")" * 3000, config).text == "x"
    with pytest.raises(ConfigError, match="defaults inside defaults are too long"):
        expand_once("$(A:" * 5000 + "x" + ")" * 5000, config)


def test_a_choice_of_a_list_of_nothing_is_nothing() -> None:
    config = Config.from_text("A =\nB = ,\n")
    for body in ("A", "B", " "):
        assert expand_once(f"x$RANDOM_CHOICE({body})x", config) == Passed("xx")
    said = 'ERROR "$RANDOM_CHOICE() error: no list"'
    assert expand_once("$RANDOM_CHOICE()", config).problem == said


def test_a_single_pass_draws_between_two_numbers() -> None:
    assert expand_once("$RANDOM_INTEGER(4,4)", Config.from_text("")).text == "4"
