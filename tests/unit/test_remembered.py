"""What is kept is bounded by the bytes it takes, whatever strangers send."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from itertools import count
from sys import getsizeof
from weakref import ref

import pytest

from kettle.classad import ClassAd, parser
from kettle.classad.functions.regex import compile_pattern
from kettle.classad.parser import is_expression, parse_old_value
from kettle.matchmaking.slot_classes import is_plain, is_steady
from kettle.remembered import ENTRY_BYTES, Allowance, Answers, Memory

MIB = 1024 * 1024


def test_the_older_half_is_forgotten_when_the_allowance_is_spent() -> None:
    memory: Memory[int, str] = Memory(Allowance(4 * (ENTRY_BYTES + 100), largest=1000))
    for number in range(4):
        memory.keep(number, "", 100)
    assert list(memory) == [0, 1, 2, 3]
    memory.keep(4, "", 100)
    assert list(memory) == [2, 3, 4]


def test_memories_with_one_allowance_make_room_for_each_other() -> None:
    allowance = Allowance(4 * (ENTRY_BYTES + 100), largest=2000)
    one: Memory[int, str] = Memory(allowance)
    other: Memory[int, str] = Memory(allowance)
    for number in range(4):
        one.keep(number, "", 100)
    # Halves are forgotten until there is room.
    other.keep(9, "", 2 * ENTRY_BYTES + 300)
    assert list(one) == [3]
    assert list(other) == [9]
    assert allowance.held <= allowance.most


def test_what_is_too_large_drives_nothing_out_and_what_is_known_is_not_charged_again() -> None:
    allowance = Allowance(20_000)
    memory: Memory[int, str] = Memory(allowance)
    memory.keep(1, "one", 100)
    memory.keep(1, "other", 100)
    memory.keep(2, "two", 5000)
    assert memory == {1: "one"}
    assert allowance.held == ENTRY_BYTES + 100


def test_a_question_is_asked_once() -> None:
    asked = []

    def ask(key: str) -> int:
        asked.append(key)
        return len(key)

    answers = Answers(ask, 20_000)
    assert [answers["ab"], answers["ab"], answers["abc"]] == [2, 2, 3]
    assert asked == ["ab", "abc"]
    # What does not fit is asked again.
    assert answers["x" * 5000] == answers["x" * 5000] == 5000
    assert len(asked) == 4


# In each: what a peer sends, different every time, and long.
def _parsed(number: int) -> None:
    assert parse_old_value('"\\"' + "x" * 4000 + f'{number}"').is_literal


def _checked(number: int) -> None:
    assert is_expression('f("' + "\U0001f600" * 60_000 + f'{number}")')


def _name(number: int) -> None:
    ClassAd().insert_text("N" * 60_000 + str(number), "1")


def _slot(number: int) -> None:
    text = '"' + "x" * 60_000 + f'{number}"'
    assert is_plain(text)
    assert is_steady([text])


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("send", "times", "most"),
    [
        (_parsed, 2000, 10),
        (_checked, 40, 2),
        (_name, 200, 3),
        (_slot, 120, 4),
    ],
)
def test_what_peers_send_grows_a_daemon_by_no_more_than_its_allowance(
    send: Callable[[int], None], times: int, most: int, traced: None
) -> None:
    numbers = count()
    send(next(numbers))
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(times):
        send(next(numbers))
    assert tracemalloc.get_traced_memory()[0] - before < (most + 1) * MIB


@pytest.mark.parametrize(
    "text",
    [
        "a" + "?b:a" * 200,
        "a && " * 400 + "b",
        "{" + "5," * 400 + "6}",
        "{" + "[a=1]," * 200 + "6}",
        'f("x", MY.a[3].b) + ' * 100 + "-1",
        '"' + "\U0001f600" * 1000 + '\\""',
        '"' + "ä" * 2000 + '\\""',
    ],
)
def test_a_tree_is_charged_what_it_takes_compiled_and_printed(text: str, traced: None) -> None:
    # What is made once is there.
    warm = parse_old_value("(1 + a.b)")
    assert warm.closure
    assert warm.text()
    text = text.replace("(", "( ")
    for _ in range(4):
        # Nothing has to be forgotten meanwhile.
        parser._allowance.make_room()
    held, before = parser._allowance.held, tracemalloc.get_traced_memory()[0]
    expression = parse_old_value(text)
    assert expression.closure
    assert expression.text()
    assert expression.text(old=True)
    del expression
    taken = tracemalloc.get_traced_memory()[0] - before
    charged = parser._allowance.held - held
    assert taken <= charged


def test_the_patterns_of_peers_are_bounded_by_what_they_compile_to() -> None:
    alive = []
    for number in range(30):
        pattern = compile_pattern("x" * 20_000 + str(number), "")
        assert pattern is not None
        alive.append((ref(pattern), getsizeof(pattern)))
        del pattern
    assert sum(size for pattern, size in alive if pattern() is not None) < 8 * MIB


def test_a_pattern_that_takes_more_than_can_be_kept_is_none() -> None:
    # It would be compiled anew for every slot that it is looked for in.
    assert compile_pattern("\\h" * 32_000, "") is None
    longest = compile_pattern("x" * 65_536, "")
    assert longest is not None
    assert compile_pattern("x" * 65_536, "") is longest
