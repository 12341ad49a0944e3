"""Items that stay in their file are those that a text of it has."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.errors import ChangedError
from kettle.submit import item_lines
from kettle.submit.item_lines import ItemLines, split_lines
from kettle.submit.queue_statement import QueueStatement


def lines_of(data: bytes, piece: int = 7) -> ItemLines:
    pieces = (data[at : at + piece] for at in range(0, len(data), piece))
    return ItemLines(pieces, lambda offset, size: data[offset : offset + size])


@given(
    st.lists(st.sampled_from(["", "a", " b ", "x" * 9, "\x1f", "é", "\r"])),
    st.booleans(),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_items_of_a_file_are_those_of_its_text(
    items: list[str], ends: bool, apart: int, piece: int
) -> None:
    text = "\n".join(items) + "\n" * ends
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_lines, "_APART_BYTES", apart)
        found = lines_of(text.encode(), piece)
        assert list(found) == split_lines(text)
        assert [found[at] for at in reversed(range(len(found)))] == split_lines(text)[::-1]
        assert found[1:4:2] == split_lines(text)[1:4:2]


def test_a_million_items_take_the_memory_of_a_few() -> None:
    data = b"".join(b"%d some words of an item\n" % number for number in range(1_000_000))
    tracemalloc.start()
    try:
        items = lines_of(data, 4 * 1024 * 1024)
        statement = QueueStatement(variables=("item",), items=items, how="from")
        rows = statement.rows(999_000)
        assert next(rows).values == ("999000 some words of an item",)
        assert sum(1 for _ in rows) == 999
        assert statement.job_count() == 1_000_000
        assert tracemalloc.get_traced_memory()[0] < 500_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("now", [b"a b\nc d\ne\n", b"a\n\n\nc\nde\n\n"])
def test_items_that_have_moved_in_their_file_are_not_taken_for_others(now: bytes) -> None:
    """A line less was an IndexError, and a line more another job's item."""
    before = b"a\nb\nc\nd\ne\n"
    now = now.ljust(len(before), b"x")
    assert len(now) == len(before)
    items = ItemLines([before], lambda at, size: now[at : at + size], "/spool/items")
    for number in (0, 4):
        with pytest.raises(ChangedError, match=r"^/spool/items has changed: . items are where 5"):
            items[number]


def test_no_item_is_behind_the_last() -> None:
    with pytest.raises(IndexError):
        lines_of(b"a\nb\n")[2]
    assert len(lines_of(b"")) == 0
