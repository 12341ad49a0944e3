"""`condor_chirp`: the requests in the words of the command of that name."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from kettle.compat.htcondor2.htchirp.client import HTChirp
from kettle.octets import to_text

Found = str | bytes | int | list[str] | dict[str, Any] | None
Command = Callable[[HTChirp, list[str], argparse.Namespace], Found]
_TIMES: Final = frozenset({"atime", "mtime", "ctime"})
# Commands that move files, and say nothing.
_SILENT: Final = frozenset({"fetch", "put", "write"})


def condor_chirp(chirp_args: str | Sequence[str], return_exit_code: bool = False) -> Any:
    """Do what condor_chirp does with these words, or with the words of this text.

    Return what the method of `HTChirp` returns; or print it and return 0, or 1 where it was not
    done, if an exit code is wanted. Raises TypeError for a command that there is none.
    """
    words = shlex.split(chirp_args) if isinstance(chirp_args, str) else list(chirp_args)
    command = _COMMANDS.get(words[0]) if words else None
    if command is None:
        reason = f"Command must be one of: {', '.join(sorted(_COMMANDS))}"
        if return_exit_code:
            sys.stderr.write(f"{reason}\n")
            return 1
        raise TypeError(reason)
    options = _options().parse_intermixed_args(words[1:])
    options.stride_length, options.stride_skip = options.stride
    try:
        with HTChirp() as chirp:
            found = command(chirp, options.words, options)
    except Exception as error:
        if not return_exit_code:
            raise
        sys.stderr.write(f"{error}\n")
        return 1
    if not return_exit_code:
        return found
    if words[0] not in _SILENT:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(found)))
    return 0


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="condor_chirp", add_help=False)
    options.add_argument("words", nargs="*")
    options.add_argument("-mode")
    options.add_argument("-perm", type=_octal)
    options.add_argument("-offset", type=int)
    options.add_argument("-stride", type=int, nargs=2, default=[None, None])
    options.add_argument("-r", dest="all", action="store_true")
    options.add_argument("-l", dest="long", action="store_true")
    options.add_argument("-s", dest="symbolic", action="store_true")
    return options


def _lines(found: Any, depth: int = 0) -> list[str]:
    """Return the lines in which an answer is shown."""
    lead = "\t" * depth
    if found is None:
        return []
    if isinstance(found, list):
        return [f"{lead}{one}" for one in found]
    if not isinstance(found, dict):
        return [f"{lead}{to_text(found) if isinstance(found, bytes) else found}"]
    lines = []
    for name, value in found.items():
        if isinstance(value, dict):
            lines += [f"{lead}{name}", *_lines(value, depth + 1)]
        else:
            shown = datetime.fromtimestamp(value).ctime() if name in _TIMES else value  # noqa: DTZ006 - as ls
            lines.append(f"{lead}{name}: {shown}")
    return lines


def _call(method: str, *kinds: Callable[[str], Any], **options: str) -> Command:
    """Return a command whose words are a method's arguments, each of a kind.

    `options` says which further arguments are which options.
    """

    def run(chirp: HTChirp, words: list[str], given: argparse.Namespace) -> Found:
        if len(words) != len(kinds):
            raise TypeError(f"{method} takes {len(kinds)} arguments, not {len(words)}")
        arguments = [kind(word) for kind, word in zip(kinds, words, strict=True)]
        further = {name: getattr(given, option) for name, option in options.items()}
        found: Found = getattr(chirp, method)(*arguments, **further)
        return found

    return run


def _octal(text: str) -> int:
    return int(text, 8)


_PART: Final = {"offset": "offset", "stride_length": "stride_length", "stride_skip": "stride_skip"}


def _write(chirp: HTChirp, words: list[str], given: argparse.Namespace) -> Found:
    """Write a file, or so many bytes of it, into one at the access point."""
    path, local, *most = words
    data = Path(local).read_bytes()
    part = {name: getattr(given, name) for name in _PART}
    return chirp.write(data, path, length=int(most[0]) if most else None, **part)


_COMMANDS: Final[dict[str, Command]] = {
    "access": _call("access", str, str),
    "chmod": _call("chmod", str, _octal),
    "chown": _call("chown", str, int, int),
    "fetch": _call("fetch", str, str),
    "get_job_attr": _call("get_job_attr", str),
    "get_job_attr_delayed": _call("get_job_attr_delayed", str),
    "getdir": _call("getdir", str, stat_dict="long"),
    "lchown": _call("lchown", str, int, int),
    "link": _call("link", str, str, symbolic="symbolic"),
    "lstat": _call("lstat", str),
    "put": _call("put", str, str, flags="mode", mode="perm"),
    "read": _call("read", str, int, **_PART),
    "readlink": _call("readlink", str),
    "remove": _call("remove", str),
    "rmdir": _call("rmdir", str, recursive="all"),
    "set_job_attr": _call("set_job_attr", str, str),
    "set_job_attr_delayed": _call("set_job_attr_delayed", str, str),
    "stat": _call("stat", str),
    "statfs": _call("statfs", str),
    "truncate": _call("truncate", str, int),
    "ulog": _call("ulog", str),
    "utime": _call("utime", str, int, int),
    "whoami": _call("whoami"),
    "whoareyou": _call("whoareyou", str),
    "write": _write,
}
