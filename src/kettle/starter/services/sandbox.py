"""Making, filling and removing a job's sandbox, as the user whose job it is.

The layout is `sandbox.py`. Everything inside belongs to the job's account: a link that a job
made must never lead the starter further than the job could go itself.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from kettle.named_tuples import NamedTuple
from kettle.octets import to_bytes
from kettle.runtime import tasks
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.storage.fences import Fence, open_regular, opened_folder
from kettle.runtime.storage.owned_files import OwnedFiles
from kettle.runtime.storage.removal import remove_tree
from kettle.runtime.storage.small_files import AT_EASE, write_fully
from kettle.runtime.storage.transfer_files import open_to_read
from kettle.runtime.storage.trees import opened_up, walk_tree
from kettle.starter.sandbox import Sandbox
from kettle.starter.services.unlinked import weigh_unlinked
from kettle.transfer.plan import STDERR_NAME, STDOUT_NAME


@dataclass(frozen=True)
class SmallFile:
    """A file that the starter puts into the sandbox."""

    path: str
    text: str
    mode: int = 0o644


@dataclass
class KeptSandbox:
    """What is left of a sandbox between two jobs of a claim: its folders, and the files of ours.

    To make and remove those costs more than a short job. `account` is None while nothing is kept.
    """

    root: str = ""
    account: Account | None = None

    def remove(self, privileges: Privileges) -> None:
        """Remove what is kept."""
        if self.account is not None:
            self.account = None
            with privileges.as_root():
                remove_tree(self.root)


class Survey(NamedTuple):
    """What is in a sandbox once its job has ended.

    The size of the job's files in KiB, their number, and whether nothing is there but what we made.
    """

    kib: int
    files: int
    is_as_made: bool


# Blocks of 512 bytes, up to which a file is no larger than one that we wrote.
_FEW_BLOCKS = 16
# Whether a job hangs can be guessed from these.
_STREAMS = (("StdoutMtime", STDOUT_NAME), ("StderrMtime", STDERR_NAME))


class Living(Protocol):
    """The job's processes, as far as what they hold is measured here."""

    def living(self) -> list[int]:
        """Return the pids of everything of the job's that has not ended."""
        ...


class SandboxKeeper:
    """Owns the directories of one sandbox on disk; `kept` is what the job before left of its own.

    Without `kept` nothing is kept for the next job either.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        privileges: Privileges,
        account: Account,
        kept: KeptSandbox | None = None,
        fence: Fence | None = None,
    ) -> None:
        self.sandbox = sandbox
        self.privileges = privileges
        self.account = account
        # Keeps what is opened here out of other sandboxes; None where there are no other accounts.
        self.fence = fence
        self.files = OwnedFiles(privileges, account, fence=fence)
        self._kept = kept
        self._seen: Survey | None = None
        # Whether the log says that something there cannot be measured.
        self._told_of_unseen = False
        # The job's core file, by its name for the access point.
        self.core = ""
        # Whether nothing of the job is left.
        self._removed = False

    def make(self, files: Iterable[SmallFile] = ()) -> None:
        """Make the directories, and these files in them, with one switch to the job's account.

        What an earlier process with our pid left behind goes first.
        """
        self._make(files)
        if self.fence is not None:
            self.fence.calm = True

    def _make(self, files: Iterable[SmallFile]) -> None:
        box, kept = self.sandbox, self._kept
        if kept is not None and kept.account == self.account and kept.root == box.root:
            kept.account = None
            self._make_of_kept(files)
            return
        if kept is not None:
            kept.remove(self.privileges)
        with self.privileges.as_root():
            try:
                os.mkdir(box.root, 0o700)
            except FileExistsError:
                remove_tree(box.root)
                os.mkdir(box.root, 0o700)
            if self.privileges.can_switch:
                os.chown(box.root, self.account.uid, self.account.gid)
        with self.privileges.as_account(self.account):
            os.mkdir(box.scratch, 0o700)
            os.mkdir(box.user, 0o700)
            os.mkdir(box.htcondor, 0o700)
            for file in files:
                _write(file)

    def _make_of_kept(self, files: Iterable[SmallFile]) -> None:
        """Put these files in the place of those of the job before."""
        box = self.sandbox
        old = {box.job_ad, box.machine_ad, box.chirp_config}
        with self.privileges.as_account(self.account):
            for file in files:
                _overwrite(file)
                old.discard(file.path)
            for path in old:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)

    def survey(self) -> Survey:
        """Look at what the job left. No process of it may live."""
        try:
            with self.privileges.as_account(self.account):
                self._seen = self._survey_as_made()
        except OSError:
            self._seen = None
        if self._seen is None:
            kib, files = self.measure()
            self._seen = Survey(kib, files, is_as_made=False)
        return self._seen

    def stream_times(self) -> dict[str, int]:
        """Return when the streams that are sent back were last written to, as attributes."""
        times: dict[str, int] = {}
        if self._seen is not None and self._seen.is_as_made:
            # The job is over and has left none: no need to become its account to look once more.
            return times
        with contextlib.suppress(OSError), self.privileges.as_account(self.account):
            for attribute, name in _STREAMS:
                with contextlib.suppress(FileNotFoundError):
                    facts = os.lstat(f"{self.sandbox.scratch}/{name}")
                    times[attribute] = int(facts.st_mtime)
        return times

    def surveyed(self) -> Survey:
        """Return what was seen, or what is there. No process of the job may have lived since."""
        return self._seen or self.survey()

    def _survey_as_made(self) -> Survey | None:
        """Return what is there if every folder is the account's, as open and full as it was made.

        None where anything is otherwise.
        """
        box = self.sandbox
        layout: tuple[tuple[str, int, set[str]], ...] = (
            (box.root, 0o700, {"scratch", "user", "htcondor"}),
            (box.user, 0o700, {".chirp.config"}),
            (box.htcondor, 0o700, set()),
            (box.scratch, 0o700, {".job.ad", ".machine.ad"}),
        )
        names: list[str] = []
        for folder, mode, ours in layout:
            facts = os.lstat(folder)
            if facts.st_mode != stat.S_IFDIR | mode or facts.st_uid != self.account.uid:
                return None
            names = os.listdir(folder)
            if not ours.issuperset(names):
                return None
            if folder is box.user and names and not _is_small_file(box.chirp_config):
                return None
        files = [os.lstat(f"{box.scratch}/{name}") for name in names]
        if not all(stat.S_ISREG(file.st_mode) for file in files):
            return None
        kib = sum((file.st_blocks + 1) // 2 for file in files)
        return Survey(kib, len(files), is_as_made=True)

    def leave_to_next(self) -> bool:
        """Keep the sandbox for the next job if nothing is in it but what we put there.

        False if it has to be removed.
        """
        kept, seen = self._kept, self.surveyed()
        if kept is None or not seen.is_as_made:
            return False
        kept.root, kept.account = self.sandbox.root, self.account
        self._removed = True
        return True

    def write(self, path: str, text: str, mode: int) -> None:
        """Write a small file that belongs to the job."""
        self.write_file(SmallFile(path, text, mode))

    def write_file(self, file: SmallFile) -> None:
        """Write a small file that belongs to the job."""
        with self.privileges.as_account(self.account):
            _write(file, self.fence)

    def open(self, path: str) -> int:
        """Open what is to be read, whatever it is, as the job's account; OSError."""
        with self.privileges.as_account(self.account):
            return open_to_read(path, self.fence)

    def may_open(self, path: str) -> bool:
        """Whether what is there is not in another sandbox."""
        with self.privileges.as_account(self.account):
            return self.fence is None or self.fence.allows(path)

    def make_executable(self, path: str) -> None:
        """Give the job's program its execute bits."""
        with self.privileges.as_account(self.account), contextlib.suppress(OSError):
            if self.fence is not None and not self.fence.trusts(path):
                self.fence.make_executable(path)
                return
            mode = stat.S_IMODE(os.stat(path).st_mode)
            if mode & 0o111 != 0o111:
                os.chmod(path, mode | 0o755)  # noqa: S103 - a program has to be executable

    def take_core(self, folder: str, pid: int, name: str) -> None:
        """Give the core file of a process that ended its job's name, so that it clobbers no other.

        `core` says afterwards what it is called; nothing, where none was left in the folder.
        """
        with (
            self.privileges.as_account(self.account),
            contextlib.suppress(OSError),
            opened_folder(folder, self.fence) as place,
        ):
            for left in (f"core.{pid}", "core"):
                with contextlib.suppress(OSError):
                    facts = os.stat(left, dir_fd=place, follow_symlinks=False)
                    if stat.S_ISREG(facts.st_mode):
                        os.rename(left, name, src_dir_fd=place, dst_dir_fd=place)
                        self.core = name
                        return

    def measure(self, *more: str) -> tuple[int, int]:
        """Return the size of the sandbox and of `more` folders in KiB, and how many files it is.

        The files are those of its scratch directory and of `more`. What the job closed to its own
        account is opened up for the look. What cannot be looked at all the same is told of, once.
        """
        with self.privileges.as_root(), contextlib.ExitStack() as stack:
            try:
                stack.enter_context(opened_up(self.sandbox.root))
            except OSError as error:
                self._miss(error)
            kib, files = self._weigh(self.sandbox.scratch, *more)
            return kib + self._weigh_beside_scratch(), files

    def _weigh_beside_scratch(self) -> int:
        """Return the KiB of what else is in the sandbox, all of which is the job's to write to."""
        box, kib = self.sandbox, 0
        try:
            paths = [f"{box.root}/{name}" for name in os.listdir(box.root)]
        except OSError as error:
            self._miss(error)
            return 0
        others = [path for path in paths if path != box.scratch]
        for path in others:
            if path not in (box.user, box.htcondor):
                with contextlib.suppress(OSError):
                    kib += (os.lstat(path).st_blocks + 1) // 2
        return kib + self._weigh(*others)[0]

    def measure_held(self, jobs: Living, *more: str) -> tuple[int, int]:
        """Return the size in KiB, and the number, of deleted files that the job still holds there.

        Those are on the disk of the sandbox and of `more` folders.
        """
        with self.privileges.as_root():
            devices = set()
            for folder in (self.sandbox.root, *more):
                with contextlib.suppress(OSError):
                    devices.add(os.stat(folder).st_dev)
            return weigh_unlinked(jobs.living(), devices)

    def weigh(self, *folders: str) -> tuple[int, int]:
        """Return the size of what is in these folders in KiB, and how many files it is."""
        with self.privileges.as_root():
            return self._weigh(*folders)

    def _weigh(self, *folders: str) -> tuple[int, int]:
        kib = files = 0
        for folder in folders:
            for _, entry in walk_tree(folder, self._miss):
                try:
                    kib += (entry.stat(follow_symlinks=False).st_blocks + 1) // 2
                    files += 1
                except OSError as error:
                    self._miss(error)
        return kib, files

    def _miss(self, error: OSError) -> None:
        """Tell that something that is there, and may be large, does not count."""
        if not self._told_of_unseen and not isinstance(error, FileNotFoundError):
            self._told_of_unseen = True
            tasks.report(
                "Not all that the job has on disk can be looked at, and what cannot does not count:"
                f" {error}"
            )

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

        The job's account might have put links to other sandboxes in the place of our own folders.
        """
        calm = self.fence is None or self.fence.calm
        if not calm and (self._seen is None or not self._seen.is_as_made):
            return False
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


def _is_small_file(path: str) -> bool:
    """Whether there is a file of a block or less, as we write it."""
    facts = os.lstat(path)
    return stat.S_ISREG(facts.st_mode) and facts.st_blocks <= _FEW_BLOCKS


def _write(file: SmallFile, fence: Fence | None = None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    descriptor = open_regular(fence, file.path, flags, file.mode)
    try:
        write_fully(descriptor, to_bytes(file.text))
    finally:
        os.close(descriptor)


def _overwrite(file: SmallFile) -> None:
    """Write a file over one of before; over anything else that was put in its place, anew.

    It is not emptied first: the file system would then write it to the disk when it is closed.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | AT_EASE
    try:
        descriptor = os.open(file.path, flags, file.mode)
    except OSError:
        _write_anew(file)
        return
    try:
        facts = os.fstat(descriptor)
        usual = facts.st_mode == stat.S_IFREG | file.mode and facts.st_nlink == 1
        if usual:
            data = to_bytes(file.text)
            write_fully(descriptor, data)
            if facts.st_size > len(data):
                os.ftruncate(descriptor, len(data))
    finally:
        os.close(descriptor)
    if not usual:
        _write_anew(file)


def _write_anew(file: SmallFile) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(file.path)
    _write(file)
