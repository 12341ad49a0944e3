"""The names of files that match a pattern of the shell, as glob(3) finds them.

Python's own module leaves out `.` and `..` for `.*`, makes one slash of several and knows neither
`[^...]` nor a backslash; and folders are to be seen in their names, which end in one slash more.
"""

from __future__ import annotations

import fnmatch
import os
import re

from kettle.patterns import late_pattern

_ESCAPED = late_pattern(r"\\(.)", re.DOTALL)
_PIECE = late_pattern(r"\\(.)|\[\^|.", re.DOTALL)


def matching_names(pattern: str) -> list[str]:
    """Return what is there by such a name, sorted by bytes; a folder's has a slash behind it."""
    only_folders = False
    while len(pattern) > 2 and pattern.endswith("/"):
        # What is found so is marked once; of a single letter it is the slash that is found.
        pattern, only_folders = pattern[:-1], True
    found, last = _found(pattern)
    if only_folders and _is_special(last):
        found = [name for name in found if os.path.isdir(name)]
    marked = (f"{name}/" if os.path.isdir(name) else name for name in found)
    return sorted(marked, key=os.fsencode)


def _found(pattern: str) -> tuple[list[str], str]:
    """Return what matches, in no order and without marks, and the pattern of the last part."""
    folder, slash, last = pattern.rpartition("/")
    below = [last]
    while _is_special(folder):
        folder, slash, part = folder.rpartition("/")
        below.append(part)
    found = [_plain(folder) + slash]
    while below:
        part = below.pop()
        found = [name for start in found for name in _names_in(start, part)]
        if below:
            found = [f"{name}/" for name in found if os.path.isdir(name)]
    return found, last


def _is_special(text: str) -> bool:
    text = _ESCAPED.sub("", text)
    # A pattern for the brackets would look for the end of each anew, by the square of their count.
    return "*" in text or "?" in text or 0 <= text.find("[") < text.rfind("]")


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _names_in(start: str, pattern: str) -> list[str]:
    """Return what of a folder matches, with the folder in front; none where it is unreadable."""
    if not _is_special(pattern):
        name = start + _plain(pattern)
        return [name] if os.path.lexists(name) else []
    matches = re.compile(fnmatch.translate(_PIECE.sub(_pythons_own, pattern))).match
    try:
        names = os.listdir(start or ".")
    except OSError:
        return []
    if pattern.startswith((".", "\\.")):
        names += [".", ".."]
    else:
        names = [name for name in names if not name.startswith(".")]
    return [start + name for name in names if matches(name)]


def _pythons_own(piece: re.Match[str]) -> str:
    if piece[1] is not None:
        return f"[{piece[1]}]" if piece[1] in "*?[" else piece[1]
    return "[!" if piece[0] == "[^" else piece[0]
