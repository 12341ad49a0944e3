"""`NamedTuple`, made at a tenth of the price, for what starts anew with every command line.

    class Origin(NamedTuple):
        source: str
        line: int = 0

A class of it is what one of `typing.NamedTuple` is: a tuple with names, the same methods, equal in
speed, for type checkers the very same; what those refuse (a field `_name`) is not refused here.
`typing` compiles each annotation and the text of a method for every class: a sixth of a millisecond
each, for fifty of them in `condor_submit`. Here the method is another class's with other names in
its code, and nobody looks at annotations.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter
    from types import FunctionType

    class _Named(tuple):
        __slots__ = ()
        _fields: ClassVar[tuple[str, ...]] = ()
        _field_defaults: ClassVar[dict[str, Any]] = {}

        @classmethod
        def _make(cls, values: Any) -> _Named:
            """Make a new one from a sequence or iterable."""
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, **values: Any) -> _Named:
            """Return a new one with other values for the fields named."""
            made = self._make(map(values.pop, self._fields, self))
            if values:
                raise ValueError(f"Got unexpected field names: {list(values)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            """Return the fields by name."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            shown = ", ".join(
                f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)
            )
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    @functools.cache
    def _maker(count: int) -> FunctionType:
        """Return a `__new__` for so many fields, whose names are nobody's."""
        places = "".join(f"_{number}, " for number in range(count))
        text = f"lambda _cls, {places}: _new(_cls, ({places}))"
        return eval(text, {"_new": tuple.__new__})  # noqa: S307 - no word of it is anybody's

    class _Maker(type):
        """Makes the classes; none of them is its instance."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body.pop(field) for field in fields if field in body}
            if list(defaults) != list(fields[len(fields) - len(defaults) :]):
                raise TypeError(f"{name}: a field without a default stands behind one with it")
            maker = _maker(len(fields))
            code = maker.__code__.replace(co_varnames=("_cls", *fields), co_name="__new__")
            new = FunctionType(code, maker.__globals__, "__new__", tuple(defaults.values()))
            new.__qualname__ = f"{name}.__new__"
            own = {
                "__slots__": (),
                "__new__": new,
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
                **{field: _tuplegetter(at, "") for at, field in enumerate(fields)},
            }
            return type(name, (_Named, *bases[1:]), own | body)

    class _Marker:
        def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type]:
            return (_Bare,)

    _Bare = type.__new__(_Maker, "NamedTuple", (), {})
    NamedTuple = _Marker()

__all__ = ["NamedTuple"]
