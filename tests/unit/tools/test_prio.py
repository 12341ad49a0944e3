"""What a command line of condor_prio asks for."""

from __future__ import annotations

import pytest

from kettle.errors import UsageError
from kettle.tools.jobs.condor_prio import read_wish


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
