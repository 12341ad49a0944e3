"""File systems that misbehave, for tests as root: small ones that fill, and one that never answers.

A file system whose server is a program that answers nothing is what a network server that hangs
looks like to whoever touches it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

_DETACH = 2


@contextlib.contextmanager
def small_disk(place: Path, size: str, mode: int = 0o755, *, inodes: int = 0) -> Iterator[Path]:
    """Mount an empty file system of a size; skips aloud where root may not.

    0 inodes are as many as there is memory for.
    """
    place.mkdir(parents=True, exist_ok=True)
    options = f"size={size},mode={mode:o},nr_inodes={inodes}"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", place], check=False)
    if done.returncode != 0:
        pytest.skip("this machine lets root mount no tmpfs")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def fill(folder: Path) -> Path:
    """Fill a file system to its last byte; return the file that does."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
    return path


@contextlib.contextmanager
def silent_server(place: Path) -> Iterator[None]:
    """Hide a folder behind a file system that hangs; whoever hangs is let go at the end."""
    try:
        server = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        pytest.skip("this machine has no /dev/fuse")
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={server},rootmode=40000,user_id=0,group_id=0,allow_other"
    path = os.fsencode(place)
    try:
        if libc.mount(b"silent", path, b"fuse", 0, options.encode()) != 0:
            pytest.skip(f"no fuse here: {os.strerror(ctypes.get_errno())}")
        yield
    finally:
        os.close(server)
        libc.umount2(path, _DETACH)
