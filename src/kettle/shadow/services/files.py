"""The starter's calls on files of the access point: for chirp and for streamed standard files.

Carried out with the rights of this process, which is the job owner's: what the owner may not do
the job may not either. Paths are relative to the job's Iwd. Numbers and fields are
`wire.messages.syscalls`'; source: wire notes, Remote system calls.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from kettle.octets import to_bytes
from kettle.runtime.process.privileges import account_of
from kettle.runtime.storage.access_limits import AccessLimits
from kettle.runtime.storage.fences import open_inside
from kettle.runtime.storage.free_space import Guard, Reserve
from kettle.runtime.storage.removal import remove_by_steps
from kettle.runtime.storage.small_files import AT_EASE, require_regular
from kettle.shadow.services.file_facts import (
    list_facts,
    list_names,
    render_stat,
    render_statfs,
)
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import MAXIMUM_DATA, Call, Reply

if TYPE_CHECKING:
    from kettle.runtime.process.aside import Aside

T = TypeVar("T")
FileHandler = Callable[["RemoteFiles", Any], Reply]
# Limit: files a job may have open on the access point at once.
MAX_OPEN = 256
# Limit: files that are removed before the other jobs have their turn.
_REMOVED_AT_ONCE = 64
# Limit: pieces of one read or write with strides; each is a system call.
MAX_PIECES = 65_536
# Flags of open() travel in the reference's own numbering.
_FLAGS = {
    0x0001: os.O_WRONLY,
    0x0002: os.O_RDWR,
    0x0100: os.O_CREAT,
    0x0200: os.O_TRUNC,
    0x0400: os.O_EXCL,
    0x0800: os.O_NOCTTY,
    0x1000: os.O_APPEND,
}


def decode_open_flags(flags: int) -> int:
    """Return open() flags of this system for those of the wire."""
    return sum(here for there, here in _FLAGS.items() if flags & there)


class RemoteFiles:
    """The files one job has open here; its descriptors are numbers of its own."""

    def __init__(
        self,
        directory: str,
        limits: AccessLimits | None = None,
        reserve: Reserve | None = None,
    ) -> None:
        """Nothing is touched outside of `limits`, and `reserve` is kept free."""
        self.directory = directory
        self._limits = limits
        self._reserve = reserve
        self._guards: dict[int, Guard] = {}
        self._open: dict[int, int] = {}
        self._next = 3
        self._closed = False
        # A call may be under way beside the loop when the job's end closes everything.
        self._lock = threading.Lock()

    def do(self, handler: FileHandler, call: Call) -> Reply:
        """Carry out one call; one at a time."""
        with self._lock:
            return handler(self, call)

    def path(self, name: str) -> str:
        """Return the path a name means; ENOENT for an empty one."""
        if not name or "\0" in name:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        return os.path.join(self.directory, name)

    def open(self, path: str, flags: int, mode: int = 0) -> int:
        """Open a path; EACCES where none may be."""
        return open_inside(self._limits, path, flags | AT_EASE, mode)

    def found(self, name: str, action: Callable[[str], T]) -> T:
        """Do something with what a name means, links followed; EACCES where that may not be."""
        path = self.path(name)
        if self._limits is None:
            return action(path)
        with self._limits.found(path) as inside:
            return action(inside)

    def entry(self, name: str, action: Callable[[str], T]) -> T:
        """Do something that follows no link with a name itself; EACCES where none may be."""
        path = self.path(name)
        if self._limits is None:
            return action(path)
        with self._limits.entry(path) as inside:
            return action(inside)

    def stat(self, path: str) -> os.stat_result:
        """Return the facts of what a path leads to; EACCES where that may not be."""
        return self.found(path, os.stat)

    def remove(self, name: str) -> Iterator[None]:
        """Remove a file, or a folder and what is in it, by steps."""
        path = self.path(name)
        if self._limits is None:
            yield from _remove(path)
            return
        with self._limits.entry(path) as inside:
            yield from _remove(inside)

    def add(self, descriptor: int) -> int:
        """Keep an open file and return its number; EMFILE if there are too many, or the job ended.

        What is not kept is closed.
        """
        if self._closed or len(self._open) >= MAX_OPEN:
            os.close(descriptor)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        try:
            guard = self._reserve.guard(descriptor) if self._reserve is not None else None
        except OSError:
            os.close(descriptor)
            raise
        number = self._next
        self._next += 1
        self._open[number] = descriptor
        if guard is not None:
            self._guards[number] = guard
        return number

    def path_of_new(self, name: str, size: int = 0) -> str:
        """Return the path a name means; ENOSPC where a file of so many bytes does not fit."""
        path = self.path(name)
        if self._reserve is not None:
            if self._limits is not None:
                # Before it is known what else may be wrong with it.
                self._limits.look_at(path)
            self._reserve.check_new(path, size)
        return path

    def descriptor_for(self, number: int, size: int) -> int:
        """Return the open file that so many bytes are written to; ENOSPC if they are too many."""
        descriptor = self.descriptor(number)
        if number in self._guards:
            self._guards[number].check(size)
        return descriptor

    def descriptor(self, number: int) -> int:
        """Return the open file of a number; EBADF if it is none."""
        if number not in self._open:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._open[number]

    def forget(self, number: int) -> None:
        """Close an open file."""
        os.close(self.descriptor(number))
        del self._open[number]
        self._guards.pop(number, None)

    def close(self) -> None:
        """Close everything, when no call is under way any more; one that comes later opens none."""
        with self._lock:
            self._closed = True
            while self._open:
                _, descriptor = self._open.popitem()
                os.close(descriptor)


def _remove(path: str) -> Iterator[None]:
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
        return
    yield from remove_by_steps(path)
    if os.path.lexists(path):
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)


def _size(number: int, code: int = errno.EINVAL, least: int = 0) -> int:
    if not least <= number <= MAXIMUM_DATA:
        raise OSError(code, os.strerror(code))
    return number


def _open(files: RemoteFiles, call: calls.Open) -> Reply:
    flags = decode_open_flags(call.flags)
    path = files.path_of_new(call.path) if flags & os.O_CREAT else files.path(call.path)
    return call.answer(files.add(files.open(path, flags, call.mode & 0o777)))


def _close(files: RemoteFiles, call: calls.Close) -> Reply:
    files.forget(call.descriptor)
    return call.answer(0)


def _data(call: Call, data: bytes) -> Reply:
    return call.answer(len(data), result=data)


def _read(files: RemoteFiles, call: calls.Read) -> Reply:
    return _data(call, os.read(files.descriptor(call.descriptor), _size(call.size)))


def _pread(files: RemoteFiles, call: calls.Pread) -> Reply:
    descriptor = files.descriptor(call.descriptor)
    return _data(call, os.pread(descriptor, _size(call.size), call.offset))


def _sread(files: RemoteFiles, call: calls.Sread) -> Reply:
    descriptor, left = files.descriptor(call.descriptor), _size(call.size)
    step = _size(call.stride_skip)
    length = _size(call.stride_length, least=1)
    offset = call.offset
    parts: list[bytes] = []
    while left > 0 and len(parts) < MAX_PIECES:
        piece = os.pread(descriptor, min(length, left), offset)
        parts.append(piece)
        left -= len(piece)
        offset += step
        if len(piece) < length:
            break
    return _data(call, b"".join(parts))


def _write_all(descriptor: int, data: bytes) -> int:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    return len(data)


def _write(files: RemoteFiles, call: calls.Write) -> Reply:
    descriptor = files.descriptor_for(call.descriptor, len(call.data))
    return call.answer(_write_all(descriptor, call.data))


def _pwrite(files: RemoteFiles, call: calls.Pwrite) -> Reply:
    descriptor = files.descriptor_for(call.descriptor, len(call.data))
    return call.answer(os.pwrite(descriptor, call.data, call.offset))


def _swrite(files: RemoteFiles, call: calls.Swrite) -> Reply:
    descriptor = files.descriptor_for(call.descriptor, len(call.data))
    length, step = _size(call.stride_length, least=1), _size(call.stride_skip)
    offset, written = call.offset, 0
    if len(call.data) > MAX_PIECES * length:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    while written < len(call.data):
        piece = call.data[written : written + length]
        written += os.pwrite(descriptor, piece, offset)
        offset += step
    return call.answer(written)


def _lseek(files: RemoteFiles, call: calls.Lseek) -> Reply:
    return call.answer(os.lseek(files.descriptor(call.descriptor), call.offset, call.whence))


def _fstat(files: RemoteFiles, call: calls.Fstat) -> Reply:
    return call.answer(0, result=render_stat(os.fstat(files.descriptor(call.descriptor))))


def _stat(files: RemoteFiles, call: calls.Stat) -> Reply:
    return call.answer(0, result=render_stat(files.found(call.path, os.stat)))


def _lstat(files: RemoteFiles, call: calls.Lstat) -> Reply:
    return call.answer(0, result=render_stat(files.entry(call.path, os.lstat)))


def _statfs(files: RemoteFiles, call: calls.Statfs) -> Reply:
    return call.answer(0, result=files.found(call.path, render_statfs))


def _fstatfs(files: RemoteFiles, call: calls.Fstatfs) -> Reply:
    return call.answer(0, result=render_statfs(files.descriptor(call.descriptor)))


def _access(files: RemoteFiles, call: calls.Access) -> Reply:
    def ask(path: str) -> None:
        if not os.access(path, call.mode & 7, effective_ids=True):
            code = errno.EACCES if os.path.exists(path) else errno.ENOENT
            raise OSError(code, os.strerror(code))

    files.found(call.path, ask)
    return call.answer(0)


def _simple(action: Callable[[RemoteFiles, Any], object]) -> FileHandler:
    """Make a handler of an action that has no result."""

    def handler(files: RemoteFiles, call: Call) -> Reply:
        action(files, call)
        return call.answer(0)

    return handler


def _readlink(files: RemoteFiles, call: calls.Readlink) -> Reply:
    size = _size(call.size, least=1)
    return _data(call, os.fsencode(files.entry(call.path, os.readlink))[:size])


async def remove_all(files: RemoteFiles, call: calls.Rmall, aside: Aside) -> Reply:
    """Answer an rmall, with the turns of the user's other jobs between so many files."""
    steps: Iterator[None] | None = None
    more = True

    def remove_some(_: RemoteFiles, __: Call) -> Reply:
        nonlocal steps, more
        more = False
        steps = steps or files.remove(call.path)
        more = sum(1 for _ in islice(steps, _REMOVED_AT_ONCE)) == _REMOVED_AT_ONCE
        return call.answer(0)

    while True:
        reply = await aside.run(partial(files.do, _guarded(remove_some), call))
        if not more:
            return reply
        await asyncio.sleep(0)


def _get_file(files: RemoteFiles, call: calls.GetFile) -> Reply:
    # Compat: the reference refuses an empty file, as if it were too large
    # (test_an_empty_file_is_fetched_and_put).
    # A pipe or a device would hold up every shadow of this user, or never end.
    descriptor = files.open(files.path(call.path), os.O_RDONLY)
    with open(require_regular(descriptor), "rb") as file:
        return _data(call, file.read(_size(os.fstat(descriptor).st_size)))


def _put_file(files: RemoteFiles, call: calls.PutFile) -> Reply:
    """Open a file for what is to come, which `put_data` writes; for an empty one nothing comes."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    path = files.path_of_new(call.path, _size(call.size, errno.EFBIG))
    number = files.add(files.open(path, flags, call.mode & 0o777))
    if not call.size:
        files.forget(number)
    return call.answer(number)


def put_data(files: RemoteFiles, call: calls.PutFile, number: int, data: bytes) -> Reply:
    """Write what came after a call to put a file, and close it; one at a time."""

    def write(files: RemoteFiles, call: calls.PutFile) -> Reply:
        try:
            descriptor = files.descriptor_for(number, len(data))
            return call.answer(_write_all(descriptor, data[: call.size]))
        finally:
            files.forget(number)

    return files.do(_guarded(write), call)


def _mkdir(files: RemoteFiles, call: calls.Mkdir) -> None:
    files.path_of_new(call.path)
    files.entry(call.path, partial(os.mkdir, mode=call.mode & 0o777))


def _get_dir(files: RemoteFiles, call: calls.GetDir) -> Reply:
    return _listing(call, files.found(call.path, list_names))


def _get_long_dir(files: RemoteFiles, call: calls.GetLongDir) -> Reply:
    return _listing(call, files.found(call.path, partial(list_facts, look=files.stat)))


def _listing(call: Call, text: str) -> Reply:
    """Answer with a listing and its length, which is what a starter tells the job."""
    return call.answer(len(to_bytes(text)), result=text)


def _whoami(files: RemoteFiles, call: calls.WhoAmI) -> Reply:  # noqa: ARG001
    """Name the job's user.

    Compat: the reference says CONDOR, whoever it is, against its manual (test_the_user_is_named).
    """
    return _name(call, call.size, account_of(os.geteuid()).name)


def _whoareyou(files: RemoteFiles, call: calls.WhoAreYou) -> Reply:  # noqa: ARG001
    # Nobody here knows who somebody is elsewhere; these are the reference's words.
    return _name(call, call.size, "UNKNOWN")


def _name(call: Call, size: int, name: str) -> Reply:
    data = to_bytes(name)
    if len(data) > _size(size, least=1):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return _data(call, data)


def _guarded(handler: FileHandler) -> FileHandler:
    """Make a failing handler answer with its errno."""

    def guarded(files: RemoteFiles, call: Call) -> Reply:
        try:
            return handler(files, call)
        except OSError as error:
            return call.answer(-1, errno=error.errno or errno.EIO)
        except (KeyError, ValueError, OverflowError):
            return call.answer(-1, errno=errno.EINVAL)

    return guarded


_TABLE: dict[type[Call], FileHandler] = {
    calls.Open: _open,
    calls.Close: _close,
    calls.Read: _read,
    calls.Pread: _pread,
    calls.Sread: _sread,
    calls.Write: _write,
    calls.Pwrite: _pwrite,
    calls.Swrite: _swrite,
    calls.Lseek: _lseek,
    calls.Fstat: _fstat,
    calls.Stat: _stat,
    calls.Lstat: _lstat,
    calls.Statfs: _statfs,
    calls.Fstatfs: _fstatfs,
    calls.Access: _access,
    calls.Readlink: _readlink,
    calls.GetFile: _get_file,
    calls.PutFile: _put_file,
    calls.GetDir: _get_dir,
    calls.GetLongDir: _get_long_dir,
    calls.WhoAmI: _whoami,
    calls.WhoAreYou: _whoareyou,
    calls.Unlink: _simple(lambda files, call: files.entry(call.path, os.unlink)),
    calls.Rename: _simple(
        lambda files, call: files.entry(
            call.path, lambda old: files.entry(call.new_path, partial(os.rename, old))
        )
    ),
    calls.Mkdir: _simple(_mkdir),
    calls.Rmdir: _simple(lambda files, call: files.entry(call.path, os.rmdir)),
    calls.Fsync: _simple(lambda files, call: os.fsync(files.descriptor(call.descriptor))),
    calls.Chmod: _simple(
        lambda files, call: files.found(call.path, partial(os.chmod, mode=call.mode & 0o7777))
    ),
    calls.Fchmod: _simple(
        lambda files, call: os.fchmod(files.descriptor(call.descriptor), call.mode & 0o7777)
    ),
    calls.Chown: _simple(
        lambda files, call: files.found(call.path, partial(os.chown, uid=call.uid, gid=call.gid))
    ),
    calls.Lchown: _simple(
        lambda files, call: files.entry(call.path, lambda path: os.lchown(path, call.uid, call.gid))
    ),
    calls.Fchown: _simple(
        lambda files, call: os.fchown(files.descriptor(call.descriptor), call.uid, call.gid)
    ),
    calls.Truncate: _simple(
        lambda files, call: files.found(call.path, partial(os.truncate, length=call.size))
    ),
    calls.Ftruncate: _simple(
        lambda files, call: os.ftruncate(files.descriptor(call.descriptor), call.size)
    ),
    calls.Link: _simple(
        lambda files, call: files.entry(
            call.path, lambda old: files.entry(call.new_path, partial(os.link, old))
        )
    ),
    calls.Symlink: _simple(
        lambda files, call: files.entry(call.path, partial(os.symlink, call.target))
    ),
    calls.Utime: _simple(
        lambda files, call: files.found(
            call.path, partial(os.utime, times=(call.access_time, call.change_time))
        )
    ),
}
FILE_CALLS: dict[type[Call], FileHandler] = {
    kind: _guarded(handler) for kind, handler in _TABLE.items()
}
