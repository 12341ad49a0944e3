"""The kinds of attribute: a typed constant that is also the attribute's name.

`ad.string(Job.Owner)` and `Job.Owner.read(ad)` say the same; a misspelt name is an error of the
type checker. The tables are `job.py`, `machine.py`, `daemon.py`, `submitter.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import IntEnum

    from kettle.classad import ClassAd, Expr

T = TypeVar("T")
E = TypeVar("E", bound="IntEnum")


class Attribute(str, Generic[T]):
    """One attribute: its name, its type, who writes it, its unit and its sentence.

    `secret` is never sent in clear, `immutable` cannot be edited once the job is queued, `by_job`
    may be set by the running job itself.
    """

    __slots__ = ("by_job", "doc", "immutable", "kind", "reader", "secret", "unit", "written_by")
    kind: str
    reader: Callable[[ClassAd, str], Any]
    written_by: str
    unit: str
    secret: bool
    immutable: bool
    by_job: bool
    doc: str

    def read(self, ad: ClassAd) -> T | None:
        """Return the attribute's value in an ad, None if it is missing or of another type."""
        return cast("T | None", self.reader(ad, str(self)))


class Row:
    """A row of a table until the class it stands in gives it its name."""

    def __init__(self, kind: str, reader: Callable[[ClassAd, str], Any], **fields: Any) -> None:
        self.kind = kind
        self.reader = reader
        self.fields = fields

    def __set_name__(self, owner: type, name: str) -> None:
        made: Attribute[Any] = Attribute(name)
        made.kind, made.reader = self.kind, self.reader
        for field, value in self.fields.items():
            setattr(made, field, value)
        setattr(owner, name, made)


def _row(
    kind: str,
    reader: Callable[[ClassAd, str], Any],
    *,
    written_by: str,
    doc: str,
    unit: str = "",
    secret: bool = False,
    immutable: bool = False,
    by_job: bool = False,
) -> Any:
    return Row(
        kind,
        reader,
        written_by=written_by,
        doc=doc,
        unit=unit,
        secret=secret,
        immutable=immutable,
        by_job=by_job,
    )


def integer(**fields: Any) -> Attribute[int]:
    """A whole number."""
    return cast("Attribute[int]", _row("integer", lambda ad, name: ad.integer(name), **fields))


def real(**fields: Any) -> Attribute[float]:
    """A number with a fraction."""
    return cast("Attribute[float]", _row("real", lambda ad, name: ad.real(name), **fields))


def time(**fields: Any) -> Attribute[int]:
    """A moment in epoch seconds."""
    return cast("Attribute[int]", _row("time", lambda ad, name: ad.integer(name), **fields))


def string(**fields: Any) -> Attribute[str]:
    """A text."""
    return cast("Attribute[str]", _row("string", lambda ad, name: ad.string(name), **fields))


def boolean(**fields: Any) -> Attribute[bool]:
    """A truth value."""
    return cast("Attribute[bool]", _row("boolean", lambda ad, name: ad.boolean(name), **fields))


def expression(**fields: Any) -> Attribute[Expr]:
    """An expression that is evaluated against other ads."""
    return cast("Attribute[Expr]", _row("expression", lambda ad, name: ad.lookup(name), **fields))


def listing(**fields: Any) -> Attribute[list[object]]:
    """A list."""
    return cast("Attribute[list[object]]", _row("list", _read_list, **fields))


def nested(**fields: Any) -> Attribute[ClassAd]:
    """An ad inside the ad."""
    return cast("Attribute[ClassAd]", _row("ad", _read_ad, **fields))


def enum(codes: type[E], **fields: Any) -> Attribute[E]:
    """A number with a name; what is not one of the codes reads as None."""

    def reader(ad: ClassAd, name: str) -> E | None:
        number = ad.integer(name)
        return next((code for code in codes if code == number), None)

    return cast("Attribute[E]", _row(codes.__name__, reader, **fields))


def _read_list(ad: ClassAd, name: str) -> list[object] | None:
    value = ad.evaluate(name)
    return cast("list[object]", value) if isinstance(value, list) else None


def _read_ad(ad: ClassAd, name: str) -> ClassAd | None:
    value = ad.evaluate(name)
    return value if isinstance(value, type(ad)) else None
