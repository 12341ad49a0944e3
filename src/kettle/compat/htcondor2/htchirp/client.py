"""`HTChirp`: the requests of the Chirp protocol as methods."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Self

from kettle.compat.htcondor2.htchirp import errors
from kettle.compat.htcondor2.htchirp.connection import LONGEST_LINE, Connection
from kettle.octets import AS_IS, to_text

_CONFIG: Final = "_CONDOR_CHIRP_CONFIG"
_COOKIE: Final = "cookie"
_ONLY_COOKIES: Final = (_COOKIE,)
_STAT: Final = (
    *("device", "inode", "mode", "nlink", "uid", "gid", "rdevice", "size", "blksize", "blocks"),
    *("atime", "mtime", "ctime"),
)
_STATFS: Final = ("f_type", "f_bsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_free")
_WHOLE_FILE: Final = frozenset("wct")
_LETTERS: Final = frozenset("rwatcx")
_ACCESS: Final = {"f": 0, "r": 4, "w": 2, "x": 1}
_PIECE: Final = 1024 * 1024


class HTChirp:
    """What a job may ask of its access point, in a `with` statement or after `connect`.

    Without a host and port it finds the server in the file that $_CONDOR_CHIRP_CONFIG names, or in
    .chirp.config: it is in a job, whose description says `want_io_proxy = true`.
    """

    CHIRP_LINE_MAX = LONGEST_LINE
    CHIRP_VERSION = 2
    CHIRP_AUTH_METHODS: Final = [_COOKIE]
    DEFAULT_MODE = 0o777

    ChirpError = errors.ChirpError
    NotAuthenticated = errors.NotAuthenticated
    NotAuthorized = errors.NotAuthorized
    DoesntExist = errors.DoesntExist
    AlreadyExists = errors.AlreadyExists
    TooBig = errors.TooBig
    NoSpace = errors.NoSpace
    NoMemory = errors.NoMemory
    InvalidRequest = errors.InvalidRequest
    TooManyOpen = errors.TooManyOpen
    Busy = errors.Busy
    TryAgain = errors.TryAgain
    BadFD = errors.BadFD
    IsDir = errors.IsDir
    NotDir = errors.NotDir
    NotEmpty = errors.NotEmpty
    CrossDeviceLink = errors.CrossDeviceLink
    Offline = errors.Offline
    UnknownError = errors.UnknownError

    def __init__(
        self,
        host: str | None = None,
        port: int | str | None = None,
        auth: Sequence[str] = _ONLY_COOKIES,
        cookie: str | None = None,
        timeout: float | None = 10,
    ) -> None:
        """Take where the server is, the ways to authenticate, and how many seconds to wait.

        They are tried at once. Raises ValueError where there is no server to be found,
        `HTChirp.NotAuthenticated` where it does not know the cookie.
        """
        self._connection: Connection | None = None
        self.host, self.port, self.cookie = _server(host, port, auth, cookie)
        self.timeout = timeout
        self.authentication: str | None = None
        for method in auth:
            try:
                self.connect(method)
            except errors.NotAuthenticated:
                continue
            finally:
                self.disconnect()
            self.authentication = method
            break
        if self.authentication is None:
            raise errors.NotAuthenticated(f"the Chirp server does not accept {list(auth)}")

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, *ended: object) -> None:
        self.disconnect()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):
            self.disconnect()

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self.host}, {self.port}) using {self.authentication} authentication"

    # -- The connection ---------------------------------------------------------------------

    def is_connected(self) -> bool:
        """Return whether there is a connection."""
        return self._connection is not None

    def connect(self, auth_method: str | None = None) -> None:
        """Connect, anew if need be, and authenticate, as it worked before if nothing is said."""
        method = auth_method or self.authentication
        if method != _COOKIE:
            raise ValueError(f"Unknown authentication method '{method}'")
        self.disconnect()
        self._connection = Connection(self.host, self.port, self.timeout)
        self._connection.ask(_COOKIE, self.cookie)

    def disconnect(self) -> None:
        """End the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def _server(self) -> Connection:
        if self._connection is None:
            raise RuntimeError("The Chirp client is not connected to a Chirp server.")
        return self._connection

    # -- The job ----------------------------------------------------------------------------

    def get_job_attr(self, job_attribute: str) -> str:
        """Return the expression of an attribute of the job."""
        return to_text(self._server.ask_data("get_job_attr", job_attribute))

    def get_job_attr_delayed(self, job_attribute: str) -> str:
        """Return an attribute as the machine here knows it, with what was set here."""
        return to_text(self._server.ask_data("get_job_attr_delayed", job_attribute))

    def set_job_attr(self, job_attribute: str, attribute_value: str) -> None:
        """Set an attribute of the job to an expression."""
        self._server.ask("set_job_attr", job_attribute, attribute_value)

    def set_job_attr_delayed(self, job_attribute: str, attribute_value: str) -> None:
        """Set an attribute whose name begins with Chirp, with the machine's next update."""
        self._server.ask("set_job_attr_delayed", job_attribute, attribute_value)

    def ulog(self, text: str) -> None:
        """Write a text into the job's event log."""
        self._server.ask("ulog", text)

    # -- Whole files ------------------------------------------------------------------------

    def fetch(self, remote_file: str, local_file: str | Path) -> int:
        """Copy a file from the access point; return its length."""
        return self.getfile(remote_file, local_file)

    def put(
        self,
        local_file: str | Path,
        remote_file: str,
        flags: Iterable[str] | None = "wct",
        mode: int | None = None,
    ) -> int:
        """Copy a file to the access point, or with other flags write it into one there.

        Return its length.
        """
        letters = frozenset("wct" if flags is None else flags)
        if letters == _WHOLE_FILE:
            return self.putfile(local_file, remote_file, mode)
        data = Path(local_file).read_bytes()
        written = self.write(data, remote_file, letters, mode)
        if written < len(data):
            raise UserWarning(f"only {written} of {len(data)} bytes of {local_file} were written")
        return written

    def getfile(self, remote_file: str, local_file: str | Path) -> int:
        """Copy a file from the access point; return its length."""
        server = self._server
        length = server.ask("getfile", remote_file)
        with Path(local_file).open("wb") as file:
            file.writelines(server.pieces(length))
        return length

    def putfile(self, local_file: str | Path, remote_file: str, mode: int | None = None) -> int:
        """Copy a file to the access point, in place of what is there; return its length."""
        server = self._server
        with Path(local_file).open("rb") as file:
            length = os.fstat(file.fileno()).st_size
            server.ask("putfile", remote_file, _mode(mode), length)
            if not length:
                # A server says nothing more of no bytes.
                return 0
            left = length
            while left and (piece := file.read(min(left, _PIECE))):
                server.send(piece)
                left -= len(piece)
        if left:
            self.disconnect()
            raise RuntimeError(f"{local_file} became shorter while it was sent")
        return server.number("putfile")

    def remove(self, remote_file: str) -> None:
        """Remove a file."""
        self.unlink(remote_file)

    # -- Parts of files ---------------------------------------------------------------------

    def read(
        self,
        remote_path: str,
        length: int,
        offset: int | None = None,
        stride_length: int | None = None,
        stride_skip: int | None = None,
    ) -> bytes:
        """Return so many bytes of a file, from an offset, or pieces of it.

        Pieces have a length, and begin so many bytes apart.
        """
        server = self._server
        opened = self._open(remote_path, "r", None)
        command, words = _part("read", length, offset, stride_length, stride_skip)
        data = server.ask_data(command, opened, *words)
        server.ask("close", opened)
        return data

    def write(
        self,
        data: bytes,
        remote_path: str,
        flags: Iterable[str] | None = "w",
        mode: int | None = None,
        length: int | None = None,
        offset: int | None = None,
        stride_length: int | None = None,
        stride_skip: int | None = None,
    ) -> int:
        """Write bytes into a file, from an offset, or pieces of them as `read` reads them.

        Return how many were written.
        """
        letters = "w" if flags is None else "".join(sorted(frozenset(flags)))
        if "w" not in letters:
            raise ValueError(f"'w' is not included in flags '{letters}'")
        sent = data if length is None else data[:length]
        command, words = _part("write", len(sent), offset, stride_length, stride_skip)
        server = self._server
        opened = self._open(remote_path, letters, mode)
        written = server.ask(command, opened, *words, data=sent) if sent else 0
        server.ask("fsync", opened)
        server.ask("close", opened)
        return written

    def _open(self, path: str, letters: str, mode: int | None) -> int:
        if not _LETTERS.issuperset(letters):
            raise ValueError("Flags must be one or more of 'rwatcx'")
        server = self._server
        opened = server.ask("open", path, letters, _mode(mode))
        server.line()
        return opened

    # -- Names ------------------------------------------------------------------------------

    def rename(self, old_path: str, new_path: str) -> None:
        """Give a file another name."""
        self._server.ask("rename", old_path, new_path)

    def unlink(self, remote_file: str) -> None:
        """Remove a file."""
        self._server.ask("unlink", remote_file)

    def rmdir(self, remote_path: str, recursive: bool = False) -> None:
        """Remove a folder, with all that is in it if it may."""
        self._server.ask("rmall" if recursive else "rmdir", remote_path)

    def rmall(self, remote_path: str) -> None:
        """Remove a folder with all that is in it."""
        self._server.ask("rmall", remote_path)

    def mkdir(self, remote_path: str, mode: int | None = None) -> None:
        """Make a folder."""
        self._server.ask("mkdir", remote_path, _mode(mode))

    def link(self, old_path: str, new_path: str, symbolic: bool = False) -> None:
        """Make a link, hard or symbolic."""
        self._server.ask("symlink" if symbolic else "link", old_path, new_path)

    def symlink(self, old_path: str, new_path: str) -> None:
        """Make a symbolic link."""
        self._server.ask("symlink", old_path, new_path)

    def readlink(self, remote_path: str) -> bytes:
        """Return where a link leads."""
        return self._server.ask_data("readlink", remote_path, LONGEST_LINE)

    # -- Facts ------------------------------------------------------------------------------

    def getdir(
        self, remote_path: str, stat_dict: bool = False
    ) -> list[str] | dict[str, dict[str, int]]:
        """Return the names in a folder, or the facts of each."""
        if stat_dict:
            return self.getlongdir(remote_path)
        text = to_text(self._server.ask_data("getdir", remote_path)).rstrip()
        return text.split("\n") if text else []

    def getlongdir(self, remote_path: str) -> dict[str, dict[str, int]]:
        """Return the facts of each name in a folder; see `stat`."""
        lines = to_text(self._server.ask_data("getlongdir", remote_path)).rstrip().split("\n")
        return {
            name: _facts(_STAT, line) for name, line in zip(lines[::2], lines[1::2], strict=False)
        }

    def stat(self, remote_path: str) -> dict[str, int]:
        """Return the facts of a file, of a link's target."""
        return self._ask_facts("stat", remote_path, _STAT)

    def lstat(self, remote_path: str) -> dict[str, int]:
        """Return the facts of a file, of a link itself."""
        return self._ask_facts("lstat", remote_path, _STAT)

    def statfs(self, remote_path: str) -> dict[str, int]:
        """Return the facts of a file system."""
        return self._ask_facts("statfs", remote_path, _STATFS)

    def _ask_facts(self, command: str, path: str, names: tuple[str, ...]) -> dict[str, int]:
        server = self._server
        server.ask(command, path)
        return _facts(names, server.line())

    def access(self, remote_path: str, mode_str: str) -> None:
        """Raise `HTChirp.NotAuthorized` where a file may not be used: r, w, x; f: is there."""
        bits = 0
        for letter in mode_str:
            if letter not in _ACCESS:
                raise ValueError(f"mode '{letter}' not in (fxwr)")
            bits |= _ACCESS[letter]
        self._server.ask("access", remote_path, bits)

    def whoami(self) -> str:
        """Return who one is at the access point."""
        return to_text(self._server.ask_data("whoami", LONGEST_LINE))

    def whoareyou(self, remote_host: str) -> str:
        """Return who the access point is at another host."""
        return to_text(self._server.ask_data("whoareyou", remote_host, LONGEST_LINE))

    # -- Changes ----------------------------------------------------------------------------

    def chmod(self, remote_path: str, mode: int) -> None:
        """Set the permission bits of a file."""
        self._server.ask("chmod", remote_path, int(mode))

    def chown(self, remote_path: str, uid: int, gid: int) -> None:
        """Set the owner of a file, of a link's target."""
        self._server.ask("chown", remote_path, int(uid), int(gid))

    def lchown(self, remote_path: str, uid: int, gid: int) -> None:
        """Set the owner of a file, of a link itself."""
        self._server.ask("lchown", remote_path, int(uid), int(gid))

    def truncate(self, remote_path: str, length: int) -> None:
        """Cut a file."""
        self._server.ask("truncate", remote_path, int(length))

    def utime(self, remote_path: str, actime: int, mtime: int) -> None:
        """Set when a file was read and changed."""
        self._server.ask("utime", remote_path, int(actime), int(mtime))


def _server(
    host: str | None, port: int | str | None, auth: Sequence[str], cookie: str | None
) -> tuple[str, int, str]:
    """Return the server's host and port, and the cookie."""
    if host and port:
        return host, int(port), str(cookie)
    config = Path(os.environ.get(_CONFIG, ".chirp.config"))
    if _COOKIE not in auth or cookie or not config.is_file():
        raise ValueError(".chirp.config must be present or you must provide a host and port")
    host, port, cookie = config.read_text(encoding="utf-8", errors=AS_IS).split()
    return host, int(port), cookie


def _mode(mode: int | None) -> int:
    return HTChirp.DEFAULT_MODE if mode is None else int(mode)


def _part(
    command: str, length: int, offset: int | None, piece: int | None, skip: int | None
) -> tuple[str, list[int]]:
    """Return the request for a part of a file, and its numbers."""
    if piece is not None and skip is not None:
        return f"s{command}", [int(one) for one in (length, offset or 0, piece, skip)]
    if piece is not None or skip is not None:
        raise errors.InvalidRequest("Both stride_length and stride_skip must be specified")
    if offset is not None:
        return f"p{command}", [int(length), int(offset)]
    return command, [int(length)]


def _facts(names: tuple[str, ...], line: str) -> dict[str, int]:
    numbers: Any = map(int, line.split())
    return dict(zip(names, numbers, strict=False))
