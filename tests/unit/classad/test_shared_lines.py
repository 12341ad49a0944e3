"""Lines of ads with a parent in common are those of each ad, in another order."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.classad.shared_lines import SharedLines


def public(name: str) -> bool:
    return not name.startswith("Secret")


def expected(ad: ClassAd) -> list[str]:
    return sorted(line for line in ad.lines() if public(line))


def test_lines_are_those_of_the_ad_whatever_it_overrides() -> None:
    parent = ClassAd({"A": 1, "B": 2, "SecretC": 3, "D": 4})
    lines = SharedLines(public)
    for own in ({}, {"A": 7}, {"X": 1, "SecretY": 2}, {"a": 8, "B": 9}, {"SecretC": 1}):
        ad = ClassAd(own, parent=parent)
        assert sorted(lines.of(ad)) == expected(ad)
        above = ClassAd({"D": 5, "Z": 6}, parent=ad)
        assert sorted(lines.of(above)) == expected(above)
    other = ClassAd({"A": 2}, parent=ClassAd({"A": 5, "B": 6}))
    assert sorted(lines.of(other)) == ["A = 2", "B = 6"]
    assert lines.of(ClassAd({"Q": 1, "SecretQ": 2})) == ["Q = 1"]


def test_what_is_shared_is_made_into_lines_once() -> None:
    parent = ClassAd({"A": 1, "B": 2})
    lines = SharedLines(public)
    first, second = (lines.of(ClassAd({"ProcId": number}, parent=parent)) for number in range(2))
    assert [line is other for line, other in zip(first, second, strict=True)] == [False, True, True]


def test_ads_of_several_parents_may_come_by_turns() -> None:
    parents = [ClassAd({"A": 1, "B": 2}), ClassAd({"A": 1, "B": 3})]
    lines = SharedLines(public)
    first, second = ([lines.of(ClassAd({"P": 1}, parent=one)) for one in parents] for _ in range(2))
    assert [
        len({*map(id, one)} & {*map(id, other)}) for one, other in zip(first, second, strict=True)
    ] == [2, 2]
    assert second == [["P = 1", "A = 1", "B = 2"], ["P = 1", "A = 1", "B = 3"]]


def test_only_so_many_sets_of_names_are_remembered() -> None:
    parent = ClassAd({f"N{number}": number for number in range(40)})
    lines = SharedLines(public)
    for number in range(40):
        ad = ClassAd({f"N{number}": "own"}, parent=parent)
        assert sorted(lines.of(ad)) == expected(ad)
