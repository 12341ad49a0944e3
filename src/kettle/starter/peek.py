"""Which parts of which files somebody who looks at a running job gets to see (condor_tail).

Choices only: `services/commands.py` opens and sends. (Wire notes, file primitive; the request
names standard output, standard error and files, each with the offset seen so far.)
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from kettle.classad import ClassAd, Value
from kettle.errors import RefusedError
from kettle.starter.launch import LaunchPlan
from kettle.transfer.plan import check_name

# Limit: bytes of all pieces of one look, whatever is asked for.
LARGEST_LOOK = 64 * 1024 * 1024
# Limit: files of one look beside the standard streams.
MOST_FILES = 100
_DEFAULT_LOOK = 1024
NOTHING_SEEN = -1


@dataclass(frozen=True)
class Piece:
    """A part of a file to send; `label` is 0 or 1 for the standard streams, else the name."""

    label: int | str
    path: str
    offset: int
    size: int


SizeOf = Callable[[str], int | None]
"""Returns a file's size, None where it cannot be read."""


def plan_look(
    request: ClassAd, plan: LaunchPlan, scratch: str, size_of: SizeOf, iwd: str = ""
) -> list[Piece]:
    """Return the pieces to send; RefusedError names a file that cannot be shown.

    Compat: what is streamed is shown where the submitter's files, below `iwd`, are in reach here.
    The reference shows none of it. Shown by test_what_is_streamed_is_looked_for_where_it_goes.
    """
    limit = request.integer("MaxTransferBytes")
    left = min(_DEFAULT_LOOK if limit is None or limit < 0 else limit, LARGEST_LOOK)
    pieces = []
    for label, path, seen in _wanted(request, plan, scratch, iwd):
        size = size_of(path)
        if size is None:
            if label in _streamed(plan):
                which = ("output", "error")[int(label)]
                raise RefusedError(
                    f"The job's standard {which} is streamed to {path}, where it was submitted, "
                    "and is not to be seen here"
                )
            name = label if isinstance(label, str) else path
            raise RefusedError(f"File {name} requested but not authorized to be sent.")
        # Somebody who has seen nothing yet gets the end; of a file that shrank there is no more.
        offset = max(0, size - left) if seen < 0 else min(seen, size)
        length = min(size - offset, left)
        left -= length
        pieces.append(Piece(label, path, offset, length))
    return pieces


def _streamed(plan: LaunchPlan) -> set[int | str]:
    """Return the labels of the standard files that go to where the job was submitted at once."""
    return {label for label, file in enumerate((plan.stdout, plan.stderr)) if file.stream}


def _wanted(
    request: ClassAd, plan: LaunchPlan, scratch: str, iwd: str
) -> Iterator[tuple[int | str, str, int]]:
    """Yield label and path of what is asked for, and how much of it was seen: -1 for nothing."""
    for label, word, standard in ((0, "Out", plan.stdout), (1, "Err", plan.stderr)):
        if request.boolean(word):
            path = posixpath.join(iwd, standard.path) if standard.stream else standard.path
            yield label, path, _seen(request.evaluate(f"{word}Offset"))
    names, offsets = request.evaluate("TransferFiles"), request.evaluate("TransferOffsets")
    if not isinstance(names, list):
        return
    if len(names) > MOST_FILES:
        raise RefusedError(f"{len(names)} files are more than {MOST_FILES}")
    starts = offsets if isinstance(offsets, list) else []
    for name, start in zip_longest(names, starts[: len(names)], fillvalue=NOTHING_SEEN):
        if not isinstance(name, str):
            raise RefusedError("a file to look at has no name")
        yield name, f"{scratch}/{check_name(name, code=0)}", _seen(start)


def _seen(offset: Value) -> int:
    return offset if isinstance(offset, int) else NOTHING_SEEN


def look_reply(pieces: list[Piece]) -> ClassAd:
    """Return the answer that announces the pieces."""
    ad = ClassAd({"Result": True})
    ad["TransferFiles"] = [piece.label for piece in pieces]
    ad["TransferOffsets"] = [piece.offset for piece in pieces]
    return ad
