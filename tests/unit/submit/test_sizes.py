"""Sizes with units, and what is none."""

from __future__ import annotations

import pytest

from kettle.submit.sizes import missing_unit, parse_size


def test_a_text_without_end_is_no_size() -> None:
    for length, size in ((256, 7), (257, None)):
        text = "7".rjust(length, "0")
        assert parse_size(text, "M") == size
        assert missing_unit(text) is (size is not None)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *((text, 0) for text in (".", ".G", ".kb", ". T")),
        *((text, None) for text in ("..", "+.", "-.G", ".B", ".x", ".e5", "G")),
    ],
)
def test_a_point_without_digits_is_nothing(text: str, size: int | None) -> None:
    assert parse_size(text, "M") == size
