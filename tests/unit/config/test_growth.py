"""Names that mention each other so often that nothing could hold what they become."""

from __future__ import annotations

import random
import re

import pytest

from kettle.config import Config
from kettle.config.expander import Expander
from kettle.config.growth import Foresight
from kettle.errors import ConfigError

DOUBLING = {f"A{number}": f"$(A{number + 1})$(A{number + 1})" for number in range(40)} | {
    "A40": "x"
}
SPREADING = {
    f"M{number}": " ".join(f"$(M{other})" for other in range(number + 1, min(43, number + 8)))
    for number in range(43)
}


class Counting:
    """Names, and how often they were asked for."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self.asked = 0

    def lookup(self, name: str) -> str | None:
        self.asked += 1
        return self._names.get(name.upper())


@pytest.mark.parametrize("names", [DOUBLING, SPREADING])
def test_all_names_of_a_growing_family_are_refused_with_little_work(names: dict[str, str]) -> None:
    counting = Counting(names)
    expander = Expander(
        counting.lookup, lambda name: None, lambda: random.Random(1), on_problem=print
    )
    for name in list(names)[:25]:
        with pytest.raises(ConfigError, match=f"the expansion of {name} has no end"):
            expander.expand(f"$({name})")
    for name in list(names)[29:]:
        expander.expand(f"$({name})")
    # Without a thought each of those that are refused was asked for 107,374 times.
    assert counting.asked < 500_000


@pytest.mark.parametrize("last", ["x", "$(C0)"], ids=["a chain", "a circle"])
def test_who_asks_about_all_names_has_each_expanded_once(last: str) -> None:
    names = {f"C{number}": f"<$(C{number + 1})>" for number in range(1000)} | {"C1000": last}
    counting = Counting(names)
    expander = Expander(
        counting.lookup, lambda name: None, lambda: random.Random(1), on_problem=print
    ).remembering()
    for number in range(1000):
        if last == "x":
            depth = 1000 - number
            assert expander.expand(f"$(C{number})") == f"{'<' * depth}x{'>' * depth}"
        else:
            with pytest.raises(ConfigError, match="refers to itself: C0 -> C1"):
                expander.expand(f"$(C{number})")
    # Half a million otherwise.
    assert counting.asked < 5000


def test_the_error_shows_how_the_text_grows() -> None:
    config = Config.from_text("".join(f"{name} = {text}\n" for name, text in DOUBLING.items()))
    said = (
        "the expansion of A1 has no end (2,199,023,255,550 replacements or more): A1 mentions A2 "
        "twice, A2 mentions A3 twice, A3 mentions A4 twice, and so on through 40 names"
    )
    with pytest.raises(ConfigError, match=re.escape(said)):
        config.get("A0")


def test_a_circle_with_growth_is_told_as_the_circle() -> None:
    config = Config.from_text("A = $(B)$(B)\nB = $(C)$(C)\nC = $(A)$(B)\n")
    with pytest.raises(ConfigError, match=r"C -> A -> B -> C|B -> C -> A -> B"):
        config.get("A")


def test_what_is_long_and_has_an_end_is_made() -> None:
    names = DOUBLING | {f"B{number}": f"$(B{number + 1})" * 9 for number in range(4)} | {"B4": "ab"}
    config = Config.from_text("".join(f"{name} = {text}\n" for name, text in names.items()))
    assert config.get("B0") == "ab" * 9**4


def test_names_inside_names_are_counted_however_deep() -> None:
    names = {f"N{number}": f"-$(N{number + 1})" for number in range(20_000)} | {"N20000": "x"}
    found = Foresight(names.get).of_text("$(N0)")
    assert (found.replacements, found.length) == (20_001, 20_001)
    doubled = {f"N{number}": f"$(N{number + 1})" * 2 for number in range(20_000)} | {"N20000": "x"}
    foresight = Foresight(doubled.get)
    said = foresight.explain(foresight.of_text("$(N0)"))
    assert "and so on through" in said


def test_the_sentence_about_a_circle_has_an_end() -> None:
    names = {"A": "$(B)$(B)", "B": "$(A)$(A)"}
    foresight = Foresight(names.get)
    assert "A mentions B twice" in foresight.explain(foresight.of_text("$(A)"))
