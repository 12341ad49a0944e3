"""Remote system calls, starter to shadow on the activation socket.

A table: number, arguments, shape of the reply. One call at a time; a starter's calls about the job
come first, then the calls on files that Chirp and streaming use. What they do is decided in
`shadow`. Source: wire notes, Shadow and starter.
"""

from __future__ import annotations

from enum import IntEnum

from kettle.classad import ClassAd
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages.fields import ad, counted_bytes, integer, string
from kettle.wire.messages.rpc import MAXIMUM_DATA, Call, Shape, read_call
from kettle.wire.messages.short_way import ActivationRefused


class GetJobInfo(Call, word=-63, reply=Shape.PRIVATE_AD):
    """Read the job's ad, with the shadow's additions and its secrets."""


class RegisterStarterInfo(Call, word=-77):
    """The starter's address, machine and abilities."""

    info: ClassAd = ad(private=True)


class GetUserInfo(Call, word=-76, reply=Shape.AD):
    """Read {Uid, Gid} of the submitter."""


class BeginExecution(Call, word=-78):
    """The job's first process is about to run."""


class RegisterJobInfo(Call, word=-81):
    """Usage and state of the running job."""

    info: ClassAd = ad(private=True)


class JobTermination(Call, word=-82):
    """How the job ended, where no job_exit with data follows."""

    info: ClassAd = ad()


class JobExit(Call, word=-65):
    """The last call: wait status, exit reason, final usage."""

    status: int = integer()
    reason: int = integer()
    info: ClassAd = ad(private=True)


class UserLog(Call, word=284, reply=Shape.NOTHING):
    """Write an event to the job's log; no reply."""

    event: ClassAd = ad()


class GetJobAttr(Call, word=285, reply=Shape.STRING):
    """Read an attribute's expression; `UNDEFINED` if it is missing."""

    name: str = string()


class SetJobAttr(Call, word=286):
    """Set an attribute."""

    value: str = string()
    name: str = string()


class Constrain(Call, word=287):
    """Narrow the job's requirements."""

    expression: str = string()


class GetSecSessionInfo(Call, word=288, reply=Shape.STRINGS):
    """Get sessions for reconnecting and for file transfer: id, info and key of each."""

    reconnect_info: str = string()
    transfer_info: str = string()


class GetCredentials(Call, word=302, reply=Shape.FLAGGED_ADS):
    """Get the user's credentials, one ad each."""

    ignored: str = string(default="")


class GetDelegatedProxy(Call, word=303):
    """Get a delegated proxy certificate; an X.509 exchange follows."""

    path: str = string()
    expiration: int = integer()


class EventNotification(Call, word=304, reply=Shape.VALUE_ONLY):
    """Tell the shadow of an event: {EventType, ...}."""

    event: ClassAd = ad()


class RequestGuidance(Call, word=305, reply=Shape.AD_ALWAYS):
    """Ask what to do next: {RequestType, ...}; the answer is an ad with Command."""

    request: ClassAd = ad()


class DprintfStats(Call, word=-84):
    """A line for the shadow's log."""

    text: str = string()


class GetDockerCredentials(Call, word=-85, reply=Shape.AD_ONLY):
    """Get credentials for a container registry."""

    request: ClassAd = ad()


class GetFileInfo(Call, word=-74, reply=Shape.STRING):
    """Where a file is to be found: `local:path` or `remote:path`."""

    logical_name: str = string()


class Guidance(IntEnum):
    """The value before the ad of a guidance reply."""

    COMMAND = 0
    UNKNOWN_REQUEST = -1
    MALFORMED = -2
    INVALID = -3


class Access(Call, word=1):
    """access(2)."""

    path: str = string()
    mode: int = integer()


class Chmod(Call, word=7):
    """chmod(2)."""

    path: str = string()
    mode: int = integer()


class Chown(Call, word=8):
    """chown(2)."""

    path: str = string()
    uid: int = integer()
    gid: int = integer()


class Close(Call, word=10):
    """close(2)."""

    descriptor: int = integer()


class Fchmod(Call, word=19):
    """fchmod(2)."""

    descriptor: int = integer()
    mode: int = integer()


class Fchown(Call, word=20):
    """fchown(2)."""

    descriptor: int = integer()
    uid: int = integer()
    gid: int = integer()


class Fstat(Call, word=24, reply=Shape.STRING):
    """fstat(2); the result is a line of thirteen numbers."""

    descriptor: int = integer()


class Fstatfs(Call, word=25, reply=Shape.STRING):
    """fstatfs(2); the result is a line of numbers."""

    descriptor: int = integer()


class Fsync(Call, word=26):
    """fsync(2)."""

    descriptor: int = integer()


class Ftruncate(Call, word=27):
    """ftruncate(2)."""

    descriptor: int = integer()
    size: int = integer()


class Link(Call, word=52):
    """link(2)."""

    path: str = string()
    new_path: str = string()


class Lseek(Call, word=54):
    """lseek(2)."""

    descriptor: int = integer()
    offset: int = integer()
    whence: int = integer()


class Lstat(Call, word=55, reply=Shape.STRING):
    """lstat(2); the result is a line of thirteen numbers."""

    path: str = string()


class Mkdir(Call, word=58):
    """mkdir(2)."""

    path: str = string()
    mode: int = integer()


class Open(Call, word=66):
    """open(2); the value is a descriptor that only this connection knows."""

    flags: int = integer()
    mode: int = integer()
    path: str = string()


class Read(Call, word=71, reply=Shape.DATA):
    """read(2)."""

    descriptor: int = integer()
    size: int = integer()


class Readlink(Call, word=72, reply=Shape.DATA):
    """readlink(2)."""

    path: str = string()
    size: int = integer()


class Rename(Call, word=78):
    """rename(2)."""

    path: str = string()
    new_path: str = string()


class Rmdir(Call, word=79):
    """rmdir(2)."""

    path: str = string()


class Stat(Call, word=108, reply=Shape.STRING):
    """stat(2); the result is a line of thirteen numbers."""

    path: str = string()


class Statfs(Call, word=109, reply=Shape.STRING):
    """statfs(2); the result is a line of numbers."""

    path: str = string()


class Symlink(Call, word=111):
    """symlink(2)."""

    target: str = string()
    path: str = string()


class Truncate(Call, word=113):
    """truncate(2)."""

    path: str = string()
    size: int = integer()


class Unlink(Call, word=115):
    """unlink(2)."""

    path: str = string()


class Write(Call, word=120):
    """write(2)."""

    descriptor: int = integer()
    data: bytes = counted_bytes(MAXIMUM_DATA)


class Utime(Call, word=242):
    """utime(2)."""

    path: str = string()
    access_time: int = integer()
    change_time: int = integer()


class Lchown(Call, word=251):
    """lchown(2)."""

    path: str = string()
    uid: int = integer()
    gid: int = integer()


class Pread(Call, word=289, reply=Shape.DATA):
    """pread(2)."""

    descriptor: int = integer()
    size: int = integer()
    offset: int = integer()


class Pwrite(Call, word=290):
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


class Swrite(Call, word=291):
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


class Rmall(Call, word=292):
    """Remove a directory with all it holds."""

    path: str = string()


class GetFile(Call, word=293, reply=Shape.DATA):
    """Read a whole file."""

    path: str = string()


class PutFile(Call, word=294):
    """Write a whole file: after this call the bytes follow in a message of their own."""

    path: str = string()
    mode: int = integer()
    size: int = integer()


class GetLongDir(Call, word=295, reply=Shape.STRING):
    """List a directory, name and stat line of each entry."""

    path: str = string()


class GetDir(Call, word=296, reply=Shape.STRING):
    """List a directory."""

    path: str = string()


class WhoAmI(Call, word=297, reply=Shape.DATA):
    """The name of the job's user."""

    size: int = integer()


class WhoAreYou(Call, word=298, reply=Shape.DATA):
    """The name of another host."""

    host: str = string()
    size: int = integer()


class Sread(Call, word=299, reply=Shape.DATA):
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
