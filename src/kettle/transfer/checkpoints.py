"""Checkpoints that lie at a URL (checkpoint_destination): their place, their manifest.

Pure: names and texts. The starter puts a checkpoint's files under
`DESTINATION/GLOBAL_JOB_ID/NUMBER/NAME` and sends only the manifest to the access point, where it
waits in the job's spool; before the job's next run the newest whole manifest says what the starter
has to fetch again. A manifest has a line `SHA256 *NAME` for each file and a last one for itself.
Source: wire notes, Names and lists.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.octets import to_bytes, to_text
from kettle.patterns import late_pattern
from kettle.steps import take_all
from kettle.transfer.items import Item, SendFile, SendUrl
from kettle.transfer.plan import check_name

# What the deletion of checkpoints has from here still; it belongs where it comes from.

# Limit: a manifest longer than this is none, and none is made: of some 200,000 files.
MAX_MANIFEST = 16 * 1024 * 1024
# Limit: a line that is longer names nothing that can be opened.
_MAX_LINE = 64 + 2 + 4096 + 1
# Lines that are read at a step: they take about a millisecond.
_LINES_AT_ONCE = 250
MANIFEST, FAILURE = "MANIFEST", "FAILURE"
MANIFEST_STEM = f"_condor_checkpoint_{MANIFEST}"
# The ad of the job whose checkpoints are to be deleted, beside their manifests.
JOB_AD = ".job.ad"
# What `manifest_name` makes, and nothing else: it is by this name that a manifest is opened.
_NAME = late_pattern(r"_condor_checkpoint_MANIFEST\.([0-9]{4}|[1-9][0-9]{4,8})")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a checkpoint."""

    digest: str
    name: str


def manifest_name(number: int) -> str:
    """Return the name of a checkpoint's manifest."""
    return f"_condor_checkpoint_{MANIFEST}.{number:04d}"


def failure_name(number: int) -> str:
    """Return what the manifest of a checkpoint is called that nobody is to use any more."""
    return f"_condor_checkpoint_{FAILURE}.{number:04d}"


def number_of(name: str) -> int | None:
    """Return which checkpoint a manifest is of; None for any other file.

    The number has four digits, or more where it needs them.
    """
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


def was_checkpoint(name: str) -> int | None:
    """Return which checkpoint a manifest is of, also one that is not to be used any more."""
    return number_of(name.replace(FAILURE, MANIFEST))


def newest(names: Iterable[str], count: int) -> set[int]:
    """Return the numbers of the last `count` checkpoints among names of manifests."""
    numbers = (number_of(name) for name in names)
    return set(sorted(number for number in numbers if number is not None)[-count:])


def checkpoint_number(job: ClassAd, taken: int) -> int:
    """Return the number of a run's `taken`th checkpoint: after the job's last one, from 0 on."""
    last = job.integer("CheckpointNumber")
    return taken + (-1 if last is None else last)


def place_of(destination: str, global_id: str, number: int) -> str:
    """Return the URL below which a checkpoint's files are."""
    return f"{places_of(destination, global_id)}/{number:04d}"


def places_of(destination: str, global_id: str) -> str:
    """Return the URL below which all checkpoints of a job are."""
    return f"{destination.rstrip('/')}/{global_id.replace('#', '_')}"


def render_manifest(number: int, entries: Sequence[Entry]) -> str:
    """Return the text of a manifest.

    RefusedError for what could not be read again: a name with a line end, and far too many files.
    """
    for entry in entries:
        if "\n" in entry.name:
            raise RefusedError(f"the file name {entry.name!r} has a line end")
    body = "".join(f"{entry.digest} *{entry.name}\n" for entry in entries)
    data = to_bytes(body)
    text = f"{body}{hashlib.sha256(data).hexdigest()} *{manifest_name(number)}\n"
    if len(data) + len(text) - len(body) > MAX_MANIFEST:
        raise RefusedError(f"the list of {len(entries)} files is longer than {MAX_MANIFEST} bytes")
    return text


def parse_manifest(data: bytes) -> list[Entry]:
    """Return a manifest's files; RefusedError if it is damaged or names what it must not."""
    return take_all(parse_by_steps(data))


def parse_by_steps(data: bytes) -> Generator[None, None, list[Entry]]:
    """Do what `parse_manifest` does some lines at a step; the first that is none ends it.

    A manifest may be any file of a user's: nothing is kept but what it names.
    """
    entries: list[Entry] = []
    digest = hashlib.sha256()
    start = 0
    while start < len(data) <= MAX_MANIFEST:
        end = data.find(b"\n", start, start + _MAX_LINE)
        line = data[start : end + 1]
        own, star, name = line[:64], line[64:66], line[66:-1]
        if star != b" *" or not name or own.strip(b"0123456789abcdef"):
            break
        start = end + 1
        if start == len(data):
            if to_text(own) != digest.hexdigest():
                raise RefusedError("the manifest of a checkpoint is damaged")
            return entries
        digest.update(line)
        entries.append(Entry(to_text(own), to_text(name)))
        check_name(entries[-1].name, code=13)
        if len(entries) % _LINES_AT_ONCE == 0:
            yield
    raise RefusedError("the manifest of a checkpoint is no manifest")


def split_manifest(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the lines of a manifest that are about files, and the last one, which is about itself.

    Lines keep their ends; a manifest without a line has an empty last one.
    """
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1].removesuffix(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    return lines[:-1], lines[-1] if lines else b""


def file_of(line: str) -> str:
    """Return the name in a line of a manifest: what is after the first blank and a star."""
    return line.partition(" ")[2].removeprefix("*")


def checksum_of(line: str) -> str:
    """Return the checksum in a line of a manifest: what is before the first blank."""
    return line.partition(" ")[0]


def describes_itself(name: str, data: bytes) -> bool:
    """Tell whether the last line of a manifest is right about the others; `name` is the file's."""
    lines, last = split_manifest(data)
    own = to_text(last).strip()
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    return bool(last) and name.endswith(file_of(own)) and checksum_of(own) == digest


def plan_restore(
    place: str, manifest: str, number: int, entries: Iterable[Entry]
) -> Iterator[Item]:
    """Yield what is sent to restore a checkpoint: its manifest's file, and a URL for each file.

    The manifest lies in the sandbox under its own name until what was fetched is compared with it.
    """
    yield SendFile(manifest, manifest_name(number))
    for entry in entries:
        yield SendUrl(f"{place}/{entry.name}", entry.name)
