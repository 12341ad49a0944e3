"""What STATISTICS_TO_PUBLISH shows, against what the reference shows with the same setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.statistics.publication import (
    NOTHING,
    SCHEDD,
    TRANSFER,
    Publication,
    read_publication,
    thin_out,
)

RECORDED = Path(__file__).parents[2] / "data" / "statistics" / "reference_levels.txt"
SHOWN = {
    setting: frozenset(names)
    for setting, *names in (
        line.split()
        for line in RECORDED.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    )
}
ALL = sorted(frozenset().union(*SHOWN.values()))
# Settings of the reference with which a count that is 0 is left out.
ZEROS = sorted(SHOWN["SCHEDD:2!Z"] - SHOWN["SCHEDD:2Z"])


def shown(setting: str | None, *, listed: tuple[str, ...] = ()) -> set[str]:
    ad = ClassAd({"Name": "schedd", "TotalIdleJobs": 0, "JobQueueBirthdate": 1})
    for name in ALL:
        ad[name] = 0 if name in ZEROS else 7
    for collection in (SCHEDD, TRANSFER):
        thin_out(ad, collection, read_publication(setting, collection), listed)
    assert set(ad.names()) >= {"Name", "TotalIdleJobs", "JobQueueBirthdate"}
    return set(ad.names()) - {"Name", "TotalIdleJobs", "JobQueueBirthdate"}


@pytest.mark.parametrize("setting", SHOWN)
def test_what_a_setting_shows_is_what_the_reference_shows(setting: str) -> None:
    assert shown(None if setting == "UNSET" else setting) == SHOWN[setting]


def test_the_recorded_settings_differ() -> None:
    assert len(set(SHOWN.values())) >= 7
    assert not SHOWN["NONE"]
    assert {"RecentWindowMax", "StatsLastUpdateTime"} <= SHOWN["SCHEDD:2"] - SHOWN["SCHEDD:1"]
    assert ZEROS


def test_what_is_listed_is_shown_one_level_earlier() -> None:
    usual = shown("SCHEDD:1")
    assert shown("SCHEDD:1", listed=("recentwindowmax",)) == usual | {"RecentWindowMax"}
    assert not shown("NONE", listed=("RecentWindowMax",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NOTHING),
        ("default", Publication()),
        ("scheduler", Publication()),
        ("SCHEDD:NONE", NOTHING),
        ("SCHEDD:0", Publication(level=0)),
        ("ALL:2", Publication(level=2)),
        ("DEFAULT:1!R, SCHEDD:2", Publication(level=2)),
        ("SCHEDD:2 ALL:1", Publication(level=1)),
        ("SCHEDD:2R!R", Publication(level=2, recent=False)),
        ("SCHEDD:1!Q9", Publication()),
        ("DC:2,TRANSFER:2", NOTHING),
        ("!TRANSFER", NOTHING),
    ],
)
def test_a_setting_is_read_item_by_item(text: str, expected: Publication) -> None:
    assert read_publication(text, SCHEDD) == expected


def test_who_asks_for_more_gets_it_beside_what_is_configured() -> None:
    quiet, loud = Publication(recent=False), Publication(level=2, zeros=False)
    assert quiet.together(loud) == Publication(level=2)
    assert NOTHING.together(loud) == loud
