"""A job's signal can always be sent, whatever its ad says."""

from __future__ import annotations

import signal

import pytest

from kettle.classad import ClassAd
from kettle.policy.kill_signals import kill_signal


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("SIGUSR1", signal.SIGUSR1),
        ("usr2", signal.SIGUSR2),
        (" SigHup ", signal.SIGHUP),
        ("9", 9),
        (2, 2),
        (64, 64),
    ],
)
def test_signals_are_numbers_or_names(value: object, number: int) -> None:
    assert kill_signal(ClassAd({"KillSig": value}), "KillSig") == number


@pytest.mark.parametrize(
    "value",
    [
        *("NSIG", "SIG_BLOCK", "SIG_SETMASK", "ITIMER_REAL", "DFL", "SIG", "", "NOPE", "signal"),
        *("0", "65", "-9", "9" * 5000, "²", 0, 65, -1, 1 << 40),
    ],
)
def test_what_is_no_signal_counts_as_nothing_said(value: object) -> None:
    ad = ClassAd({"RemoveKillSig": value, "KillSig": "SIGINT"})
    assert kill_signal(ad, "RemoveKillSig") == signal.SIGTERM
    assert kill_signal(ad, "RemoveKillSig", "KillSig") == signal.SIGINT


def test_an_expression_that_has_no_value_is_no_signal() -> None:
    ad = ClassAd()
    ad.insert_text("KillSig", "error(1)")
    assert kill_signal(ad, "KillSig", "Missing") == signal.SIGTERM
