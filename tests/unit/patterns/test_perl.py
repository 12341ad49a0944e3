"""Patterns mean what HTCondor 25.14.1's regexps() makes of them: recorded, with its classad2.

Of `{,2}` and of looks behind at what is not always equally long the recordings are those of its
classad_eval, whose library is newer than classad2's.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kettle.classad import ERROR, ClassAd
from kettle.patterns.perl import compile_perl
from stopwatch import cpu_seconds

# Pattern, text, options, and what it matches: null where it is no pattern, false for nothing.
CASES = json.loads((Path(__file__).parents[2] / "data" / "perl_patterns.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case[0]))
def test_patterns_match_what_they_match_there(
    case: tuple[str, str, str, str | bool | None],
) -> None:
    pattern, text, options, found = case
    ad = ClassAd({"p": pattern, "t": text, "o": options})
    ad.insert_text("matches", "regexp(p, t, o)")
    ad.insert_text("match", 'regexps(p, t, "<\\0>", o)')
    if found is None:
        assert ad.evaluate("matches") is ERROR
    else:
        assert ad.evaluate("matches") is (found is not False)
        assert ad.evaluate("match") == ("" if found is False else f"<{found}>")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (rb"[[:letter:]]", "unknown POSIX class"),
        (rb"[:alpha:]", "only within a class"),
        (rb"[[.a.]]", "collating"),
        (rb"\x{100}", "too large"),
        (rb"\N{dash}", "not supported"),
        (rb"(a(?i)b", "unterminated"),
    ],
)
def test_what_is_no_pattern_says_why(pattern: bytes, why: str) -> None:
    with pytest.raises(re.error, match=re.escape(why)):
        compile_perl(pattern)


# What 25.14.1's classad_eval answers: its library looks behind at up to 255 bytes.
@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("(?<=a{1,3})b", "aab", "b"),
        ("(?<=a?)b", "b", "b"),
        ("(?<!a{1,3})b", "ab", None),
        ("(?<!a{1,3})b", "cb", "b"),
        ("(?<=a{2,3})b", "ab", None),
        ("(?<=a{,2})b", "aab", "b"),
        ("(?<=a{0,2}c?)b", "aacb", "b"),
        ("(?<=(?:ab){1,3})c", "ababc", "c"),
        ("(?<=(?:a|bc){1,2})d", "abcd", "d"),
        ("(?<=.{1,3}x)b", "qqxb", "b"),
        ("(?<=^a?)b", "ab", "b"),
        (r"(?<=\R)b", "ab", None),
        (r"(?<=\bfoo.{0,5})bar", "foo12bar", "bar"),
        ("(?<=(?i:a|bc))D", "BCd", None),
        ("(?<=(?i:a|bc))d", "BCd", "d"),
        ("(?<=a(?<=ba|a{1,2}))d", "aad", "d"),
        ("(?<=a{1,255})b", "aab", "b"),
        ("(?<=[^x-z]{1,2}|x)b", "yxb", "b"),
        ("(?x)(?<= a b? )c", "abc", "c"),
        (r"(?<=(?:\b)?\d{1,2})x", "a1x", "x"),
        ("(?<=(?:^)?ab?)c", "xabc", "c"),
        (r"(?<!(?:\b)?ab?)c", "xac", None),
        (r"(?<=(?:\b){2}ab?)c", "xabc", None),
        (r"(?<=(?:\b)*ab?)c", "xabc", "c"),
        (r"(?<=(?:\b){0,60000}ab?)c", "xabc", "c"),
    ],
)
def test_a_look_behind_sees_what_is_not_always_equally_long(
    pattern: str, text: str, found: str | None
) -> None:
    match = compile_perl(pattern.encode()).search(text.encode())
    assert (None if match is None else match[0].decode()) == found


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (b"(?<=a+)b", "branch too long"),
        (b"(?<=a*?)b", "branch too long"),
        (b"(?<=a{1,256})b", "branch too long"),
        # Limit: it would be a group for each of its widths. The real one takes it.
        (b"(?<=(a|bc))d", "nothing like it"),
        (b"(?<=" + b"(?:|)" * 60 + b"a?)b", "too much"),
        (b"(?<=" + b"(?:a|bc)?" * 60 + b")b", "too much"),
    ],
)
def test_a_look_behind_has_an_end(pattern: bytes, why: str) -> None:
    def refused() -> None:
        with pytest.raises(re.error, match=why):
            compile_perl(pattern)

    assert cpu_seconds(refused, below=1) < 1


@pytest.mark.filterwarnings("error")
def test_what_python_may_read_otherwise_some_day_is_read_as_it_is_now() -> None:
    assert compile_perl(rb"[a&&b]").match(b"&")
    assert compile_perl(rb"x[[a]").match(b"x[")


@pytest.mark.parametrize(
    "pattern",
    [b"(?i)" * 12_000 + b"|" * 12_000, b"(?i)" * 20 + b"|" * 60_000, b"(" * 1000 + b"(?i)" * 9000],
)
def test_what_options_make_of_many_branches_has_an_end(pattern: bytes) -> None:
    def refused() -> None:
        with pytest.raises((re.error, RecursionError)):
            compile_perl(pattern)

    assert cpu_seconds(refused, below=2) < 2
