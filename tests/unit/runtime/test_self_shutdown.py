"""A daemon ends by itself when its own ad says so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.runtime.logs import Log
from kettle.runtime.self_shutdown import SelfShutdown


class Daemon(SimpleNamespace):
    """What a daemon that may end by itself is to it."""

    def __init__(self, text: str) -> None:
        self.stops: list[str] = []
        self.said: list[str] = []
        config = Config.from_text(text, subsystem="STARTD")
        config.forgive(self.said.append)
        super().__init__(
            config=config, log=Log(sink=self.said.append), stop=self.stops.append, stays_off=False
        )
        self.ending = SelfShutdown(cast(Any, self))


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("", []),
        ("DAEMON_SHUTDOWN = Idle > 10", ["graceful"]),
        ("DAEMON_SHUTDOWN = Idle > 100", []),
        ("DAEMON_SHUTDOWN = Unheard > 1", []),
        ('DAEMON_SHUTDOWN = "yes"', []),
        ("DAEMON_SHUTDOWN = 1", ["graceful"]),
        ("STARTD.DAEMON_SHUTDOWN = true", ["graceful"]),
        ("SCHEDD.DAEMON_SHUTDOWN = true", []),
        ("DAEMON_SHUTDOWN_FAST = Idle > 10", ["fast"]),
        ("DAEMON_SHUTDOWN = true\nDAEMON_SHUTDOWN_FAST = true", ["fast"]),
        ("DAEMON_SHUTDOWN = (((", []),
    ],
)
def test_it_ends_once_and_stays_off_when_an_expression_is_true_of_its_ad(
    text: str, stops: list[str]
) -> None:
    daemon = Daemon(text)
    for _ in range(3):
        daemon.ending.look(ClassAd({"Idle": 11}))
    assert daemon.stops == stops
    assert daemon.stays_off is bool(stops)
    assert len(daemon.said) == (1 if stops or "((" in text else 0)


def test_a_graceful_end_becomes_a_fast_one() -> None:
    daemon = Daemon("DAEMON_SHUTDOWN = Idle > 10\nDAEMON_SHUTDOWN_FAST = Idle > 20")
    for idle in (11, 12, 21, 22, 13):
        daemon.ending.look(ClassAd({"Idle": idle}))
    assert daemon.stops == ["graceful", "fast"]


def test_the_ad_has_the_expressions() -> None:
    ad = ClassAd({"Idle": 1})
    Daemon("DAEMON_SHUTDOWN = Idle > 10").ending.look(ad)
    assert ad.text("DaemonShutdown") == "Idle > 10"
    assert "DaemonShutdownFast" not in ad
