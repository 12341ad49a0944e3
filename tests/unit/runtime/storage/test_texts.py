"""Texts that somebody names are read whole, up to a bound, whatever the name stands for."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest

from kettle.runtime.storage.files import RememberingSources, SystemSources
from kettle.runtime.storage.texts import read_bytes, read_stream, read_text


def test_a_text_keeps_bytes_that_are_no_utf_8_and_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a\xff\r\nb\n")
    assert read_text(str(path), limit=6) == "a\udcff\nb\n"
    assert read_bytes(path, limit=6) == b"a\xff\r\nb\n"
    assert read_stream(io.StringIO("four"), "-", limit=4) == "four"


def test_what_has_no_end_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 1 << 40)
    for path, mib in (("/dev/zero", 4), (str(tmp_path / "huge"), 256)):
        for read in (read_text, read_bytes, SystemSources().read_text):
            with pytest.raises(OSError, match=f"it has more than {mib} MiB") as told:
                read(path)
            assert (told.value.errno, told.value.filename) == (errno.EFBIG, path)
    with pytest.raises(OSError, match="it has more than 0 MiB"):
        read_stream(io.StringIO("five!"), "-", limit=4)


def test_a_pipe_may_be_read_again() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"A = 1\n")
    os.close(writing)
    sources, name = RememberingSources(), f"/dev/fd/{reading}"
    assert [sources.read_text(name) for _ in range(2)] == ["A = 1\n"] * 2
    os.close(reading)


def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    path, sources = tmp_path / "file", RememberingSources()
    path.write_text("1")
    assert sources.read_text(str(path)) == "1"
    path.write_text("2")
    assert sources.read_text(str(path)) == "2"
