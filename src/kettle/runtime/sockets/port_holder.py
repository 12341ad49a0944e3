"""Who listens on a port of this machine: for the sentence that says why a daemon cannot.

Read from /proc, where another user's processes show no more than whose they are.
"""

from __future__ import annotations

import os
import pwd

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = "0A"
# Limit: what is shown of a command line.
_SHOWN = 60


def port_holder(port: int) -> str:
    """Return `process 7 (condor_collector -f)`, or less where less can be seen; empty if nobody."""
    found = _find_socket(port)
    if found is None:
        return ""
    uid, inode = found
    pid = _find_process(inode)
    if pid is None:
        return f"a process of {_name(uid)}"
    return f"process {pid} ({_title(pid)})"


def _find_socket(port: int) -> tuple[int, int] | None:
    """Return the user and the inode of a socket that listens there."""
    for path in _TABLES:
        try:
            with open(path, encoding="ascii") as table:
                lines = table.read().splitlines()[1:]
        except OSError:
            continue
        for words in map(str.split, lines):
            if words[3] == _LISTENS and int(words[1].rpartition(":")[2], 16) == port:
                return int(words[7]), int(words[9])
    return None


def _find_process(inode: int) -> int | None:
    link = f"socket:[{inode}]"
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            for descriptor in os.listdir(f"/proc/{name}/fd"):
                if os.readlink(f"/proc/{name}/fd/{descriptor}") == link:
                    return int(name)
        except OSError:
            # Gone meanwhile, or not ours to look at.
            continue
    return None


def _title(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            text = file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        text = ""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
