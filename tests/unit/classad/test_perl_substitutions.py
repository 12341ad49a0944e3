"""Patterns and what replaces them, as the real classad_eval of 25.14.1 answers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kettle.classad import ERROR, ClassAd, parse_expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'regexps("(a)|(b)","b","[\\1|\\2]")', "[|b]"),
        (r'regexps("(a)|(b)","a","[\\1|\\2]")', ERROR),
        ('replaceall("^","ab","x")', "xab"),
        ('replaceall("$","ab","x")', ERROR),
        ('replaceall("b*","abc","x")', ERROR),
        ('replaceall("","ab","x")', ERROR),
        ('replaceall("a|","ab","x")', ERROR),
        (r'replaceall("\\b","ab cd","x")', ERROR),
        (r'replaceall("(?m)^","a\nb","x")', "xa\nxb"),
        ('replaceall("(?=b)","abab","x")', "axbaxb"),
        ('replaceall("^a","aab","x")', "xab"),
        (r'regexps("a{,2}b","aaab","[\\0]")', "[aab]"),
        (r'regexps("a{,2}","a{,2}","[\\0]")', "[a]"),
        (r'regexps("a{ 1, 2 }b","aab","[\\0]")', "[aab]"),
        (r'regexps("a{, 2}b","aab","[\\0]")', "[aab]"),
        (r'regexps("a{1 }b","ab","[\\0]")', "[ab]"),
        (r'regexps("a{,}b","a{,}b","[\\0]")', "[a{,}b]"),
        ('regexp("(?^)a","a")', True),
        ('regexp("(?i)(?^)a","A")', False),
        ('regexp("(?^i)a","A")', True),
        ('regexp("(?i)(?^:a)","A")', False),
        ('regexp("(?^i-s)a","A")', ERROR),
        (r'regexp("\\1(a)","a")', False),
        (r'regexp("(?:\\1b|(a))+","aab")', True),
        ('regexp("(a){65536}","a")', ERROR),
        ('regexp("a{0,65536}","a")', ERROR),
        ('regexp("a{,65536}","a")', ERROR),
        ('regexp("a{65535}","a")', False),
    ],
)
def test_a_pattern_replaces_what_it_replaces_there(text: str, value: object) -> None:
    assert ClassAd().evaluate_expression(parse_expression(text)) == value


def test_a_tool_bounds_its_patterns_as_daemons_do() -> None:
    text = f'regexp("(a+)+$","{"a" * 40}b")'
    program = "from kettle.tools.programs import run_program; run_program('classad_eval')"
    done = subprocess.run(
        [sys.executable, "-c", program, text],
        env={**os.environ, "CONDOR_CONFIG": "ONLY_ENV"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.split("\n")[-2] == "error"


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"a\\Kb", "(?R)", "(a(?1)?b)", "(?<n>a)(?&n)", r"\\p{L}", r"\\P{Lu}", r"\\X", r"\\C"),
        *("(?|(a)|(b))", "(?(?=a)ab|c)", "(?<a>a)(?(<a>)b|c)", "(?(DEFINE)(?<x>a))ab"),
        *("a(*SKIP)b", "(*UTF)a", "(?C1)a"),
    ],
)
def test_what_the_manual_says_is_refused_is_an_error(pattern: str) -> None:
    assert parse_expression(f'regexp("{pattern}", "ab")').evaluate() is ERROR
