"""When Ctrl-C ends a command that has something to undo."""

from __future__ import annotations

import signal

import pytest

from kettle.tools.front.interruptions import ONE_PRESS_SECONDS, Interruptions


class Presses:
    """A command, and a clock that goes on between presses."""

    def __init__(self) -> None:
        self.now = 100.0
        self.command = Interruptions(lambda: self.now)

    def press(self, later: float = 0.0) -> None:
        self.now += later
        self.command.come(signal.SIGINT, None)


@pytest.fixture
def presses() -> Presses:
    return Presses()


def test_a_press_ends_what_can_be_ended(presses: Presses) -> None:
    with pytest.raises(KeyboardInterrupt):
        presses.press()
    # The same press, to the process and to its group.
    presses.press(ONE_PRESS_SECONDS / 100)


def test_what_is_held_is_done_first(presses: Presses) -> None:
    done: list[str] = []

    def make() -> None:
        with presses.command.held():
            presses.press()
            presses.press(ONE_PRESS_SECONDS / 2)
            done.append("made")

    with pytest.raises(KeyboardInterrupt):
        make()
    assert done == ["made"]


def test_what_is_undone_is_undone_whole(presses: Presses) -> None:
    with pytest.raises(KeyboardInterrupt):
        presses.press()
    with presses.command.held(tells=False):
        presses.press(2 * ONE_PRESS_SECONDS)


def test_who_presses_again_later_is_not_kept_waiting(presses: Presses) -> None:
    def undo() -> None:
        with presses.command.held(tells=False):
            presses.press()
            presses.press(2 * ONE_PRESS_SECONDS)

    with pytest.raises(KeyboardInterrupt):
        undo()


def test_signals_are_taken_for_a_while_and_what_is_ignored_stays_so() -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    hung_up = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def command() -> None:
        with Interruptions().watched():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            signal.raise_signal(signal.SIGTERM)

    try:
        with pytest.raises(KeyboardInterrupt):
            command()
        assert {each: signal.getsignal(each) for each in before} == before
    finally:
        signal.signal(signal.SIGHUP, hung_up)
