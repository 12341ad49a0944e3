"""What `condor_submit` of 25.14.1 made of macros in the arguments of a job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kettle.submit.build import SubmitOptions
from unit.submit.submitting import values

MANY = SubmitOptions(allow_many_queues=True)
DATA = json.loads((Path(__file__).parents[2] / "data" / "macros.json").read_text(encoding="utf-8"))


def test_macros_become_what_the_reference_makes_of_them() -> None:
    jobs = "".join(f"arguments = [{text}]\nqueue\n" for text, _ in DATA["cases"])
    made = values(DATA["settings"] + jobs, "Args", files={"/bin/sleep": "x"}, options=MANY)
    expected = [[text, f'"[{args}]"'] for text, args in DATA["cases"]]
    assert [[text, args] for (text, _), args in zip(expected, made, strict=True)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # More directories than there are: the reference crashes, or prints what is in its memory.
        ("$Fdd(d/rel.txt)", "d/"),
        ("$Fddd(a/b/c.d)", "a/b/"),
        # What is no number for printf(): the reference prints what is in its memory.
        ("$INT(3,%p)", "%p"),
        ("$REAL(3,%Lf)", "%Lf"),
        # Too long for its memory: the reference is aborted.
        ("$REAL(1e70,%.1f)", f"{1e70:.1f}"),
        # Brackets in brackets: the reference leaves one of them.
        ("$(b:$(nope:$(c:1)))", "3"),
        ("$(nope:$(nope:1))", "1"),
    ],
)
def test_where_the_reference_errs_a_macro_is_what_it_says(text: str, expected: str) -> None:
    assert values(f"b = 3\narguments = [{text}]\nqueue\n", "Args") == [f'"[{expected}]"']
