"""`kettle.patterns`: a pattern that is compiled late does what the compiled one does."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kettle.patterns import ERROR_NUMBERS, error_number, late_pattern
from kettle.patterns.perl import compile_perl

SOURCE = Path(__file__).parents[3] / "src" / "kettle"


def test_a_late_pattern_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def note(source: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(source)
        return compile_now(source, flags)

    monkeypatch.setattr(re, "compile", note)
    pattern = late_pattern(r"(a)b", re.IGNORECASE)
    assert compiled == []
    found = pattern.fullmatch("AB")
    assert found is not None
    assert found[1] == "A"
    assert pattern.sub("-", "xab") == "x-"
    assert pattern.split("1ab2") == ["1", "a", "2"]
    assert compiled == [r"(a)b"]


def test_every_late_pattern_compiles() -> None:
    wrong = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "late_pattern":
                try:
                    source = ast.literal_eval(node.args[0])
                except ValueError:
                    continue  # put together from parts: its module's tests use it
                try:
                    re.compile(source)
                except re.error as error:
                    wrong.append(f"{path}:{node.lineno}: {error}")
    assert wrong == []


# As condor_config_val of 25.14.1 says of LOCAL_CONFIG_DIR_EXCLUDE_REGEXP.
NUMBERED = [
    ("a\\", 101),
    ("\\y", 103),
    ("a{3,2}", 104),
    ("a{99999}", 105),
    ("[a", 106),
    ("[z-a]", 108),
    ("*a", 109),
    ("a**", 109),
    ("(?z)a", 111),
    ("(", 114),
    (r"(a)\2", 115),
    ("(?(5)a|b)", 115),
    ("(?(0)a)", 115),
    (r"(?<x>a)\k<y>", 115),
    ("(?", 114),
    ("a)", 122),
    ("[[:foo:]]", 130),
    ("(?<a", 142),
    ("(?P<a", 142),
]


def said_of(pattern: str) -> re.error:
    with pytest.raises(re.error) as caught:
        compile_perl(pattern.encode(), 0)
    return caught.value


@pytest.mark.parametrize(("pattern", "number"), NUMBERED)
def test_what_is_wrong_with_a_pattern_has_its_number(pattern: str, number: int) -> None:
    assert error_number(said_of(pattern)) == number


def test_each_wording_that_has_a_number_is_what_this_python_says_of_some_pattern() -> None:
    """Another Python may word it otherwise: its row would be met by nothing, and say nothing."""
    said = [said_of(pattern).msg for pattern, _ in NUMBERED]
    met = {next((words for words, _ in ERROR_NUMBERS if words in msg), None) for msg in said}
    assert met == {words for words, _ in ERROR_NUMBERS}


def test_an_error_that_is_not_known_has_no_number() -> None:
    assert error_number(re.error("something else")) is None
