"""`condor_manifest`: look at the lists of checkpoints, and delete what they list.

A checkpoint that lies at a URL has a list of its files, with a checksum each and one of itself
(kettle.transfer.checkpoints). The words are functions, as in the reference: the first is which, the
second of what. Daemons call it to delete the checkpoints of jobs that are no more.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.errors import KettleError
from kettle.octets import to_bytes, to_text
from kettle.tools.programs import Streams, run_program
from kettle.transfer.checkpoints import (
    MANIFEST_STEM,
    checksum_of,
    describes_itself,
    file_of,
    split_manifest,
)

if TYPE_CHECKING:
    from kettle.tools.jobs.checkpoint_deletion import Deletion

USAGE = """\
Usage: condor_manifest FUNCTION ARGUMENT
  getNumberFromFileName NAME         the number of the checkpoint that a manifest is of, or -1
  validateManifestFile FILE          whether a manifest's last line is right about it
  validateFilesListedIn FILE         whether the files that it lists are as they were
  FileFromLine LINE                  the file that a line is about
  ChecksumFromLine LINE              its checksum
  compute_file_sha256_checksum FILE  the line for a file
  createManifestFor FOLDER           write a list of all files in a folder, MANIFEST
  deleteFilesStoredAt URL STEM FIRST LAST
                                     delete the checkpoints FIRST to LAST of a job below URL, whose
                                     manifests are STEM.FIRST and so on, and then the manifests
  deleteFilesListedIn URL FOLDER [URL FOLDER ...]
                                     delete all checkpoints of a job below URL whose manifests are
                                     in FOLDER, and then the manifests; so with each job
"""
_WORDS = 2
_WORDS_OF_DELETION = 5
_NAME = re.compile(rf"{MANIFEST_STEM}\.([0-9]{{1,9}})")
_NUMBER = re.compile(r"\s*[+-]?\d+", re.ASCII)


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_manifest`; the exit code is 0 if what was asked is so, or is done.

    For getNumberFromFileName it is the number itself, as in the reference.
    """
    words = argv[1:]
    if words and words[0] in ("-version", "--version"):
        from kettle.tools.configuration.condor_version import version_text

        streams.stdout.write(version_text())
        return 0
    name = words[0] if words else ""
    if name == "deleteFilesStoredAt" and len(words) == _WORDS_OF_DELETION:
        return _delete(words[1:], environment, streams)
    if name == "deleteFilesListedIn" and len(words) > 1 and len(words) % 2:
        return _delete_all(words[1:], environment, streams)
    act = _FUNCTIONS.get(name)
    if act is None or len(words) != _WORDS:
        why = f"{name} takes one argument" if act else f"unknown function {name}"
        asks = name.lstrip("-") in ("", "h", "help")
        streams.stderr.write(USAGE if asks else f"{USAGE}\ncondor_manifest: {why}\n")
        return 1
    said, code = act(words[1])
    streams.stdout.write(said)
    return code


def _number(name: str) -> tuple[str, int]:
    """Return a manifest's number, also in a form that no daemon gives it."""
    match = _NAME.fullmatch(name)
    shown = int(match[1]) if match else -1
    return f"{shown}\n", shown & 0xFF


def _validate_manifest(path: str) -> tuple[str, int]:
    try:
        valid = describes_itself(path, _read(path))
    except OSError:
        valid = False
    return ("true\n", 0) if valid else ("false\n", 1)


def _validate_files(path: str) -> tuple[str, int]:
    """Compare the files that a manifest lists; their names are below the working directory."""
    try:
        lines, last = split_manifest(_read(path))
    except OSError:
        return "false\nFailed to open MANIFEST, aborting.\n", 1
    if not last:
        return "false\nFailed to read first line of MANIFEST, aborting.\n", 1
    for line in lines:
        text = to_text(line).strip()
        name, listed = file_of(text), checksum_of(text)
        try:
            found = _digest(name)
        except OSError:
            what = f"Failed to open checkpoint file ('{name}') to compute checksum."
            return f"false\n{what}\n", 1
        if found != listed:
            what = f"Checkpoint file '{name}' did not have expected checksum ({found} vs {listed})."
            return f"false\n{what}\n", 1
    # A list of nothing is no use for checking anything.
    return ("true\n", 0) if lines else ("false\n\n", 1)


def _compute(path: str) -> tuple[str, int]:
    try:
        return f"{_digest(path)} *{path}\n", 0
    except OSError:
        return "", 1


def _create(folder: str) -> tuple[str, int]:
    """Write the list of a folder's files, in the order of their names, into the working directory.

    What is not there, or cannot be read, ends it.
    """
    lines: list[str] = []
    try:
        os.listdir(folder)
        for place, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(place, name)
                if os.path.isfile(path):
                    lines.append(f"{_digest(path)} *{path}\n")
        body = to_bytes("".join(lines))
        own = f"{hashlib.sha256(body).hexdigest()} *MANIFEST\n"
        with open("MANIFEST", "wb") as file:
            file.write(body + to_bytes(own))
    except OSError as error:
        return f"Unable to make the manifest ({error.errno}: {error.strerror}), aborting.\n", 1
    return "", 0


def _delete(words: Sequence[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Delete those checkpoints of a job whose numbers are in a range.

    Compat: the reference tells each manifest that is not there; here one line is for them all, as
    the numbers are a user's (test_missing_manifests_are_told_once_however_many_there_are).
    """
    place, stem = words[:2]
    for word in words[2:]:
        if not _NUMBER.fullmatch(word):
            streams.stderr.write(f"'{word}' is not a number, aborting.\n")
            return 1
    first, last = int(words[2]), int(words[3])
    folder, name = os.path.split(stem)
    deletion = _deletion(environment, folder)
    try:
        found = [one for one in deletion.manifests(name) if first <= one[0] <= last]
    except OSError:
        found = []
    complaints = []
    if len({number for number, _ in found}) < last - first + 1:
        complaints.append("Failed to open MANIFEST, aborting.")
    complaints += _delete_each(deletion, place, found)
    streams.stdout.writelines(f"{complaint}\n" for complaint in complaints)
    return int(not _finish(deletion, folder, streams) or bool(complaints))


def _delete_all(words: Sequence[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Delete all checkpoints of jobs; what is wrong with one keeps no other's from going."""
    code = 0
    for place, folder in zip(words[::2], words[1::2], strict=True):
        deletion = _deletion(environment, folder)
        try:
            found = deletion.manifests()
        except OSError:
            found = []
        complaints = _delete_each(deletion, place, found)
        streams.stdout.writelines(f"{complaint}\n" for complaint in complaints)
        if not _finish(deletion, folder, streams) or complaints:
            code = 1
    return code


def _deletion(environment: Mapping[str, str], folder: str) -> Deletion:
    # The other functions are to start fast.
    from kettle.tools.jobs.checkpoint_deletion import Deletion
    from kettle.tools.reach import Reach

    return Deletion(Reach(environment).config, environment, folder)


def _delete_each(deletion: Deletion, place: str, found: Sequence[tuple[int, str]]) -> list[str]:
    """Delete checkpoints; return what there is to complain of."""
    complaints = []
    for number, name in found:
        try:
            deletion.delete(place, number, name)
        except (KettleError, OSError) as error:
            complaints.append(str(error))
    return complaints


def _finish(deletion: Deletion, folder: str, streams: Streams) -> bool:
    """Remove a folder that has no more manifests; False if it cannot be looked at."""
    try:
        for path in deletion.finish():
            streams.stderr.write(f"Removing {path} after successful clean-up.\n")
    except OSError:
        streams.stderr.write(f"Unable to check contents of '{folder}', aborting.\n")
        return False
    return True


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_FUNCTIONS: dict[str, Callable[[str], tuple[str, int]]] = {
    "getNumberFromFileName": _number,
    "validateManifestFile": _validate_manifest,
    "validateFilesListedIn": _validate_files,
    "FileFromLine": lambda line: (f"{file_of(line)}\n", 0),
    "ChecksumFromLine": lambda line: (f"{checksum_of(line)}\n", 0),
    "compute_file_sha256_checksum": _compute,
    "createManifestFor": _create,
}


if __name__ == "__main__":
    sys.exit(run_program("condor_manifest"))
