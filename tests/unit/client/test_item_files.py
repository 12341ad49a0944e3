"""The items of large files, read when they are wanted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.client import item_files, submit_sources
from kettle.client.item_files import open_items
from kettle.client.submit_sources import SystemSubmitSources
from kettle.errors import SubmitError
from kettle.submit.item_lines import ItemLines
from kettle.submit.tables import Table

PLAIN = [
    "",
    "a",
    "a\n",
    "a\r\nb\r\n",
    "  a b \t\n\n\n c,d\n",
    "C:\\a\\b c\\d\n\\x\n",
    "é\udcff\n\x1fq\x1f\n",
    "\n".join(f"row {number} " + "x" * (number % 700) for number in range(500)),
]
JOINED = ["a \\\nb\n", "a\\", "a\\ \t\r\nb\n", "a\rb\n", "a\r\r\nb\n"]


@pytest.mark.parametrize("text", [*PLAIN, *JOINED])
@pytest.mark.parametrize("piece", [7, 1 << 20])
def test_items_of_a_large_file_are_those_of_a_small_one(
    text: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_files, "_PIECE_BYTES", piece)
    path = tmp_path / "items"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    sources = SystemSubmitSources()
    whole = list(sources.read_items(str(path)))
    monkeypatch.setattr(submit_sources, "_LARGE_BYTES", -1)
    items = sources.read_items(str(path))
    assert isinstance(items, ItemLines) is (text in PLAIN)
    assert list(items) == whole
    assert [items[number] for number in range(len(items))] == whole
    assert list(items[1::2]) == whole[1::2]


def test_a_file_of_items_is_closed_with_them(tmp_path: Path) -> None:
    path = tmp_path / "items"
    path.write_text("a\nb\n")
    items = open_items(str(path))
    mine = [one for one in os.listdir("/proc/self/fd") if _leads_to(one, path)]
    assert len(mine) == 1
    del items
    assert not [one for one in os.listdir("/proc/self/fd") if _leads_to(one, path)]


def _leads_to(descriptor: str, path: Path) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}") == str(path)
    except OSError:
        return False


def test_a_line_without_end_and_joined_lines_of_a_huge_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "items"
    for module in (item_files, submit_sources):
        monkeypatch.setattr(module, "LARGEST_TEXT", 100)
    monkeypatch.setattr(submit_sources, "_LARGE_BYTES", 10)
    monkeypatch.setattr(item_files, "_PIECE_BYTES", 10)
    path.write_text("a\n" * 50 + "x" * 200)
    with pytest.raises(OSError, match="a line of it has more than"):
        SystemSubmitSources().read_items(str(path))
    path.write_text("a\\\n" * 50)
    with pytest.raises(OSError, match="lines that end in a backslash"):
        SystemSubmitSources().read_items(str(path))


def test_the_items_of_a_table_are_made_when_they_are_wanted() -> None:
    looked_at: list[int] = []
    data = b"a,b\n" + b"".join(b"%03d,0\n" % number for number in range(10_000 // 6 * 6))

    def read(offset: int, size: int) -> bytes:
        looked_at.append(offset)
        return data[offset : offset + size]

    names, items = Table().read(ItemLines([data], read), (), "t", SubmitError)
    assert names == ("a", "b")
    assert items[0] == "000\x1f0"
    assert items[-1] == f"{len(items) - 1}\x1f0"
    assert len(looked_at) == 2
