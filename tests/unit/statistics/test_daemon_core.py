"""What a daemon's ad says about its own process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kettle.statistics.daemon_core import NAMES, Reading, SelfFigures

START = Reading(1_000_000.0, 0.5, 1.0, 0.5, 40_000, 20_000, 5, 2)


def figures() -> SelfFigures:
    return SelfFigures(START, window_seconds=1200, quantum_seconds=240)


def test_every_declared_name_is_published() -> None:
    assert set(figures().attributes()) == set(NAMES)


def test_the_duty_cycle_is_time_on_a_processor() -> None:
    own = figures()
    own.add(replace(START, moment=START.moment + 10, loop_seconds=3.0))
    assert own.attributes()["DaemonCoreDutyCycle"] == pytest.approx(0.25)


def test_a_daemon_that_has_just_begun_is_not_overworked() -> None:
    own = figures()
    own.add(replace(START, moment=START.moment + 0.1, loop_seconds=START.loop_seconds + 0.1))
    attributes = own.attributes()
    assert attributes["DaemonCoreDutyCycle"] == pytest.approx(0.02)
    assert attributes["RecentDaemonCoreDutyCycle"] == pytest.approx(0.02)


def test_the_recent_duty_cycle_forgets_what_is_older_than_the_window() -> None:
    own = figures()
    loop, moment = START.loop_seconds, START.moment
    for _ in range(4):
        moment, loop = moment + 240, loop + 240
        own.add(replace(START, moment=moment, loop_seconds=loop))
    for _ in range(8):
        moment += 240
        own.add(replace(START, moment=moment, loop_seconds=loop))
    attributes = own.attributes()
    assert attributes["RecentDaemonCoreDutyCycle"] == 0
    assert attributes["DaemonCoreDutyCycle"] == pytest.approx(4 / 12)


def test_the_usage_of_the_processor_is_of_the_time_since_the_last_reading() -> None:
    own = figures()
    own.add(replace(START, moment=START.moment + 100))
    own.add(replace(START, moment=START.moment + 110, user_seconds=3.0, system_seconds=1.0))
    attributes = own.attributes()
    assert attributes["MonitorSelfCPUUsage"] == pytest.approx(25)
    assert attributes["MonitorSelfAge"] == 110
    assert attributes["MonitorSelfUserCpuTime"] == 3
