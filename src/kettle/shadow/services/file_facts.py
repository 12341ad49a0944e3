"""What is told of files and folders: lines of numbers, and listings.

How they are written is what starters hand on to jobs as it comes. Source: wire notes, Remote system
calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from kettle.octets import to_bytes
from kettle.runtime.process.kernel import statfs_numbers

# Limit: bytes of one directory listing.
MAX_LISTING = 16 * 1024 * 1024
# What closes a listing, so that an empty one has something in it too: no value but a positive one
# tells every starter that there is a listing.
_CLOSING = "\n"


def render_stat(facts: os.stat_result) -> str:
    """Return a stat result as the line of thirteen numbers that the wire carries."""
    return _line(
        facts.st_dev, facts.st_ino, facts.st_mode, facts.st_nlink, facts.st_uid, facts.st_gid,
        facts.st_rdev, facts.st_size, facts.st_blksize, facts.st_blocks,
        int(facts.st_atime), int(facts.st_mtime), int(facts.st_ctime),
    )  # fmt: skip


def render_statfs(where: str | int) -> str:
    """Return what statfs(2) says of a path or an open file as the line that the wire carries."""
    return _line(*statfs_numbers(where))


def _line(*numbers: int) -> str:
    return " ".join(map(str, numbers)) + "\n"


def list_names(path: str) -> str:
    """Return the names in a folder, a line each, and the line that closes them."""
    return _join(f"{name}\n" for name in sorted(os.listdir(path)))


def list_facts(path: str, look: Callable[[str], os.stat_result] = os.stat) -> str:
    """Return name and numbers of what is in a folder, and the line that closes them.

    Of a link the numbers are those of what it leads to, as far as `look` tells them.

    Compat: the reference refuses to list a folder with a link that leads nowhere; here the numbers
    are the link's own (test_a_link_that_leads_nowhere_does_not_hide_its_folder).
    """
    return _join(
        f"{name}\n{render_stat(_facts(os.path.join(path, name), look))}"
        for name in sorted(os.listdir(path))
    )


def _facts(path: str, look: Callable[[str], os.stat_result]) -> os.stat_result:
    try:
        return look(path)
    except OSError:
        return os.lstat(path)


def _join(entries: Iterable[str]) -> str:
    """Return entries and what closes them; each is whole or it is not there."""
    parts = []
    size = 0
    for entry in entries:
        size += len(to_bytes(entry))
        if size > MAX_LISTING:
            break
        parts.append(entry)
    return "".join(parts) + _CLOSING
