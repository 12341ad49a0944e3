"""What somebody who looks at a running job's files gets to see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.starter.launch import LaunchPlan, StandardFile
from kettle.starter.peek import LARGEST_LOOK, MOST_FILES, Piece, look_reply, plan_look

PLAN = LaunchPlan(
    ("job",), {}, "/scratch", StandardFile("/in"), StandardFile("/out"), StandardFile("/err")
)


def look(size: int | None = 1000, **request: object) -> list[tuple[int | str, int, int]]:
    """Return label, offset and length of each piece; every file has that size."""
    pieces = plan_look(ClassAd(request), PLAN, "/scratch", lambda _: size)
    return [(piece.label, piece.offset, piece.size) for piece in pieces]


def test_the_end_is_shown_first_and_then_what_came_since() -> None:
    assert look(Out=True, MaxTransferBytes=100) == [(0, 900, 100)]
    assert look(Out=True, OutOffset=-1, MaxTransferBytes=100) == [(0, 900, 100)]
    assert look(Out=True, OutOffset=950, MaxTransferBytes=100) == [(0, 950, 50)]
    assert look(Err=True, ErrOffset=2000, MaxTransferBytes=100) == [(1, 1000, 0)]


def test_what_was_empty_is_shown_from_its_beginning() -> None:
    assert look(Out=True, OutOffset=0, MaxTransferBytes=100) == [(0, 0, 100)]


def test_the_limit_is_that_of_all_files_together() -> None:
    names = [f"file{number}" for number in range(MOST_FILES)]
    shown = look(10, Out=True, TransferFiles=names, MaxTransferBytes=25)
    assert shown[:4] == [(0, 0, 10), ("file0", 0, 10), ("file1", 5, 5), ("file2", 10, 0)]
    assert sum(length for _, _, length in shown) == 25
    assert sum(length for _, _, length in look(LARGEST_LOOK, Out=True, Err=True)) == 1024
    most = look(LARGEST_LOOK, Out=True, Err=True, MaxTransferBytes=2 * LARGEST_LOOK)
    assert most == [(0, 0, LARGEST_LOOK), (1, LARGEST_LOOK, 0)]


@pytest.mark.parametrize(
    "names", [["../secret"], ["/etc/passwd"], [7], ["file"] * (MOST_FILES + 1)]
)
def test_what_is_no_file_of_the_job_is_refused(names: list[object]) -> None:
    with pytest.raises(RefusedError):
        look(TransferFiles=names)


def test_a_file_that_cannot_be_read_is_named() -> None:
    with pytest.raises(RefusedError, match="File lost requested but not authorized"):
        look(None, TransferFiles=["lost"])


def test_what_is_streamed_is_looked_for_where_it_goes() -> None:
    plan = replace(
        PLAN,
        stdout=StandardFile("out", stream=True),
        stderr=StandardFile("/far/err", stream=True),
    )
    sizes = {"/home/job/out": 5}
    [piece] = plan_look(ClassAd({"Out": True}), plan, "/scratch", sizes.get, "/home/job")
    assert piece == Piece(0, "/home/job/out", 0, 5)
    said = "The job's standard error is streamed to /far/err, where it was submitted"
    with pytest.raises(RefusedError, match=said):
        plan_look(ClassAd({"Err": True}), plan, "/scratch", sizes.get, "/home/job")


def test_the_answer_announces_the_pieces() -> None:
    ad = look_reply([Piece(0, "/out", 5, 1), Piece("a", "/scratch/a", 0, 2)])
    assert ad.evaluate("TransferFiles") == [0, "a"]
    assert ad.evaluate("TransferOffsets") == [5, 0]
