"""No pattern of which a bound is known takes longer than that bound, whatever is made of it.

The patterns come from a grammar of what backtracks: repetitions beside and in one another, sets
that overlap, choices that begin alike. The texts are as long as a search may be that is not timed.
"""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from kettle.classad.functions.regex import _UNTIMED_STEPS
from kettle.patterns.perl import compile_perl
from kettle.patterns.shape import Shape, shape_of
from stopwatch import RUNS

_PATTERNS = 3000
_LONGEST = 100_000
# Far more than the milliseconds that the bound stands for, so that a slow machine is no failure.
_CPU_SECONDS = 0.5
_ATOMS = ["a", "b", "ab", "[ab]", "[^b]", ".", r"\w", r"\d", r"\s", r"\W", "@", "[^@]", "A", "aaaa"]
_ATOMS += ["[a-c]", "aaaaaaaaaaaaaaab"]
_TIMES = ["*", "+", "?", "{2,5}", "{0,3}", "{3}", "{2,}", "{0,40}", "*?", "+?", "??", "{1,2}", ""]
_FLAGS = [0, 0, 0, re.IGNORECASE, re.MULTILINE, re.DOTALL]


class _SlowError(Exception):
    pass


@pytest.fixture(autouse=True)
def _timer() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _SlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.signal(signal.SIGVTALRM, before)


def _made_up(rng: random.Random, depth: int) -> str:
    parts = []
    for _ in range(rng.randint(1, 4)):
        if depth and rng.random() < 0.3:
            inner = "|".join(_made_up(rng, depth - 1) for _ in range(rng.randint(1, 3)))
            parts.append(f"{rng.choice(['(', '(?:'])}{inner}){rng.choice(['', '', '?', '*', '+'])}")
        else:
            parts.append(rng.choice(_ATOMS) + rng.choice(_TIMES))
        if rng.random() < 0.05:
            parts.append(rng.choice(["$", r"\b", "^"]))
    return "".join(parts)


def _compiled(rng: random.Random) -> re.Pattern[bytes] | None:
    text = rng.choice(["", "", "^"]) + _made_up(rng, 2) + rng.choice(["", "", "$"])
    try:
        return compile_perl(text.encode(), rng.choice(_FLAGS))
    except re.error:
        return None


def _is_slow(pattern: re.Pattern[bytes], text: bytes) -> bool:
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, _CPU_SECONDS)
        try:
            pattern.search(text)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _SlowError:
        return True
    return False


def _texts(shape: Shape) -> Iterator[bytes]:
    length = min(int((_UNTIMED_STEPS / shape.factor) ** (1 / shape.degree)), _LONGEST)
    for unit in (b"a", b"ab", b"aab", b"A1 ", b"a@", b"a\n"):
        yield (unit * length)[: length - 1] + b"!"


def test_no_search_that_is_not_timed_is_slow() -> None:
    rng = random.Random(20261123)
    bounded = 0
    for _ in range(_PATTERNS):
        pattern = _compiled(rng)
        shape = None if pattern is None else shape_of(pattern)
        if pattern is None or shape is None:
            continue
        bounded += 1
        # One that was interrupted for long is quick the next time.
        slow = [text for text in _texts(shape) if all(_is_slow(pattern, text) for _ in range(RUNS))]
        assert not slow, (pattern, shape, slow[0][:20], len(slow[0]))
    assert bounded > _PATTERNS // 4
