# ruff: noqa: E501 - recorded lines are as long as they are
"""condor_userprio's words: which values are taken, whom a name means, which columns there are.

Recorded from HTCondor 25.14.1's against its own pool.
"""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import UsageError
from kettle.tools.status.userprio_changes import find_fault
from kettle.tools.status.userprio_table import ColumnGroups, render_table
from kettle.tools.status.userprio_words import SETTERS, UnreadableError, read_wish


@pytest.mark.parametrize(
    ("option", "text", "shown"),
    [
        ("setprio", "x", "0.000000"),
        ("setprio", "1x", "1.000000"),
        ("setprio", "-1", "-1.000000"),
        ("setfloor", "x", "0"),
        ("setceiling", "2.7", "2"),
        ("setceiling", "9" * 5000, "9223372036854775807"),
        ("setlast", "1x", "1"),
        ("setbegin", "99999999999", "1215752191"),
    ],
)
def test_a_value_is_what_its_beginning_says(option: str, text: str, shown: str) -> None:
    setter = SETTERS[option]
    assert setter.value_format % setter.read(text) == shown
    assert find_fault(read_wish([f"-{option}", "a@b", text]).changes[option]) == ""


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("-setceiling a@b -2", "ceiling must be greater than or equal to -1.\n"),
        ("-setfloor a@b -1", "floor must be greater than or equal to 0.\n"),
        ("-setbegin a@b -5", "Time must be greater than 0 seconds\n"),
        (
            "-delete a",
            "condor_userprio: You must specify the full name of the record you wish\n\tto delete (user@uid.domain or user@full.host.name)\n",
        ),
        (
            "-setceiling a 5",
            "condor_userprio: You must specify the full name of the submittor you wish\n\tto update the ceiling of (user@uid.domain or user@full.host.name) (not a)\n",
        ),
    ],
)
def test_a_change_that_cannot_be_is_refused_here(words: str, complaint: str) -> None:
    (change,) = read_wish(words.split()).changes.values()
    assert find_fault(change) == complaint


@pytest.mark.parametrize("seconds", ["60x", "0", "-5", "1m", "", "2147483647"])
def test_a_lease_lasts_a_number_of_seconds(seconds: str) -> None:
    complaint = "-duration requires a positive integer number of seconds"
    with pytest.raises(UnreadableError, match=complaint):
        read_wish(["-setfloor", "a@b", "3", "-duration", seconds])
    assert read_wish(["-d", "60"]).duration == 60


def test_short_beginnings_mean_the_first_of_the_cancels() -> None:
    for word, option in (
        ("-c", "cancelceilinglease"),
        ("-cancelfl", "cancelfloorlease"),
        ("-cancelfa", "cancelfactorlease"),
    ):
        assert list(read_wish([word, "a@b"]).changes) == [option]
    (change,) = read_wish(["-cancelfloorlease", "a"]).changes.values()
    complaint = "-cancelfloorlease requires a full submitter name (user@domain)\n"
    assert find_fault(change) == f"condor_userprio: {complaint}"


def test_a_word_that_is_no_name_is_wrong_usage() -> None:
    with pytest.raises(UsageError):
        read_wish(["1x"])
    assert read_wish(["<none>", "x"]).names == ["<none>", "x"]


def test_who_is_asked_is_what_the_last_such_option_says() -> None:
    for words, collector, negotiator in (
        ("", False, False),
        ("-allusers", False, True),
        ("-grouprollup", False, True),
        ("-allusers -collector", True, False),
    ):
        wish = read_wish(words.split())
        assert (wish.from_collector, wish.from_negotiator) == (collector, negotiator)


def test_order_sort_key_and_surplus_are_columns() -> None:
    user = ClassAd({"Name": "a@b", "Priority": 3000.0, "PriorityFactor": 1000.0})
    chosen = ColumnGroups.GROUP_ID | ColumnGroups.ORDER | ColumnGroups.SORT_KEY
    assert render_table([user], chosen, since=None).split("\n")[1:5] == [
        "                   Group   Group     Group  ",
        "User Name           Id     Order   Sort Key ",
        "------------------ ----- --------- ---------",
        "a@b                                         ",
    ]
    assert render_table([user], ColumnGroups.SURPLUS, since=None).split("\n")[1:] == [
        "                     Use  ",
        "Group Name         Surplus",
        "------------------ -------",
        "------------------ -------",
        "Number of users: 1        ",
        "",
    ]


def test_columns_of_which_no_ad_knows_anything_are_left_out() -> None:
    """A user whose priority was set and who never used anything has no usage to show."""
    user = ClassAd({"Name": "x@y", "Priority": 7000.0, "PriorityFactor": 1000.0})
    assert render_table([user], ColumnGroups.MOST, since=None).split("\n")[1:3] == [
        "                    Effective   Priority  Submitter Submitter",
        "User Name            Priority    Factor     Floor    Ceiling ",
    ]
    assert render_table([], ColumnGroups.MOST, since=None) == ""
