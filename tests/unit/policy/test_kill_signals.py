"""A job's signal can always be sent, whatever its ad says."""

from __future__ import annotations

import signal

import pytest

from kettle.classad import ClassAd, parse_old_ad
from kettle.policy.kill_signals import kill_signal, wished_seconds


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


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ("", None),
        ("KillSigTimeout = 3", 3.0),
        ("KillSigTimeout = 9\nJobMaxVacateTime = 4", 4.0),
        ("JobMaxVacateTime = 0\nKillSigTimeout = 9", 0.0),
        ("JobMaxVacateTime = -3", 0.0),
        ("JobMaxVacateTime = 2.5", 2.5),
        ("JobMaxVacateTime = NumJobStarts + 3", 4.0),
        ("JobMaxVacateTime = TARGET.Memory / 32", 4.0),
        # Seen in the reference: what is no number counts as none, and the job goes at once.
        ('JobMaxVacateTime = "x"', 0.0),
        ("JobMaxVacateTime = Nothing\nKillSigTimeout = 9", 0.0),
    ],
)
def test_how_long_a_job_wants_to_have_after_its_signal(lines: str, seconds: float | None) -> None:
    job = parse_old_ad(f"NumJobStarts = 1\n{lines}")
    assert wished_seconds(job, ClassAd({"Memory": 128})) == seconds
