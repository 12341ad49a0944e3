"""`kettle.structs`: what a class of fields does without the machinery of `dataclasses`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest

from kettle.structs import Struct, field


def two() -> int:
    return 2


class Point(Struct):
    kinds: ClassVar[int] = 1

    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)


class Named(Point):
    name: str = ""
    count: Callable[[], int] = field(default_factory=lambda: two)


def test_fields_are_given_by_position_or_by_name() -> None:
    assert Point(1, 2) == Point(x=1, y=2)
    assert (Point(1).x, Point(1).y, Point(1).names) == (1, 0, [])
    assert Point(1) != Point(2)
    assert Point(1) != (1, 0, [])


def test_a_made_default_is_each_instances_own() -> None:
    one, other = Point(1), Point(1)
    one.names.append("a")
    assert other.names == []


def test_a_subclass_adds_its_fields_after_its_parents() -> None:
    named = Named(1, 2, ["a"], "b")
    assert repr(named).startswith("Named(x=1, y=2, names=['a'], name='b', count=")
    assert named.count() == 2


def test_a_changed_copy_keeps_the_rest() -> None:
    assert Point(1, 2).changed(y=3) == Point(1, 3)


def test_equal_ones_are_one_key() -> None:
    assert len({Point(1, names=(1,)), Point(1, names=(1,))}) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1})]
)
def test_what_does_not_fit_is_refused(values: tuple[object, ...], named: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Point(*values, **named)  # type: ignore[arg-type]
