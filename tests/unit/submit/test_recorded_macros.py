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


READ_EARLY = """\
process = $(Process)
cluster = $(Cluster)
procid = x$(ProcId)y
step = $(Step)
row = <$(Row)>
node = [$(Node)]
itemindex = $(ItemIndex)
submit_file = b$(SUBMIT_FILE)
islinux = l$(IsLinux)
jobid = $(JobId)z
"""
ASKED = (
    "arguments = $(Process) $(cluster) $(procid) $(step) $(row) $(node) $(itemindex) "
    "$(submit_file) $(islinux) "
)


def test_a_name_that_mentions_itself_begins_with_what_it_is_without_the_description() -> None:
    """Recorded from 25.14.1, where no cluster has a number yet while the description is read."""
    args = values(f"{READ_EARLY}{ASKED}\nqueue 2\n", "Args")
    assert args == ['"0 1 x0y 0 <0> [] 0 bjob.sub l1"'] * 2


def test_what_such_a_name_mentions_besides_is_read_later() -> None:
    args = values("jobid = $(JobId)z$(Process)\narguments = $(jobid)\nqueue 2\n", "Args")
    assert args == ['"1.0z0"', '"1.1z1"']


def test_an_item_that_the_description_sets_is_none_where_there_are_no_items() -> None:
    text = "item = <$(Item)>\narguments = i$(Item)\nprocess = 3\nqueue 3\n"
    assert values(text, "Args") == ['"i"'] * 3
