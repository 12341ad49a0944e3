"""The word that was meant is found among many at a cost that does not grow with them."""

from __future__ import annotations

import difflib
from random import Random

import pytest

from kettle import nearest
from kettle.config import Config
from kettle.config.check import check_config
from kettle.config.default_texts import DEFAULTS
from kettle.nearest import LONGEST, MOST_COMPARED, MOST_COUNTED, Nearest, nearest_of
from kettle.submit.registry import known_names
from unit.submit.test_check import check

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"


def slip(word: str, random: Random) -> str:
    """Return a word with one or two letters wrong."""
    for _ in range(random.choice((1, 1, 2))):
        place = random.randrange(len(word))
        letter = random.choice(LETTERS)
        word = random.choice(
            (
                word[:place] + word[place + 1 :],
                word[:place] + letter + word[place:],
                word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :],
            )
        )
    return word


@pytest.mark.parametrize(
    ("words", "cutoff"),
    [(tuple(DEFAULTS), 0.75), (tuple(name.upper() for name in known_names()), 0.8)],
)
def test_it_is_the_word_that_a_comparison_with_all_of_them_finds(
    words: tuple[str, ...], cutoff: float
) -> None:
    random, table = Random(25), Nearest(words, cutoff)
    wrong = [slip(random.choice(words), random) for _ in range(100)]
    wrong += [f"ZORK_{number}" for number in range(20)]
    assert [table.of(word) for word in wrong] == [
        (difflib.get_close_matches(word, words, n=1, cutoff=cutoff) or [""])[0] for word in wrong
    ]


def test_letters_may_be_capital_or_not_and_the_answer_is_the_words_own() -> None:
    assert Nearest(["RequestCpus"]).of("requst_cpus") == "RequestCpus"
    assert nearest_of("ARGUMNETS", ["Arguments", "rank"]) == "Arguments"
    assert nearest_of("x", []) == Nearest([]).of("x") == Nearest(["y"]).of("") == ""


def test_a_look_up_compares_few_words_of_however_many() -> None:
    words = [f"LONG_NAME_{number}" for number in range(20_000)]
    table = Nearest(words)
    assert len(table.compared("LONG_NAM_77")) == MOST_COMPARED
    assert table.of("LONG_NAM_77")
    assert sum(map(len, table._sharing.values())) < 400 * nearest.MOST_SHARING
    assert MOST_COUNTED <= 2_000
    assert table.of("X" * (LONGEST + 1)) == nearest_of("X" * (LONGEST + 1), ["X" * LONGEST]) == ""


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count the words that are compared, and those that are put in order."""
    found = {"compared": 0, "ordered": 0}
    known, begin = nearest.nearest_of, Nearest.__init__

    def compare(word: str, words: list[str], cutoff: float = 0.75) -> str:
        words = list(words)
        found["compared"] += len(words)
        return known(word, words, cutoff)

    def order(self: Nearest, words: list[str], cutoff: float = 0.75) -> None:
        words = list(words)
        found["ordered"] += len(words)
        begin(self, words, cutoff)

    monkeypatch.setattr(nearest, "nearest_of", compare)
    monkeypatch.setattr(Nearest, "__init__", order)
    return found


def test_a_description_with_many_unknown_names_is_checked_in_linear_work(
    counts: dict[str, int],
) -> None:
    def work(names: int) -> int:
        counts.update(compared=0, ordered=0)
        lines = [f"requst_{number} = $(nobody_{number})" for number in range(names)]
        check("\n".join(("executable = run.sh", *lines, "queue", "")))
        return sum(counts.values())

    few, many = work(100), work(400)
    assert many < 5 * few
    assert many < 400 * 4 * MOST_COMPARED + 5_000


def test_a_configuration_with_many_unknown_names_is_checked_in_linear_work(
    counts: dict[str, int],
) -> None:
    def work(names: int) -> int:
        counts.update(compared=0, ordered=0)
        lines = [f"SCHEDD_INTRVAL_{number} = $(NOBODY_{number})" for number in range(names)]
        check_config(Config.from_text("\n".join(lines), subsystem="TOOL"))
        return sum(counts.values())

    few, many = work(100), work(400)
    assert many < 5 * few
    assert many < 400 * 8 * MOST_COMPARED + 10_000


def test_two_letters_that_changed_places_are_seen_among_longer_words_that_share_more_pairs() -> (
    None
):
    words = ["START", "STARTD_ATTRS", "SUBMIT_ATTRS", *(f"ST_{number}" for number in range(900))]
    assert Nearest(words).of("STRAT") == "START"
