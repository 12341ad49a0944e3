"""What one side of a file transfer sends: files, directories and URLs, in order.

Nouns only. Which items a job needs is decided in `plan.py`; how they travel is `sending.py`'s;
reading and writing the bytes is the shell's (`FileView` and `Storage` are what it gives us).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SendFile:
    """One file: read from `path`, named `name` (relative, `/` separated) at the receiver.

    `encrypt` is the job's wish: True forces it on, False off, None leaves it to the session.
    """

    path: str
    name: str
    encrypt: bool | None = None
    # A link to a directory stands for no file: what is sent of it is why not.
    is_directory_link: bool = False


@dataclass(frozen=True, slots=True)
class SendDirectory:
    """A directory to be made at the receiver; `mode` has the file type bits too."""

    name: str
    mode: int = 0o40755


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A directory that cannot be listed, by its path and an errno: what is sent of it is why not.

    Compat: the reference sends it empty and says nothing; what was in it is lost
    (test_a_folder_that_cannot_be_listed_fails_the_transfer_as_a_file_does).
    """

    path: str
    number: int

    def error(self) -> OSError:
        """Return why, as the system says it."""
        return OSError(self.number, os.strerror(self.number), self.path)


@dataclass(frozen=True, slots=True)
class SendUrl:
    """A URL the receiver fetches itself, with a plug-in, into `name`."""

    url: str
    name: str


@dataclass(frozen=True, slots=True)
class ReportUrl:
    """The outcome of an output file that the sender put to a URL with a plug-in (999/7).

    What is not sent: how many bytes went, and what `outcome.UrlResult` says of a failure.
    """

    name: str
    destination: str
    success: bool
    error: str = ""
    subcode: int = 0
    orderly: bool = False
    size: int = 0
    broke: str = ""
    told: str = ""


@dataclass(frozen=True, slots=True)
class PutUrls:
    """Files that a plug-in takes to URLs once the transfer has begun.

    `put` does that and returns what became of each, in the order of `names`; it is awaited where
    the driver can.
    """

    names: tuple[str, ...]
    put: Callable[[], Sequence[ReportUrl] | Awaitable[Sequence[ReportUrl]]]


# What is planned; a PutUrls is made of planned files once it is known which go to URLs.
Item = SendFile | SendDirectory | SendUrl | Unlisted


@dataclass(frozen=True, slots=True)
class Look:
    """What is at a path: one `stat`, symbolic links followed."""

    is_directory: bool
    # Anything that is neither file nor directory (socket, pipe, device) is never transferred.
    is_regular: bool
    is_link: bool
    size: int
    mode: int
    mtime_ns: int


class FileView(Protocol):
    """The shell's eyes: what planning may ask about the file system."""

    def look(self, path: str) -> Look | None:
        """Return what is at `path`, None if there is nothing (or it may not be seen)."""

    def names(self, path: str) -> Sequence[str]:
        """Return the names in the directory `path`, sorted; OSError if they cannot be looked at."""


class SourceFile(Protocol):
    """A file opened for sending.

    Here and below, what returns an awaitable is awaited by the asynchronous driver of dialogs.
    """

    size: int
    mode: int

    def read(self, size: int) -> bytes | Awaitable[bytes]:
        """Return up to `size` bytes; empty at the end. Raises OSError."""

    def close(self) -> None:
        """Close the file."""


class TargetFile(Protocol):
    """A file opened for receiving."""

    def write(self, data: bytes) -> Awaitable[None] | None:
        """Append the bytes. Raises OSError."""

    def close(self) -> Awaitable[None] | None:
        """Finish the file; it has its whole content now. Raises OSError."""

    def discard(self) -> Awaitable[None] | None:
        """Close the file, which is not whole, and take it away; nothing is raised."""


class Storage(Protocol):
    """The shell's hands: what a transfer may do to the file system, each may raise OSError."""

    def open_source(self, path: str) -> SourceFile | Awaitable[SourceFile]:
        """Open a file for sending."""

    def open_target(
        self, path: str, mode: int, size: int = 0
    ) -> TargetFile | Awaitable[TargetFile]:
        """Create or replace a file of `size` bytes; permission bits `mode`, 0 means the default."""

    def make_directory(self, path: str, mode: int) -> Awaitable[None] | None:
        """Make a directory; one that is already there is fine."""
