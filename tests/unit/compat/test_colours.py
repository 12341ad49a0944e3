"""`htcondor2._utils.ansi`, which HTCondor's command `htcondor` imports."""

from __future__ import annotations

import pytest

from kettle.compat.htcondor2._utils import ansi

ALL = (
    lambda text: ansi.colorize(text, ansi.Color.RED),
    lambda text: ansi.id_colorize(text, 300),
    lambda text: ansi.highlight(text, -1),
    ansi.underline,
    ansi.bold,
    ansi.blink,
    lambda text: ansi.stylize(text, ansi.AnsiOptions(style=ansi.Style.BOLD, color_id=7)),
)


def test_a_text_is_plain_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ansi, "IS_TTY", False)
    assert {each("a") for each in ALL} == {"a"}


def test_a_terminal_gets_colours_that_can_be_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ansi, "IS_TTY", True)
    begins = ["31", "38;5;255", "48;5;0", "4", "1", "5", "1;38;5;7"]
    shown = [each("a") for each in ALL]
    assert shown == [f"\033[{begin}ma\033[0m" for begin in begins]
    assert {ansi.strip_ansi(text) for text in shown} == {"a"}


def test_options_are_told_together_and_nothing_is_nothing() -> None:
    options = ansi.AnsiOptions(
        bold=True, underline=True, blink=True, color=ansi.Color.GREEN, highlight=3
    )
    assert str(options) == "\033[1;4;5;32;48;5;3m"
    assert str(ansi.AnsiOptions()) == ""
