"""Queue management calls, on a QMGMT_WRITE_CMD or QMGMT_READ_CMD connection.

A table: number, arguments in wire order (a value comes before its name), shape of the reply. What
a call does to the queue is decided in `schedd`. Source: wire notes, Schedd queue management.
"""

from __future__ import annotations

from enum import IntFlag
from struct import Struct

from kettle.classad import ClassAd
from kettle.errors import LocalProtocolError
from kettle.octets import to_bytes
from kettle.wire.codec import Reader
from kettle.wire.messages.fields import (
    ad,
    byte,
    integer,
    optional,
    rest_bytes,
    string,
)
from kettle.wire.messages.rpc import Call, Reply, Shape, read_call


class SetAttributeFlags(IntFlag):
    """The flags byte of SetAttribute2 and the flags of other calls."""

    NON_DURABLE = 1
    NO_ACK = 2
    MARK_DIRTY = 4
    LOG = 8
    ONLY_MY_JOBS = 0x10
    CHECK_ONLY = 0x20
    POST_SUBMIT_CLUSTER_CHANGE = 0x80


class InitializeConnection(Call, word=10001, reply=Shape.NOTHING):
    """Obsolete; accepted and ignored."""


class NewCluster(Call, word=10002, reply=Shape.VALUE_OR_DETAILS):
    """Make a cluster; the value is its id, or one of NewClusterError."""


class NewProc(Call, word=10003, reply=Shape.VALUE_OR_DETAILS):
    """Make the next proc of the connection's cluster; the value is its id."""

    cluster: int = integer()


class DestroyCluster(Call, word=10004):
    """Remove a cluster and its procs."""

    cluster: int = integer()


class DestroyProc(Call, word=10005):
    """Remove a proc; 1 still queued, 0 done, -1 error, -2 not allowed, -3 no such job."""

    cluster: int = integer()
    proc: int = integer()


class SetAttribute(Call, word=10006):
    """Set an attribute to an expression."""

    cluster: int = integer()
    proc: int = integer()
    value: str = string()
    name: str = string()


class CommitTransactionNoFlags(Call, word=10007, reply=Shape.COMMIT):
    """Commit; the reply comes when the transaction is on disk."""


class GetAttributeFloat(Call, word=10008, reply=Shape.REAL):
    """Read an attribute as a real."""

    cluster: int = integer()
    proc: int = integer()
    name: str = string()


class GetAttributeInt(Call, word=10009, reply=Shape.INTEGER):
    """Read an attribute as an integer."""

    cluster: int = integer()
    proc: int = integer()
    name: str = string()


class GetAttributeString(Call, word=10010, reply=Shape.STRING):
    """Read an attribute as a string."""

    cluster: int = integer()
    proc: int = integer()
    name: str = string()


class GetAttributeExpr(Call, word=10011, reply=Shape.STRING):
    """Read an attribute's expression as text."""

    cluster: int = integer()
    proc: int = integer()
    name: str = string()


class DeleteAttribute(Call, word=10012):
    """Delete an attribute."""

    cluster: int = integer()
    proc: int = integer()
    name: str = string()


class GetNextJob(Call, word=10013, reply=Shape.AD):
    """Read the next job of a scan; the value is -1 at its end."""

    start: int = integer()


class SendSpoolFile(Call, word=10017):
    """Obsolete: always refused."""

    name: str = string()


class GetJobAd(Call, word=10018, reply=Shape.AD):
    """Read a job's ad, or with proc -1 the cluster's."""

    cluster: int = integer()
    proc: int = integer()


class GetJobByConstraint(Call, word=10019, reply=Shape.AD):
    """Read the first job for which the constraint is true."""

    constraint: str = string()


class GetNextJobByConstraint(Call, word=10020, reply=Shape.AD):
    """Read the next matching job of a scan."""

    start: int = integer()
    constraint: str = string()


class SetAttributeByConstraint(Call, word=10021):
    """Set an attribute of every matching job; the value is how many."""

    constraint: str = string()
    value: str = string()
    name: str = string()


class InitializeReadOnlyConnection(Call, word=10022, reply=Shape.NOTHING):
    """Obsolete; accepted and ignored."""


class BeginTransaction(Call, word=10023):
    """Begin a transaction."""


class AbortTransaction(Call, word=10024):
    """Throw the transaction away."""


class SetTimerAttribute(Call, word=10025):
    """Set an attribute to now plus so many seconds."""

    cluster: int = integer()
    proc: int = integer()
    name: str = string()
    seconds: int = integer()


class GetAllJobsByConstraint(Call, word=10026, reply=Shape.ADS):
    """Read every matching job in one message."""

    constraint: str = string()
    projection: str = string()


class SetAttribute2(Call, word=10027):
    """Set an attribute, with SetAttributeFlags; with NO_ACK there is no reply."""

    cluster: int = integer()
    proc: int = integer()
    value: str = string()
    name: str = string()
    flags: int = byte()

    def answer(
        self,
        value: int = 0,
        *,
        errno: int = 0,
        result: object = None,
        details: ClassAd | None = None,
    ) -> Reply:
        """Make the reply: nothing if the caller asked for none."""
        shape = Shape.NOTHING if self.flags & SetAttributeFlags.NO_ACK else Shape.VALUE
        return Reply(shape, value, errno=errno, result=result, details=details)


class CloseSocket(Call, word=10028, reply=Shape.NOTHING):
    """The client is done; the server closes."""


class SendSpoolFileIfNeeded(Call, word=10029):
    """Obsolete: always refused."""

    description: ClassAd = ad()


class SetEffectiveOwner(Call, word=10030):
    """Act as another owner from here on."""

    owner: str = string()


class CommitTransaction(Call, word=10031, reply=Shape.COMMIT):
    """Commit, with SetAttributeFlags."""

    flags: int = integer()


class SetAttributeByConstraint2(Call, word=10032):
    """Set an attribute of every matching job, with SetAttributeFlags; the value is how many."""

    constraint: str = string()
    value: str = string()
    name: str = string()
    flags: int = byte()


class GetDirtyAttributes(Call, word=10033, reply=Shape.AD):
    """Read the attributes changed since they were last read."""

    cluster: int = integer()
    proc: int = integer()


class GetNextDirtyJobByConstraint(Call, word=10034, reply=Shape.AD):
    """Read the next matching job with changed attributes."""

    start: int = integer()
    constraint: str = string()


class SetAllowProtectedAttrChanges(Call, word=10035):
    """Allow changes of protected attributes; the value is the previous setting."""

    allow: int = integer()


class GetCapabilities(Call, word=10036, reply=Shape.AD_ONLY):
    """Ask what the schedd can do; mask 1 asks for the help text of extra submit commands too."""

    mask: int = integer()


class SetJobFactory(Call, word=10037):
    """Turn a cluster into a factory that makes its jobs from the submit digest."""

    cluster: int = integer()
    maximum_materialize: int = integer()
    file_name: str = string()
    digest: str = string()


class SendMaterializeData(Call, word=10039, reply=Shape.MATERIALIZED):
    """Send item rows of a factory: fields joined by 0x1F, rows ended by newlines."""

    cluster: int = integer()
    flags: int = integer()
    data: bytes = rest_bytes()


def begins_item_data(begun: bytes) -> bool:
    """Tell whether the first bytes of a message are those of item rows, with all before them."""
    return len(begun) >= _THREE.size and _ONE.unpack_from(begun)[0] == SendMaterializeData.word


class SendJobQueueAd(Call, word=10040):
    """Send an ad that belongs to a cluster: type -100 is a job set."""

    cluster: int = integer()
    kind: int = integer()
    flags: int = integer()
    description: ClassAd | None = optional(ad())


_FOUR = Struct(">4q")
_THREE = Struct(">3q")
_ONE = Struct(">q")


def set_attribute_body(
    cluster: int, proc: int, name: str, value: str, flags: int, *, encrypted: bool
) -> bytes:
    """Return the body of a SetAttribute2: a submission is made of little else, so it is quick."""
    data, title = value.encode("utf-8", "surrogateescape"), to_bytes(name)
    if b"\0" in data or b"\0" in title:
        raise LocalProtocolError("an attribute with a NUL byte cannot be sent")
    if encrypted:
        head = _FOUR.pack(10027, cluster, proc, len(data) + 1)
        return b"%b%b\0%b%b\0%c" % (head, data, _ONE.pack(len(title) + 1), title, flags)
    return b"%b%b\0%b\0%c" % (_THREE.pack(10027, cluster, proc), data, title, flags)


CALLS: dict[int, type[Call]] = {
    kind.word: kind
    for kind in tuple(globals().values())
    if isinstance(kind, type) and issubclass(kind, Call) and kind.word is not None
}
"""Every queue management call by number."""


def read_request(reader: Reader) -> Call:
    """Read one request; an unknown number is a RemoteProtocolError."""
    return read_call(CALLS, reader)
