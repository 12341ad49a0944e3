"""What the submit language needs from outside: files, commands and facts about the submission.

Protocols and a copy out of dictionaries for tests; the real sources are made by the tools.
"""

from __future__ import annotations

import fnmatch
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from kettle.config.sources import MemorySources
from kettle.named_tuples import NamedTuple
from kettle.octets import to_bytes
from kettle.structs import Struct
from kettle.submit.item_lines import join_continued, split_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random


class FileFact(NamedTuple):
    """What counts about a file: its size in bytes, whether it is a folder.

    `is_measured` is false where nobody looked, and the size says nothing.
    """

    size_bytes: int
    is_directory: bool = False
    is_measured: bool = True


class SubmitSources(Protocol):
    """Where a submit description's texts and files come from; methods may raise OSError."""

    def read_text(self, path: str) -> str:
        """Return the text of a file, relative to where the submission happens."""

    def read_items(self, path: str) -> Sequence[str]:
        """Return the items in a file, one a line."""

    def standard_input(self) -> str | None:
        """Return what standard input holds, None if the description itself came from it."""

    def write_text(self, path: str, text: str) -> None:
        """Write a file anew (`include command into`)."""

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or folder of this name."""

    def run_command(self, command: Sequence[str]) -> tuple[int, str]:
        """Run a program and return its exit status and what it printed."""

    def look_at(self, path: str) -> FileFact | None:
        """Return what counts about a file, None if it is not there."""

    def folder_bytes(self, path: str) -> int:
        """Return how many bytes are in the files of a folder and of those in it.

        Links in it count nothing, nor does what cannot be read.
        """

    def head(self, path: str) -> bytes:
        """Return the beginning of a file, a few hundred bytes."""

    def glob(self, pattern: str) -> list[str]:
        """Return the names that match a pattern, sorted, relative as the pattern is.

        A folder's has a slash behind it, also where it ended in one before.
        """

    def random(self) -> Random:
        """Return the source of randomness for `$RANDOM_CHOICE()`."""


class SubmitFacts(Struct):
    """Facts about one submission that no file says.

    `now` is epoch seconds; `folder` is absolute; `file_name` is the description's own name; `uid`
    is the submitter's, whose X.509 proxy lies under it; `date` is the day of `now` where the
    submission happens, as year-month-day, empty for Greenwich's.
    """

    now: int
    user: str
    folder: str
    file_name: str
    version: str
    platform: str
    environment: Mapping[str, str]
    cluster: int = 1
    uid: int = 0
    date: str = ""

    @property
    def local_date(self) -> str:
        """The day of the submission, as year-month-day."""
        return self.date or f"{datetime.fromtimestamp(self.now, UTC):%Y-%m-%d}"


class MemorySubmitSources(MemorySources):
    """Submit sources out of a dictionary of texts; names are relative to one folder."""

    def __init__(
        self,
        files: dict[str, str] | None = None,
        *,
        folder: str = "/work",
        folders: set[str] | None = None,
        standard_input: str | None = None,
    ) -> None:
        super().__init__(files)
        self.folder = folder
        self._standard_input = standard_input
        self.folders: set[str] = set() if folders is None else folders

    def read_text(self, path: str) -> str:
        """Return the text kept under the name."""
        return super().read_text(self._relative(path))

    def read_items(self, path: str) -> Sequence[str]:
        """Return the lines of the text kept under the name."""
        return join_continued(split_lines(self.read_text(path)))

    def standard_input(self) -> str | None:
        """Return the text given for it."""
        return self._standard_input

    def look_at(self, path: str) -> FileFact | None:
        """Return the length of the text kept under the name."""
        name = self._relative(path)
        if name in self.files:
            return FileFact(len(self.files[name]))
        name = name.rstrip("/")
        if name in self.folders or any(known.startswith(name + "/") for known in self.files):
            return FileFact(0, is_directory=True)
        return None

    def folder_bytes(self, path: str) -> int:
        """Return the length of all texts kept under the name and a slash."""
        inside = self._relative(path).rstrip("/") + "/"
        return sum(len(text) for name, text in self.files.items() if name.startswith(inside))

    def head(self, path: str) -> bytes:
        """Return the beginning of the text kept under the name."""
        return to_bytes(self.read_text(path)[:512])

    def glob(self, pattern: str) -> list[str]:
        """Return the kept names that match."""
        return sorted(name for name in self.files if fnmatch.fnmatchcase(name, pattern))

    def _relative(self, path: str) -> str:
        return path.removeprefix(self.folder + "/")
