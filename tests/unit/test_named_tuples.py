"""`kettle.named_tuples.NamedTuple` beside `typing.NamedTuple`, which it stands for."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable

import pytest

from kettle.named_tuples import NamedTuple


class Ours(NamedTuple):
    """A row."""

    name: str
    value: int = 1
    more: tuple[str, ...] = ()

    @property
    def double(self) -> int:
        return self.value * 2

    @classmethod
    def empty(cls) -> Ours:
        return cls("")


class Theirs(typing.NamedTuple):
    """A row."""

    name: str
    value: int = 1
    more: tuple[str, ...] = ()


class Derived(Ours):
    """One that adds nothing."""


def test_it_is_a_tuple_with_names() -> None:
    ours = Ours("a", more=("b",))
    assert ours == ("a", 1, ("b",)) == Theirs("a", 1, ("b",))
    assert hash(ours) == hash(("a", 1, ("b",)))
    assert (ours.name, ours.value, ours.more, ours.double) == ("a", 1, ("b",), 2)
    assert Ours.empty().name == ""
    assert repr(ours) == repr(Theirs(*ours)).replace("Theirs", "Ours")
    assert ours._asdict() == Theirs(*ours)._asdict()
    assert type(Derived("z")._replace(value=2)) is Derived
    assert not hasattr(ours, "__dict__")


def test_it_goes_through_copies_and_patterns() -> None:
    ours = Ours("a", 2)
    assert pickle.loads(pickle.dumps(ours)) == copy.deepcopy(ours) == ours
    match ours:
        case Ours(name, value):
            assert (name, value) == ("a", 2)


@pytest.mark.parametrize("name", ["_fields", "_field_defaults", "__match_args__", "__doc__"])
def test_its_class_tells_of_itself_alike(name: str) -> None:
    assert getattr(Ours, name) == getattr(Theirs, name)


@pytest.mark.parametrize(
    "act",
    [
        lambda row: row(),
        lambda row: row(1, 2, 3, 4),
        lambda row: row("a", wrong=1),
        lambda row: row("a", name="b"),
        lambda row: row._make(["a"]),
        lambda row: row("a")._replace(wrong=1),
        lambda row: setattr(row("a"), "name", "b"),
    ],
)
def test_what_is_wrong_is_refused_in_the_same_words(act: Callable[[typing.Any], object]) -> None:
    said = []
    for row in (Ours, Theirs):
        with pytest.raises((TypeError, ValueError, AttributeError)) as raised:
            act(row)
        said.append((type(raised.value), str(raised.value).replace("Theirs", "Ours")))
    assert said[0] == said[1]


def test_a_field_without_a_default_cannot_stand_behind_one_with_it() -> None:
    with pytest.raises(TypeError, match="Wrong"):

        class Wrong(NamedTuple):
            value: int = 1
            name: str  # type: ignore[misc]
