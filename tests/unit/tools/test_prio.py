"""What a command line of condor_prio asks for."""

from __future__ import annotations

import io
from typing import cast

import pytest

from kettle.classad import ClassAd
from kettle.client.queue import Queue
from kettle.errors import RefusedError, UsageError
from kettle.tools.jobs.condor_prio import change, main, read_wish
from kettle.tools.programs import Streams


class Jobs:
    """A queue of three jobs, the second of somebody else."""

    def __init__(self) -> None:
        self.done: list[object] = []

    def jobs(self, constraint: str, names: tuple[str, ...]) -> list[ClassAd]:
        assert names == ("ClusterId", "ProcId", "JobPrio"), constraint
        return [ClassAd({"ClusterId": 7, "ProcId": proc, "JobPrio": proc}) for proc in range(3)]

    def set_attribute(self, cluster: int, proc: int, name: str, value: str) -> None:
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
    wish = read_wish(["+5", "-a"])
    assert (wish.priority, wish.change, wish.constraint()) == (None, 5, "true")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p"], "-p requires another argument"),
        (["-p", "high", "1"], "whole number"),
        (["-x", "1"], "-x"),
        (["1"], "must specify a new priority"),
        (["-p", "99999999999", "1"], "whole number"),
        (["-pool", "cm", "-p", "1", "2"], "-pool also requires -n"),
        (["-help"], "must specify a new priority"),
        (["-p", "1"], "did not specify any jobs"),
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
    assert (wish.words, wish.skipped) == (["8"], ["7x", "9.1.2"])
    # With nothing else there is nobody to ask, and nothing failed.
    told = streams()
    assert main(["condor_prio", "-p", "1", "7x"], {}, told) == 0
    assert told.stderr.getvalue() == 'Warning: unrecognized "7x" skipped\n'  # type: ignore[attr-defined]
