"""Whether sshd could give a terminal is tried the way sshd does it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.runtime.process import terminals
from kettle.runtime.process.terminals import Terminals, try_terminal
from kettle.tools.front import doctor


def refuse(*_: object) -> None:
    """Stand in for a call that the kernel refuses."""
    raise PermissionError(1, "Operation not permitted")


def no_group(_: str) -> None:
    """Stand in for a list of groups that is empty."""
    raise KeyError("tty")


def count_open() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize(
    ("owner", "name", "stand_in", "found"),
    [
        (terminals.os, "chown", lambda *_: None, Terminals.GIVEN),
        (terminals.os, "chown", refuse, Terminals.GROUP),
        (terminals.os, "openpty", refuse, Terminals.NONE),
        # Then sshd leaves the terminal as it is.
        (terminals.grp, "getgrnam", no_group, Terminals.GIVEN),
    ],
)
def test_what_sshd_may_not_do_is_found_and_nothing_stays_open(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, stand_in: object, found: Terminals
) -> None:
    before = count_open()
    monkeypatch.setattr(owner, name, stand_in)
    assert try_terminal() is found
    monkeypatch.undo()
    assert count_open() == before


def test_doctor_says_how_shells_beside_jobs_get_terminals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patient = doctor.Patient(Path("/"), {})
    monkeypatch.setattr(doctor, "try_terminal", lambda: Terminals.GROUP)
    state, sentence, mend = doctor.check_terminals(patient)
    assert state == doctor.DOUBT
    assert "condor_ssh_to_job" in sentence
    assert "mount -o remount,gid=" in mend
    monkeypatch.setattr(doctor, "try_terminal", lambda: Terminals.GIVEN)
    assert doctor.check_terminals(patient)[0] == doctor.GOOD
