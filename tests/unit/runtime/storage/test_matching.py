"""Patterns of file names: what glob(3) of the C library finds, as recorded from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.runtime.storage.matching import matching_names

NAMES = ("d/a.txt", "d/sub/c", "dd/e", ".hid", "l.txt", "w1.dat", "w2.dat", "a b.dat", "[q].x")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.dat", ["a b.dat", "w1.dat", "w2.dat"]),
        ("w[!1].dat", ["w2.dat"]),
        ("w[^1].dat", ["w2.dat"]),
        ("w?.d\\at", ["w1.dat", "w2.dat"]),
        ("\\[q].x", ["[q].x"]),
        ("[q].x", []),
        ("[[]q*", ["[q].x"]),
        ("[q", []),
        ("d", ["d/"]),
        ("d/", ["d//"]),
        ("dd/", ["dd/"]),
        ("*/", ["d//", "dd//", "ln//"]),
        ("d*/", ["d/", "dd/"]),
        ("d-x*", ["d-x/"]),
        ("d*", ["d-x/", "d/", "dd/"]),
        ("d//*", ["d//a.txt", "d//sub/"]),
        ("*/*", ["d/a.txt", "d/sub/", "dd/e", "ln/e"]),
        ("d/**/*", ["d/sub/c"]),
        (".h*", [".hid"]),
        (".*", ["../", "./", ".hid"]),
        ("d/../w1*", ["d/../w1.dat"]),
        ("l.txt/", ["l.txt"]),
        ("l.txt/x", []),
        ("no*", ["nowhere"]),
        ("nowhere", ["nowhere"]),
        ("nope", []),
        ("w1.dat/*", []),
    ],
)
def test_names_are_matched_as_the_c_library_does(
    pattern: str, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "ln").symlink_to("dd")
    (tmp_path / "nowhere").symlink_to("is no such")
    if "d-x/" in found:
        (tmp_path / "d-x").mkdir()
    monkeypatch.chdir(tmp_path)
    assert matching_names(pattern) == found
    if pattern not in {"d/", "*/"}:
        # A single letter is what the C library makes an exception for.
        whole = [f"{tmp_path}/{name}" for name in found]
        assert matching_names(f"{tmp_path}/{pattern}") == whole
