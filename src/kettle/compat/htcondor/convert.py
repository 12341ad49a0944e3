"""How calls of version 1 become calls of version 2, and answers come back."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, MutableMapping
from typing import Any, TypeVar

from kettle.compat import classad2, htcondor2
from kettle.compat.classad.ads import ClassAd, of_version_2
from kettle.compat.htcondor.enums import OF_VERSION_2, Enumeration
from kettle.compat.htcondor.errors import raising

T = TypeVar("T")


def shown(value: Any) -> Any:
    """Return an answer of version 2's with version 1's ads in it."""
    if isinstance(value, classad2.ClassAd):
        return value if isinstance(value, ClassAd) else of_version_2(value)
    if isinstance(value, list):
        return [shown(one) for one in value]
    return value


def given(value: Any) -> Any:
    """Return an argument of version 1's as version 2 takes it."""
    if isinstance(value, Enumeration):
        kind = OF_VERSION_2.get(type(value))
        return value if kind is None else kind(int(value))
    return value


def calls_version_2(
    kind: type[htcondor2.HTCondorException], *names: str
) -> Callable[[type[T]], type[T]]:
    """Have methods of a class's base take and return what version 1 does.

    What they raise becomes exceptions of this kind.
    """

    def decorate(cls: type[T]) -> type[T]:
        for name in names:
            setattr(cls, name, _translated(getattr(cls, name), kind))
        return cls

    return decorate


def _translated(
    method: Callable[..., Any], kind: type[htcondor2.HTCondorException]
) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *positional: Any, **named: Any) -> Any:
        with raising(kind):
            return shown(
                method(
                    self,
                    *(given(one) for one in positional),
                    **{name: given(one) for name, one in named.items()},
                )
            )

    return call


def takes(**kinds: type | tuple[type, ...]) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Have a function refuse arguments of other types; None it judges itself.

    Compat: what is raised is a TypeError, as Boost's ArgumentError is one in the wheel, which says
    with it how the function is called in C++
    (test_an_argument_of_another_type_is_a_type_error_as_in_version_1).
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        names = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def call(*positional: Any, **named: Any) -> T:
            for name, value in (*zip(names, positional, strict=False), *named.items()):
                kind = kinds.get(name, object)
                if value is not None and not isinstance(value, kind):
                    raise TypeError(f"{name} cannot be {type(value).__name__}")
            return function(*positional, **named)

        return call

    return decorate


class Lists(MutableMapping[str, Any]):
    """A mapping whose keys, values and items are lists."""

    def keys(self) -> list[str]:  # type: ignore[override]
        """Return the names."""
        return list(self)

    def values(self) -> list[Any]:  # type: ignore[override]
        """Return the values."""
        return [self[name] for name in self]

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Return the names with their values."""
        return [(name, self[name]) for name in self]
