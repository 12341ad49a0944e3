"""Sampling a process: only when asked for, and what is written names the functions that worked."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.runtime import profiling


@pytest.fixture
def timer_put_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(profiling, "_name", "")
    before = signal.getsignal(signal.SIGPROF)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def work_hard() -> None:
    began = time.process_time()
    while time.process_time() - began < 0.08:
        sum(range(100))


@pytest.mark.usefixtures("timer_put_back")
def test_the_functions_that_worked_are_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(profiling.VARIABLE, str(tmp_path))
    profiling.start("STARTD")
    work_hard()
    profiling.stop()
    text = (tmp_path / f"STARTD.{os.getpid()}").read_text()
    assert "work_hard" in text
    assert all(int(line.rpartition(" ")[2]) > 0 for line in text.splitlines())


@pytest.mark.usefixtures("timer_put_back")
def test_nothing_is_sampled_unless_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(profiling.VARIABLE, raising=False)
    profiling.start("STARTD")
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    profiling.stop()
