"""Which parts of which files somebody who looks at a running job gets to see (condor_tail).

Choices only: `services/commands.py` opens and sends. (Wire reference, file primitive; the request
names standard output, standard error and files, each with the offset seen so far.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.starter.launch import LaunchPlan
from kettle.transfer.plan import check_name

# Limit: bytes of all pieces of one look, whatever is asked for.
LARGEST_LOOK = 64 * 1024 * 1024
_DEFAULT_LOOK = 1024


@dataclass(frozen=True)
class Piece:
    """A part of a file to send; `label` is 0 or 1 for the standard streams, else the name."""

    label: int | str
    path: str
    offset: int
    size: int


SizeOf = Callable[[str], int | None]
"""Returns a file's size, None where it cannot be read."""


def plan_look(request: ClassAd, plan: LaunchPlan, scratch: str, size_of: SizeOf) -> list[Piece]:
    """Return the pieces to send; RefusedError names a file that cannot be shown."""
    limit = request.integer("MaxTransferBytes")
    left = min(_DEFAULT_LOOK if limit is None or limit < 0 else limit, LARGEST_LOOK)
    wanted: list[tuple[int | str, str, int]] = []
    if request.boolean("Out"):
        wanted.append((0, plan.stdout.path, request.integer("OutOffset") or 0))
    if request.boolean("Err"):
        wanted.append((1, plan.stderr.path, request.integer("ErrOffset") or 0))
    names, offsets = request.evaluate("TransferFiles"), request.evaluate("TransferOffsets")
    if isinstance(names, list):
        starts = offsets if isinstance(offsets, list) else []
        for position, name in enumerate(names):
            if not isinstance(name, str):
                raise RefusedError("a file to look at has no name")
            start = starts[position] if position < len(starts) else 0
            inside = check_name(name, code=0)
            wanted.append((name, f"{scratch}/{inside}", start if isinstance(start, int) else 0))
    pieces = []
    for label, path, asked in wanted:
        size = size_of(path)
        if size is None:
            raise RefusedError(f"{label if isinstance(label, str) else path} cannot be read")
        # Somebody who has seen nothing yet gets the end; a file that shrank is begun anew.
        offset = max(0, size - left) if asked < 0 else min(asked, size)
        if asked == 0:
            offset = max(0, size - left)
        length = min(size - offset, left)
        pieces.append(Piece(label, path, offset, length))
    return pieces


def look_reply(pieces: list[Piece]) -> ClassAd:
    """Return the answer that announces the pieces."""
    ad = ClassAd({"Result": True})
    ad["TransferFiles"] = [piece.label for piece in pieces]
    ad["TransferOffsets"] = [piece.offset for piece in pieces]
    return ad
