"""Which of a job's processes are stopped: also who is born while the others are."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from kettle.starter.services import job
from kettle.starter.services.job import JobProcesses


class Machine:
    """Processes that fork, as often as they may, just before they are stopped."""

    def __init__(self, forks: dict[int, int]) -> None:
        self.forks = forks
        self.stopped: list[int] = []
        self.killed: list[int] = []

    def living(self) -> list[int]:
        return [pid for pid in self.forks if pid not in self.killed]

    def send(self, pid: int, number: int) -> bool:
        if number == signal.SIGKILL:
            self.killed.append(pid)
            return True
        assert number == signal.SIGSTOP
        if self.forks[pid] > 0:
            self.forks[max(self.forks) + 1] = self.forks[pid] - 1
        self.stopped.append(pid)
        return True


def processes(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(job, "send_signal", machine.send)
    found: Any = JobProcesses.__new__(JobProcesses)
    found.living, found._is_childless = machine.living, lambda: False
    found.group, found._dedicated = None, False
    return found


@pytest.mark.parametrize(
    "forks",
    [
        pytest.param({1: 0}, id="nobody"),
        pytest.param({1: 1}, id="a child of the only one"),
        pytest.param({1: 0, 2: 1}, id="a child of one"),
        pytest.param({1: 4, 2: 3}, id="children's children"),
    ],
)
def test_who_is_born_while_a_job_is_stopped_is_stopped_and_killed_with_it(
    forks: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(dict(forks))
    assert processes(machine, monkeypatch).suspend() == len(machine.forks)
    assert sorted(machine.stopped) == sorted(machine.forks)
    machine = Machine(dict(forks))
    assert not processes(machine, monkeypatch).kill_all()
    assert sorted(machine.killed) == sorted(machine.stopped) == sorted(machine.forks)


def test_a_job_that_forks_without_end_is_not_stopped_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine({1: 1_000_000})
    assert processes(machine, monkeypatch).suspend() == job._STOP_ROUNDS
