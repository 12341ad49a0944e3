"""Campaigns: children that are run side by side, and the book of what was run."""

from __future__ import annotations

import gc
import os
import re
from functools import partial
from pathlib import Path

import pytest

from kettle.testing import campaign
from kettle.testing.simulation import children
from kettle.testing.simulation.book import Book
from kettle.testing.simulation.children import ChildFailed, run_in_children
from kettle.testing.simulation.run import Verdict


def _say(number: int) -> bytes:
    if number == 2:
        raise ValueError("two")
    if number == 3:
        os._exit(7)
    return b"%d" % number * 100_000


def test_calls_in_children_end_each_with_its_own_outcome() -> None:
    calls = [(number, partial(_say, number)) for number in range(6)]
    outcomes = dict(run_in_children(calls, at_once=3))
    assert sorted(outcomes) == list(range(6))
    assert outcomes[5] == b"5" * 100_000
    assert isinstance(outcomes[2], ChildFailed)
    assert "ValueError: two" in str(outcomes[2])
    assert "wait status" in str(outcomes[3])


def test_a_campaign_goes_on_where_its_book_ends(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    book = Book(path, "abc")
    for seed in (5, 7, 6):
        book.note(Verdict(seed, executions=2, jobs=1, kinds=["jump"]))
    book.note(Verdict(9, ["it broke"]))
    book.save()
    again = Book(path, "def")
    assert again.missing(range(4, 11)) == [4, 8, 10]
    again.note(Verdict(8))
    again.save()
    chapters = Book(path, "def").chapters
    assert chapters["abc"].seeds == [[5, 7], [9, 9]]
    assert (chapters["abc"].count, chapters["abc"].executions) == (4, 6)
    assert chapters["abc"].failed == {"9": ["it broke"]}
    assert chapters["abc"].troubles == {"jump": 3}
    assert chapters["def"].seeds == [[8, 8]]


def test_the_command_names_the_kinds_of_campaigns(capsys: pytest.CaptureFixture[str]) -> None:
    assert campaign.main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {kind}" in said for kind in campaign.KINDS)
    assert campaign.main(["nonsense"]) == 2
    assert campaign.main(["fuzz", "--inputs", "20", "--decoder", "chirp"]) == 0


def test_what_a_call_compiles_is_compiled_before_the_children_are_forked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[object] = []
    compile_one = re.compile

    def note(source: str, flags: int = 0) -> object:
        compiled.append(source)
        return compile_one(source, flags)

    monkeypatch.setattr(re, "compile", note)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    children.warm(lambda: re.compile("a pattern that nobody else has"))
    assert compiled.count("a pattern that nobody else has") == 1
