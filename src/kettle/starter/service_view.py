"""A job's own view of the machine's folders: /tmp, /var/tmp and /dev/shm are nobody else's.

Which folders is `private_view.py`; the namespace is made once for a starter, and filled anew for
each of its jobs. Where the kernel does not allow it the job sees the machine's own folders, as in
the reference.
"""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Iterator, Mapping

from kettle.runtime import kernel
from kettle.runtime.namespaces import MountNamespace
from kettle.runtime.privileges import Account, Privileges

_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - it is made the job's own


class JobView:
    """The view of the jobs of one starter."""

    def __init__(self, privileges: Privileges) -> None:
        self._privileges = privileges
        self._namespace: MountNamespace | None = None
        self._refused = not privileges.can_switch
        self._mounted: list[str] = []

    @property
    def possible(self) -> bool:
        """Whether views other than the machine's own can be made here, as far as is known."""
        return not self._refused

    def prepare(
        self, folders: tuple[str, ...], scratch: str, account: Account, *, shared_memory: bool
    ) -> None:
        """Let these folders be ones below `scratch`, and shared memory be the job's own."""
        if self._refused:
            return
        try:
            self._fill(folders, scratch, account, shared_memory)
        except OSError:
            self._refused = True
            self.close()

    def _fill(
        self, folders: tuple[str, ...], scratch: str, account: Account, shared_memory: bool
    ) -> None:
        wanted = [(folder, scratch + folder) for folder in folders if os.path.isdir(folder)]
        with self._privileges.as_account(account):
            for _, source in wanted:
                os.makedirs(source, mode=0o700, exist_ok=True)
        with self._privileges.as_root():
            if self._namespace is None:
                self._namespace = MountNamespace.make()
            with self._namespace.entered():
                self._unmount()
                for folder, source in wanted:
                    kernel.mount(source, folder, flags=kernel.MS_BIND)
                    self._mounted.append(folder)
                if shared_memory and os.path.isdir(_SHARED_MEMORY):
                    flags = kernel.MS_NOSUID | kernel.MS_NODEV
                    kernel.mount("tmpfs", _SHARED_MEMORY, "tmpfs", flags, "mode=1777")
                    self._mounted.append(_SHARED_MEMORY)

    def _unmount(self) -> None:
        while self._mounted:
            with contextlib.suppress(OSError):
                kernel.unmount(self._mounted.pop())

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """See what the job sees; the caller is root where there is a view. Nothing may await."""
        if self._namespace is None:
            yield
            return
        with self._namespace.entered():
            yield

    @contextlib.contextmanager
    def with_shell(self, account: Account, shell: str, home: str) -> Iterator[None]:
        """See what the job sees, and the account with this shell; OSError where that cannot be.

        A login needs one, and accounts of slots often have none. The machine's list of accounts is
        copied to where nobody can write and differs in that one line; who else makes up accounts
        (nss-systemd knows nobody as locked) is not asked.
        """
        texts = {
            "/etc/passwd": accounts_with_shell(_read("/etc/passwd"), account, shell, home),
            "/etc/nsswitch.conf": only_local_accounts(_read("/etc/nsswitch.conf")),
        }
        with self.entered():
            inner = MountNamespace.make()
            try:
                with inner.entered():
                    _replace_files(texts)
                    yield
            finally:
                inner.close()

    def close(self) -> None:
        """Let go of the view."""
        if self._namespace is not None:
            self._namespace.close()
            self._namespace = None


def accounts_with_shell(text: str, account: Account, shell: str, home: str) -> str:
    """Return the list of accounts with this shell and home for one of them."""
    own = f"{account.name}:x:{account.uid}:{account.gid}::{home}:{shell}"
    lines = [line for line in text.splitlines() if line.partition(":")[0] != account.name]
    return "\n".join([*lines, own, ""])


def only_local_accounts(text: str) -> str:
    """Return the name service configuration with nobody but the files asked for accounts."""
    lines = [
        line
        for line in text.splitlines()
        if line.partition(":")[0].strip() not in {"passwd", "shadow"}
    ]
    return "\n".join([*lines, "passwd: files", "shadow: files", ""])


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
