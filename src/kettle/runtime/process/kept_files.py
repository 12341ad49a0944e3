"""Files of the kernel's that stay open: to open one costs several times what a word costs."""

from __future__ import annotations

import os

from kettle.octets import to_bytes


class KeptFiles:
    """Descriptors by path, one for reading and one for writing."""

    def __init__(self) -> None:
        self._descriptors: dict[tuple[str, int], int] = {}

    def _descriptor(self, path: str, flags: int) -> int:
        found = self._descriptors.get((path, flags))
        if found is None:
            found = self._descriptors[path, flags] = os.open(path, flags | os.O_CLOEXEC)
        return found

    def to_write(self, path: str) -> int:
        """Return the descriptor by which a file is written; OSError."""
        return self._descriptor(path, os.O_WRONLY)

    def write(self, path: str, text: str) -> None:
        """Write a word; OSError. Who may not open the file may, once it is open."""
        os.pwrite(self.to_write(path), to_bytes(text), 0)

    def read(self, path: str) -> str:
        """Return what is in a small file; empty if that cannot be."""
        try:
            return os.pread(self._descriptor(path, os.O_RDONLY), 4096, 0).decode("utf-8", "replace")
        except OSError:
            return ""

    def number(self, path: str) -> int:
        """Return the number that is in a file; OSError, and ValueError if it is none."""
        return int(os.pread(self._descriptor(path, os.O_RDONLY), 32, 0))

    def close(self) -> None:
        """Close them all."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])
