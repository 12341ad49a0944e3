"""What a command line of condor_prio asks for."""

from __future__ import annotations

import contextlib
import io
from typing import cast

import pytest

from kettle.classad import ClassAd
from kettle.client.pool import Located
from kettle.client.queue import Queue
from kettle.errors import RefusedError, UsageError
from kettle.tools.jobs import condor_prio
from kettle.tools.jobs.condor_prio import change, main, read_wish
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.sinful import Sinful


class Jobs:
    """A queue of three jobs, the second of somebody else."""

    def __init__(self) -> None:
        self.done: list[object] = []

    def jobs(self, constraint: str, names: tuple[str, ...]) -> list[ClassAd]:
        assert names == ("ClusterId", "ProcId", "JobPrio"), constraint
        return [ClassAd({"ClusterId": 7, "ProcId": proc, "JobPrio": proc}) for proc in range(3)]

    def set_attribute(self, cluster: int, proc: int, name: str, value: str, *, flags: int) -> None:
        assert flags == 8
        if proc == 1:
            raise RefusedError("not yours")
        self.done.append((cluster, proc, name, value))

    def commit(self) -> None:
        self.done.append("commit")


def streams() -> Streams:
    return Streams(io.StringIO(), io.StringIO(), io.StringIO())


def test_a_priority_or_a_change_is_for_the_jobs_named() -> None:
    wish = read_wish(["-p", "-3", "-n", "ap", "-pool", "cm", "7", "8.1", 'a"b'])
    assert (wish.priority, wish.change) == (-3, None)
    assert wish.reach == {"name": "ap", "pool": "cm"}
    assert wish.constraint().endswith(' || (Owner == "a\\"b")')
    # As in the reference the whole part counts.
    assert [read_wish(["-p", text, "7"]).priority for text in ("1.0", "-2.9", " 3")] == [1, -2, 3]
    wish = read_wish(["+5", "-a"])
    assert (wish.priority, wish.change, wish.constraint()) == (None, 5, "true")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p"], "-p requires another argument"),
        (["-p", "high", "1"], "whole number"),
        (["-p", "99999999999", "1"], "whole number"),
        (["-pool", "cm", "-p", "1", "2"], "-pool also requires -n"),
        ([], "^$"),
    ],
)
def test_what_makes_no_sense_is_said(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_wish(words)


def test_a_job_that_may_not_be_changed_is_named_and_the_others_are_changed() -> None:
    queue, told = Jobs(), streams()
    found = change(cast(Queue, queue), read_wish(["+5", "7"]), told)
    assert queue.done == [(7, 0, "JobPrio", "5"), (7, 2, "JobPrio", "7"), "commit"]
    assert found == {"7.0", "7.1", "7.2"}
    assert told.stderr.getvalue() == "Couldn't set new priority for 7.1.\n"  # type: ignore[attr-defined]


def test_what_begins_as_an_id_and_is_none_is_left_out_with_a_warning() -> None:
    wish = read_wish(["-p", "1", "7x", "8.", "9.1.2"])
    assert (wish.words, wish.skipped) == (["8.0"], ["7x", "9.1.2"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("-p 1 7x", 0, 'Warning: unrecognized "7x" skipped\n'),
        ("-name x +5x 7.", 0, 'Warning: unrecognized "-name" skipped\n'),
        ("-5", 0, ""),
        ("+5", 0, ""),
        ("-p 5", 0, ""),
        ("5 7", 1, "You must specify a new priority or priority adjustment.\n"),
        ("+x 7", 1, "You must specify a new priority or priority adjustment.\n"),
        ("+ 7", 1, "You must specify a new priority or priority adjustment.\n"),
        ("-a", 1, "You must specify a new priority or priority adjustment.\n"),
        ("-help", 1, "You must specify a new priority or priority adjustment.\n"),
    ],
)
def test_a_schedd_that_is_there_and_words_that_mean_little(
    words: str, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded from condor_prio 25.14.1."""
    found = Located(Sinful.parse("<127.0.0.1:2>"), "ap")
    monkeypatch.setattr(Reach, "schedd_or_none_such", lambda _: found)
    monkeypatch.setattr(condor_prio, "Queue", lambda *_: contextlib.nullcontext(Jobs()))
    told = streams()
    environment = {"CONDOR_CONFIG": "ONLY_ENV"}
    assert main(["condor_prio", *words.split()], environment, told) == code
    complaint = told.stderr.getvalue().partition("Usage")[0]  # type: ignore[attr-defined]
    assert complaint.replace("Couldn't set new priority for 7.1.\n", "") == said
