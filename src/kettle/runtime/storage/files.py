"""Files of a daemon or a tool: read with a bound, replaced in one step, appended to.

Also where the configuration's texts come from (`SystemSources`). Durable appending is in
`durable.py`, which is imported only when it is used: tools load this module, and must not load
asyncio with it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

from kettle.errors import ChangedError, NotFoundError, NotMade, StorageError
from kettle.octets import to_bytes, to_text
from kettle.runtime.machine_facts import read_machine_facts
from kettle.runtime.storage.texts import read_text

if TYPE_CHECKING:
    from random import Random
    from subprocess import Popen

    from kettle.runtime.storage.disk import Disk
    from kettle.runtime.storage.durable import DurableFile, Synchronizer

# What a disk says that may have room later.
FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
# What it says that may be mended later.
PASSING = FULL | {errno.EIO, errno.EROFS}
# What a file system says that has no hard links, or no more of them, and one that cannot rename
# without replacing.
NO_LINKS = frozenset(
    (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EINVAL)
)
_NO_NEW_NAMES = frozenset((errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP))
# Limit: what is read in one piece when the caller names no bound.
READ_LIMIT = 256 * 1024 * 1024
# What is held at once of a file that is read piece by piece.
PIECE_BYTES = 4 * 1024 * 1024
# Limit: what a configuration command may print, and how long it may take.
COMMAND_OUTPUT = 16 * 1024 * 1024
COMMAND_SECONDS = 60.0


class SystemSources:
    """The machine as the source of configuration; see `kettle.config.Sources`."""

    command_bytes = COMMAND_OUTPUT

    def read_text(self, path: str) -> str:
        """Return the text of a file; bytes that are not UTF-8 survive as surrogates."""
        # A carriage return ends no line: what stands before a line's end is a blank like another.
        return read_text(path, newline="\n")

    def write_text(self, path: str, text: str) -> None:
        """Write a file anew, in one step."""
        temporary = f"{path}.{os.getpid()}.new"
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.rename(temporary, path)

    def list_directory(self, path: str) -> list[str]:
        """Return the names in a folder, in no particular order."""
        return os.listdir(path)

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or folder of this name."""
        return os.path.exists(path)

    def run_command(self, command: Sequence[str]) -> tuple[int, str]:
        """Run a program and return its exit status and what it printed; OSError if it cannot.

        A script that does not say what runs it is run by the shell, as shells and HTCondor do.
        """
        try:
            return self._run_command(command)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            return self._run_command(["/bin/sh", *command])

    def _run_command(self, command: Sequence[str]) -> tuple[int, str]:
        import subprocess  # tools seldom need it, and it is slow to load

        from kettle.runtime.process.privileges import for_good

        end = time.monotonic() + COMMAND_SECONDS
        with for_good():
            program = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
            )
        with program:
            try:
                output = self._read_output(program, command[0], end)
                return program.wait(max(0.0, end - time.monotonic())), to_text(output)
            except (OSError, subprocess.TimeoutExpired) as error:
                program.kill()
                if isinstance(error, OSError):
                    raise
                said = f"{command[0]} took longer than {COMMAND_SECONDS:g} seconds"
                raise OSError(said) from None

    def _read_output(self, program: Popen[bytes], name: str, end: float) -> bytes:
        """Return all that a program prints; TimeoutExpired, and OSError if it is too much."""
        import select
        from subprocess import TimeoutExpired

        assert program.stdout is not None
        descriptor, output = program.stdout.fileno(), bytearray()
        while select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                return bytes(output)
            output += piece
            if len(output) > self.command_bytes:
                said = f"{name} printed more than {self.command_bytes >> 20} MiB"
                raise OSError(errno.EFBIG, said)
        raise TimeoutExpired(name, COMMAND_SECONDS)

    def home_directory(self, user: str) -> str | None:
        """Return the home of an account, `user` "" meaning the one that runs us."""
        import pwd

        try:
            return (pwd.getpwnam(user) if user else pwd.getpwuid(os.geteuid())).pw_dir
        except KeyError:
            return None

    def machine_facts(self) -> Mapping[str, str]:
        """Return the detected macros, such as HOSTNAME, DETECTED_CORES and USERNAME."""
        return read_machine_facts()

    def random(self) -> Random:
        """Return the source of randomness for `$RANDOM_CHOICE()`."""
        import random

        return random.SystemRandom()


class RememberingSources(SystemSources):
    """The same for whoever reads a source again: what is no regular file says its text once."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def read_text(self, path: str) -> str:
        """Return the text of a file; of what is no regular one, what it said first."""
        if path in self._said:
            return self._said[path]
        text = super().read_text(path)
        if not os.path.isfile(path):
            self._said[path] = text
        return text


class Files:
    """The file system as a daemon uses it. Paths are absolute."""

    def __init__(self, synchronizer: Synchronizer | None = None, disk: Disk | None = None) -> None:
        self._synchronizer = synchronizer
        self._chosen_disk = disk

    @property
    def synchronizer(self) -> Synchronizer:
        """What makes durable files durable: one worker for the whole daemon."""
        if self._synchronizer is None:
            from kettle.runtime.storage.durable import WorkerSynchronizer

            self._synchronizer = WorkerSynchronizer()
        return self._synchronizer

    @property
    def disk(self) -> Disk:
        """Where durable files are."""
        if self._chosen_disk is None:
            from kettle.runtime.storage.disk import SystemDisk

            self._chosen_disk = SystemDisk()
        return self._chosen_disk

    def open_durable(self, path: str, *, mode: int = 0o600) -> DurableFile:
        """Open (or make) a file for durable appending."""
        from kettle.runtime.storage.durable import DurableFile

        return DurableFile(path, self.synchronizer, mode=mode, disk=self.disk)

    async def sync(self, path: str) -> None:
        """Return when what a file, or a folder's names, held before is on disk; StorageError.

        One that is gone, and what is no file (/dev/null, a pipe), has nothing to be kept.
        """
        try:
            # The opening of a pipe must not wait for who writes into it.
            fd = os.open(path or ".", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                mode = os.fstat(fd).st_mode
                if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                    await self.synchronizer.sync(fd)
            finally:
                os.close(fd)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageError(f"cannot sync {path}: {error.strerror}") from error

    def append(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Append in one write, not durably; StorageError if it cannot be done."""
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, mode)
            try:
                _write_whole(fd, data)
            finally:
                os.close(fd)
        except OSError as error:
            raise _failed("append to", path, error) from error

    def read(self, path: str, *, limit: int = READ_LIMIT) -> bytes:
        """Return a file's bytes; NotFoundError, or StorageError if unreadable or too large."""
        try:
            with _open_regular(path) as file:
                data = file.read(limit + 1)
        except FileNotFoundError as error:
            raise NotFoundError(f"{path} does not exist") from error
        except OSError as error:
            raise _failed("read", path, error) from error
        if len(data) > limit:
            raise StorageError(f"{path} is larger than {limit} bytes")
        return data

    def read_pieces(self, path: str) -> Iterator[bytes]:
        """Yield a file's bytes piece by piece; NotFoundError, or StorageError if unreadable."""
        try:
            with _open_regular(path) as file:
                while piece := file.read(PIECE_BYTES):
                    yield piece
        except FileNotFoundError as error:
            raise NotFoundError(f"{path} does not exist") from error
        except OSError as error:
            raise _failed("read", path, error) from error

    def read_at(self, path: str, offset: int, size: int) -> bytes:
        """Return a part of a file that had it; ChangedError if it has not now, or StorageError."""
        try:
            with _open_regular(path) as file:
                file.seek(offset)
                data = file.read(size)
        except FileNotFoundError as error:
            raise ChangedError(f"{path} is gone", errno=errno.ENOENT) from error
        except OSError as error:
            raise _failed("read", path, error) from error
        if len(data) < size:
            raise ChangedError(f"{path} has changed: it has become shorter")
        return data

    def read_text(self, path: str, *, limit: int = READ_LIMIT) -> str:
        """Return a file's text; bytes that are not UTF-8 stay what they are (see `octets`)."""
        return to_text(self.read(path, limit=limit))

    def write_atomically(
        self, path: str, data: bytes | str, *, mode: int = 0o644, durable: bool = False
    ) -> None:
        """Replace a file in one step: readers see the old content or the new, never a part.

        `durable` syncs the content and the folder before returning (this blocks; for small
        files at rare moments).
        """
        content = to_bytes(data) if isinstance(data, str) else data
        temporary = f"{path}.{os.getpid()}.new"
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(fd, view) :]
                os.fchmod(fd, mode)
                if durable:
                    os.fsync(fd)
            finally:
                os.close(fd)
            os.rename(temporary, path)
            if durable:
                self.sync_folder(os.path.dirname(path))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise _failed("write", path, error) from error

    def create(self, path: str, pieces: Iterable[bytes], *, aside: str, mode: int = 0o644) -> None:
        """Write a file where there is none, durably and in one step; StorageError if not.

        It is gathered `aside`, in the same folder and locked (`flock`), and a part of it is nowhere
        else, whoever is killed meanwhile. NotMade if it was not there at any time (EEXIST: there is
        something of its name already). For a folder that somebody else can write into: nothing
        there is replaced, or followed.
        """
        try:
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(aside, flags, mode)
            try:
                _lock(fd)
                _write_durably(fd, pieces)
                give_name(aside, path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(aside)
                os.close(fd)
        except OSError as error:
            if not os.path.lexists(path) or error.errno == errno.EEXIST:
                said = f"cannot make {path}: {error.strerror}"
                raise NotMade(said, errno=error.errno or 0) from error
            raise _failed("make", path, error) from error
        try:
            self.sync_folder(os.path.dirname(path))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise _failed("make", path, error) from error

    def open_to_read(self, path: str, *, limit: int) -> BinaryIO:
        """Open a file that somebody else may have put there; errors as `read` has them."""
        try:
            file = _open_regular(path)
        except FileNotFoundError as error:
            raise NotFoundError(f"{path} does not exist") from error
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from error
        if os.fstat(file.fileno()).st_size > limit:
            file.close()
            raise StorageError(f"{path} is larger than {limit} bytes")
        return file

    def lock(self, path: str, content: str) -> int:
        """Take a lock file for the life of this process and write into it; return its descriptor.

        Whoever can open it could hold it for ever, so nobody else may. StorageError, with what the
        holder wrote, if another process has it.
        """
        import fcntl

        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(f"cannot open {path}: {error.strerror}") from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(fd, 64, 0).decode("ascii", errors="replace").strip()
            os.close(fd)
            raise StorageError(f"{path} is locked by process {holder}") from None
        os.fchmod(fd, 0o600)
        try:
            # Over what stands there: that has its place on a disk that is full, too.
            os.ftruncate(fd, os.pwrite(fd, to_bytes(content), 0))
        except OSError as error:
            if error.errno not in PASSING:
                os.close(fd)
                raise _failed("write", path, error) from error
            # The lock holds without a word; an earlier holder's would be wrong.
            with contextlib.suppress(OSError):
                os.ftruncate(fd, 0)
        return fd

    def sync_folder(self, path: str) -> None:
        """Make the names in a folder durable."""
        fd = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def rename(self, source: str, target: str) -> None:
        """Rename, replacing the target; StorageError if it cannot be done."""
        try:
            os.rename(source, target)
        except OSError as error:
            raise StorageError(f"cannot rename {source}: {error.strerror}") from error

    def remove(self, path: str) -> None:
        """Remove a file; it is no error if there is none."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageError(f"cannot remove {path}: {error.strerror}") from error

    def exists(self, path: str) -> bool:
        """Whether there is something of that name."""
        return os.path.lexists(path)

    def make_folder(self, path: str, *, mode: int = 0o755) -> None:
        """Make a folder and its parents; an existing one keeps its mode."""
        try:
            os.makedirs(path, mode=mode, exist_ok=True)
        except OSError as error:
            raise _failed("make", path, error) from error

    @contextlib.asynccontextmanager
    async def quiet(self) -> AsyncIterator[None]:
        """Hold the sync worker: inside, this process has one thread and may fork.

        Commits made meanwhile wait until the end of the block.
        """
        worker = self.synchronizer
        worker.hold(1)
        try:
            await worker.idle()
            yield
        finally:
            worker.hold(-1)


def _open_regular(path: str) -> BinaryIO:
    """Open a file for reading; OSError if it cannot be, or is no regular file.

    A pipe, whose opening waits for a writer, must not hold the daemon up.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return open(descriptor, "rb")


def _failed(what: str, path: str, error: OSError) -> StorageError:
    return StorageError(f"cannot {what} {path}: {error.strerror}", errno=error.errno or 0)


def _write_whole(fd: int, data: bytes) -> None:
    """Append all of it or nothing: a disk that has room for a part only is full."""
    written = os.write(fd, data)
    if written < len(data):
        os.ftruncate(fd, max(0, os.fstat(fd).st_size - written))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write_durably(fd: int, pieces: Iterable[bytes]) -> None:
    """Write a new file and sync it; OSError."""
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[os.write(fd, view) :]
    os.fsync(fd)


def _lock(fd: int) -> None:
    """Show others that a file is being written, where there are locks."""
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def give_name(aside: str, path: str) -> None:
    """Give a file a name that nothing has; OSError, EEXIST where something has it.

    Whoever is killed meanwhile leaves nothing of that name, all of the file, or a `placeholder`.
    """
    from kettle.runtime.process import kernel

    try:
        os.link(aside, path, follow_symlinks=False)
        return
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
    try:
        kernel.rename_new(aside, path)
        return
    except OSError as error:
        if error.errno not in _NO_NEW_NAMES:
            raise
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0))
    try:
        # What it replaces is ours.
        os.rename(aside, path)
    except OSError:
        os.unlink(path)
        raise


def is_placeholder(facts: os.stat_result) -> bool:
    """Tell whether a file is one that `Files.create` holds a name with, and nothing more."""
    mode = facts.st_mode
    return stat.S_ISREG(mode) and not stat.S_IMODE(mode) and not facts.st_size
