"""Tables of numbers with names, for what starts anew with every command line.

    class Reply(NamedNumber):
        NOT_OK = 0
        OK = 1

What `enum.IntEnum` does, without the twenty microseconds that each of its members takes to make: a
tool that starts for one question has 450 of them in its tables. To the type checker it is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from enum import IntEnum

    NamedNumber = IntEnum
else:

    class _Table(type):
        """Makes the numbers of a class's body its members; of several names for one, the first."""

        _by_value: dict[int, Any]
        __members__: Mapping[str, Any]

        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Table:
            given = {
                each: value if isinstance(value, tuple) else (value,)
                for each, value in body.items()
                if isinstance(value, int | tuple) and not each.startswith("_")
            }
            for each in given:
                del body[each]
            made = super().__new__(mcs, name, bases, body)
            by_value: dict[int, Any] = {}
            members: dict[str, Any] = {}
            for each, words in given.items():
                member = by_value.get(words[0])
                if member is None:
                    member = by_value[words[0]] = made.__new__(made, *words)
                    member.name, member.value = each, words[0]
                members[each] = member
                setattr(made, each, member)
            made._by_value = by_value
            made.__members__ = MappingProxyType(members)
            return made

        def __call__(cls, value: int) -> Any:
            """Return the member of a number; ValueError if there is none."""
            found = cls._by_value.get(value)
            if found is None:
                raise ValueError(f"{value!r} is not a valid {cls.__name__}")
            return found

        def __getitem__(cls, name: str) -> Any:
            """Return the member of a name; KeyError if there is none."""
            return cls.__members__[name]

        def __iter__(cls) -> Iterator[Any]:
            return iter(cls._by_value.values())

        def __reversed__(cls) -> Iterator[Any]:
            return reversed(cls._by_value.values())

        def __len__(cls) -> int:
            return len(cls._by_value)

        def __bool__(cls) -> bool:
            return True

        def __contains__(cls, value: object) -> bool:
            """Whether it is a member, or the number of one."""
            return isinstance(value, int) and value in cls._by_value

    class NamedNumber(int, metaclass=_Table):
        """A number of a table: `name` and `value`; equal to the number, and printed as it."""

        name: str
        value: int

        def __str__(self) -> str:
            return int.__repr__(self)

        def __repr__(self) -> str:
            return f"<{type(self).__name__}.{self.name}: {int.__repr__(self)}>"

        def __reduce_ex__(self, protocol: object) -> tuple[type[NamedNumber], tuple[int]]:
            # A copy is the member itself.
            return type(self), (self.value,)
