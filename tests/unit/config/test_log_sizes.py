"""Sizes of logs are read as HTCondor's daemons read them (dprintf_parse_log_size)."""

from __future__ import annotations

import pytest

from kettle.config.log_sizes import odd_unit, read_log_size


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1000", (1000, 0)),
        ("10 Mb", (10 * 1024**2, 0)),
        ("10 Mbb", (10 * 1024**2, 0)),
        ("10 MiB", (10 * 1024**2, 0)),
        ("2M", (2 * 1024**2, 0)),
        ("2m", (0, 120)),
        ("2 min", (0, 120)),
        ("3 days", (0, 3 * 86400)),
        ("1 Gb", (1024**3, 0)),
        ("7 x", (7, 0)),
        ("2 mx", None),
        ("1024*1024", None),
        ("-1", None),
        ("ten", None),
        ("", None),
    ],
)
def test_a_size_is_read(text: str, read: tuple[int, int] | None) -> None:
    assert read_log_size(text) == read


@pytest.mark.parametrize(
    ("text", "meant"),
    [("10 Mbb", "10 Mb"), ("10 Mb", ""), ("7 x", "7 bytes"), ("5 dayz", "432000 seconds")],
)
def test_a_unit_that_nobody_writes_is_told(text: str, meant: str) -> None:
    assert odd_unit(text) == meant
