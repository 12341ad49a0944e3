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
        expand_once("$(A0)", Config.from_text("A0 = " + "$(X:y)" * 10_001 + "\n"))
