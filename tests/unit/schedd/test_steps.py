"""Steps of which each is owed whatever becomes of those before it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kettle.schedd.steps import do_all


def steps(story: list[str], *words: str) -> list[Callable[[], None]]:
    """Return steps that note their words, and fail where these say so."""

    def make(word: str) -> Callable[[], None]:
        def step() -> None:
            story.append(word)
            if word.startswith("fails"):
                raise ValueError(word)
            if word == "dies":
                raise KeyboardInterrupt

        return step

    return [make(word) for word in words]


def test_every_step_is_done_and_the_first_failure_comes_out_with_the_others() -> None:
    story: list[str] = []
    with pytest.raises(ValueError, match="fails first") as caught:
        do_all(steps(story, "a", "fails first", "b", "fails again", "c"))
    assert story == ["a", "fails first", "b", "fails again", "c"]
    assert caught.value.__notes__ == ["and then: ValueError('fails again')"]


def test_nothing_is_done_behind_the_end_of_the_process() -> None:
    story: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        do_all(steps(story, "a", "dies", "b"))
    assert story == ["a", "dies"]


def test_steps_that_go_well_say_nothing() -> None:
    story: list[str] = []
    do_all(steps(story, "a", "b"))
    assert story == ["a", "b"]
