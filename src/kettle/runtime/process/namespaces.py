"""Views for programs: of the file tree, of processes, and of memory and queues with numbers.

That is mount, PID and IPC namespaces. Only root can make one. The calling process keeps its own
view: it goes in, spawns, and comes back, as with control groups. Which folders a job sees as its
own is decided in `starter/private_view.py`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import NoReturn

import setproctitle

from kettle.runtime.process import kernel
from kettle.runtime.process.liveness import is_ending, said
from kettle.runtime.storage.small_files import read_small

_TABLES = ("shm", "sem", "msg")
_PAGE = 4096
INIT_TITLE = "condor_pid_ns_init"
# What the kernel says where it has no namespaces or no mounts, or none for us: a filter of the
# container is in the way (EPERM), or a security module (EACCES), or it was built without.
_REFUSALS = frozenset(
    (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EINVAL, errno.ENODEV, errno.EOPNOTSUPP)
)
# File systems below /proc that are not taken along into a /proc of one's own: what mounts itself.
_NOT_TAKEN_ALONG = frozenset((b"autofs", b"binfmt_misc"))


class _Joined:
    """Is in a namespace from its beginning to its end; a generator costs three times as much."""

    __slots__ = ("_inside", "_join", "_outside")

    def __init__(self, join: Callable[[int], None], inside: int, outside: int) -> None:
        self._join, self._inside, self._outside = join, inside, outside

    def __enter__(self) -> None:
        self._join(self._inside)

    def __exit__(self, *_: object) -> None:
        self._join(self._outside)


def is_refusal(error: OSError, kind: str = "mnt") -> bool:
    """Whether an error means that views cannot be made here at all, as in most containers.

    `kind` is whose namespace was made: the machine may allow none of it. Any other error may be of
    the moment: no space, no memory, too many mounts.
    """
    if error.errno == errno.ENOSPC:
        with contextlib.suppress(OSError):
            return read_small(f"/proc/sys/user/max_{kind}_namespaces").strip() == b"0"
    return error.errno in _REFUSALS


class MountNamespace:
    """One view. OSError from `make` where this process may not have one."""

    def __init__(self, outside: int, inside: int) -> None:
        self._outside = outside
        self._inside = inside

    @classmethod
    def make(cls, base: MountNamespace | None = None) -> MountNamespace:
        """Copy a view, or the present one; mounts made outside later are still seen inside."""
        # Opened before we go anywhere: who has a /proc of its own does not find us there.
        own = os.open("/proc/self/ns", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            outside = _open_namespace("mnt", own)
            try:
                return cls(outside, _copy_mounts(outside, base, own))
            except OSError:
                os.close(outside)
                raise
        finally:
            os.close(own)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """See what is seen inside; nothing in here may await."""
        with _same_directory():
            self.join()
            try:
                yield
            finally:
                kernel.join_mounts(self._outside)

    def join(self) -> None:
        """Go in for good; the working directory becomes the root."""
        kernel.join_mounts(self._inside)

    def close(self) -> None:
        """Let go of the view; it is gone when the last process inside is."""
        os.close(self._inside)
        os.close(self._outside)


def _copy_mounts(outside: int, base: MountNamespace | None, own: int) -> int:
    with _same_directory():
        if base is not None:
            base.join()
        try:
            kernel.unshare_mounts()
            kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
            return _open_namespace("mnt", own)
        finally:
            kernel.join_mounts(outside)


class PidNamespace:
    """Processes that see each other only, and end, whatever they do to hide, when we do.

    Its first process, the init, is a fork of ours that the kernel kills when this process dies, be
    it by SIGKILL; with an init the kernel kills all others of its namespace. Whoever loses its
    parent inside becomes the init's child. The init is neither in a job's control group nor its
    account's, so that nothing of a job can end it, or change it.

    Compat: programs that are started inside are children of ours, and their parent's number is 0
    there; the reference's are children of the init, 1. So nobody stands between us and the end of
    a program: its status, its usage and its signals are those of any child
    (test_what_a_job_sees_of_processes_is_its_own).
    """

    def __init__(self, init: int, outside: int, inside: int) -> None:
        self.init = init
        self._outside = outside
        self._inside = inside

    @classmethod
    def make(cls, view: MountNamespace) -> PidNamespace:
        """Make one whose processes are what `view` shows in /proc; OSError if it cannot be."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                init = kernel.fork_init()
                if init == 0:
                    _be_init(view, theirs.detach())
            try:
                return cls(init, *_await_init(init, ours))
            except OSError:
                os.kill(init, signal.SIGKILL)
                raise

    @property
    def lives(self) -> bool:
        """Whether its init lives; nothing can be started inside any more where it does not.

        One that ends takes everybody inside along, and has not ended before those are reaped. One
        that is killed just now may still seem to live: then a start fails with ENOMEM.
        """
        try:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT | kernel.WAIT_ALL
            return os.waitid(os.P_PID, self.init, flags) is None and not is_ending(self.init)
        except ChildProcessError:
            return False

    def entered(self) -> AbstractContextManager[None]:
        """Let what is started meanwhile be inside; nothing in here may await."""
        return _Joined(kernel.join_pids, self._inside, self._outside)

    def close(self) -> None:
        """End everything inside. Whoever reaps our children reaps the init, too."""
        if self.lives:
            os.kill(self.init, signal.SIGKILL)
        os.close(self._inside)
        os.close(self._outside)


class IpcNamespace:
    """Shared memory, semaphores and message queues, System V's and POSIX's, that end with it.

    The kernel takes four times as long to remove one as to make it, beside the loop: one that
    `is_empty` is as good as a new one.
    They belong to no process: who makes them and goes leaves them, with the memory they hold. They
    are gone when the last process inside and the last descriptor of the namespace are.
    """

    # Our own, opened once: this process goes into others for a moment only.
    _outside = -1

    def __init__(self, inside: int) -> None:
        self._inside = inside
        # What is in it: the kernel's tables of System V's objects, and the folder of POSIX queues.
        self._tables: list[int] = []
        self._queues = -1

    @classmethod
    def make(cls) -> IpcNamespace:
        """Make an empty one; OSError where this process may not."""
        if cls._outside < 0:
            cls._outside = _open_namespace("ipc")
        kernel.unshare_ipc()
        try:
            made = cls(_open_namespace("ipc"))
            with contextlib.suppress(OSError):
                made._open_contents()
            return made
        finally:
            kernel.join_ipc(cls._outside)

    def _open_contents(self) -> None:
        """Open what shows what is in it, while this process is inside; OSError where it cannot."""
        flags = os.O_RDONLY | os.O_CLOEXEC
        for name in _TABLES:
            self._tables.append(os.open(f"/proc/sysvipc/{name}", flags))
        self._queues = kernel.open_placeless("mqueue")

    @property
    def is_empty(self) -> bool:
        """Whether nothing of what was made in it is left; False where that cannot be told."""
        if self._queues < 0:
            return False
        # A table has a line for each object behind that of its names.
        tables = (os.pread(table, _PAGE, 0).count(b"\n") for table in self._tables)
        return all(lines == 1 for lines in tables) and not os.listdir(self._queues)

    def entered(self) -> AbstractContextManager[None]:
        """Be inside, and let what is started be; nothing in here may await."""
        return _Joined(kernel.join_ipc, self._inside, self._outside)

    def close(self) -> None:
        """Let go of it; everything in it is gone when the last process inside is."""
        os.close(self._inside)
        for descriptor in (*self._tables, self._queues):
            if descriptor >= 0:
                os.close(descriptor)


def _await_init(init: int, line: socket.socket) -> tuple[int, int]:
    """Let the init go on that has done its part; return its parent's namespace and its own."""
    number = int(line.recv(16) or b"0")
    if number != 1:
        raise OSError(-number, os.strerror(-number))
    outside = _open_namespace("pid")
    try:
        inside = os.open(f"/proc/{init}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        os.close(outside)
        raise
    line.send(b"1")
    return outside, inside


def pid_inside(status: bytes, pid: int) -> int:
    """Return which number a process of ours has for itself; the same where that is not known.

    `status` is what /proc/PID/status says of it.
    """
    numbers = said(status, b"NSpid")
    return int(numbers[-1]) if numbers else pid


def _be_init(view: MountNamespace, line: int) -> NoReturn:
    """Be the first process of a namespace: answer what went wrong, else 1, and wait to be killed.

    We do nothing that a job could make us do: the kernel reaps whom we adopt, and no signal but
    the two that nobody can refuse, which come from outside only, reaches us.
    """
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        # All of root, for good: who changes later is no longer killed with its parent.
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        kernel.die_with_parent()
        view.join()
        _mount_own_proc()
        setproctitle.setproctitle(INIT_TITLE)
        _close_all_but(line)
        answer = b"1"
    except OSError as error:
        answer = b"%d" % -(error.errno or 1)
    except BaseException:  # noqa: BLE001 - nothing may escape into the starter's code
        answer = b"%d" % -errno.EIO
    try:
        os.write(line, answer)
        # The parent may have died before it was asked to take us along: then nobody answers.
        if os.read(line, 1) == b"1":
            os.close(line)
            while True:
                signal.pause()
    finally:
        os._exit(0)


def _mount_own_proc() -> None:
    """Show the processes of our namespace in /proc; what is mounted below it now stays there."""
    above: list[tuple[str, int]] = []
    for line in read_small("/proc/self/mountinfo").splitlines():
        words = line.split(b" ")
        kind = words[words.index(b"-") + 1]
        if words[4].startswith(b"/proc/") and kind not in _NOT_TAKEN_ALONG:
            place = os.fsdecode(words[4])
            with contextlib.suppress(OSError):
                above.append((place, os.open(place, os.O_PATH | os.O_CLOEXEC)))
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("proc", "/proc", "proc", flags)
    for place, descriptor in above:
        with contextlib.suppress(OSError):
            kernel.mount(f"/proc/self/fd/{descriptor}", place, flags=kernel.MS_BIND)


def _close_all_but(keep: int) -> None:
    os.closerange(0, keep)
    os.closerange(keep + 1, max(map(int, os.listdir("/proc/self/fd"))) + 1)


def _open_namespace(name: str, own: int | None = None) -> int:
    """Open one of our namespaces; `own` is /proc/self/ns where that cannot be asked for now."""
    flags = os.O_RDONLY | os.O_CLOEXEC
    try:
        return os.open(f"/proc/self/ns/{name}" if own is None else name, flags, dir_fd=own)
    except FileNotFoundError as error:
        # A kernel that has no such namespaces.
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error


@contextlib.contextmanager
def _same_directory() -> Iterator[None]:
    """Come back to the working directory, which a change of the view loses."""
    here = os.open(".", os.O_PATH | os.O_CLOEXEC)
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)
