"""Remote system calls, starter to shadow on the activation socket.

A table: number, arguments, shape of the reply. One call at a time; a starter's calls about the job
come first, then the calls on files that Chirp and streaming use. What they do is decided in
`shadow`. Source: wire notes, Shadow and starter.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from enum import IntEnum
from typing import ClassVar

from kettle.classad import ClassAd
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages.fields import ad, counted_bytes, integer, string
from kettle.wire.messages.rpc import MAXIMUM_DATA, Call, Reply, Shape, read_call
from kettle.wire.messages.short_way import ActivationRefused


class SyscallReply(Reply):
    """A reply whose errno has a numbering of its own, the same on every system."""

    __slots__ = ()

    sent_as: ClassVar[Mapping[int, int]] = {
        errno.EDEADLK: 36,
        errno.ENAMETOOLONG: 38,
        errno.ENOLCK: 39,
        errno.ENOSYS: 40,
        errno.ENOTEMPTY: 41,
        errno.EILSEQ: 42,
        errno.ETXTBSY: 43,
    }
    read_as: ClassVar[Mapping[int, int]] = {number: code for code, number in sent_as.items()}


class Syscall(Call):
    """A remote system call."""

    replies = SyscallReply


class GetJobInfo(Syscall, word=-63, reply=Shape.PRIVATE_AD):
    """Read the job's ad, with the shadow's additions and its secrets."""


class RegisterStarterInfo(Syscall, word=-77):
    """The starter's address, machine and abilities."""

    info: ClassAd = ad(private=True)


class GetUserInfo(Syscall, word=-76, reply=Shape.AD):
    """Read {Uid, Gid} of the submitter."""


class BeginExecution(Syscall, word=-78):
    """The job's first process is about to run."""


class RegisterJobInfo(Syscall, word=-81):
    """Usage and state of the running job."""

    info: ClassAd = ad(private=True)


class JobTermination(Syscall, word=-82):
    """How the job ended, where no job_exit with data follows."""

    info: ClassAd = ad()


class JobExit(Syscall, word=-65):
    """The last call: wait status, exit reason, final usage."""

    status: int = integer()
    reason: int = integer()
    info: ClassAd = ad(private=True)


class UserLog(Syscall, word=284, reply=Shape.NOTHING):
    """Write an event to the job's log; no reply."""

    event: ClassAd = ad()


class GetJobAttr(Syscall, word=285, reply=Shape.STRING):
    """Read an attribute's expression; `UNDEFINED` if it is missing."""

    name: str = string()


class SetJobAttr(Syscall, word=286):
    """Set an attribute."""

    value: str = string()
    name: str = string()


class Constrain(Syscall, word=287):
    """Narrow the job's requirements."""

    expression: str = string()


class GetSecSessionInfo(Syscall, word=288, reply=Shape.STRINGS):
    """Get sessions for reconnecting and for file transfer: id, info and key of each."""

    reconnect_info: str = string()
    transfer_info: str = string()


class GetCredentials(Syscall, word=302, reply=Shape.FLAGGED_ADS):
    """Get the user's credentials, one ad each."""

    ignored: str = string(default="")


class GetDelegatedProxy(Syscall, word=303):
    """Get a delegated proxy certificate; an X.509 exchange follows."""

    path: str = string()
    expiration: int = integer()


class EventNotification(Syscall, word=304, reply=Shape.VALUE_ONLY):
    """Tell the shadow of an event: {EventType, ...}."""

    event: ClassAd = ad()


class RequestGuidance(Syscall, word=305, reply=Shape.AD_ALWAYS):
    """Ask what to do next: {RequestType, ...}; the answer is an ad with Command."""

    request: ClassAd = ad()


class DprintfStats(Syscall, word=-84):
    """A line for the shadow's log."""

    text: str = string()


class GetDockerCredentials(Syscall, word=-85, reply=Shape.AD_ONLY):
    """Get credentials for a container registry."""

    request: ClassAd = ad()


class GetFileInfo(Syscall, word=-74, reply=Shape.STRING):
    """Where a file is to be found: `local:path` or `remote:path`."""

    logical_name: str = string()


class Guidance(IntEnum):
    """The value before the ad of a guidance reply."""

    COMMAND = 0
    UNKNOWN_REQUEST = -1
    MALFORMED = -2
    INVALID = -3


class Access(Syscall, word=1):
    """access(2)."""

    path: str = string()
    mode: int = integer()


class Chmod(Syscall, word=7):
    """chmod(2)."""

    path: str = string()
    mode: int = integer()


class Chown(Syscall, word=8):
    """chown(2)."""

    path: str = string()
    uid: int = integer()
    gid: int = integer()


class Close(Syscall, word=10):
    """close(2)."""

    descriptor: int = integer()


class Fchmod(Syscall, word=19):
    """fchmod(2)."""

    descriptor: int = integer()
    mode: int = integer()


class Fchown(Syscall, word=20):
    """fchown(2)."""

    descriptor: int = integer()
    uid: int = integer()
    gid: int = integer()


class Fstat(Syscall, word=24, reply=Shape.FACTS):
    """fstat(2); the result is a line of thirteen numbers."""

    descriptor: int = integer()


class Fstatfs(Syscall, word=25, reply=Shape.FACTS):
    """fstatfs(2); the result is a line of numbers."""

    descriptor: int = integer()


class Fsync(Syscall, word=26):
    """fsync(2)."""

    descriptor: int = integer()


class Ftruncate(Syscall, word=27):
    """ftruncate(2)."""

    descriptor: int = integer()
    size: int = integer()


class Link(Syscall, word=52):
    """link(2)."""

    path: str = string()
    new_path: str = string()


class Lseek(Syscall, word=54):
    """lseek(2)."""

    descriptor: int = integer()
    offset: int = integer()
    whence: int = integer()


class Lstat(Syscall, word=55, reply=Shape.FACTS):
    """lstat(2); the result is a line of thirteen numbers."""

    path: str = string()


class Mkdir(Syscall, word=58):
    """mkdir(2)."""

    path: str = string()
    mode: int = integer()


class Open(Syscall, word=66):
    """open(2); the value is a descriptor that only this connection knows."""

    flags: int = integer()
    mode: int = integer()
    path: str = string()


class Read(Syscall, word=71, reply=Shape.DATA):
    """read(2)."""

    descriptor: int = integer()
    size: int = integer()


class Readlink(Syscall, word=72, reply=Shape.DATA):
    """readlink(2)."""

    path: str = string()
    size: int = integer()


class Rename(Syscall, word=78):
    """rename(2)."""

    path: str = string()
    new_path: str = string()


class Rmdir(Syscall, word=79):
    """rmdir(2)."""

    path: str = string()


class Stat(Syscall, word=108, reply=Shape.FACTS):
    """stat(2); the result is a line of thirteen numbers."""

    path: str = string()


class Statfs(Syscall, word=109, reply=Shape.FACTS):
    """statfs(2); the result is a line of numbers."""

    path: str = string()


class Symlink(Syscall, word=111):
    """symlink(2)."""

    target: str = string()
    path: str = string()


class Truncate(Syscall, word=113):
    """truncate(2)."""

    path: str = string()
    size: int = integer()


class Unlink(Syscall, word=115):
    """unlink(2)."""

    path: str = string()


class Write(Syscall, word=120):
    """write(2)."""

    descriptor: int = integer()
    data: bytes = counted_bytes(MAXIMUM_DATA)


class Utime(Syscall, word=242):
    """utime(2)."""

    path: str = string()
    access_time: int = integer()
    change_time: int = integer()


class Lchown(Syscall, word=251):
    """lchown(2)."""

    path: str = string()
    uid: int = integer()
    gid: int = integer()


class Pread(Syscall, word=289, reply=Shape.DATA):
    """pread(2)."""

    descriptor: int = integer()
    size: int = integer()
    offset: int = integer()


class Pwrite(Syscall, word=290):
    """pwrite(2); the length comes before the offset, the data last."""

    descriptor: int = integer()
    offset: int = integer()
    data: bytes = counted_bytes(MAXIMUM_DATA)

    def write_fields(self, writer: Writer) -> None:
        """Append descriptor, length, offset, data."""
        writer.integer(self.descriptor).integer(len(self.data)).integer(self.offset)
        writer.raw(self.data)

    @classmethod
    def read(cls, reader: Reader, *, finish: bool = True) -> Pwrite:
        """Read descriptor, length, offset, data."""
        descriptor, size, offset = reader.integer(), reader.count(MAXIMUM_DATA), reader.integer()
        call = cls(descriptor, offset, reader.raw(size))
        if finish:
            reader.finish()
        return call


class Swrite(Syscall, word=291):
    """Strided write; the length comes after the descriptor, the data last."""

    descriptor: int = integer()
    offset: int = integer()
    stride_length: int = integer()
    stride_skip: int = integer()
    data: bytes = counted_bytes(MAXIMUM_DATA)

    def write_fields(self, writer: Writer) -> None:
        """Append descriptor, length, offset, strides, data."""
        writer.integer(self.descriptor).integer(len(self.data)).integer(self.offset)
        writer.integer(self.stride_length).integer(self.stride_skip).raw(self.data)

    @classmethod
    def read(cls, reader: Reader, *, finish: bool = True) -> Swrite:
        """Read descriptor, length, offset, strides, data."""
        descriptor, size, offset = reader.integer(), reader.count(MAXIMUM_DATA), reader.integer()
        length, skip = reader.integer(), reader.integer()
        call = cls(descriptor, offset, length, skip, reader.raw(size))
        if finish:
            reader.finish()
        return call


class Rmall(Syscall, word=292):
    """Remove a directory with all it holds."""

    path: str = string()


class GetFile(Syscall, word=293, reply=Shape.DATA):
    """Read a whole file."""

    path: str = string()


class PutFile(Syscall, word=294):
    """Open a file to write it as a whole; the value is a number as that of open.

    If it is none of an error, and there are bytes to write, they follow in a message of their own,
    which has a reply of the same shape: how many were written.
    """

    path: str = string()
    mode: int = integer()
    size: int = integer()


class GetLongDir(Syscall, word=295, reply=Shape.STRING):
    """List a directory, name and stat line of each entry; the value is the text's length."""

    path: str = string()


class GetDir(Syscall, word=296, reply=Shape.STRING):
    """List a directory; an empty line closes the text, and the value is its length."""

    path: str = string()


class WhoAmI(Syscall, word=297, reply=Shape.DATA):
    """The name of the job's user."""

    size: int = integer()


class WhoAreYou(Syscall, word=298, reply=Shape.DATA):
    """The name of another host."""

    host: str = string()
    size: int = integer()


class Sread(Syscall, word=299, reply=Shape.DATA):
    """Strided read."""

    descriptor: int = integer()
    size: int = integer()
    offset: int = integer()
    stride_length: int = integer()
    stride_skip: int = integer()


CALLS: dict[int, type[Call]] = {
    kind.word: kind
    for kind in tuple(globals().values())
    if isinstance(kind, type) and issubclass(kind, Call) and kind.word is not None
}
"""Every remote system call by number, that of the short way among them."""
assert ActivationRefused.word in CALLS


def read_syscall(reader: Reader) -> Call:
    """Read one call; an unknown number is a RemoteProtocolError."""
    return read_call(CALLS, reader)
