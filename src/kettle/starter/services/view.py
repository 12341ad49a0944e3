"""A job's own view of the machine: its /tmp, /var/tmp and /dev/shm, its processes and queues only.

It hides the sandboxes of others, too (`curtain.py`). Which folders is `private_view.py`; the
namespaces are made once for a starter, and the folders emptied for each of its jobs. Where the
kernel does not allow it at all the job sees the machine's own folders, as in the reference, and
what hides may outlive its starter; the log says so once. Where it fails for another reason, which
may pass, the job does not run here.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
from collections.abc import Callable, Iterator, Mapping

from kettle.runtime.process import kernel
from kettle.runtime.process.namespaces import (
    IpcNamespace,
    MountNamespace,
    PidNamespace,
    is_refusal,
)
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.storage.removal import remove_tree
from kettle.runtime.storage.small_files import read_small
from kettle.starter.private_view import (
    SHARED_MEMORY,
    accounts_with_shell,
    groups_without_tty,
    only_local,
)
from kettle.starter.services.curtain import Curtain

# Where the machine shows POSIX message queues, if it does.
QUEUES = "/dev/mqueue"


class JobView:
    """The view of the jobs of one starter; `folder` is where what is theirs alone lies.

    Compat: the reference makes these folders below the scratch directory, anew for each job. To
    mount costs more than a short job, so here they are made once and emptied between jobs
    (tests/pool/test_private_folders.py).
    """

    def __init__(
        self,
        privileges: Privileges,
        folder: str,
        *,
        own_pids: bool = False,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`own_pids` is whether jobs get PID and IPC namespaces.

        `tell` is told, once each, what jobs do not get here, and why.
        """
        self._privileges = privileges
        self.folder = folder
        self._namespace: MountNamespace | None = None
        self._pids: PidNamespace | None = None
        self._wants_pids = own_pids
        self._no_pids: OSError | None = None
        # Of the present job alone, and whether nothing is in it and nothing was started in it.
        self._ipc: IpcNamespace | None = None
        self._ipc_is_new = False
        self._wants_ipc = own_pids
        self._no_ipc: OSError | None = None
        # Whether what shows message queues there is the machine's, or a job's.
        self._shows_queues = False
        self._tell = tell
        # Why there are no views here, and whether there was one.
        self._no_view: OSError | None = None
        self._was_made = False
        self._told: set[str] = set()
        self._refused = not privileges.can_switch
        self._made_for: tuple[object, ...] | None = None
        # Hides other jobs' sandboxes, and shows where its own is now.
        self._curtain: Curtain | None = None
        # The folders that are the job's own, opened inside, each with its mode.
        self._private: list[tuple[int, int]] = []
        # Their paths, in the order in which they were replaced.
        self._replaced: list[str] = []
        # Whether they were as they were made, and nothing has been started since.
        self._seen_empty = False

    @property
    def possible(self) -> bool:
        """Whether views other than the machine's own can be made here, as far as is known."""
        return not self._refused

    @property
    def init(self) -> int:
        """Return the pid of what everything of the job ends with, none of the job; 0 without."""
        return self._pids.init if self._pids is not None else 0

    @property
    def broken(self) -> bool:
        """Whether the init was killed, with which the kernel kills everything inside."""
        if self._pids is None:
            return False
        with self._privileges.as_root():
            return not self._pids.lives

    def mend(self) -> bool:
        """Make the PID namespace anew; False where there is none, or it cannot be made.

        Its folders stay: what the job's own earlier programs left there is the job's.
        """
        if self._pids is None or self._namespace is None:
            return False
        try:
            with self._privileges.as_root():
                self._pids.close()
                self._pids = None
                with self._namespace.entered():
                    # That of the dead, in which the next init would not find itself.
                    kernel.unmount("/proc")
                self._pids = PidNamespace.make(self._namespace)
        except OSError as error:
            self._tell(f"a PID namespace cannot be made again: {error.strerror}")
            # The next job gets another view.
            self._made_for = None
            return False
        return True

    def prepare(
        self,
        folders: tuple[str, ...],
        account: Account,
        *,
        shared_memory: bool,
        hidden: tuple[str, ...] = (),
        shown: tuple[str, ...] = (),
        sandbox: str = "",
    ) -> None:
        """Let these folders, and shared memory, be the job's own, and empty.

        Those that are `hidden` show nothing but its `sandbox`, which is there already, and what is
        `shown` of them. OSError where that cannot be now, though it may be for the next job; where
        it cannot be here at all, the job is to see what everybody sees.
        """
        wanted = (folders, account.uid, shared_memory, hidden, shown)
        try:
            with self._privileges.as_root():
                if wanted != self._made_for or not self._renew():
                    self._close()
                    curtain = Curtain(hidden, sandbox, shown)
                    self._make(folders, account, shared_memory, curtain)
                    self._made_for = wanted
                    self._was_made = True
                self._renew_ipc()
        except OSError as error:
            self.close()
            # What was there before is not refused: what went wrong then may be of the moment.
            if self._was_made or not is_refusal(error):
                raise
            self._refused = True
            self._no_view = error
            self._no_pids = self._no_pids or error
        self._tell_what_is_refused()

    def _renew(self) -> bool:
        """Make the view of the job before that of the next; False if it has to be made anew."""
        if self._pids is not None and not self._pids.lives:
            return False
        try:
            if not self._seen_empty:
                self._empty()
            if self._curtain is not None and self._namespace is not None:
                self._curtain.follow(self._namespace)
        except OSError:
            # A job may have put there what cannot be removed; a new view is without it.
            return False
        return True

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)

    def _tell_what_is_refused(self) -> None:
        if self._no_view is not None:
            self._tell_once(
                f"The kernel refuses jobs a view of their own ({self._no_view.strerror}); they see "
                "the machine's /tmp and /dev/shm, and the sandboxes of other jobs"
            )
        if self._no_pids is not None and self._wants_pids:
            self._wants_pids = False
            self._tell(
                f"USE_PID_NAMESPACES: the kernel refuses them ({self._no_pids.strerror}); what "
                "hides of a job may live on when all daemons of this machine are killed at once"
            )
        if self._no_ipc is not None and self._wants_ipc:
            self._wants_ipc = False
            self._tell(
                f"The kernel refuses IPC namespaces ({self._no_ipc.strerror}); shared memory and "
                "message queues may outlive the job that made them"
            )

    def _renew_ipc(self) -> None:
        """Give the job that begins shared memory, semaphores and message queues of its own."""
        if self._ipc is not None and self._ipc_is_new:
            return
        self._close_ipc()
        if not self._wants_ipc or self._namespace is None:
            return
        try:
            self._ipc = IpcNamespace.make()
        except OSError as error:
            if not is_refusal(error, "ipc"):
                raise
            self._no_ipc = error
            return
        self._ipc_is_new = True
        if self._shows_queues:
            suppressed = contextlib.suppress(OSError)
            with self._namespace.entered(), self._ipc.entered(), suppressed:
                # What is there shows, and makes, those of the job before, or the machine's.
                kernel.unmount(QUEUES)
                flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
                kernel.mount("mqueue", QUEUES, "mqueue", flags)

    def forget_ipc(self, *, all_dead: bool) -> bool:
        """Let what a job left of shared memory and queues go; False if it had the machine's.

        Where its processes are `all_dead` the kernel removes with this what they made; where they
        made nothing, or removed it, the next job of the claim may have the same.
        """
        if self._ipc is None:
            return False
        with self._privileges.as_root():
            self._ipc_is_new = all_dead and self._ipc.is_empty
            if not self._ipc_is_new:
                self._close_ipc()
        return True

    def _close_ipc(self) -> None:
        if self._ipc is not None:
            self._ipc.close()
            self._ipc = None

    def _make(
        self, folders: tuple[str, ...], account: Account, shared_memory: bool, curtain: Curtain
    ) -> None:
        self._namespace = MountNamespace.make()
        try:
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            # Of an earlier process with our pid.
            remove_tree(self.folder)
            os.mkdir(self.folder, 0o700)
        with self._namespace.entered():
            for number, target in enumerate(folders):
                if not os.path.isdir(target):
                    continue
                source = f"{self.folder}/{number}"
                os.mkdir(source, 0o700)
                os.chown(source, account.uid, account.gid)
                kernel.mount(source, target, flags=kernel.MS_BIND)
                self._replaced.append(target)
                self._private.append(_open_folder(target))
            if shared_memory and os.path.isdir(SHARED_MEMORY):
                flags = kernel.MS_NOSUID | kernel.MS_NODEV
                kernel.mount("tmpfs", SHARED_MEMORY, "tmpfs", flags, "mode=1777")
                self._replaced.append(SHARED_MEMORY)
                self._private.append(_open_folder(SHARED_MEMORY))
            # Last: what is the job's own lies in a folder that is hidden now.
            self._curtain = curtain
            curtain.draw(self._tell_once)
        self._shows_queues = shows_queues(read_small("/proc/self/mountinfo"))
        if self._wants_pids:
            try:
                self._pids = PidNamespace.make(self._namespace)
            except OSError as error:
                if not is_refusal(error, "pid"):
                    raise
                self._no_pids = error

    def note_whether_empty(self) -> bool:
        """Look whether the folders that are the job's own are as they were made, and empty.

        None of its processes may live: until something is started again, they need not be emptied.
        """
        with self._privileges.as_root():
            self._seen_empty = not any(
                os.listdir(folder) or os.fstat(folder).st_mode != mode
                for folder, mode in self._private
            )
        return self._seen_empty

    def _empty(self) -> None:
        """Remove what the job before left; all its processes are dead."""
        for folder, mode in self._private:
            for name in os.listdir(folder):
                _remove(f"/proc/self/fd/{folder}/{name}")
            os.fchmod(folder, stat.S_IMODE(mode))

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """See what the job sees; the caller is root where there is a view. Nothing may await."""
        self._seen_empty = False
        if self._namespace is None:
            yield
            return
        with self._namespace.entered(), self._apart():
            yield

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """See the machine's folders, and let what is started end with the job's processes.

        It may be a program of the job's owner: sandboxes and processes it sees as the job does.
        """
        with self._privileges.as_root():
            if self._namespace is None or self._curtain is None:
                with self._apart():
                    yield
                return
            inner = MountNamespace.make(self._namespace)
            try:
                with inner.entered(), self._apart():
                    for folder in reversed(self._replaced):
                        kernel.unmount(folder)
                    yield
            finally:
                inner.close()

    @contextlib.contextmanager
    def _apart(self) -> Iterator[None]:
        """Let what is started meanwhile end, with what it shares, when the job's processes do."""
        self._ipc_is_new = False
        pids = self._pids.entered() if self._pids is not None else contextlib.nullcontext()
        ipc = self._ipc.entered() if self._ipc is not None else contextlib.nullcontext()
        with pids, ipc:
            yield

    @contextlib.contextmanager
    def with_login(
        self, account: Account, shell: str, home: str, *, without_tty: bool
    ) -> Iterator[None]:
        """See what the job sees, changed so that the account can log in; OSError if it cannot.

        A login needs a shell, and accounts of slots often have none: with `shell` the machine's
        list of accounts is copied to where nobody can write and differs in that one line; who else
        makes up accounts (nss-systemd knows nobody as locked) is not asked. `without_tty` leaves
        the group tty out of the list of groups: sshd lets a terminal stay its user's own then,
        where it could not hand it to that group and would end (`runtime/process/terminals.py`).
        """
        texts, local = {}, list[str]()
        if shell:
            ids = (account.uid, account.gid)
            texts["/etc/passwd"] = accounts_with_shell(
                _read("/etc/passwd"), account.name, ids, shell, home
            )
            local += ["passwd", "shadow"]
        if without_tty:
            texts["/etc/group"] = groups_without_tty(_read("/etc/group"))
            local.append("group")
        texts["/etc/nsswitch.conf"] = only_local(_read("/etc/nsswitch.conf"), local)
        self._seen_empty = False
        inner = MountNamespace.make(self._namespace)
        try:
            with inner.entered(), self._apart():
                _replace_files(texts)
                yield
        finally:
            inner.close()

    def close(self) -> None:
        """Let go of the view and of what lies in it."""
        with self._privileges.as_root():
            self._close()

    def _close(self) -> None:
        for folder, _ in self._private:
            os.close(folder)
        self._made_for, self._private, self._replaced = None, [], []
        if self._curtain is not None:
            self._curtain.close()
            self._curtain = None
        self._close_ipc()
        if self._pids is not None:
            self._pids.close()
            self._pids = None
        if self._namespace is not None:
            self._namespace.close()
            self._namespace = None
            remove_tree(self.folder)


def shows_queues(mounts: bytes) -> bool:
    """Whether the list of mounts (/proc/self/mountinfo) shows POSIX message queues at QUEUES."""
    place = os.fsencode(QUEUES)
    for line in mounts.splitlines():
        words = line.split(b" ")
        if words[4] == place and words[words.index(b"-") + 1] == b"mqueue":
            return True
    return False


def _open_folder(path: str) -> tuple[int, int]:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return folder, os.fstat(folder).st_mode


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        remove_tree(path)
    else:
        os.unlink(path)


def _replace_files(texts: Mapping[str, str]) -> None:
    """Put these texts where files of the machine are, in a view that only we see so far."""
    desk = "/tmp"  # noqa: S108 - a file system of its own comes over it, for a moment
    kernel.mount("tmpfs", desk, "tmpfs", data="mode=0755")
    for number, (target, text) in enumerate(texts.items()):
        if os.path.exists(target):
            source = f"{desk}/{number}"
            descriptor = os.open(source, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
                os.fchmod(descriptor, 0o644)
                file.write(text)
            kernel.mount(source, target, flags=kernel.MS_BIND)
    kernel.unmount(desk)


def has_shell(name: str) -> bool:
    """Whether an account can be logged in to."""
    try:
        shell = pwd.getpwnam(name).pw_shell or "/bin/sh"
    except KeyError:
        return False
    return os.path.basename(shell) not in {"nologin", "false"} and os.access(shell, os.X_OK)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""
