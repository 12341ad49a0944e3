"""Text that is bytes: each byte comes back, wherever text is written."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from kettle.classad.forms_json import parse_json_ads
from kettle.octets import to_bytes, to_text, words_of
from kettle.runtime.storage.files import Files
from kettle.starter.chirp import render_line
from kettle.tools import programs


def test_every_byte_comes_back() -> None:
    data = bytes(range(256)) + "é日".encode()
    assert to_bytes(to_text(data)) == data


def test_small_files_are_written_and_read_as_they_are(tmp_path: Path) -> None:
    path = f"{tmp_path}/small"
    Files().write_atomically(path, "a\udce9")
    assert Path(path).read_bytes() == b"a\xe9"
    assert Files().read_text(path) == "a\udce9"


def test_a_chirp_line_has_the_bytes_of_its_words() -> None:
    assert render_line("open", "b\udce9d.dat", "r", 0) == b"open b\xe9d.dat r 0\n"


def test_a_tools_streams_take_every_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(written, encoding="utf-8"))
    streams = programs.standard_streams()
    streams.stdout.write("a\udce9")
    streams.stdout.flush()
    assert written.getvalue() == b"a\xe9"


@pytest.mark.parametrize(
    ("name", "encoding", "errors", "bytes_written"),
    [
        ("stderr", "latin-1", "backslashreplace", b"a\xe9\\u20ac\\ud800\xff"),
        ("stderr", "utf-8", "backslashreplace", b"a\xe9\xe2\x82\xac\\ud800\xff"),
        ("stdout", "ascii", "replace", b"a\xe9??\xff"),
    ],
)
def test_what_a_stream_cannot_write_becomes_what_it_became_before(
    monkeypatch: pytest.MonkeyPatch, name: str, encoding: str, errors: str, bytes_written: bytes
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, name, io.TextIOWrapper(written, encoding=encoding, errors=errors))
    for _ in range(2):
        stream = getattr(programs.standard_streams(), name)
    stream.write("a\udce9\u20ac\ud800\udcff")
    stream.flush()
    assert written.getvalue() == bytes_written


def test_half_a_pair_in_json_becomes_bytes_that_can_be_written() -> None:
    (ad,) = parse_json_ads('{"A": "\\ud800"}')
    assert to_bytes(ad.string("A") or "") == b"\xed\xa0\x80"


def test_words_stand_between_cs_blanks() -> None:
    assert words_of("  a b\tc\n\vd\f\re ") == ["a", "b", "c", "d", "e"]
    odd = "a\u00a0b\x1cc\x85d\u2028e"
    assert words_of(f" {odd}  f") == [odd, "f"]
    assert words_of(" \n") == []
