"""A list that is added to a line at a time takes the memory of its last text, and little time."""

from __future__ import annotations

import tracemalloc

import pytest

from kettle.config import Config, store
from kettle.errors import ConfigError

LINES = 2_000


@pytest.mark.parametrize("line", ["L = $(L) item\n", "L += item\n"])
def test_a_list_that_grows_takes_the_memory_of_its_last_text(line: str) -> None:
    text = "L =\n" + line * LINES
    Config.from_text("L = 1\n")
    tracemalloc.start()
    try:
        config = Config.from_text(text)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (config.get("L") or "").split() == ["item"] * LINES
    # All that it was, one text after the other, had 10 million characters.
    assert taken < 1_000_000


def test_what_a_name_had_is_told_to_whoever_listens_and_only_that_it_changed_is_kept() -> None:
    heard: list[store.Macro] = []
    config = Config.from_text("ONCE = 1\nA = 1\n")
    config.on_replaced = heard.append
    config.assign("a", "2", store.Origin("/more", 7))
    assert [(macro.name, macro.text, macro.origin.line) for macro in heard] == [("a", "1", 2)]
    assert config.was_set_again("A")
    assert config.was_set_again("a")
    assert not config.was_set_again("ONCE")


def test_settings_that_copy_more_than_the_bound_are_refused_at_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "MOST_SET", 1_000_000)
    text = "L =\n" + "L += item\n" * 500
    assert Config.from_text(text).get("L")
    wrong = "all settings together have more than 1,000,000 characters; L is one too many"
    with pytest.raises(ConfigError, match=wrong) as caught:
        Config.from_text(text + "L = $(L) item\n" * 500)
    assert (caught.value.source, 501 < caught.value.line < 900) == ("/condor_config", True)


def test_looking_for_a_mention_among_many_macros_counts_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "MOST_SET", 100_000_000)
    # What cannot mention L is not looked through.
    Config.from_text("L =\n" + "L += $(ALL)\n" * 500)
    with pytest.raises(ConfigError, match="L is one too many"):
        Config.from_text("L =\n" + "L += $(L2)\n" * 500)
