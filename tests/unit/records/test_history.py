"""History files: banners, reading from either end, rotation."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kettle.records import history


def record(proc: int, offset: int, extra: str = "") -> bytes:
    banner = history.render_banner(
        offset=offset, cluster=1, proc=proc, owner="tester", completed=-1, now=5
    )
    return history.render_record([f"ProcId = {proc}", *([extra] if extra else [])], banner)


def file_of(count: int, extra: str = "") -> bytes:
    data = b""
    for proc in range(count):
        data += record(proc, len(data), extra)
    return data


def backwards(data: bytes) -> list[history.HistoryRecord]:
    return list(history.read_backwards(lambda at, length: data[at : at + length], len(data)))


def test_a_banner_is_written_as_the_reference_writes_it() -> None:
    assert record(0, 0) == (
        b'ProcId = 0\n*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "tester" '
        b"CompletionDate = -1 CurrentTime = 5\n"
    )


def test_both_directions_give_the_same_records() -> None:
    data = file_of(3)
    forwards = list(history.read_forwards(data))
    assert [each.lines for each in forwards] == [("ProcId = 0",), ("ProcId = 1",), ("ProcId = 2",)]
    assert backwards(data) == forwards[::-1]
    assert forwards[2].fields["Owner"] == "tester"


@given(st.integers(0, 600))
def test_a_file_cut_anywhere_gives_its_finished_records(cut: int) -> None:
    data = file_of(6)[:cut]
    finished = list(history.read_forwards(data))
    assert [each.lines[0] for each in finished] == [
        f"ProcId = {proc}" for proc in range(len(finished))
    ]
    assert backwards(data) == finished[::-1]


def test_records_longer_than_a_block_are_read_from_the_end() -> None:
    data = file_of(3, extra=f'Big = "{"x" * 200_000}"')
    assert [each.fields["ProcId"] for each in backwards(data)] == ["2", "1", "0"]


@given(st.integers(1, 90), st.booleans(), st.sampled_from([1, 7, 64, 1000]))
def test_a_record_longer_than_any_of_ours_is_skipped_and_hides_no_other(
    extra: int, one_line: bool, step: int
) -> None:
    text = "x" if one_line else "\nX = 1"
    long = record(1, 0, f"Big = {text * (extra * 10)}")
    assume(not 250 < len(long) <= 500)
    data = record(0, 0) + long + record(2, 0) + long + b"X = 1\n" * 100
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "LONGEST_RECORD_BYTES", 300)
        patch.setattr(history, "_BLOCK_BYTES", 150)
        expected = ["2", "0"] if len(long) > 500 else ["1", "2", "1", "0"]
        assert [each.fields["ProcId"] for each in backwards(data)] == expected
        forwards = [each.fields["ProcId"] for each in history.read_forwards(pieces)]
        assert forwards == expected[::-1]


def test_what_is_kept_of_an_endless_line_is_not_the_line() -> None:
    read = 0

    def pieces() -> Iterator[bytes]:
        nonlocal read
        yield record(0, 0)
        for _ in range(40):
            read += 1
            yield b"x" * (1 << 20)
        yield b"\n" + record(1, 0) + record(2, 0)

    tracemalloc.start()
    try:
        found = [each.fields["ProcId"] for each in history.read_forwards(pieces())]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found, read) == (["0", "2"], 40)
    assert most < 3 * history.LONGEST_RECORD_BYTES


def test_an_epoch_banner_carries_its_type() -> None:
    line = history.render_epoch_banner("SPAWN", cluster=1, proc=0, run=3, owner="t", now=9)
    kind, fields = history.parse_banner(line)
    assert kind == "SPAWN"
    assert fields["RunInstanceId"] == "3"


def test_a_file_rotates_when_it_would_grow_too_big_and_the_oldest_goes() -> None:
    names = ["history", "history.20260101T000000", "history.20260102T000000", "history.bak"]
    plan = history.plan_rotation(
        "history",
        names,
        size_bytes=900,
        adding_bytes=200,
        most_bytes=1000,
        rotations=2,
        stamp="20260103T000000",
    )
    assert plan == history.Rotation("history.20260103T000000", ("history.20260101T000000",))


def test_a_small_or_empty_file_is_left_alone() -> None:
    for size, adding in ((100, 200), (0, 5000)):
        assert (
            history.plan_rotation(
                "history",
                [],
                size_bytes=size,
                adding_bytes=adding,
                most_bytes=1000,
                rotations=2,
                stamp="20260103T000000",
            )
            is None
        )


def test_two_rotations_in_one_second_keep_both_files() -> None:
    plan = history.plan_rotation(
        "history",
        ["history.20260103T000000"],
        size_bytes=900,
        adding_bytes=200,
        most_bytes=1000,
        rotations=2,
        stamp="20260103T000000",
    )
    assert plan == history.Rotation("history.20260103T000000.1", ())
