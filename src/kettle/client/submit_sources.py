"""The machine as the source of submit descriptions: files, patterns, commands, facts.

What a description means is decided in `kettle.submit`, which asks for all of this by protocol.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence

from kettle.attributes.version import CONDOR_VERSION, condor_platform, parse_os_release
from kettle.config import Config
from kettle.runtime.storage.files import SystemSources
from kettle.runtime.storage.texts import LARGEST_TEXT
from kettle.submit.item_lines import join_continued, split_lines
from kettle.submit.sources import FileFact, SubmitFacts

# A file with more bytes is not read as a whole, if that need not be.
_LARGE_BYTES = 1 << 20
# What is said of a larger one that must be.
TOO_LARGE_WHOLE = (
    f"it has more than {LARGEST_TEXT >> 20} MiB, and lines that end in a backslash or a bare "
    "carriage return; without these it may be of any size"
)


class SystemSubmitSources(SystemSources):
    """Files as the submitting process sees them, from its own folder.

    `read_input` reads standard input to its end; None if the description came from there.
    """

    # Items may be printed by a command.
    command_bytes = LARGEST_TEXT

    def __init__(self, read_input: Callable[[], str] | None = None) -> None:
        super().__init__()
        self._read_input = read_input
        # Of one submission many jobs may send the same folder.
        self._folder_bytes: dict[str, int] = {}

    def read_items(self, path: str) -> Sequence[str]:
        """Return the items in a file, one a line; of a large one they are read when wanted."""
        facts = os.stat(path)
        if stat.S_ISREG(facts.st_mode) and facts.st_size > _LARGE_BYTES:
            from kettle.client.item_files import open_items  # few have so many items

            found = open_items(path)
            if found is not None:
                return found
            if facts.st_size > LARGEST_TEXT:
                raise OSError(errno.EFBIG, TOO_LARGE_WHOLE)
        return join_continued(split_lines(self.read_text(path)))

    def standard_input(self) -> str | None:
        """Return what standard input holds, None if the description itself came from it."""
        return None if self._read_input is None else self._read_input()

    def look_at(self, path: str) -> FileFact | None:
        """Return what counts about a file, None if it is not there."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        return FileFact(found.st_size, stat.S_ISDIR(found.st_mode))

    def folder_bytes(self, path: str) -> int:
        """Return how many bytes are in the files of a folder, found out once."""
        known = self._folder_bytes.get(path)
        if known is None:
            known = self._folder_bytes[path] = _bytes_in(path)
        return known

    def head(self, path: str) -> bytes:
        """Return the beginning of a file, a few hundred bytes."""
        with open(path, "rb") as file:
            return file.read(512)

    def glob(self, pattern: str) -> list[str]:
        """Return the names that match a pattern; a folder's ends in one slash more than it has."""
        from kettle.runtime.storage.matching import matching_names  # few statements match names

        return matching_names(pattern)


def _bytes_in(folder: str) -> int:
    total = 0
    pending = [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as found:
                entries = list(found)
        except OSError:
            # It is gone by now, or nobody may look.
            continue
        pending += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        total += sum(map(_bytes_of, entries))
    return total


def _bytes_of(entry: os.DirEntry[str]) -> int:
    try:
        is_file = entry.is_file(follow_symlinks=False)
        return entry.stat(follow_symlinks=False).st_size if is_file else 0
    except OSError:
        return 0


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        said = "the folder that you are in was deleted; go to one that is there, and submit from it"
        raise FileNotFoundError(error.errno, said) from None


def read_facts(config: Config, environment: Mapping[str, str], file_name: str) -> SubmitFacts:
    """Return the facts of a submission that happens now, here, by whoever runs this."""
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            release = parse_os_release(file.read())
    except OSError:
        release = {}
    now = int(time.time())
    return SubmitFacts(
        now=now,
        user=config.get("USERNAME") or str(os.getuid()),
        folder=_here(),
        file_name=file_name,
        version=CONDOR_VERSION,
        platform=condor_platform(release),
        environment=environment,
        uid=os.getuid(),
        date=time.strftime("%Y-%m-%d", time.localtime(now)),
    )
