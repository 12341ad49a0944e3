"""What a message class is made of: fields in order, each with its form on the wire and its bound.

    class DeactivateClaim(Message, command=Command.DEACTIVATE_CLAIM):
        claim_id: str = secret()

A class says its fields once; writing, reading with bounds, equality and the manual's table of
messages all come from that. Values outside a field's bounds raise RemoteProtocolError when read.
A message whose later fields depend on earlier ones overrides `write` and `read`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

from kettle.classad import ClassAd
from kettle.wire.codec import MAXIMUM_ATTRIBUTES, Reader, Writer
from kettle.wire.commands import Command

T = TypeVar("T")

# Limit: items of a counted list inside one message.
MAXIMUM_ITEMS = 1_000_000

_MISSING: Any = object()


class Field(Generic[T]):
    """One field: its form in words, how it is written and read, and its default."""

    __slots__ = ("default", "default_factory", "form", "read", "write")

    def __init__(
        self,
        form: str,
        write: Callable[[Writer, T], object],
        read: Callable[[Reader], T],
        default: Any = _MISSING,
        default_factory: Callable[[], T] | None = None,
    ) -> None:
        self.form = form
        self.write = write
        self.read = read
        self.default = default
        self.default_factory = default_factory


def integer(*, default: Any = _MISSING) -> Any:
    """A 64-bit integer."""
    return Field[int]("int", Writer.integer, Reader.integer, default)


def boolean(*, default: Any = _MISSING) -> Any:
    """An integer meant as a boolean."""
    return Field[bool]("int (boolean)", lambda w, v: w.integer(int(v)), Reader.boolean, default)


def byte(*, default: Any = _MISSING) -> Any:
    """One byte."""
    return Field[int]("byte", Writer.byte, Reader.byte, default)


def string(*, default: Any = _MISSING) -> Any:
    """A string; the null string reads as empty."""
    return Field[str]("str", Writer.string, Reader.string, default)


def nullable(*, default: Any = _MISSING) -> Any:
    """A string or the null string, which is None."""
    return Field[str | None]("str or null", Writer.string, Reader.nullable_string, default)


def secret(*, default: Any = _MISSING) -> Any:
    """A secret: a string that must not be logged."""
    return Field[str]("secret", Writer.secret, Reader.secret, default)


def real(*, default: Any = _MISSING) -> Any:
    """A real number, with 31 bits of mantissa."""
    return Field[float]("float", Writer.real, Reader.real, default)


def ad(
    *,
    private: bool = False,
    types: bool = True,
    maximum: int = MAXIMUM_ATTRIBUTES,
    default_factory: Callable[[], Any] | None = None,
) -> Any:
    """An ad; `private` keeps its secret attributes, without `types` the trailing strings lack."""
    form = ("ad" if types else "ad without types") + (" with secrets" if private else "")
    return Field[ClassAd](
        form,
        lambda w, v: w.ad(v, private=private, types=types),
        lambda r: r.ad(types=types, maximum=maximum),
        default_factory=default_factory,
    )


def texts(*, maximum: int = MAXIMUM_ATTRIBUTES, default_factory: Any = None) -> Any:
    """Attributes and their expressions, as text."""
    return Field[dict[str, str]](
        "int n, n × str (Name = expression)",
        Writer.texts,
        lambda r: r.texts(maximum),
        default_factory=default_factory,
    )


def fixed_bytes(size: int, *, default: Any = _MISSING) -> Any:
    """Exactly `size` bytes."""
    return Field[bytes](f"{size} bytes", Writer.raw, lambda r: r.raw(size), default)


def counted_bytes(maximum: int, *, default: Any = _MISSING) -> Any:
    """An integer length and so many bytes, at most `maximum`."""
    return Field[bytes](
        "int n, n bytes",
        lambda w, v: w.integer(len(v)).raw(v),
        lambda r: r.raw(r.count(maximum)),
        default,
    )


def rest_bytes(*, default: Any = _MISSING) -> Any:
    """All bytes up to the end of the message."""
    return Field[bytes]("bytes to the end", Writer.raw, Reader.rest, default)


def rest_strings() -> Any:
    """Strings up to the end of the message."""
    return Field[list[str | None]](
        "str to the end",
        lambda w, v: [w.string(one) for one in v],
        lambda r: list(_until_end(r, Reader.nullable_string)),
        default_factory=list,
    )


def rest_ads(*, private: bool = False) -> Any:
    """Ads up to the end of the message."""
    return Field[list[ClassAd]](
        "ad to the end",
        lambda w, v: [w.ad(one, private=private) for one in v],
        lambda r: list(_until_end(r, Reader.ad)),
        default_factory=list,
    )


def listed(item: Any, *, maximum: int = MAXIMUM_ITEMS, optional: bool = False) -> Any:
    """An integer count and so many items; with `optional` the end of the message is no items."""

    def write(writer: Writer, values: Iterable[Any]) -> None:
        items = list(values)
        if optional and not items:
            return
        writer.integer(len(items))
        for one in items:
            item.write(writer, one)

    def read(reader: Reader) -> list[Any]:
        if optional and not reader.remaining:
            return []
        return [item.read(reader) for _ in range(reader.count(maximum))]

    form = f"int n, n × {item.form}"
    return Field[list[Any]](f"[{form}]" if optional else form, write, read, default_factory=list)


def optional(item: Any) -> Any:
    """A field that is there if bytes are left; None where it is not."""

    def write(writer: Writer, value: Any) -> None:
        if value is not None:
            item.write(writer, value)

    def read(reader: Reader) -> Any:
        return item.read(reader) if reader.remaining else None

    return Field[Any](f"[{item.form}]", write, read, default=None)


def flagged_ads(*, private: bool = False) -> Any:
    """A sequence of (1, ad) and a final 0, all in one message."""

    def write(writer: Writer, values: Iterable[ClassAd]) -> None:
        for one in values:
            writer.integer(1).ad(one, private=private)
        writer.integer(0)

    return Field[Any]("(int 1, ad)*, int 0", write, lambda r: list(read_flagged_ads(r)))


def read_flagged_ads(reader: Reader) -> Iterator[ClassAd]:
    """Read a sequence of (1, ad) and a final 0, one by one."""
    while reader.boolean():
        yield reader.ad()


def _until_end(reader: Reader, read: Callable[[Reader], T]) -> Iterator[T]:
    """Read values until the message ends."""
    while reader.remaining:
        yield read(reader)


MESSAGES: list[type[Message]] = []
"""Every message class defined so far, in order of definition: for the manual and the tests."""


@dataclass_transform(
    field_specifiers=(
        integer,
        boolean,
        byte,
        string,
        nullable,
        secret,
        real,
        ad,
        texts,
        fixed_bytes,
        counted_bytes,
        rest_bytes,
        rest_strings,
        rest_ads,
        listed,
        optional,
        flagged_ads,
    )
)
class Message:
    """A message, made from its fields by position or by name; see the module's docstring.

    Class keywords: `command` for the first message of a command, `answers` for a reply to it,
    `word` for a number that opens the message inside a dialog and that `write` puts in front.
    """

    fields: ClassVar[tuple[tuple[str, Field[Any]], ...]] = ()
    command: ClassVar[Command | None] = None
    answers: ClassVar[Command | None] = None
    word: ClassVar[int | None] = None

    def __init_subclass__(
        cls,
        command: Command | None = None,
        answers: Command | None = None,
        word: int | None = None,
    ) -> None:
        """Collect the fields of a new message class."""
        own = [(name, one) for name, one in vars(cls).items() if isinstance(one, Field)]
        inherited = [(name, one) for name, one in cls.fields if name not in vars(cls)]
        cls.fields = (*inherited, *own)
        if command is not None:
            cls.command = command
        if answers is not None:
            cls.answers = answers
        if word is not None:
            cls.word = word
        for name, _ in own:
            delattr(cls, name)
        MESSAGES.append(cls)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        fields = self.fields
        if len(arguments) > len(fields):
            raise TypeError(f"{type(self).__name__} takes {len(fields)} values")
        values = self.__dict__
        for position, (name, one) in enumerate(fields):
            if position < len(arguments):
                values[name] = arguments[position]
            elif name in named:
                values[name] = named.pop(name)
            elif one.default_factory is not None:
                values[name] = one.default_factory()
            elif one.default is not _MISSING:
                values[name] = one.default
            else:
                raise TypeError(f"{type(self).__name__} needs {name}")
        if named:
            raise TypeError(f"{type(self).__name__} has no {', '.join(named)}")

    def write(self, writer: Writer) -> None:
        """Append the message, its word first if it has one."""
        if self.word is not None:
            writer.integer(self.word)
        self.write_fields(writer)

    def write_fields(self, writer: Writer) -> None:
        """Append the fields in order."""
        values = self.__dict__
        for name, one in self.fields:
            one.write(writer, values[name])

    @classmethod
    def read(cls, reader: Reader, *, finish: bool = True) -> Self:
        """Read the fields (the word, which chose the class, has been read) and end the message.

        `finish=False` leaves the rest of the message to be read. Raises RemoteProtocolError.
        """
        message = cls.__new__(cls)
        values = message.__dict__
        for name, one in cls.fields:
            values[name] = one.read(reader)
        if finish:
            reader.finish()
        return message

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (
            f"{name}={'…' if one.form == 'secret' else repr(self.__dict__[name])}"
            for name, one in self.fields
        )
        return f"{type(self).__name__}({', '.join(shown)})"
