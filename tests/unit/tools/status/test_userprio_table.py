# ruff: noqa: E501 - recorded lines are as long as they are
"""condor_userprio's tables, as the reference printed them for the same numbers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.tools.status.userprio_table import ColumnGroups, render_resources, render_table
from kettle.tools.status.userprio_words import read_wish

RECORDED = json.loads(
    (Path(__file__).parents[3] / "data/cli/userprio_groups.json").read_text(encoding="utf-8")
)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


USER = ClassAd(
    {
        "Name": "tester@vm",
        "Priority": 10.0,
        "PriorityFactor": 20.0,
        "WeightedResourcesUsed": 0.0,
        "WeightedAccumulatedUsage": 30.0,
        "BeginUsageTime": 1795265203,
        "LastUsageTime": 1795265232,
        "LastUpdate": 1795266130,
        "IsAccountingGroup": False,
        "Floor": 0,
        "Ceiling": -1,
    }
)
ROOT = ClassAd({"Name": "<none>", "IsAccountingGroup": True, "LastUpdate": 1795266130})


@pytest.mark.parametrize(
    ("policies", "since", "told"),
    [
        (("byquota",), None, "ByQuota"),
        (("byquota", "regroup", "no"), 2e9, "Regroup"),
        (("no",), None, ""),
    ],
)
def test_the_last_line_names_what_becomes_of_what_groups_leave_whoever_is_shown(
    policies: tuple[str, ...], since: float | None, told: str
) -> None:
    names = ("<none>", "group_a", "group_b")
    groups = [
        ClassAd({"Name": name, "SurplusPolicy": policy, "IsAccountingGroup": True})
        for name, policy in zip(names, policies, strict=False)
    ]
    last = render_table(groups, ColumnGroups.QUOTAS, since=since).splitlines()[-1]
    assert last == f"Number of users: 0                     {told:<7}                     "


def test_the_most_useful_columns_are_the_default() -> None:
    assert render_table([ROOT, USER], ColumnGroups.MOST, since=None).split("\n") == [
        "Last Priority Update: 11/21 13:02",
        "                    Effective   Priority  Wghted Total Usage  Time Since Submitter Submitter",
        "User Name            Priority    Factor   In Use (wghted-hrs) Last Usage   Floor    Ceiling ",
        "------------------ ------------ --------- ------ ------------ ---------- --------- ---------",
        "tester@vm                 10.00     20.00      0         0.01    0+00:14                    ",
        "------------------ ------------ --------- ------ ------------ ---------- --------- ---------",
        "Number of users: 1                             0         0.01                               ",
        "",
    ]


def test_all_columns_tell_the_real_priority_and_when_usage_was() -> None:
    lines = render_table([ROOT, USER], ColumnGroups.ALL, since=1795265232 - 60).split("\n")
    assert lines[4] == (
        "tester@vm                 10.00     0.50     20.00      0         0.01 "
        "11/21/2026 12:46 11/21/2026 12:47    0+00:14                    "
    )


def test_who_has_used_nothing_of_late_is_left_out() -> None:
    lines = render_table([ROOT, USER], ColumnGroups.MOST, since=1795265233).split("\n")
    assert lines[4].startswith("---")
    assert lines[5].startswith("Number of users: 0")


def recorded_ads() -> list[ClassAd]:
    ads = []
    for attributes in RECORDED["ads"]:
        ad = ClassAd()
        for name, text in attributes.items():
            ad.insert_text(name, text)
        ads.append(ad)
    return ads


@pytest.mark.parametrize("words", RECORDED["tables"])
def test_users_stand_below_their_groups(words: str) -> None:
    """Recorded from HTCondor 25.14.1, with three groups, of one ad (-inputfile -allusers)."""
    wish = read_wish(words.split())
    table = render_table(
        recorded_ads(),
        wish.shown,
        since=None,
        hierarchical=wish.hierarchical,
        groups_first=wish.groups_first,
    )
    assert table.splitlines() == RECORDED["tables"][words]


def test_groups_stand_first_where_that_is_wanted() -> None:
    """Compat: the reference sorts by a comparison that contradicts itself: any order comes out."""
    lines = render_table(recorded_ads(), ColumnGroups.USAGE, since=None, groups_first=True).split(
        "\n"
    )
    names = [line.split()[0] for line in lines[4:12]]
    groups = [ad.string("Name") for ad in recorded_ads() if ad.boolean("IsAccountingGroup")]
    assert names[:4] == groups
    used = ["a@b", "group_b.sub.tester@vm", "group_a.tester@vm", "tester@vm"]
    assert sorted(names[4:]) == sorted(used)
    assert names[4] == "a@b"


def test_the_slots_of_a_user_are_counted() -> None:
    ad = ClassAd({"Name1": "slot1@h@<1>", "StartTime1": 1795265203})
    lines = render_resources(ad, 1795265206).split("\n")
    assert lines[0] == "Resource Name                    Start Time   Match Time"
    assert lines[2] == "slot1@h                         11/21 12:46   0+00:00:03"
    assert lines[-2] == "Number of Resources Used: 1"
