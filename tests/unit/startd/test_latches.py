"""Since when an expression has its value, as ads tell of it."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.startd.latches import Latch, latch_names, look, publish


def slot(load: float) -> ClassAd:
    ad = ClassAd({"LoadAvg": load, "CondorLoadAvg": 0.0})
    ad.insert_text("CpuBusy", "(LoadAvg - CondorLoadAvg) >= 0.5")
    return ad


def published(latches: dict[str, Latch], ad: ClassAd) -> tuple[object, object]:
    publish(latches, ad)
    return ad.evaluate("CpuBusyValue"), ad.integer("CpuBusyTime")


def test_the_time_is_that_of_the_last_change() -> None:
    latches: dict[str, Latch] = {}
    for load, now, expected in (
        (0.1, 100, (0, 100)),
        (0.2, 105, (0, 100)),
        (0.9, 110, (1, 110)),
        (3.0, 115, (1, 110)),
        (0.0, 120, (0, 120)),
    ):
        ad = slot(load)
        look(latches, ["CpuBusy"], ad, now)
        assert published(latches, ad) == expected


def test_a_constant_has_a_time_and_what_has_no_value_has_neither_before_it_had_one() -> None:
    latches: dict[str, Latch] = {}
    ad = ClassAd({"CpuBusy": False})
    look(latches, ["CpuBusy", "Nowhere"], ad, 7)
    publish(latches, ad)
    assert "CpuBusyValue" not in ad
    assert ad.integer("CpuBusyTime") == 7
    assert "NowhereTime" not in ad
    look(latches, [], ad, 8)
    assert latches == {}


def test_each_name_is_looked_at_once_and_the_number_of_parts_has_its_own_time() -> None:
    words = ["CpuBusy", "NumDynamicSlots", "cpubusy", "Other"]
    assert latch_names(words) == ["CpuBusy", "Other"]
