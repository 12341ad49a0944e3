"""What is printed of many ads at once is what is printed of them one by one."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.tools.programs import Streams
from kettle.tools.status.condor_status import arrange, render_all
from kettle.tools.status.many import render_many
from kettle.tools.status.wish import read_wish
from kettle.wire.ad_shapes import AdRun, each_ad
from kettle.wire.codec import Reader, Writer
from kettle.wire.similar_ads import read_ad_runs

TEXTS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=6).map(
        lambda text: '"' + text.replace("\\", "").replace('"', '\\"') + '"'
    ),
    st.sampled_from(
        ["true", "1.50", "-0", "007", "Cpus * 2", "START && Memory > 1", '"a\\tb"', "1 +", "%s"]
    ),
    st.sampled_from(['"LINUX"', '"X86_64"', '"Idle"', '"Unclaimed"', '"Claimed"', "undefined"]),
)
NAMES = ("Name", "Machine", "Arch", "OpSys", "State", "Activity", "Memory", "Cpus", "START")
ROWS = st.lists(st.tuples(*[TEXTS] * len(NAMES)), min_size=1, max_size=8)
GROUPS = st.lists(st.tuples(st.sets(st.sampled_from(NAMES), min_size=1), ROWS), max_size=4)
WORDS = (
    ("-totals",),
    ("-state", "-totals"),
    ("-l",),
    ("-l", "-limit", "3"),
    ("-af", "Name"),
    ("-af:lV,", "Memory", "Name", "State"),
    ("-af:r", "START", "Memory"),
    ("-af:tn", "START", "Cpus + 1", "Nothing"),
    ("-af:j", "Name", "-limit", "2"),
    ("-af:T", "Memory"),
)


def found_in(groups: list[tuple[set[str], list[tuple[str, ...]]]]) -> list[ClassAd | AdRun]:
    """Return ads as they come from the wire: the first of each sort by themselves, then runs."""
    writer = Writer(encrypted=True)
    for names, rows in groups:
        for number in range(12):
            for row in rows:
                texts = dict(zip(NAMES, row, strict=True))
                lines = [f"{name} = {texts[name]}" for name in NAMES if name in names]
                lines.append(f"Number = {number}")
                writer.integer(1).ads_lines([line.encode() for line in lines])
    body = writer.integer(0).getvalue()
    return list(read_ad_runs(Reader(body, encrypted=True)))


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
@settings(max_examples=40)
@given(groups=GROUPS)
def test_many_ads_are_printed_as_one_by_one(
    words: tuple[str, ...], groups: list[tuple[set[str], list[tuple[str, ...]]]]
) -> None:
    found = found_in(groups)
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    wish = read_wish(words)
    expected = render_all(wish, arrange(wish, list(each_ad(found))), streams)
    assert render_many(read_wish(words), found) in (expected, None)


def test_the_usual_ways_are_not_one_by_one() -> None:
    row = ('"slot1@a"', '"a"', '"X86_64"', '"LINUX"', '"Idle"', '"Idle"', "1", "2", "true")
    found = found_in([(set(NAMES), [row])])
    assert any(isinstance(each, AdRun) for each in found)
    for words in (("-totals",), ("-l",), ("-af", "Name"), ("-af:lV,", "Memory", "Name")):
        assert render_many(read_wish(words), found) is not None
