"""`kettle.compat.classad` prints for users' scripts what version 1 of the wheel's prints."""

from __future__ import annotations

import json
import pickle
import runpy
import sys
from pathlib import Path

import pytest

from kettle.compat import classad, classad2, real_names
from kettle.compat.classad import Attribute, ClassAd, ExprTree

ROOT = Path(__file__).parents[3]
SCRIPTS = sorted((ROOT / "tests/data/compat/version1").glob("*.py"))
SURFACE = json.loads((ROOT / "tests/data/wheel/version_1.json").read_text(encoding="utf-8"))
# Names of what iterators are made of, which nobody makes.
NOT_THERE = {"ClassAdFileIterator", "ClassAdStringIterator", "OldClassAdIterator"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_prints_what_it_prints_under_version_1(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("classad", "htcondor"):
        monkeypatch.setitem(sys.modules, name, None)
        real_names.take_name(name)
    runpy.run_path(str(script))
    recorded = script.with_suffix(".txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out.splitlines() == recorded.splitlines()


def test_the_module_has_the_public_names_of_version_1() -> None:
    surface = SURFACE["classad"]
    assert {name for name in surface["names"] if not hasattr(classad, name)} == NOT_THERE
    for name, members in surface["members"].items():
        found = getattr(classad, name, None)
        assert found is None or [one for one in members if not hasattr(found, one)] == [], name


def test_what_operators_make_is_printed_so_that_it_is_read_again() -> None:
    made = ExprTree("a + b") * 2
    assert repr(made) == "(a + b) * 2"
    assert ExprTree(repr(made)).eval(ClassAd({"a": 1, "b": 2})) == 6


def test_an_ad_and_its_expressions_can_be_pickled() -> None:
    ad = ClassAd({"a": 1, "b": Attribute("a") + 1})
    again = pickle.loads(pickle.dumps(ad))
    assert type(again) is ClassAd
    assert again.eval("b") == 2
    assert type(pickle.loads(pickle.dumps(ad["b"]))) is ExprTree


def test_a_function_that_is_registered_later_is_found_all_the_same() -> None:
    early = ExprTree("registeredLater(20)")
    # So often that a function is generated for expressions that can have one.
    assert {early.eval(ClassAd({"a": 1})) for _ in range(1000)} == {classad.Value.Error}
    classad.register(lambda x: x + 1, "registeredLater")
    assert early.eval() == 21
    assert classad2.ExprTree("1 + registeredLater(1)").eval() == 3


def test_what_is_registered_again_under_a_name_is_what_expressions_call_from_then_on() -> None:
    ad = ClassAd({"a": 5})
    early, constant = ExprTree("registeredTwice(1) + a"), ExprTree("registeredTwice(1)")
    classad.register(lambda x: x + 1, "registeredTwice")
    # So often that a function is generated for expressions that can have one.
    assert {early.eval(ad) for _ in range(1000)} == {7}
    assert constant.eval() == 2
    classad.register(lambda x: x + 100, "registeredTwice")
    assert early.eval(ad) == 106
    assert ExprTree("registeredTwice(1) + a").eval(ad) == 106
    assert constant.eval() == ExprTree("registeredTwice(1)").eval() == 101
    classad.register(lambda x, state: x + state["a"], "registeredTwice")
    assert early.eval(ad) == 11


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("TOUPPER", "S"), ("strcat", "S, S"), ("ifThenElse", "true, 1, 2"), ("splitSlotName", "S")],
)
def test_a_built_in_function_stays_what_it_is(name: str, arguments: str) -> None:
    """The wheel knows `splitSlotName` only once htcondor is imported."""
    text, ad = f"{name}({arguments})", ClassAd({"S": "a"})
    before = ExprTree(text).eval(ad)
    classad.register(lambda *given: "mine", name)
    assert ExprTree(text).eval(ad) == ExprTree(text.lower()).eval(ad) == before


def test_a_registered_name_is_found_without_regard_to_case() -> None:
    """The wheel raises KeyError where it is spelled otherwise."""
    classad.register(lambda: 1, "registeredSo")
    assert ExprTree("REGISTEREDSO()").eval() == 1
    classad.register(lambda: 2, "RegisteredSo")
    assert ExprTree("registeredSo()").eval() == 2


def test_a_function_is_registered_by_a_name_that_is_a_text() -> None:
    with pytest.raises(TypeError, match="must be a string"):
        classad.register(len, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["askAgain(b)", "askAgain(b + b)", "askAgain(b) + askAgain(b)"])
def test_a_function_that_asks_for_itself_ends(text: str) -> None:
    """The wheel raises RecursionError."""

    def ask_again(tree: object) -> object:
        return tree.eval() if isinstance(tree, ExprTree) else tree

    classad.register(ask_again, "askAgain")
    with pytest.raises(ValueError, match="nested too deeply"):
        ClassAd({"b": ExprTree(text)}).eval("b")


def test_what_is_no_expression_is_the_same_as_none() -> None:
    with pytest.raises(TypeError, match="not int"):
        ExprTree("1").sameAs(1)  # type: ignore[arg-type]


def test_a_name_that_is_called_and_never_registered_is_an_error() -> None:
    assert ExprTree("nobodyRegistersThis(1)").eval() is classad.Value.Error


def test_ads_of_version_2_are_taken_wherever_ads_are() -> None:
    ad = classad2.ClassAd({"x": 2})
    assert ExprTree("x + 1").eval(ad) == 3
    assert ClassAd(ad)["x"] == 2
    assert ClassAd({"inner": ad})["inner"] == {"x": 2}


def test_an_expression_of_an_inner_ad_knows_that_ad() -> None:
    assert ClassAd("[e = [f = 1; g = f + 1]]")["e"]["g"].eval() == 2


def test_a_library_is_refused_in_words() -> None:
    with pytest.raises(classad.ClassAdOSError, match="Register functions of Python's"):
        classad.registerLibrary("/lib/libfunctions.so")


def test_a_text_ends_at_a_nul() -> None:
    assert repr(classad.ClassAd("[a = 1]\0[b = 2]")) == "[ a = 1 ]"
    assert repr(classad.ExprTree("1\0+ 2")) == "1"


def test_a_list_that_is_simplified_is_a_list() -> None:
    """The wheel ends when such an expression is looked at."""
    assert repr(ExprTree("{ 1, a }").simplify(ClassAd({"a": 1}))) == "{ 1,a }"


def test_a_line_that_is_no_attribute_ends_its_ad() -> None:
    """To the wheel it is one: `[ a = 1; 'b c' = 1 ]`."""
    assert [repr(ad) for ad in classad.parseAds("a = 1\nb c\n\nd = 2")] == [
        "[ a = 1 ]",
        "[ d = 2 ]",
    ]


def test_an_error_of_a_text_says_what_is_wrong() -> None:
    """The wheel's says "None"."""
    with pytest.raises(classad.ClassAdParseError, match="'a b' is no expression"):
        ExprTree("a b")


def test_an_infinite_number_is_no_integer() -> None:
    with pytest.raises(OverflowError):
        int(classad.Literal(float("inf")))


def test_bytes_are_no_names() -> None:
    assert ClassAd({"a": b"text"})["a"] == "text"
    with pytest.raises(TypeError):
        ClassAd()[b"a"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        ExprTree(b"a")  # type: ignore[arg-type]
