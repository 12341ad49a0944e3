"""condor_chirp: what a job may ask of its access point, from inside the job.

Finds its starter through the file named by _CONDOR_CHIRP_CONFIG. The words of the protocol are
`kettle.starter.chirp`; who answers is the starter's chirp server.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from kettle.errors import KettleError, UsageError
from kettle.octets import to_text
from kettle.starter import chirp
from kettle.tools.programs import Streams

_USAGE = """Usage: {program} COMMAND [arguments]

Ask the access point of the job this runs in.

    fetch REMOTE LOCAL                     copy a file from the access point
    put [-mode MODE] [-perm BITS] LOCAL REMOTE
                                           copy a file to it; MODE of letters w a t c x
    remove REMOTE                          remove a file there
    get_job_attr NAME                      print an attribute of the job
    set_job_attr NAME EXPRESSION           set one
    get_job_attr_delayed NAME              print one, with what was set here
    set_job_attr_delayed NAME EXPRESSION   set one with the next update
    ulog TEXT                              write a line into the job's event log
    phase TEXT                             say which phase the job is in
    read [-offset N] [-stride LENGTH SKIP] REMOTE LENGTH
                                           print a part of a file, or pieces of it
    write [-offset N] [-stride LENGTH SKIP] REMOTE LOCAL [LENGTH]
                                           write into a file, or in pieces
    getdir [-l] REMOTE                     list a directory
    rmdir [-r] REMOTE                      remove a directory
    whoami | whoareyou HOST                names of users
    link [-s] OLD NEW                      make a link
    readlink REMOTE LENGTH                 print where a link leads
    stat | lstat | statfs REMOTE           print facts of a file
    access REMOTE MODE                     whether a file may be used: letters r w x f
    chmod REMOTE MODE                      set permission bits (octal)
    chown | lchown REMOTE UID GID          set the owner
    truncate REMOTE LENGTH                 cut a file
    utime REMOTE ACCESS CHANGE             set its times

A file named - is standard input or output.
"""

# What the numbers of a line are, in the words of the reference.
_LABELS = {
    "stat": (
        "device", "inode", "mode", "nlink", "uid", "gid", "rdevice", "size", "blksize", "blocks",
        "atime", "mtime", "ctime",
    ),
    "statfs": ("f_type", "f_bsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree"),
}  # fmt: skip
_TAB = "\t"
# f is whether it is there at all.
_ACCESS = {"r": 4, "w": 2, "x": 1, "f": 0}
_TIMES = frozenset(("atime", "mtime", "ctime"))


# Compat: words and exit codes are the reference's, which ends with -1 where it fails, with 1 where
# whole files or folders were refused, and with the number of bytes that it moved
# (test_what_chirp_says_is_the_references).
_FAILED = 255
_WHOLE = frozenset({"getfile", "putfile", "getdir", "getlongdir"})


class TurnedDown(KettleError):  # noqa: N818 - the name says what happened
    """The access point did not do what it was asked, for a reason of the system's."""

    def __init__(self, command: str, number: int) -> None:
        self.command, self.number = command, number
        whole = f"chirp: couldn't {command}: {os.strerror(number)}"
        super().__init__(whole if command in _WHOLE else _explain(number))

    @property
    def exit_code(self) -> int:
        """What the tool ends with."""
        return 1 if self.command in _WHOLE else _FAILED


class SilentFailure(KettleError):  # noqa: N818 - the name says what happened
    """What the reference says nothing of."""


def _explain(number: int) -> str:
    return f"\tError: {number} ({os.strerror(number)})"


class ChirpClient:
    """One connection to the starter's chirp server."""

    def __init__(self, config: str) -> None:
        try:
            host, port, cookie = Path(config).read_text(encoding="ascii").split()[:3]
        except (OSError, ValueError) as error:
            number = error.errno if isinstance(error, OSError) and error.errno else errno.EINVAL
            why = f"Can't open {config} file\ncannot chirp_connect to condor_starter"
            raise KettleError(f"{why}\n{_explain(number)}") from error
        self._socket = socket.create_connection((host, int(port)), timeout=600)
        self._file = self._socket.makefile("rb")
        self.ask("cookie", cookie)

    def ask(self, *words: object, data: bytes = b"") -> int:
        """Send a request and return its number; TurnedDown for a negative one."""
        self._socket.sendall(chirp.render_line(*words) + data)
        return self.result(str(words[0]))

    def result(self, command: str) -> int:
        """Read a number; TurnedDown for a negative one."""
        line = self._file.readline()
        if not line:
            raise KettleError("the starter closed the connection")
        number = int(line)
        if number < 0:
            raise TurnedDown(command, chirp.errno_for(number))
        return number

    def ask_data(self, *words: object) -> bytes:
        """Send a request that is answered by a length and so many bytes."""
        return self._file.read(self.ask(*words))

    def open(self, path: str, letters: str, bits: int) -> int:
        """Open a file and return its number; what the server says of it is not asked for here."""
        number = self.ask("open", path, letters, bits)
        self._file.readline()
        return number

    def ask_line(self, *words: object) -> str:
        """Send a request that is answered by a number and a line."""
        self.ask(*words)
        return to_text(self._file.readline()).strip()

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send what was announced."""
        self._socket.sendall(data)


Command = Callable[[ChirpClient, list[str], Streams], int]


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run the tool; 0 if the access point did it, or how many bytes were moved; else 255 or 1."""
    words = argv[1:]
    if not words or words[0] in {"-help", "-h", "--help"}:
        streams.stdout.write(_USAGE.format(program=argv[0]))
        return _FAILED
    if words[0] in {"-version", "--version"}:
        from kettle.tools.configuration.condor_version import version_text

        streams.stdout.write(version_text())
        return 0
    handler = _COMMANDS.get(words[0].replace("-", "_"))
    try:
        if handler is None:
            raise UsageError(
                f"Unknown command {words[0]}\n{_USAGE.format(program=argv[0])}".rstrip()
            )
        client = ChirpClient(environment.get("_CONDOR_CHIRP_CONFIG", ".chirp.config"))
        with closing(client):
            return handler(client, words[1:], streams) & 0xFF
    except SilentFailure as error:
        return int(str(error))
    except TurnedDown as error:
        streams.stderr.write(f"{error}\n")
        return error.exit_code
    except (KettleError, OSError) as error:
        streams.stderr.write(f"{error}\n")
        return _FAILED
    except (IndexError, ValueError):
        streams.stderr.write(f"condor_chirp {_usage_of(words[0])}\n")
        return _FAILED


def _usage_of(command: str) -> str:
    """Return the line of the usage that is about a command, without what it does."""
    lines = (line.strip() for line in _USAGE.splitlines())
    found = next((line for line in lines if command in line.split("  ")[0].split()), command)
    return found.split("  ")[0]


def _number(text: str, base: int = 10) -> int:
    """Read the number that a word begins with, as C does; 0 if it begins with none."""
    digits = "0-7" if base == 8 else "0-9"
    found = re.match(rf"\s*[+-]?[{digits}]+", text, re.ASCII)
    return int(found[0], base) if found else 0


def _option(words: list[str], name: str, default: str) -> str:
    """Take an option with a value out of the words."""
    if name not in words:
        return default
    position = words.index(name)
    value = words[position + 1]
    del words[position : position + 2]
    return value


def _strides(words: list[str]) -> list[int]:
    """Take how long the pieces are and how far apart they begin; empty where it is one piece."""
    if "-stride" not in words:
        return []
    position = words.index("-stride")
    length, skip = int(words[position + 1]), int(words[position + 2])
    del words[position : position + 3]
    return [length, skip]


def _check_count(words: list[str], most: int, least: int | None = None) -> None:
    """Raise ValueError where other than so many words are left; `least` is `most` if not said."""
    if not (most if least is None else least) <= len(words) <= most:
        raise ValueError(words)


def _flag(words: list[str], name: str) -> bool:
    """Take a flag before other words out of them; alone it is a name like any other."""
    if len(words) > 1 and words[0] == name:
        del words[0]
        return True
    return False


def _read_local(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _no_local(path, error) from error


def _no_local(path: str, error: OSError) -> KettleError:
    return KettleError(f"Can't open local file {path}\n{_explain(error.errno or errno.EIO)}")


def _fetch(client: ChirpClient, words: list[str], streams: Streams) -> int:
    _check_count(words, 2)
    data = client.ask_data("getfile", words[0])
    if words[1] == "-":
        streams.stdout.write(data.decode("utf-8", "surrogateescape"))
    else:
        try:
            Path(words[1]).write_bytes(data)
        except OSError as error:
            raise _no_local(words[1], error) from error
    return 0


def _put(client: ChirpClient, words: list[str], _streams: Streams) -> int:
    mode = _option(words, "-mode", "wct")
    bits = _number(_option(words, "-perm", "755"), 8)
    _check_count(words, 2)
    data = _read_local(words[0])
    if mode == "wct":
        client.ask("putfile", words[1], bits, len(data))
        if data:
            client.send(data)
            client.result("putfile")
        return 0
    try:
        descriptor = client.open(words[1], mode, bits)
    except TurnedDown as refused:
        raise KettleError(f"Can't chirp_client_open {words[1]}:-1\n{refused}") from refused
    if data:
        client.ask("write", descriptor, len(data), data=data)
    client.ask("close", descriptor)
    return 0


def _read(client: ChirpClient, words: list[str], streams: Streams) -> int:
    offset = _number(_option(words, "-offset", "0"))
    strides = _strides(words)
    _check_count(words, 2)
    length = _number(words[1])
    descriptor = client.open(words[0], "r", 0)
    command = "sread" if strides else "pread"
    data = client.ask_data(command, descriptor, length, offset, *strides)
    client.ask("close", descriptor)
    streams.stdout.write(data.decode("utf-8", "surrogateescape") + "\n")
    return len(data)


def _write(client: ChirpClient, words: list[str], _streams: Streams) -> int:
    offset = _number(_option(words, "-offset", "0"))
    strides = _strides(words)
    _check_count(words, 3, 2)
    data = _read_local(words[1])
    if len(words) > 2:
        data = data[: max(0, _number(words[2]))]
    descriptor = client.open(words[0], "w", 0)
    command = "swrite" if strides else "pwrite"
    if data:
        client.ask(command, descriptor, len(data), offset, *strides, data=data)
    client.ask("close", descriptor)
    return len(data)


def _get_attribute(command: str) -> Command:
    def run(client: ChirpClient, words: list[str], streams: Streams) -> int:
        _check_count(words, 1)
        text = client.ask_data(command, words[0]).decode("utf-8", "surrogateescape")
        streams.stdout.write(text + "\n")
        return 0

    return run


def _plain(command: str, count: int) -> Command:
    """Make a command whose words go to the server as they are."""

    def run(client: ChirpClient, words: list[str], _streams: Streams) -> int:
        _check_count(words, count)
        client.ask(command, *words)
        return 0

    return run


def _directory(client: ChirpClient, words: list[str], streams: Streams) -> int:
    is_long = _flag(words, "-l")
    _check_count(words, 1)
    command = "getlongdir" if is_long else "getdir"
    data = client.ask_data(command, words[0])
    text = data.decode("utf-8", "surrogateescape")
    if is_long:
        # Each name is followed by its line of numbers.
        lines = text.splitlines()
        pairs = zip(lines[::2], lines[1::2], strict=False)
        text = "".join(f"{name}\n{_render_facts(facts, 'stat', _TAB)}" for name, facts in pairs)
    streams.stdout.write(text if text.endswith("\n") or not text else text + "\n")
    # The reference's tool ends with what was answered, which is how many bytes there are.
    return len(data) % 256


def _remove_directory(client: ChirpClient, words: list[str], _streams: Streams) -> int:
    command = "rmall" if _flag(words, "-r") else "rmdir"
    _check_count(words, 1)
    client.ask(command, words[0])
    return 0


def _link(client: ChirpClient, words: list[str], _streams: Streams) -> int:
    command = "symlink" if _flag(words, "-s") else "link"
    _check_count(words, 2)
    client.ask(command, words[0], words[1])
    return 0


def _whoami(client: ChirpClient, _words: list[str], streams: Streams) -> int:
    return _show_bytes(client.ask_data("whoami", 1024), streams)


def _whoareyou(client: ChirpClient, words: list[str], streams: Streams) -> int:
    _check_count(words, 1)
    return _show_bytes(client.ask_data("whoareyou", words[0], 1024), streams)


def _readlink(client: ChirpClient, words: list[str], streams: Streams) -> int:
    _check_count(words, 2)
    return _show_bytes(client.ask_data("readlink", words[0], _number(words[1])), streams)


def _show_bytes(data: bytes, streams: Streams) -> int:
    streams.stdout.write(to_text(data) + "\n")
    return len(data)


def _facts(command: str) -> Command:
    def run(client: ChirpClient, words: list[str], streams: Streams) -> int:
        _check_count(words, 1)
        kind = "statfs" if command == "statfs" else "stat"
        streams.stdout.write(_render_facts(client.ask_line(command, words[0]), kind))
        return 0

    return run


def _render_facts(line: str, kind: str, lead: str = "") -> str:
    """Return a line of numbers as one line for each, with what it is; times as dates."""
    text = ""
    for label, value in zip(_LABELS[kind], line.split(), strict=False):
        shown = time.ctime(int(value)) if label in _TIMES else value
        text += f"{lead}{label}: {shown}\n"
    return text


def _access(client: ChirpClient, words: list[str], _streams: Streams) -> int:
    _check_count(words, 2)
    bits = 0
    for letter in words[1]:
        if letter not in _ACCESS:
            raise UsageError(f"invalid mode char '{letter}'")
        bits |= _ACCESS[letter]
    client.ask("access", words[0], bits)
    return 0


def _chmod(client: ChirpClient, words: list[str], _streams: Streams) -> int:
    _check_count(words, 2)
    if re.fullmatch(r"[0-7]+", words[1], re.ASCII) is None:
        raise SilentFailure(str(errno.EINVAL))
    client.ask("chmod", words[0], int(words[1], 8))
    return 0


_COMMANDS: dict[str, Command] = {
    "fetch": _fetch,
    "put": _put,
    "remove": _plain("unlink", 1),
    "get_job_attr": _get_attribute("get_job_attr"),
    "set_job_attr": _plain("set_job_attr", 2),
    "get_job_attr_delayed": _get_attribute("get_job_attr_delayed"),
    "set_job_attr_delayed": _plain("set_job_attr_delayed", 2),
    "ulog": _plain("ulog", 1),
    "phase": _plain("phase", 1),
    "read": _read,
    "write": _write,
    "getdir": _directory,
    "rmdir": _remove_directory,
    "whoami": _whoami,
    "whoareyou": _whoareyou,
    "link": _link,
    "readlink": _readlink,
    "stat": _facts("stat"),
    "lstat": _facts("lstat"),
    "statfs": _facts("statfs"),
    "access": _access,
    "chmod": _chmod,
    "chown": _plain("chown", 3),
    "lchown": _plain("lchown", 3),
    "truncate": _plain("truncate", 2),
    "utime": _plain("utime", 3),
}
