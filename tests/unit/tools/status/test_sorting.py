"""`condor_status -sort`: values as they are printed, numbers in them as numbers.

Source: observed of 25.14.1.
"""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.tools.status.condor_status import arrange
from kettle.tools.status.wish import Wish

ADS = [
    ClassAd({"Name": name, "Memory": memory, "Tag": tag})
    for name, memory, tag in (
        ("slot10@ep2", 300, "a10"),
        ("slot5@ep2", 100, "a9"),
        ("Slot1@ep1", 200, "B1"),
        ("slot1@ep10", 600, "a010"),
        ("slot1@ep9", 500, "a10b"),
        ("slot2@ep2", 400, 7),
    )
]
BY_NUMBER = "slot5@ep2 Slot1@ep1 slot10@ep2 slot2@ep2 slot1@ep9 slot1@ep10"
AS_THEY_CAME = "slot10@ep2 slot5@ep2 Slot1@ep1 slot1@ep10 slot1@ep9 slot2@ep2"


@pytest.mark.parametrize(
    ("by", "names"),
    [
        (["Name"], "Slot1@ep1 slot1@ep9 slot1@ep10 slot2@ep2 slot5@ep2 slot10@ep2"),
        (["Tag"], "slot2@ep2 Slot1@ep1 slot1@ep10 slot5@ep2 slot10@ep2 slot1@ep9"),
        (["Memory"], BY_NUMBER),
        (["-Memory"], BY_NUMBER),
        # Errors are all alike.
        (["-Name"], AS_THEY_CAME),
        (["Nothing"], ""),
    ],
)
def test_ads_are_sorted_as_values_are_printed(by: list[str], names: str) -> None:
    wish = Wish()
    wish.sort = by
    assert " ".join(ad.string("Name") or "" for ad in arrange(wish, ADS)) == names
