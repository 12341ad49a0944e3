"""Patterns mean what HTCondor 25.14.1's regexps() makes of them: recorded, with its classad2.

Of `{,2}` the recordings are those of its classad_eval, whose library is newer than classad2's.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from kettle.classad import ERROR, ClassAd
from kettle.perl_patterns import compile_perl

# Pattern, text, options, and what it matches: null where it is no pattern, false for nothing.
CASES = json.loads((Path(__file__).parents[1] / "data" / "perl_patterns.json").read_text())


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


@pytest.mark.filterwarnings("error")
def test_what_python_may_read_otherwise_some_day_is_read_as_it_is_now() -> None:
    assert compile_perl(rb"[a&&b]").match(b"&")
    assert compile_perl(rb"x[[a]").match(b"x[")


@pytest.mark.parametrize(
    "pattern",
    [b"(?i)" * 12_000 + b"|" * 12_000, b"(?i)" * 20 + b"|" * 60_000, b"(" * 1000 + b"(?i)" * 9000],
)
def test_what_options_make_of_many_branches_has_an_end(pattern: bytes) -> None:
    began = time.process_time()
    with pytest.raises((re.error, RecursionError)):
        compile_perl(pattern)
    assert time.process_time() - began < 2
