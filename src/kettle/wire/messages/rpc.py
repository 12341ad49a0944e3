"""Remote calls: a number, arguments, and a reply whose first value is the result code.

The queue management calls and the remote system calls of a job share this form: reply = int value;
if it is negative int errno; otherwise results; all in one message. The tables are in `qmgmt` and
`syscalls`; who carries a call out is the schedd's and the shadow's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.octets import to_bytes, to_text
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages.fields import Message

# Limit: bytes of one read or write call.
MAXIMUM_DATA = 64 * 1024 * 1024
# Bytes of a line of facts, however long the line.
_FACTS_SIZE = 1024


class Shape(Enum):
    """What follows the result value in a reply; the value is the manual's wording."""

    NOTHING = "no reply"
    VALUE = "int value; if < 0: int errno"
    VALUE_OR_DETAILS = "int value; if < 0: int errno, ad"
    COMMIT = "int value; if < 0: int errno, [ad]; else [ad]"
    INTEGER = "int value; if < 0: int errno; else int"
    REAL = "int value; if < 0: int errno; else float"
    STRING = "int value; if < 0: int errno; else str"
    AD = "int value; if < 0: int errno; else ad"
    PRIVATE_AD = "int value; if < 0: int errno; else ad with secrets"
    FACTS = "int value; if < 0: int errno; else 1024 bytes: a line, then zeros"
    DATA = "int value; if < 0: int errno; else so many bytes"
    STRINGS = "int value; if < 0: int errno; else str to the end"
    AD_ALWAYS = "int value; ad"
    VALUE_ONLY = "int value"
    AD_ONLY = "ad"
    ADS = "(int 0, ad)*, int -1, int errno"
    FLAGGED_ADS = "(int 1, ad)*, int 0; or int -1"
    MATERIALIZED = "str file name, int rows, int value; if < 0: int errno"

    # As `choices.Choice`, whose module would be one more for tools to load.
    __hash__ = object.__hash__


class Reply:
    """The reply to a call: `value`, `errno` (0 if none), `result` as the shape says, `details`.

    `details` is an ad that explains a failure, or carries a warning along with a success.
    """

    __slots__ = ("details", "errno", "result", "shape", "value")

    # What stands on the wire for an errno of this system, where it is not the number itself.
    sent_as: ClassVar[Mapping[int, int]] = {}
    read_as: ClassVar[Mapping[int, int]] = {}

    def __init__(
        self,
        shape: Shape,
        value: int = 0,
        *,
        errno: int = 0,
        result: Any = None,
        details: ClassAd | None = None,
    ) -> None:
        self.shape = shape
        self.value = value
        self.errno = errno
        self.result = result
        self.details = details

    def __repr__(self) -> str:
        return f"Reply({self.shape.name}, {self.value}, errno={self.errno}, {self.result!r})"

    def write(self, writer: Writer) -> None:
        """Append the reply; a NOTHING reply appends nothing, and an empty message is not sent."""
        shape = self.shape
        if shape in _SPECIAL:
            self._write_special(writer)
            return
        if shape is Shape.NOTHING:
            return
        writer.integer(self.value)
        if self.value < 0:
            writer.integer(self.sent_as.get(self.errno, self.errno))
            if shape in (Shape.COMMIT, Shape.VALUE_OR_DETAILS) and self.details is not None:
                writer.ad(self.details)
        elif shape is Shape.COMMIT:
            if self.details is not None:
                writer.ad(self.details)
        else:
            self._write_result(writer)

    def _write_result(self, writer: Writer) -> None:
        """Append the result of a call that succeeded."""
        match self.shape:
            case Shape.INTEGER:
                writer.integer(self.result)
            case Shape.REAL:
                writer.real(self.result)
            case Shape.STRING:
                writer.string(self.result)
            case Shape.AD:
                writer.ad(self.result)
            case Shape.PRIVATE_AD:
                writer.ad(self.result, private=True)
            case Shape.FACTS:
                writer.raw(to_bytes(self.result).ljust(_FACTS_SIZE, b"\0"))
            case Shape.DATA:
                writer.raw(self.result)
            case Shape.STRINGS:
                for one in self.result:
                    writer.string(one)
            case _:
                pass

    def _write_special(self, writer: Writer) -> None:
        """Append a reply that breaks the usual order."""
        match self.shape:
            case Shape.AD_ONLY:
                writer.ad(self.result)
            case Shape.AD_ALWAYS:
                writer.integer(self.value).ad(self.result)
            case Shape.VALUE_ONLY:
                writer.integer(self.value)
            case Shape.ADS:
                for one in self.result or ():
                    writer.integer(0).ad(one)
                writer.integer(-1).integer(self.errno)
            case Shape.FLAGGED_ADS:
                if self.value < 0:
                    writer.integer(-1)
                    return
                for one in self.result or ():
                    writer.integer(1).ad(one, private=True)
                writer.integer(0)
            case _:
                name, rows = self.result
                writer.string(name).integer(rows).integer(self.value)
                if self.value < 0:
                    writer.integer(self.errno)

    @classmethod
    def read(cls, shape: Shape, reader: Reader) -> Reply:
        """Read a reply of this shape; raises RemoteProtocolError."""
        if shape in _SPECIAL:
            reply = cls._read_special(shape, reader)
            reader.finish()
            return reply
        reply = cls(shape, reader.integer())
        if reply.value < 0:
            number = reader.integer()
            reply.errno = cls.read_as.get(number, number)
            if shape in (Shape.COMMIT, Shape.VALUE_OR_DETAILS) and reader.remaining:
                reply.details = reader.ad()
        else:
            reply._read_result(reader)
        reader.finish()
        return reply

    def _read_result(self, reader: Reader) -> None:
        """Read the result of a call that succeeded."""
        match self.shape:
            case Shape.INTEGER:
                self.result = reader.integer()
            case Shape.REAL:
                self.result = reader.real()
            case Shape.STRING:
                self.result = reader.string()
            case Shape.AD | Shape.PRIVATE_AD:
                self.result = reader.ad()
            case Shape.FACTS:
                self.result = to_text(reader.raw(_FACTS_SIZE).partition(b"\0")[0])
            case Shape.DATA:
                if self.value > MAXIMUM_DATA:
                    raise RemoteProtocolError(f"a call returned {self.value} bytes")
                self.result = reader.raw(self.value)
            case Shape.STRINGS:
                self.result = []
                while reader.remaining:
                    self.result.append(reader.string())
            case Shape.COMMIT:
                if reader.remaining:
                    self.details = reader.ad()
            case _:
                pass

    @classmethod
    def _read_special(cls, shape: Shape, reader: Reader) -> Reply:
        """Read a reply that breaks the usual order."""
        match shape:
            case Shape.AD_ONLY:
                return cls(shape, result=reader.ad())
            case Shape.AD_ALWAYS:
                return cls(shape, reader.integer(), result=reader.ad())
            case Shape.VALUE_ONLY:
                return cls(shape, reader.integer())
            case Shape.ADS:
                ads = []
                while reader.integer() == 0:
                    ads.append(reader.ad())
                return cls(shape, -1, errno=reader.integer(), result=ads)
            case Shape.FLAGGED_ADS:
                ads = []
                while (flag := reader.integer()) == 1:
                    ads.append(reader.ad())
                return cls(shape, min(flag, 0), result=ads)
            case _:
                name, rows = reader.string(), reader.integer()
                reply = cls(shape, reader.integer(), result=(name, rows))
                if reply.value < 0:
                    reply.errno = reader.integer()
                return reply


_SPECIAL = frozenset(
    (
        Shape.AD_ONLY,
        Shape.AD_ALWAYS,
        Shape.VALUE_ONLY,
        Shape.ADS,
        Shape.FLAGGED_ADS,
        Shape.MATERIALIZED,
    )
)


class Call(Message):
    """A call; class keywords `word` (its number) and `reply` (the shape of its reply)."""

    reply: ClassVar[Shape] = Shape.VALUE
    replies: ClassVar[type[Reply]] = Reply

    def __init_subclass__(
        cls, word: int | None = None, reply: Shape = Shape.VALUE, **keywords: Any
    ) -> None:
        """Note the call's number and reply."""
        super().__init_subclass__(word=word, **keywords)
        cls.reply = reply

    def answer(
        self,
        value: int = 0,
        *,
        errno: int = 0,
        result: Any = None,
        details: ClassAd | None = None,
    ) -> Reply:
        """Make the reply to this call."""
        return self.replies(self.reply, value, errno=errno, result=result, details=details)

    def read_answer(self, reader: Reader) -> Reply:
        """Read the reply to this call."""
        return self.replies.read(self.reply, reader)


class RepeatedCall:
    """A call that is made again and again in the same words: they are encoded once."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.reply = call.reply
        # By whether the connection is encrypted.
        self._encoded: dict[bool, bytes] = {}

    def write(self, writer: Writer) -> None:
        """Append the call."""
        data = self._encoded.get(writer.encrypted)
        if data is None:
            own = Writer(writer.encrypted)
            self.call.write(own)
            data = self._encoded[writer.encrypted] = own.getvalue()
        writer.raw(data)

    def read_answer(self, reader: Reader) -> Reply:
        """Read the reply to this call."""
        return self.call.read_answer(reader)


def read_call(table: dict[int, type[Call]], reader: Reader) -> Call:
    """Read a call's number and arguments; an unknown number is a RemoteProtocolError."""
    number = reader.integer()
    kind = table.get(number)
    if kind is None:
        raise RemoteProtocolError(f"{number} is not a call of this protocol")
    return kind.read(reader)
