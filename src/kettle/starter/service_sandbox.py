"""Making, filling and removing a job's sandbox, as the user whose job it is.

The layout is `sandbox.py`. Everything inside belongs to the job's account: a link that a job
made must never lead the starter further than the job could go itself.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kettle.runtime.owned_files import OwnedFiles
from kettle.runtime.privileges import Account, Privileges
from kettle.runtime.removal import remove_tree
from kettle.starter.sandbox import Sandbox
from kettle.wire.codec import is_private_attribute


@dataclass(frozen=True)
class SmallFile:
    """A file that the starter puts into the sandbox."""

    path: str
    text: str
    mode: int = 0o644


def ad_file(path: str, lines: Iterable[str]) -> SmallFile:
    """Return an ad as a file for the job to read, without what is nobody's business."""
    # Nearly every line is told by its first letter to be no secret.
    kept = [
        line
        for line in lines
        if line[0] not in "cCtT_" or not is_private_attribute(line.partition(" ")[0])
    ]
    return SmallFile(path, "\n".join([*kept, ""]))


class SandboxKeeper:
    """Owns the directories of one sandbox on disk."""

    def __init__(self, sandbox: Sandbox, privileges: Privileges, account: Account) -> None:
        self.sandbox = sandbox
        self.privileges = privileges
        self.account = account
        self.files = OwnedFiles(privileges, account)
        self._removed = False

    def make(self, files: Iterable[SmallFile] = ()) -> None:
        """Make the directories, and these files in them, with one switch to the job's account.

        What an earlier process with our pid left behind goes first.
        """
        box = self.sandbox
        with self.privileges.as_root():
            try:
                os.mkdir(box.root, 0o755)
            except FileExistsError:
                remove_tree(box.root)
                os.mkdir(box.root, 0o755)
            if self.privileges.can_switch:
                os.chown(box.root, self.account.uid, self.account.gid)
        with self.privileges.as_account(self.account):
            os.mkdir(box.scratch, 0o700)
            os.mkdir(box.user, 0o700)
            os.mkdir(box.htcondor, 0o755)
            for file in files:
                _write(file)

    def write(self, path: str, text: str, mode: int) -> None:
        """Write a small file that belongs to the job."""
        self.write_file(SmallFile(path, text, mode))

    def write_file(self, file: SmallFile) -> None:
        """Write a small file that belongs to the job."""
        with self.privileges.as_account(self.account):
            _write(file)

    def make_executable(self, path: str) -> None:
        """Give the job's program its execute bits."""
        with self.privileges.as_account(self.account), contextlib.suppress(OSError):
            mode = stat.S_IMODE(os.stat(path).st_mode)
            if mode & 0o111 != 0o111:
                os.chmod(path, mode | 0o755)  # noqa: S103 - a program has to be executable

    def measure(self) -> tuple[int, int]:
        """Return the sandbox's size in KiB and the number of its files."""
        kib = files = 0
        with self.privileges.as_root():
            for entry in _walk(self.sandbox.scratch):
                kib += (entry.st_blocks + 1) // 2
                files += 1
        return kib, files

    def remove(self) -> None:
        """Remove everything (R088); what cannot be removed is left for the startd."""
        if self._removed:
            return
        self._removed = self._remove_what_we_made()
        if not self._removed:
            with self.privileges.as_root():
                self._removed = remove_tree(self.sandbox.root)

    def _remove_what_we_made(self) -> bool:
        """Remove a sandbox in which there is nothing but what we put there; False if there is more.

        As the job's account, which might have put links in the place of our own folders.
        """
        box = self.sandbox
        try:
            with self.privileges.as_account(self.account):
                for path in (box.job_ad, box.machine_ad, box.chirp_config):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(path)
                for path in (box.scratch, box.user, box.htcondor):
                    os.rmdir(path)
            with self.privileges.as_root():
                os.rmdir(box.root)
        except OSError:
            return False
        return True


def _write(file: SmallFile) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(file.path, flags, file.mode)
    try:
        os.write(descriptor, file.text.encode())
    finally:
        os.close(descriptor)


def _walk(root: str) -> Iterator[os.stat_result]:
    waiting = [root]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            with contextlib.suppress(OSError):
                yield entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
