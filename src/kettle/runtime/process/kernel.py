"""The few kernel calls that Python has no name for: prctl, namespaces, forks of other kinds.

Only wrappers are here; what they are for is told in `zygote_process.py` and `processes.py`.
Everything degrades on a kernel without the call: `fork_sibling` falls back to forking twice, the
others return False.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import sys
from collections.abc import Callable

from kettle.octets import to_bytes

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_CLONE_PARENT = 0x00008000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWIPC = 0x08000000
WAIT_ALL = 0x40000000 if sys.platform.startswith("linux") else 0
"""Has `os.wait4` find children that end without a signal to us, too (`fork_init`)."""
_SYS_SETRESUID = {"x86_64": 117, "aarch64": 147}.get(platform.machine(), 0)
_SYS_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}.get(platform.machine(), 0)
_SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}.get(platform.machine(), 0)
_KEYCTL_JOIN_SESSION_KEYRING = 1
_AT_FDCWD = -100
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
_SYS_CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine(), 0)

# PyDLL keeps the interpreter lock during the call: a fork must not let another thread in between.
_libc = ctypes.PyDLL(None, use_errno=True)
_python = ctypes.pythonapi


def _prctl(option: int, argument: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    return bool(_libc.prctl(option, argument, 0, 0, 0) == 0)


def become_subreaper() -> bool:
    """Make orphaned descendants of this process its children; False if the kernel cannot."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int = signal.SIGKILL) -> bool:
    """Ask for a signal when the parent dies; the caller checks `os.getppid` for a race."""
    return _prctl(_PR_SET_PDEATHSIG, int(number))


def can_switch_threads() -> bool:
    """Whether one thread's effective user can be changed by itself."""
    return sys.platform.startswith("linux") and _SYS_SETRESUID != 0


def set_thread_euid(uid: int) -> None:
    """Change the calling thread's effective user; the C library's call would change every thread's.

    Raises OSError where the kernel refuses.
    """
    unchanged = ctypes.c_long(-1)
    result = _libc.syscall(ctypes.c_long(_SYS_SETRESUID), unchanged, ctypes.c_long(uid), unchanged)
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def join_new_keyring() -> bool:
    """Change this thread's session keyring for a new one, empty, that no other process has.

    What it starts from now on shares that one. False if the kernel has none, or none for us.
    """
    if not sys.platform.startswith("linux") or not _SYS_KEYCTL:
        return False
    nameless = ctypes.c_void_p(None)
    join = ctypes.c_long(_KEYCTL_JOIN_SESSION_KEYRING)
    return bool(_libc.syscall(ctypes.c_long(_SYS_KEYCTL), join, nameless) > 0)


def rename_new(source: str, target: str) -> None:
    """Give a file a name that nothing has, in one step.

    Raises OSError: EEXIST where something has it, EINVAL or ENOSYS where the file system, or the
    kernel, has no such call.
    """
    _rename(source, target, _RENAME_NOREPLACE)


def exchange_names(one: str, other: str) -> None:
    """Give two files, or folders, each the other's name, in one step.

    Raises OSError: ENOENT where one is not there, EINVAL or ENOSYS where the file system, or the
    kernel, has no such call.
    """
    _rename(one, other, _RENAME_EXCHANGE)


def _rename(source: str, target: str, flags: int) -> None:
    if not sys.platform.startswith("linux") or not _SYS_RENAMEAT2:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    result = _libc.syscall(
        ctypes.c_long(_SYS_RENAMEAT2), _AT_FDCWD, os.fsencode(source), _AT_FDCWD,
        os.fsencode(target), flags,
    )  # fmt: skip
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def fork_sibling() -> int:
    """Fork a child whose parent is *our* parent; return its pid, or 0 in the child.

    The parent must reap it. Call it only in a process with one thread. Raises OSError when the
    kernel refuses (too many processes, too little memory).
    """
    if not sys.platform.startswith("linux") or not _SYS_CLONE:
        return _fork_twice()
    return _clone(_CLONE_PARENT | signal.SIGCHLD)


def fork_init() -> int:
    """Fork the first process of a new PID namespace; return its pid, or 0 in the child.

    It ends without SIGCHLD, and only a wait with WAIT_ALL sees it. Call it only in a process with
    one thread. Raises OSError where the kernel has no such namespaces, or not for us.
    """
    if not sys.platform.startswith("linux") or not _SYS_CLONE:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return _clone(_CLONE_NEWPID)


def _clone(flags: int) -> int:
    _python.PyOS_BeforeFork()
    pid: int = _libc.syscall(
        ctypes.c_long(_SYS_CLONE),
        ctypes.c_long(flags),
        ctypes.c_void_p(0),
        ctypes.c_void_p(0),
        ctypes.c_void_p(0),
        ctypes.c_void_p(0),
    )
    if pid == 0:
        _python.PyOS_AfterFork_Child()
        return 0
    error = ctypes.get_errno()
    _python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(error, os.strerror(error))
    return pid


def _fork_twice() -> int:
    """Do the same with a short-lived process in between; the parent must be a subreaper."""
    read_end, write_end = os.pipe()
    middle = os.fork()
    if middle == 0:
        child = os.fork()
        if child == 0:
            os.close(read_end)
            os.close(write_end)
            return 0
        os.write(write_end, str(child).encode("ascii"))
        os._exit(0)
    os.close(write_end)
    text = os.read(read_end, 32)
    os.close(read_end)
    os.waitpid(middle, 0)
    if not text:
        raise OSError("the process between parent and child died")
    return int(text)


_CLONE_FS = 0x00000200
_CLONE_NEWNS = 0x00020000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_SLAVE = 2, 4, 8, 4096, 16384, 1 << 19
_MNT_DETACH = 2


def unshare_mounts() -> None:
    """Give this thread a mount namespace of its own; OSError if the kernel refuses."""
    _check(_libc.unshare(_CLONE_NEWNS))


def join_mounts(descriptor: int) -> None:
    """Enter the mount namespace that a descriptor stands for; the working directory becomes /.

    The kernel lets only a thread do that which shares its directories with no other.
    """
    _check(_libc.unshare(_CLONE_FS))
    _check(_libc.setns(descriptor, _CLONE_NEWNS))


def join_pids(descriptor: int) -> None:
    """Let what this thread starts from now on begin in a PID namespace; we stay in ours."""
    _check(_libc.setns(descriptor, _CLONE_NEWPID))


def unshare_ipc() -> None:
    """Give this thread an IPC namespace of its own; OSError if the kernel refuses."""
    _check(_libc.unshare(_CLONE_NEWIPC))


def join_ipc(descriptor: int) -> None:
    """Enter the IPC namespace that a descriptor stands for."""
    _check(_libc.setns(descriptor, _CLONE_NEWIPC))


# How the tables of /proc/sysvipc name an object's number, and what removes the object.
_REMOVERS: dict[str, Callable[[int], int]] = {
    "shmid": lambda number: _libc.shmctl(number, 0, None),
    "msqid": lambda number: _libc.msgctl(number, 0, None),
    "semid": lambda number: _libc.semctl(number, 0, 0),
}


def remove_ipc(kind: str, number: int) -> bool:
    """Remove System V shared memory (shmid), a queue (msqid) or semaphores (semid), if we may."""
    return bool(_REMOVERS[kind](number) == 0)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount a file system, or bind one folder or file over another."""
    words = [to_bytes(word) or None for word in (source, target, kind)]
    _check(_libc.mount(*words, ctypes.c_ulong(flags), to_bytes(data) or None))


def unmount(target: str) -> None:
    """Take a mount away, for everybody who opens it from now on."""
    _check(_libc.umount2(to_bytes(target), _MNT_DETACH))


# The calls that make a mount without a place, by the numbers that all machines have for them.
_SYS_FSOPEN, _SYS_FSCONFIG, _SYS_FSMOUNT = 430, 431, 432
_FSOPEN_CLOEXEC = _FSMOUNT_CLOEXEC = 1
_FSCONFIG_CMD_CREATE = 6


def open_placeless(kind: str) -> int:
    """Open the folder of a file system of a kind that is mounted for this alone, and nowhere.

    Raises OSError where the kernel refuses, or is older than Linux 5.2.
    """
    if not sys.platform.startswith("linux"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    context = _descriptor(_SYS_FSOPEN, to_bytes(kind), _FSOPEN_CLOEXEC)
    try:
        _descriptor(_SYS_FSCONFIG, context, _FSCONFIG_CMD_CREATE, None, None, 0)
        mounted = _descriptor(_SYS_FSMOUNT, context, _FSMOUNT_CLOEXEC, 0)
    finally:
        os.close(context)
    try:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        return os.open(".", flags, dir_fd=mounted)
    finally:
        os.close(mounted)


def _descriptor(number: int, *words: int | bytes | None) -> int:
    """Make a system call by its number; return its result, raise OSError where it is below zero."""
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


# The first words of struct statfs where a word has 64 bits.
_STATFS_WORDS = 7
_STATFS_SIZE = 256


def statfs_numbers(where: str | int) -> tuple[int, ...]:
    """Return type, block size, blocks, free and available ones, inodes and free ones.

    Of the file system of a path or of an open file; the type is 0 where the kernel cannot be asked.
    """
    if not sys.platform.startswith("linux") or sys.maxsize < 1 << 32:
        facts = os.statvfs(where)
        blocks = (facts.f_bsize, facts.f_blocks, facts.f_bfree, facts.f_bavail)
        return (0, *blocks, facts.f_files, facts.f_ffree)
    # A file server may take its time: the other threads go on meanwhile.
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = (ctypes.c_uint64 * (_STATFS_SIZE // 8))()
    if isinstance(where, int):
        _check(libc.fstatfs(where, ctypes.byref(numbers)))
    else:
        _check(libc.statfs(to_bytes(where), ctypes.byref(numbers)))
    return tuple(numbers[:_STATFS_WORDS])


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
