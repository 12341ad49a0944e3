"""An index beside a history, in SQLite: where the records of a cluster, an owner or a time lie.

The classic text is what counts. The index is made from it, by a child of the schedd, and may be
missing, old or broken at any time: what it does not cover is read from the files, and what it finds
is looked at again by whoever asked. A file is known by its inode, its first and its last indexed
bytes, so that it is found again after a rotation, and not mistaken for another one.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kettle.records import history
from kettle.records.history_marks import UNKNOWN, UNKNOWN_OWNER, Mark, TooLongError, read_marks
from kettle.records.job_clauses import Alternative, Clause

if TYPE_CHECKING:
    import sqlite3

# What an index can look up, in lower case.
INDEXED = frozenset(("clusterid", "procid", "owner", "completiondate"))

# A history that is shorter is read faster than it is looked up.
LEAST_BYTES = 1024 * 1024

_PIECE_BYTES = 1024 * 1024
_EDGE_BYTES = 256
# How long another one's writing is waited for.
_BUSY_SECONDS = 1.0
# Records that are looked up before any of them is read: nobody's writing waits for a slow reader.
_PAGE = 1000
_LARGEST_PAGE = 100_000
_ROWS_TOGETHER = 10_000

_TABLES = """
CREATE TABLE IF NOT EXISTS files(
    id INTEGER PRIMARY KEY, device INTEGER, inode INTEGER, size INTEGER, head BLOB, tail BLOB,
    UNIQUE(device, inode));
CREATE TABLE IF NOT EXISTS records(
    file INTEGER, start INTEGER, banner INTEGER, stop INTEGER,
    cluster INTEGER, proc INTEGER, owner TEXT, completed INTEGER,
    PRIMARY KEY(file, start)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_cluster ON records(file, cluster, start);
CREATE INDEX IF NOT EXISTS by_owner ON records(file, owner, start);
CREATE INDEX IF NOT EXISTS by_completion ON records(file, completed, start);
PRAGMA user_version = 1;
"""
_VERSION = 1
_COLUMNS = {"clusterid": "cluster", "procid": "proc", "completiondate": "completed"}


def index_path(history_path: str) -> str:
    """Return where the index of a history (by the name of its newest file) is."""
    return f"{history_path}.kettle-index"


def refresh(history_path: str, paths: Sequence[str]) -> None:
    """Bring an index up to date, or make it anew; OSError if it cannot be written.

    Whoever finds another process at it leaves it to that one. `paths` are all files of the history.
    """
    import sqlite3

    path = index_path(history_path)
    for attempt in range(2):
        try:
            with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as base:
                with contextlib.suppress(OSError):
                    # Who may not read the history reads nothing of it here.
                    os.chmod(path, stat.S_IMODE(os.stat(history_path).st_mode))
                _refresh(base, paths)
            return
        except sqlite3.OperationalError as error:
            # The number is of the kind, and of its variants in the bits above.
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return
            raise OSError(f"cannot write {path}: {error}") from error
        except sqlite3.DatabaseError as error:
            # Not an index, or a broken one: there is nothing in it that cannot be read again.
            if attempt:
                raise OSError(f"cannot write {path}: {error}") from error
            os.unlink(path)


def _refresh(base: sqlite3.Connection, paths: Sequence[str]) -> None:
    if base.execute("PRAGMA user_version").fetchone()[0] not in (0, _VERSION):
        base.executescript("DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS records;")
    # What is in it can be made again at any time, so nobody waits for the disk.
    base.execute("PRAGMA synchronous = OFF")
    base.executescript(_TABLES)
    kept = []
    for path in paths:
        with contextlib.suppress(FileNotFoundError), _opened(path) as fd:
            kept.append(_take_in(base, fd))
    with base:
        gone = [row[0] for row in base.execute("SELECT id FROM files") if row[0] not in kept]
        for number in gone:
            _forget(base, number)


def _forget(base: sqlite3.Connection, number: int) -> None:
    base.execute("DELETE FROM records WHERE file = ?", (number,))
    base.execute("DELETE FROM files WHERE id = ?", (number,))


def _take_in(base: sqlite3.Connection, fd: int) -> int | None:
    """Index what a file has more than at the last time; return its number, None if it has none."""
    with base:
        base.execute("BEGIN IMMEDIATE")
        facts = os.fstat(fd)
        known = _known(base, fd)
        if known is None:
            same = (facts.st_dev, facts.st_ino)
            old = base.execute("SELECT id FROM files WHERE device = ? AND inode = ?", same)
            for (number,) in old.fetchall():
                _forget(base, number)
            made = base.execute("INSERT INTO files(device, inode, size) VALUES(?, ?, 0)", same)
            known = made.lastrowid or 0, 0
        number, size = known
        marks = read_marks(_pieces(fd, size, facts.st_size), size)
        rows: list[tuple[int, *tuple[object, ...]]] = []
        try:
            for mark in marks:
                rows.append((number, *mark))
                size = mark.stop
                if len(rows) >= _ROWS_TOGETHER:
                    _insert(base, rows)
        except TooLongError:
            _forget(base, number)
            return None
        _insert(base, rows)
        head, tail = _edges(fd, size)
        base.execute(
            "UPDATE files SET size = ?, head = ?, tail = ? WHERE id = ?", (size, head, tail, number)
        )
        return number


def _insert(base: sqlite3.Connection, rows: list[tuple[int, *tuple[object, ...]]]) -> None:
    base.executemany("INSERT INTO records VALUES(?, ?, ?, ?, ?, ?, ?, ?)", rows)
    rows.clear()


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def _pieces(fd: int, start: int, stop: int) -> Iterator[bytes]:
    while start < stop:
        piece = os.pread(fd, min(_PIECE_BYTES, stop - start), start)
        if not piece:
            return
        start += len(piece)
        yield piece


def _edges(fd: int, size: int) -> tuple[bytes, bytes]:
    """Return the first and the last of so many bytes, by which a file is recognized."""
    length = min(size, _EDGE_BYTES)
    return os.pread(fd, length, 0), os.pread(fd, length, size - length)


def _known(base: sqlite3.Connection, fd: int) -> tuple[int, int] | None:
    """Return a file's number and how much of it is indexed; None if nothing that is there."""
    facts = os.fstat(fd)
    found = base.execute(
        "SELECT id, size, head, tail FROM files WHERE device = ? AND inode = ?",
        (facts.st_dev, facts.st_ino),
    ).fetchone()
    if found is None:
        return None
    number, size, head, tail = found
    if size > facts.st_size or _edges(fd, size) != (head, tail):
        return None
    return number, size


class HistoryIndex:
    """The index of one history, for one question: records that one of the alternatives is true of.

    It finds too many rather than too few. Without an index, or where it fails, all are yielded.
    """

    def __init__(self, history_path: str, alternatives: Sequence[Alternative]) -> None:
        self._base = _connect(history_path)
        self._where, self._values = _condition(alternatives)

    def close(self) -> None:
        """Let go of the index."""
        if self._base is not None:
            self._base.close()
            self._base = None

    def records(self, path: str, *, forwards: bool) -> Iterator[history.HistoryRecord]:
        """Yield the records of one file that may be meant, newest first or oldest first; OSError.

        A file that is not there has none.
        """
        with contextlib.ExitStack() as stack:
            try:
                fd = stack.enter_context(_opened(path))
            except FileNotFoundError:
                return
            known = self._find(fd)
            size = known[1] if known is not None else 0
            if known is None or forwards:
                if known is not None:
                    yield from self._indexed(fd, known, forwards=True)
                yield from _unindexed(fd, size, os.fstat(fd).st_size, forwards=forwards)
                return
            yield from _unindexed(fd, size, os.fstat(fd).st_size, forwards=False)
            yield from self._indexed(fd, known, forwards=False)

    def _find(self, fd: int) -> tuple[int, int] | None:
        if self._base is None:
            return None
        try:
            return _known(self._base, fd)
        except _errors():
            self.close()
            return None

    def _indexed(
        self, fd: int, known: tuple[int, int], *, forwards: bool
    ) -> Iterator[history.HistoryRecord]:
        """Yield what the index knows of a file; where it turns out to be wrong, all of the rest."""
        number, size = known
        at, most = (0 if forwards else size), _PAGE
        while (page := self._page(number, at, most, forwards=forwards)) is not None:
            for mark in page:
                data = os.pread(fd, mark.stop - mark.start, mark.start)
                found = list(history.read_forwards(data))
                if len(found) != 1 or data[mark.banner - mark.start :][:3] != b"***":
                    page = None
                    break
                yield found[0]
                at = mark.stop if forwards else mark.start
            if page is None:
                break
            if len(page) < most:
                return
            most = min(most * 10, _LARGEST_PAGE)
        start, stop = (at, size) if forwards else (0, at)
        yield from _unindexed(fd, start, stop, forwards=forwards)

    def _page(self, number: int, at: int, most: int, *, forwards: bool) -> list[Mark] | None:
        """Return the next marks beyond an offset; None if the index fails."""
        if self._base is None:
            return None
        beyond, order = ("start >= ?", "ASC") if forwards else ("start < ?", "DESC")
        statement = (
            "SELECT start, banner, stop, cluster, proc, owner, completed FROM records "  # noqa: S608
            f"WHERE file = ? AND {beyond} AND ({self._where}) ORDER BY start {order} LIMIT {most}"
        )
        try:
            rows = self._base.execute(statement, (number, at, *self._values)).fetchall()
        except _errors():
            self.close()
            return None
        return [Mark(*row) for row in rows]


def _errors() -> type[Exception]:
    import sqlite3

    return sqlite3.Error


def _connect(history_path: str) -> sqlite3.Connection | None:
    path = index_path(history_path)
    try:
        # Only who writes the history may say where its records are.
        if os.stat(path).st_uid != os.stat(history_path).st_uid:
            return None
    except OSError:
        return None
    import sqlite3
    from urllib.parse import quote

    try:
        base = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        if base.execute("PRAGMA user_version").fetchone()[0] == _VERSION:
            return base
    except sqlite3.Error:
        return None
    base.close()
    return None


def _unindexed(
    fd: int, start: int, stop: int, *, forwards: bool
) -> Iterator[history.HistoryRecord]:
    if forwards:
        yield from history.read_forwards(_pieces(fd, start, stop))
    else:
        yield from history.read_backwards(partial(_read_at, fd, start), stop - start)


def _read_at(fd: int, start: int, at: int, length: int) -> bytes:
    return os.pread(fd, length, start + at)


def _condition(alternatives: Sequence[Alternative]) -> tuple[str, list[object]]:
    """Return the SQL of alternatives, and the values for its question marks."""
    values: list[object] = []
    parts = []
    for alternative in alternatives:
        terms = []
        for clause in alternative:
            term, value = _term(clause)
            if term:
                terms.append(term)
                values.append(value)
        if not terms:
            return "1", []
        parts.append(f"({' AND '.join(terms)})")
    return " OR ".join(parts) or "0", values


def _term(clause: Clause) -> tuple[str, object]:
    """Return a clause in SQL with the value it takes; an empty one if the index cannot tell."""
    value = clause.value
    if clause.name == "owner":
        if clause.operator != "==" or not isinstance(value, str) or not value.isascii():
            return "", None
        return f"owner IN (?, '{UNKNOWN_OWNER}')", value
    if isinstance(value, str) or not abs(value) < 2**62:
        return "", None
    column = _COLUMNS[clause.name]
    if clause.operator == "==":
        return f"{column} IN (?, {UNKNOWN})", value
    return f"({column} {clause.operator} ? OR {column} = {UNKNOWN})", value
