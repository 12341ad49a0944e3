"""The transaction log behind the job queue: records as text lines, replay, and snapshots.

Pure text work. Decided here: what a record looks like, which part of a log counts after a crash,
and what a compacted log contains. Not decided here: when a record is written or forced to disk
(`kettle.runtime.storage.files` does, told by the schedd), and what an attribute means (the job
queue and the accountant do). The negotiator's accounting log has the same records, see
`accounting_log`.

Format: wire notes, on-disk formats, `job_queue.log` (R081).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from kettle.errors import StorageError
from kettle.steps import take_all

NEW_AD = 101
DESTROY_AD = 102
SET_ATTRIBUTE = 103
DELETE_ATTRIBUTE = 104
BEGIN = 105
END = 106
SEQUENCE = 107

# Limit: one line of a log; no attribute that anybody may set is as long.
LONGEST_RECORD_BYTES = 64 * 1024 * 1024
# Limit: characters of what is written on such a line, which may be four bytes each: of a text, and
# of a key or name. A log with a longer line could not be read again.
LONGEST_TEXT = 15 * 1024 * 1024
LONGEST_WORD = 64 * 1024

# Records of one transaction that are applied before others have their turn: some 10 ms.
_RECORDS_A_STEP = 2_000
# What a record of a transaction takes in memory besides its texts, about.
_RECORD_BYTES = 250

# Operations that need no attribute's name or type.
_NAMELESS = frozenset((NEW_AD, DESTROY_AD))

# Limit: names of attributes that are known to be one word; jobs have the same few hundred.
_MOST_KNOWN = 4096
_known_names: set[str] = set()

# What stands for a missing type in a NEW_AD record.
NO_TYPE = "(empty)"

BEGIN_LINE = "105 \n"
END_LINE = "106 \n"
# A transaction of nothing. Behind a snapshot it says where that ends: a snapshot is on disk before
# it is the log, so that a line of it which is no record is damage, and no write that was cut short.
SNAPSHOT_END = BEGIN_LINE + END_LINE

# What the words of a record are parted by cannot stand in a key; these are C's blanks.
_KEY = re.compile(r"[^ \t\n\v\f\r]+")


class Table(Protocol):
    """What a log is replayed into."""

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Make an empty ad; the types are empty strings where the record has none."""

    def destroy_ad(self, key: str) -> None:
        """Forget an ad; an unknown key is not an error."""

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute an expression, in old syntax."""

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute; a missing one is not an error."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What a log held.

    `kept_bytes` is the length of the part that counts: the caller cuts the file there before it
    appends. `whole_lines` counts every line that has an end. `discarded` says what was cut off,
    empty if nothing was.
    """

    sequence: int
    created: int
    kept_bytes: int
    records: int
    whole_lines: int
    discarded: str = ""


def is_key(text: str) -> bool:
    """Tell whether an ad may have this key: one word that is not endless."""
    return len(text) <= LONGEST_WORD and _KEY.fullmatch(text) is not None


def _checked(key: str) -> str:
    if not is_key(key):
        raise StorageError(f"{key[:80]!r} cannot be the key of a record")
    return key


def encode_new_ad(key: str, my_type: str = "", target_type: str = "") -> str:
    """Return the record that makes an ad; StorageError if it cannot have this key."""
    return f"101 {_checked(key)} {my_type or NO_TYPE} {target_type or NO_TYPE}\n"


def encode_destroy_ad(key: str) -> str:
    """Return the record that forgets an ad; StorageError if none can have this key."""
    return f"102 {_checked(key)}\n"


def encode_set_attribute(key: str, name: str, text: str) -> str:
    """Return the record that sets an attribute; StorageError if it would not read back as that."""
    if name not in _known_names:
        _check_name(SET_ATTRIBUTE, name)
    if "\n" in text or "\0" in text or len(text) > LONGEST_TEXT:
        raise StorageError(f"attribute {name!r} of {key} cannot be written on one line")
    return f"103 {_checked(key)} {name} {text}\n"


def encode_delete_attribute(key: str, name: str) -> str:
    """Return the record that removes an attribute; StorageError if no ad can have this key."""
    return f"104 {_checked(key)} {name}\n"


def encode_sequence(sequence: int, created: int) -> str:
    """Return the first record of a log: its historical number and when it began, unix time."""
    return f"107 {sequence} CreationTimestamp {created}\n"


def encode_transaction(records: Iterable[str]) -> str:
    """Return the records between the marks that make them take effect together."""
    return "".join((BEGIN_LINE, *records, END_LINE))


def encode_changes(
    changes: Iterable[tuple[int, str, str, str]],
    alike: Iterable[tuple[Iterable[tuple[int, int]], Mapping[str, str]]] = (),
) -> bytes:
    """Return one transaction: changes, then jobs (cluster, proc) whose attributes become alike.

    A change is its operation, key, attribute (or type) and text (or target type). What would be
    read back as anything else raises StorageError: a text with a line end, a key or name that is
    not one word.
    """
    lines = [BEGIN_LINE]
    append = lines.append
    checked, names = "", _known_names
    for op, key, name, text in changes:
        if key != checked:
            _check_word(key)
            checked = key
        if name not in names:
            _check_name(op, name)
        if op == SET_ATTRIBUTE:
            append(f"103 {key} {name} {text}\n")
        elif op == DELETE_ATTRIBUTE:
            append(f"104 {key} {name}\n")
        elif op == NEW_AD:
            _check_word(text or NO_TYPE)
            append(encode_new_ad(key, name, text))
        else:
            append(encode_destroy_ad(key))
    records = len(lines)
    for jobs, attributes in alike:
        pieces = _encode_alike(jobs, attributes)
        lines += pieces
        records += len(pieces) * len(attributes)
    append(END_LINE)
    data = "".join(lines).encode("utf-8", "surrogateescape")
    if b"\0" in data:
        wrong = next(line for line in lines if "\0" in line)
        raise StorageError(f"{wrong[:80]!r} has a NUL, which no record of the log can have")
    # All texts at once: each record has one line end, and so has the end mark.
    if data.count(b"\n") != records + 1:
        wrong = next((line for line in lines if line.count("\n") > 1), "")
        raise StorageError(f"{wrong[:80]!r} cannot be written on one line of the log")
    return data


def _encode_alike(jobs: Iterable[tuple[int, int]], attributes: Mapping[str, str]) -> list[str]:
    """Return the records of each job that gets the same attributes as the others."""
    for name in attributes:
        _check_name(SET_ATTRIBUTE, name)
    # What stands around a job's key, wherever the key stands.
    around = ["103 ", *(f" {name} {text}\n103 " for name, text in attributes.items())]
    around[-1] = around[-1].removesuffix("103 ")
    return [f"{cluster}.{proc}".join(around) for cluster, proc in jobs]


def _check_word(word: str) -> None:
    """Raise StorageError for what is read back from a record as none or several words."""
    if not is_key(word):
        raise StorageError(f"{word[:80]!r} cannot stand in a record of the log")


def _check_name(op: int, name: str) -> None:
    """Check the name of an attribute, or a type, which may be missing; remember it if it is one."""
    if not name and op in _NAMELESS:
        return
    _check_word(name)
    if len(_known_names) >= _MOST_KNOWN:
        _known_names.clear()
    _known_names.add(name)


def encode_snapshot(
    sequence: int,
    created: int,
    ads: Iterable[tuple[str, str, str, Iterable[tuple[str, str]]]],
) -> Iterator[str]:
    """Yield the pieces of a compacted log: for each ad its key, two types and attributes.

    The caller writes them beside the old log and renames, so no transaction marks are needed: a
    snapshot that is there is whole. What is appended to it begins behind a SNAPSHOT_END.
    """
    yield encode_sequence(sequence, created)
    for key, my_type, target_type, attributes in ads:
        lines = [encode_new_ad(key, my_type, target_type)]
        lines += [encode_set_attribute(key, name, text) for name, text in attributes]
        yield "".join(lines)


def replay(data: bytes | Iterable[bytes], table: Table, *, guards_snapshot: bool = False) -> Replay:
    """Apply a log, whole or in pieces, to `table` and say how much of it counts.

    A record without its line end, and a transaction without its end record, never happened: they
    were not acknowledged. A record in the middle that cannot be read raises StorageError if a
    transaction was completed after it, because then acknowledged work would be lost by cutting.
    With `guards_snapshot` so it does before the first transaction, if any record follows: there it
    is one of what the log was written anew with, also by who writes no SNAPSHOT_END.
    """
    replayer = _Replayer(table, guards_snapshot=guards_snapshot)
    return replayer.run((data,) if isinstance(data, bytes) else data)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What of a log is too much: of one line, and of a transaction that has not ended.

    None is no bound: who wrote a transaction into our own log had one.
    """

    line_bytes: int = LONGEST_RECORD_BYTES
    pending_bytes: int | None = None


def replay_by_steps(
    pieces: Iterable[bytes], table: Table, bounds: Bounds | None = None
) -> Generator[None, None, Replay]:
    """Do what `replay` does, a piece at each step, for those who have other things to do.

    Raises StorageError for what is beyond the bounds, too.
    """
    return _Replayer(table, bounds).steps(pieces)


class _Line:
    """The line that has not ended yet: its pieces, put together once, however many they are."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.bytes = 0

    def go_on(self, piece: bytes) -> list[bytes]:
        """Return the lines that end in the next piece of the log."""
        lines = piece.split(b"\n")
        last = lines.pop()
        if lines:
            lines[0] = self.so_far() + lines[0]
            self._pieces = []
            self.bytes = 0
        self._pieces.append(last)
        self.bytes += len(last)
        return lines

    def so_far(self) -> bytes:
        """Return what there is of it."""
        return b"".join(self._pieces)


class _Replayer:
    """One pass over a log."""

    def __init__(
        self, table: Table, bounds: Bounds | None = None, *, guards_snapshot: bool = False
    ) -> None:
        self.table = table
        self.bounds = bounds or Bounds()
        # Whether what is read now is taken for a snapshot in which nothing may be lost.
        self.in_snapshot = guards_snapshot
        self.sequence = 0
        self.created = 0
        self.records = 0
        self.kept = 0
        self.pending: list[tuple[int, str, str, str]] | None = None
        # Where that transaction began.
        self.begun = 0

    def run(self, pieces: Iterable[bytes]) -> Replay:
        """Apply every line that counts."""
        return take_all(self.steps(pieces))

    def steps(self, pieces: Iterable[bytes]) -> Generator[None, None, Replay]:
        """Apply every line that counts, a piece at each step."""
        end = number = bad = 0
        line = _Line()
        for piece in pieces:
            lines = line.go_on(piece)
            if line.bytes > self.bounds.line_bytes:
                raise StorageError(f"line {number + len(lines) + 1} of the log has no end")
            for raw in lines:
                number += 1
                if bad:
                    self._check_lost(raw, bad)
                    self._check_snapshot(raw, bad)
                    continue
                end += len(raw) + 1
                record = _decode(raw)
                if record is None:
                    bad = number
                elif record[0] == END:
                    yield from self._apply_pending(end)
                else:
                    self._take(record, end)
            self._check_pending(end)
            yield
        return Replay(
            self.sequence,
            self.created,
            self.kept,
            self.records,
            number,
            self._discarded(bad, line.so_far()),
        )

    def _check_pending(self, end: int) -> None:
        most, pending = self.bounds.pending_bytes, self.pending
        if most is None or pending is None:
            return
        if end - self.begun + len(pending) * _RECORD_BYTES > most:
            raise StorageError(f"a transaction of the log is larger than {most >> 20} MiB")

    def _check_lost(self, raw: bytes, bad: int) -> None:
        if raw.startswith(b"106"):
            raise StorageError(
                f"line {bad} of the log is not a record, and finished transactions follow it"
            )

    def _check_snapshot(self, raw: bytes, bad: int) -> None:
        """Refuse to lose a whole record of a snapshot; behind its end others may be lost."""
        record = _decode(raw) if self.in_snapshot else None
        if record is None:
            return
        if record[0] != BEGIN:
            raise StorageError(
                f"line {bad} of the log is not a record, and more of what the log was written anew "
                "with follows it"
            )
        self.in_snapshot = False

    def _discarded(self, bad: int, torn: bytes) -> str:
        """Say what does not count, empty if everything does."""
        if bad:
            self._check_lost(torn, bad)
            return f"everything from line {bad} on, which is not a record"
        if self.pending is not None:
            return f"an unfinished transaction of {len(self.pending)} records"
        return f"a torn record of {len(torn)} bytes" if torn else ""

    def _take(self, record: tuple[int, str, str, str], end: int) -> None:
        op = record[0]
        if op == BEGIN:
            self.in_snapshot = False
            self.pending = []
            self.begun = end
        elif self.pending is not None:
            self.pending.append(record)
        else:
            self._apply(record)
            self.kept = end

    def _apply_pending(self, end: int) -> Iterator[None]:
        """End a transaction, so many records at each step."""
        pending = self.pending or []
        for first in range(0, len(pending), _RECORDS_A_STEP):
            for each in pending[first : first + _RECORDS_A_STEP]:
                self._apply(each)
            if first + _RECORDS_A_STEP < len(pending):
                yield
        self.pending = None
        self.kept = end

    def _apply(self, record: tuple[int, str, str, str]) -> None:
        op, key, name, text = record
        self.records += 1
        if op == SET_ATTRIBUTE:
            self.table.set_attribute(key, name, text)
        elif op == DELETE_ATTRIBUTE:
            self.table.delete_attribute(key, name)
        elif op == NEW_AD:
            self.table.new_ad(key, name, text)
        elif op == DESTROY_AD:
            self.table.destroy_ad(key)
        elif op == SEQUENCE:
            self.sequence, self.created = int(key), int(text)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 19


def _type(text: str) -> str:
    return "" if text in {NO_TYPE, "*"} else text


def _decode(raw: bytes) -> tuple[int, str, str, str] | None:
    """Return operation, key, name and text of one line; None if it is not a record.

    A byte of zeros is what a disk gives for what it lost, or never had: no text holds one.
    """
    if b"\0" in raw:
        return None
    line = raw.decode("utf-8", "surrogateescape")
    op, _, rest = line.partition(" ")
    if op == "103":
        key, _, rest = rest.partition(" ")
        name, _, text = rest.partition(" ")
        return (SET_ATTRIBUTE, key, name, text) if key and name else None
    if op == "105":
        return (BEGIN, "", "", "")
    if op == "106":
        return (END, "", "", "")
    # Bytes are parted at C's blanks alone: a no-break space is a letter of a key.
    words = [word.decode("utf-8", "surrogateescape") for word in raw.split()[1:]]
    return _decode_rare(op, words)


def _decode_rare(op: str, words: list[str]) -> tuple[int, str, str, str] | None:
    count = len(words)
    if op == "104" and count == 2:
        return (DELETE_ATTRIBUTE, words[0], words[1], "")
    if op == "101" and 1 <= count <= 3:
        types = [_type(word) for word in words[1:]] + ["", ""]
        return (NEW_AD, words[0], types[0], types[1])
    if op == "102" and count == 1:
        return (DESTROY_AD, words[0], "", "")
    if op == "107" and count == 3 and _is_number(words[0]) and _is_number(words[2]):
        return (SEQUENCE, words[0], "", words[2])
    return None
