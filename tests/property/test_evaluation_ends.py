"""One evaluation has an end soon, whatever its functions and comparisons are given to read."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.classad.compile import evaluate_lazily
from kettle.classad.nodes import AttributeReference
from kettle.classad.state import MOST_STEPS, new_state

TEXTS = {
    "S": '"' + "a," * 50_000 + '"',
    "T": '"' + "a," * 49_999 + 'A,"',
    "N": '"' + "1.5," * 25_000 + '"',
    "Q": '"' + "a b " * 25_000 + '"',
    "L": "{" + ",".join(['"a"'] * 20_000) + "}",
    "LS": "{" + ",".join(["S"] * 2_000) + "}",
    "LN": "{" + ",".join(["1"] * 20_000) + "}",
    "LA": "{" + ",".join(["[ a = 1 ]"] * 5_000) + "}",
    "Chain": "1" + " + 1" * 30_000,
}
LONG = (
    "stringListSize(S)",
    "size(split(S))",
    "size(toUpper(S))",
    'strcmp(S,"x")',
    "versionGE(S,S)",
    'stringListMember("q",S)',
    'stringList_RegexpMember("^q",S)',
    "stringListSum(N)",
    "S == T",
    "S < T",
    'S < "x"',
    "S =?= T",
    "(1 + 1 is 2) == (S == T)",
    "member(S,L)",
    'anyCompare("<",L,"")',
    'size(join(",",L))',
    "size(join(LS))",
    "sum(LN)",
    "size(listToArgs(LS))",
    "size(argsToList(Q))",
    "eval(N)",
    "Chain",
    "size(unparse(Chain))",
    "unresolved(Chain)",
    "countMatches(a == 1,LA)",
    "size(string(L))",
)


def _world(text: str, rows: int = 60) -> ClassAd:
    """An ad that asks for an expression 2 ** rows times."""
    ad = ClassAd()
    for name, expression in TEXTS.items():
        ad.insert_text(name, expression)
    ad.insert_text("A0", text)
    for row in range(1, rows + 1):
        ad.insert_text(f"A{row}", f"A{row - 1} is 5 || A{row - 1} is 5")
    return ad


@pytest.mark.parametrize("text", LONG)
def test_what_is_long_is_asked_for_a_few_times_only(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, not timed: how often the expression is begun before the evaluation is over."""
    ad = _world(text)
    state = new_state(ad)
    asked = 0
    tree = ad.lookup("A0")
    assert tree is not None
    whole = tree.closure

    def counted(of: object) -> object:
        nonlocal asked
        asked += 1
        return whole(of)

    tree._closure = counted  # type: ignore[assignment]
    try:
        evaluate_lazily(AttributeReference("A60"), state)
    finally:
        tree._closure = whole
    assert state.steps > MOST_STEPS
    assert asked < 300, asked


def test_once_it_is_what_it_is() -> None:
    for text, value in (
        ("stringListSize(S)", 50_000),
        ("size(split(S))", 50_000),
        ("S == T", True),
        ("S =?= T", False),
        ("sum(LN)", 20_000),
        ('member("a",L)', True),
        ("Chain", 30_001),
        ("countMatches(a == 1,LA)", 5_000),
    ):
        assert _world(text).evaluate("A0") == value, text


def test_lists_within_lists_that_double_have_an_end() -> None:
    ad = ClassAd()
    ad.insert_text("A0", '{ "a" }')
    for row in range(1, 61):
        ad.insert_text(f"A{row}", f"evalInEachContext(A{row - 1},{{ [],[] }})")
    for text in ("size(string(A60))", "A60", 'size(strcat(A60,""))', "size(join(A60))"):
        ad.insert_text("X", text)
        state = new_state(ad)
        evaluate_lazily(AttributeReference("X"), state)
        ad.evaluate("X")


def test_the_text_of_a_time_is_as_long_as_the_references() -> None:
    ad = ClassAd()
    for text, size in (
        ('formatTime(0,"%0900d")', 900),
        (f'formatTime(0,"{"a" * 3000}")', 1022),
        ('formatTime(0,"%01022d")', 1022),
    ):
        ad.insert_text("X", f"size({text})")
        assert ad.evaluate("X") == size
    ad.insert_text("X", f'isError(formatTime(0,"{"%9999d" * 100}"))')
    assert ad.evaluate("X") is True
