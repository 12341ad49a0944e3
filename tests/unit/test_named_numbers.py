"""Named numbers do what an IntEnum of the same body does."""

from __future__ import annotations

import copy
import json
import pickle
from enum import IntEnum

import pytest

from kettle.named_numbers import NamedNumber


class Light(NamedNumber):
    RED = 1
    GREEN = 7
    STOP = 1

    @property
    def half(self) -> float:
        return self.value / 2


class Model(IntEnum):
    RED = 1
    GREEN = 7
    STOP = 1


class Told(NamedNumber):
    doc: str

    def __new__(cls, value: int, doc: str = "") -> Told:
        member = int.__new__(cls, value)
        member._value_ = value
        member.doc = doc
        return member


class Colour(Told):
    RED = 4, "Of blood."
    BLUE = 5


def test_members_are_found_by_name_and_by_number_and_listed_once() -> None:
    for kind in (Light, Model):
        assert [(each.name, each.value) for each in kind] == [("RED", 1), ("GREEN", 7)]
        assert [each.name for each in reversed(kind)] == ["GREEN", "RED"]
        assert list(kind.__members__) == ["RED", "GREEN", "STOP"]
        assert kind(7) is kind["GREEN"] is kind.GREEN
        assert kind.STOP is kind.RED
        assert len(kind) == 2
        assert kind
        assert kind.RED in kind
        with pytest.raises(KeyError):
            kind["BLUE"]
        with pytest.raises(ValueError, match=f"^5 is not a valid {kind.__name__}$"):
            kind(5)


def test_a_member_is_its_number_and_is_printed_as_one() -> None:
    for kind in (Light, Model):
        green = kind.GREEN
        assert (str(green), f"{green}", f"{green:03d}", json.dumps({"a": green})) == (
            "7", "7", "007", '{"a": 7}',
        )  # fmt: skip
        assert repr(green) == f"<{kind.__name__}.GREEN: 7>"
        assert green == 7
        assert hash(Light.GREEN) == hash(7)
        assert {7: "x"}[Light.GREEN] == "x"
        assert type(green + 1) is int
    assert Light.GREEN.half == 3.5


def test_a_copy_is_the_member_itself() -> None:
    for each in Light:
        assert copy.copy(each) is copy.deepcopy(each) is pickle.loads(pickle.dumps(each)) is each


def test_members_may_be_made_of_more_than_a_number() -> None:
    assert [(each.name, each.value, each.doc) for each in Colour] == [
        ("RED", 4, "Of blood."),
        ("BLUE", 5, ""),
    ]
    assert Colour(4) is Colour.RED
    assert isinstance(Colour.RED, Told)
