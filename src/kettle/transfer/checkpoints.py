"""Checkpoints that lie at a URL (checkpoint_destination): their place, their manifest.

Pure: names and texts. The starter puts a checkpoint's files under
`DESTINATION/GLOBAL_JOB_ID/NUMBER/NAME` and sends only the manifest to the access point, where it
waits in the job's spool; before the job's next run the newest whole manifest says what the starter
has to fetch again. A manifest has a line `SHA256 *NAME` for each file and a last one for itself.
Source: wire notes, Names and lists.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.octets import to_text
from kettle.patterns import late_pattern
from kettle.transfer.items import Item, SendFile, SendUrl
from kettle.transfer.plan import check_name

# Limit: a manifest longer than this is none.
MAX_MANIFEST = 64 * 1024 * 1024
MANIFEST, FAILURE = "MANIFEST", "FAILURE"
MANIFEST_STEM = f"_condor_checkpoint_{MANIFEST}"
# What the name of a folder ends with that holds what a run of a spooled job left.
LEFT = ".left"
# The ad of the job whose checkpoints are to be deleted, beside their manifests.
JOB_AD = ".job.ad"
# What `manifest_name` makes, and nothing else: it is by this name that a manifest is opened.
_NAME = late_pattern(r"_condor_checkpoint_MANIFEST\.([0-9]{4}|[1-9][0-9]{4,8})")
_LINE = late_pattern(r"([0-9a-f]{64}) \*(.+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a checkpoint."""

    digest: str
    name: str


def left_directory(job: ClassAd, spooled: str) -> str:
    """Return where files wait that a run left before the job's end, for its next run.

    `spooled` is the job's folder in the spool. Where that holds what the user sent, and the event
    log, it is one beside it, which can take another's place whole.

    Compat: the reference has both in one folder. Whichever schedd takes over the other's spool
    starts such a job from its beginning (test_what_a_spooled_job_left_lies_beside_its_input).
    """
    return spooled + LEFT if "StageInStart" in job else spooled


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


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def render_manifest(number: int, entries: Iterable[Entry]) -> str:
    """Return the text of a manifest."""
    body = "".join(f"{entry.digest} *{entry.name}\n" for entry in entries)
    own = _digest(body)
    return f"{body}{own} *{manifest_name(number)}\n"


def parse_manifest(text: str) -> list[Entry]:
    """Return a manifest's files; RefusedError if it is damaged or names what it must not."""
    lines = text.splitlines(keepends=True)
    matches = [_LINE.fullmatch(line.rstrip("\n")) for line in lines]
    if not lines or None in matches or not text.endswith("\n"):
        raise RefusedError("the manifest of a checkpoint is no manifest")
    entries = [Entry(match[1], match[2]) for match in matches if match is not None]
    body = "".join(lines[:-1])
    if entries.pop().digest != _digest(body):
        raise RefusedError("the manifest of a checkpoint is damaged")
    for entry in entries:
        check_name(entry.name, code=13)
    return entries


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


def plan_restore(place: str, manifest: str, number: int, entries: Sequence[Entry]) -> list[Item]:
    """Return what is sent to restore a checkpoint: its manifest's file, and a URL for each file.

    The manifest lies in the sandbox under its own name until what was fetched is compared with it.
    """
    urls = (SendUrl(f"{place}/{entry.name}", entry.name) for entry in entries)
    return [SendFile(manifest, manifest_name(number)), *urls]
