"""History files: banners, reading from either end, rotation."""

from __future__ import annotations

from hypothesis import given
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
