"""`kettle.compat.classad2` prints for users' scripts what the wheel's `classad2` prints.

Where it departs on purpose, or answers what the wheel does not outlive, a test here says so.
"""

from __future__ import annotations

import datetime
import enum
import os
import pickle
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kettle.attributes.version import VERSION
from kettle.classad.forms import render_ads
from kettle.compat import classad, classad2
from kettle.compat.classad2 import ClassAd, ExprTree, Parser, parseAds, parseNext

ROOT = Path(__file__).parents[3]
SCRIPTS = sorted((ROOT / "tests/data/compat").glob("*.py"))
# What `dir(classad2)` lists under the wheel, its extension module left out.
WHEEL_NAMES = [
    *("ClassAd", "ClassAdException", "ExprTree", "Parser", "ParserType", "Value", "lastError"),
    *("parseAds", "parseNext", "parseOne", "quote", "unquote", "version"),
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_prints_what_it_prints_under_the_wheel(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "classad2", classad2)
    runpy.run_path(str(script))
    recorded = script.with_suffix(".txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out.splitlines() == recorded.splitlines()


def test_the_module_has_the_public_names_of_the_wheels() -> None:
    assert sorted(classad2.__all__) == sorted(WHEEL_NAMES)
    assert classad2.version() == VERSION
    assert Parser is classad2.ParserType


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, kettle.compat.classad2; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    heavy = {"asyncio", "socket", "subprocess", "cryptography", "kettle.runtime", "kettle.wire"}
    assert heavy.isdisjoint(loaded)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({1: 2}, TypeError),
        ({"a": object()}, classad2.ClassAdException),
        ({"a": 1 << 70}, OverflowError),
        ({"a": [object()]}, classad2.ClassAdException),
        ({None: 1}, TypeError),
    ],
    ids=["number as name", "unknown value", "huge number", "unknown in a list", "no name"],
)
def test_what_makes_the_wheel_fault_raises_what_can_be_caught(
    values: dict[str, object], error: type[Exception]
) -> None:
    """The wheel raises SystemError for the first three and ends the process for the others."""
    with pytest.raises(error):
        ClassAd(values)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("countMatches(9223372036854775807, UNDEFINED)", "0"),
        ('stringListMember("a", "a,b")', "True"),
    ],
)
def test_functions_of_htcondor_are_known_from_the_start(text: str, value: str) -> None:
    script = (
        "import sys\nfrom kettle.compat.classad2 import ClassAd\n"
        "print(ClassAd(f'[ a = {sys.argv[1]} ]').eval('a'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, text], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{value}\n"


def test_unquoting_nothing_raises_a_type_error() -> None:
    """The wheel crashes on unquote(None)."""
    with pytest.raises(TypeError):
        classad2.unquote(None)  # type: ignore[arg-type]
    assert classad2.quote(None) == '""'
    for function in (classad2.quote, classad2.unquote):
        with pytest.raises(TypeError, match="must be str or None, not int"):
            function(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["garbage", "[a=]", "[;]", "a", "[a=1] x", "[a=1][b=]"])
def test_what_is_no_ad_is_told(text: str) -> None:
    """The wheel ends there as if there were no more."""
    with pytest.raises(ValueError, match="Unable to parse input stream"):
        classad2.parseOne(text, Parser.New)
    assert classad2.lastError()


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_an_ad_is_the_same_as_its_copy_whatever_its_numbers(number: float) -> None:
    assert ClassAd({"a": number}) == ClassAd({"a": number})
    assert ClassAd({"a": number}).lookup("a") == ClassAd({"a": number}).lookup("a")


@pytest.mark.parametrize("text", ["a // c", "a //", "a /* c */ // d", "a\n// c\n"])
def test_a_comment_may_end_an_expression(text: str) -> None:
    assert repr(ExprTree(text)) == "a"


def test_the_second_before_1970_is_a_moment_as_others_are() -> None:
    """Its text is no time to the parser, as in the wheel, whose mktime fails with that number."""
    moment = datetime.datetime.fromtimestamp(-1, datetime.UTC)
    ad = ClassAd({"a": [moment], "b": moment})
    ad["c"] = moment
    assert ad["a"] == [moment]
    assert ad["b"] == ad.eval("c") == moment
    assert repr(ad.lookup("b")) == 'absTime("1969-12-31T23:59:59-00:00")'


def test_a_number_that_is_refused_leaves_the_ad_as_it_was() -> None:
    ad = ClassAd("[a=1]")
    with pytest.raises(OverflowError):
        ad["a"] = 1 << 70
    assert ad["a"] == 1


def test_an_expression_can_be_pickled() -> None:
    tree = ExprTree("a + 1")
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_a_moment_of_another_zone_stays_the_same_moment() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=5))
    moment = datetime.datetime(2020, 1, 1, 12, tzinfo=zone)
    assert ClassAd({"t": moment})["t"] == moment


@pytest.mark.parametrize("make", [ClassAd, ExprTree, classad2.unquote, classad2.quote])
def test_a_text_with_a_nul_in_it_is_refused(make: Callable[[str], object]) -> None:
    """As in the wheel; version 1 takes what stands before it (test_a_text_ends_at_a_nul)."""
    with pytest.raises(ValueError, match="null character"):
        make("[a = 1]\0[b = 2]")


def test_a_moment_in_a_text_without_a_zone_is_local_time() -> None:
    """Which it is in the wheel, whatever $TZ is."""
    code = (
        "from kettle.compat.classad2 import *;"
        "text = 'absTime(\"2020-07-01T12:00:00\")';"
        "print(ExprTree(text), ClassAd(f'[a = {text}]').lookup('a'),"
        " next(parseAds(f'[a = {text}]')).lookup('a'), next(parseAds(f'a = {text}')).lookup('a'))"
    )
    for zone, offset in (("America/New_York", "-04:00"), ("Asia/Kolkata", "+05:30")):
        said = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "TZ": zone},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        assert said.strip() == " ".join([f'absTime("2020-07-01T12:00:00{offset}")'] * 4)


def test_a_moment_without_a_zone_is_local_time() -> None:
    moment = datetime.datetime(2020, 7, 1, 12)  # noqa: DTZ001 - the point of the test
    assert ClassAd({"t": moment})["t"] == moment.astimezone(datetime.UTC)


def test_an_empty_ad_in_a_stream_is_passed_over() -> None:
    assert [repr(ad) for ad in parseAds("[a=1][][b=1]")] == ["[ a = 1 ]", "[ b = 1 ]"]


def test_ads_in_a_list_are_read() -> None:
    ads = list(parseAds("{ [a=1], [b=2] }", Parser.New))
    assert [repr(ad) for ad in ads] == ["[ a = 1 ]", "[ b = 2 ]"]


XML_AD = '<c>\n<a n="a"><i>{}</i></a>\n</c>\n'
FOREIGN = [
    (classad2.ParserType.JSON, '{"a":1}\n{"a":2}\n'),
    (classad2.ParserType.FileAuto, '{"a":1}\n\n{"a":2}'),
    (classad2.ParserType.XML, XML_AD.format(1) + XML_AD.format(2)),
    (
        classad2.ParserType.XML,
        f'<?xml version="1.0"?>\n<classads>\n{XML_AD.format(1)}{XML_AD.format(2)}</classads>\n',
    ),
]
# The wheel refuses these; our own tools print such lists.
LISTS = [
    (classad2.ParserType.JSON, '[\n{"a":1}\n,\n{"a":2}\n]\n'),
    (classad2.ParserType.FileAuto, '[{"a":1},{"a":2}]'),
    (classad2.ParserType.FileAuto, f"{XML_AD.format(1)}<c></c>{XML_AD.format(2)}"),
]


@pytest.mark.parametrize(("form", "text"), FOREIGN + LISTS)
def test_each_call_reads_the_next_ad_of_a_file_in_json_and_xml(
    form: classad2.ParserType, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "ads"
    path.write_text(text)
    with path.open() as file:
        found = [parseNext(file, form) for _ in range(4)]
    assert [ad and ad["a"] for ad in found] == [1, 2, None, None]


@pytest.mark.parametrize(
    ("rest", "near"), [('{"a":2', "''"), ("xyz", "'xyz'"), ('{"a":}', "'}'"), ('"x"', "''")]
)
def test_what_is_no_ad_in_a_stream_of_json_is_told(rest: str, near: str, tmp_path: Path) -> None:
    """The wheel ends there without a word, unless an ad has a fault inside."""
    text = f'{{"a":1}}\n{rest}'
    path = tmp_path / "ads"
    path.write_text(text)
    ads = parseAds(text, classad2.ParserType.JSON)
    assert next(ads)["a"] == 1
    with pytest.raises(ValueError, match="Unable to parse"):
        next(ads)
    assert near in classad2.lastError()
    with pytest.raises(ValueError, match="Unable to parse"):
        classad2.parseOne(text, classad2.ParserType.JSON)
    with path.open() as file:
        first = parseNext(file, classad2.ParserType.JSON)
        assert first is not None
        assert first["a"] == 1
        with pytest.raises(ValueError, match="Unable to parse"):
            parseNext(file, classad2.ParserType.JSON)


def test_many_empty_ads_in_a_row_are_passed_over() -> None:
    assert [repr(ad) for ad in parseAds("[]" * 3000 + "[b=1]")] == ["[ b = 1 ]"]


def test_a_file_with_a_line_end_after_its_last_ad_ends_there(tmp_path: Path) -> None:
    """The wheel raises ValueError there."""
    path = tmp_path / "ads"
    path.write_text("\n[a=1]\n[b=2]\n")
    with path.open() as file:
        found = [parseNext(file), parseNext(file), parseNext(file)]
    assert [repr(ad) for ad in found] == ["[ a = 1 ]", "[ b = 2 ]", "None"]


def test_a_line_of_a_file_that_is_no_ad_is_passed_by_the_next_call(tmp_path: Path) -> None:
    path = tmp_path / "ads"
    path.write_text("junk\n\na=1\n")
    with path.open() as file:
        with pytest.raises(ValueError, match="Unable to parse"):
            parseNext(file)
        assert repr(parseNext(file)) == "[ a = 1 ]"


def test_behind_a_broken_ad_that_is_closed_a_file_goes_on(tmp_path: Path) -> None:
    """The wheel goes on behind the fault, and takes the rest of an ad for the next one's name."""
    path = tmp_path / "ads"
    path.write_text("[a=1] [b=[c=]; d=2] // and\n[e=3] [f=]\n[g=4]\n")
    found: list[str] = []
    with path.open() as file:
        for _ in range(6):
            try:
                found.append(repr(parseNext(file)))
            except ValueError:
                found.append("fault")
    assert found == ["[ a = 1 ]", "fault", "[ e = 3 ]", "fault", "[ g = 4 ]", "None"]


def test_the_form_of_a_text_is_found_out_as_that_of_a_file() -> None:
    """To the wheel FileAuto is no form of a text: it has no ads then."""
    for text in ("[a=1]", "a=1", '{"a":1}', '<c><a n="a"><i>1</i></a></c>'):
        assert [repr(ad) for ad in parseAds(text, classad2.ParserType.FileAuto)] == ["[ a = 1 ]"]


def test_an_arm_that_is_not_taken_needs_no_ad() -> None:
    """The wheel looks into both where the condition is an error, and raises ClassAdException."""
    assert ExprTree("(error) ? .a : .b").eval() is classad2.Value.Error
    with pytest.raises(classad2.ClassAdException, match="failed to evaluate expression"):
        ExprTree("true ? .a : 1").eval()


@pytest.mark.parametrize("form", ["old", "new", "json", "xml"])
def test_a_file_is_read_no_further_than_its_next_ad(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ads = [ClassAd({"A": number, "Text": "é" * 2000 * (number % 4)}) for number in range(300)]
    text = {
        "old": lambda: "".join(f"{ad.printOld()}\n" for ad in ads),
        "new": lambda: "".join(f"{ad}\n" for ad in ads),
        "json": lambda: "".join(f"{ad.printJson()}\n" for ad in ads),
        "xml": lambda: render_ads([ad._ad for ad in ads], "xml"),
    }[form]()
    path = tmp_path / "ads"
    path.write_text(text, encoding="utf-8")
    parser = {"old": Parser.Old, "new": Parser.New, "json": classad2.ParserType.JSON}.get(
        form, classad2.ParserType.XML
    )
    taken = []
    read = os.read

    def counted(number: int, wanted: int) -> bytes:
        piece = read(number, wanted)
        taken.append(len(piece))
        return piece

    monkeypatch.setattr(os, "read", counted)
    with path.open(encoding="utf-8") as file:
        found = []
        while (ad := parseNext(file, parser)) is not None:
            found.append(ad)
    assert [ad["A"] for ad in found] == [ad["A"] for ad in ads]
    assert found == ads
    # Each ad with what is read to find its end; the whole file for each would be 150 times as much.
    assert sum(taken) < 4 * path.stat().st_size + len(ads) * 8192


def test_the_last_error_says_where_in_the_text_it_was() -> None:
    with pytest.raises(classad2.ClassAdException):
        ClassAd("[a = ]")
    assert "]" in classad2.lastError()
    assert "column" in classad2.lastError()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('debug(7 == "7")', True),
        ('"a" < true', True),
        ('1 + (2 - size(ifThenElse(true, "a" != relTime("1"), 1)))', True),
        ('TARGET.Other >= 1.5 ? "a" : "b"', True),
        ("mine || false", True),
        ("TRUE || mine", False),
        ('"a" == undefined', False),
        ('{1} == "a"', False),
        ('"a" =?= 3', False),
        ('1 + "a"', False),
        ('1 == 1 == 2 == "a"', True),
        ("==".join(["1"] * 1000) + '== "a" == 1', True),
    ],
)
def test_the_last_error_tells_of_a_text_that_is_compared_with_what_is_none(
    text: str, told: bool
) -> None:
    with pytest.raises(classad2.ClassAdException):
        ClassAd("[a = ]")
    before = classad2.lastError()
    mine, theirs = ClassAd("[mine = (1 == TARGET.Other)]"), ClassAd('[Other = "x"]')
    ExprTree(text).eval(mine, theirs)
    after = "strings can only be compared to strings" if told else before
    assert classad2.lastError() == after


def test_a_long_stream_of_ads_is_read_to_its_end() -> None:
    """Each ad is looked at once; this takes a second, and hours were it not so."""
    text = '[a=1;b="]"]\n' * 20_000
    assert sum(1 for _ in parseAds(text)) == 20_000


def test_a_text_nested_without_end_is_refused() -> None:
    for text in ("[a=" + "(" * 100_000, "[a=" * 100_000, "[a=" * 50_000 + "]" * 50_000):
        with pytest.raises(classad2.ClassAdException):
            ClassAd(text)


def test_the_examples_of_the_manual_page_print_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs/reference/python-classads.md").read_text(encoding="utf-8")
    program = page.partition("```python\n")[2].partition("```")[0]
    wanted = page.partition("```text\n")[2].partition("```")[0]
    path = tmp_path / "example.py"
    path.write_text(program)
    said = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
        env={**os.environ, "TZ": "UTC"},
    )
    assert said.stdout == wanted


@pytest.mark.parametrize(
    "text",
    [
        '[ a = "x"q"; ]', '[{"a":"b"c":2}]', '[ a = 1; f = absTime("2")-01"); ]', "[ a = 'b'c'; ]",
        "[ a = 1 b c", "[a = 1 b /* x",
    ],
)  # fmt: skip
def test_an_ad_that_is_wrong_before_a_quote_hides_its_end_is_told(
    text: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="Unable to parse"):
        list(parseAds(text))
    with pytest.raises(ValueError, match="Unable to parse"):
        classad2.parseOne(f"[z=1] {text}")
    path = tmp_path / "ads"
    path.write_text(f"[z=1]\n{text}\n")
    with path.open() as file:
        assert str(parseNext(file, classad2.ParserType.New)).split() == ["[", "z", "=", "1", "]"]
        with pytest.raises(ValueError, match="Unable to parse"):
            parseNext(file, classad2.ParserType.New)


@pytest.mark.parametrize(
    "text",
    [
        "[a=1", '[ a = "x', "[ a = 'x", "[ a = (1", '[ a = "x\\"', "[ a = 1 /* x", "[ a = 1.",
        "[ a = 1 /* x ]", "[a=1e", "[ a = 0x", "[ a = $", "[ a = 1 b ", '[ a = 1 "x" ', "[ a 1",
    ],
)  # fmt: skip
def test_an_ad_that_is_cut_off_is_the_end(text: str) -> None:
    assert list(parseAds(text)) == []
    assert len(list(parseAds(f"[z=1]{text}"))) == 1


def test_what_follows_a_nul_is_printed() -> None:
    """The wheel prints no more of the ad."""
    ad = ClassAd({"a": "x\0y", "b": 1})
    assert ad["a"] == "x"
    assert ad.printOld().endswith("b = 1\n")
    assert ad.printJson().endswith('"b": 1\n}')


def test_an_expression_means_the_same_whatever_was_imported() -> None:
    """The wheel says undefined, `MY.a` and an error, where nothing of htcondor2 is loaded."""
    script = (
        "from kettle.compat.classad2 import ClassAd, ExprTree; import sys;"
        "ad = ClassAd('[a = 1; b = MY.a]'); print(ad.eval('b'), ad.flatten(ExprTree('MY.a')),"
        "ExprTree('stringListSum(\"1,2\")').eval(), 'kettle.compat.htcondor2' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "1 1 3 False\n"


class Real(float):
    """Shows itself as numpy.float64 does."""

    def __str__(self) -> str:
        return f"np.float64({float(self)})"

    __repr__ = __str__


class Whole(int):
    def __str__(self) -> str:
        return "np.int64"

    __repr__ = __str__


class Word(str, enum.Enum):  # noqa: UP042 - a StrEnum shows its letters
    A = "x"


@pytest.mark.parametrize("language", [classad2, classad])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Real(1.5), "1.500000000000000E+00"),
        (Real("nan"), 'real("NaN")'),
        ([Real(1.5), Whole(2)], "{ 1.500000000000000E+00,2 }"),
        ({"q": Whole(3)}, "[ q = 3 ]"),
        (Whole(3), "3"),
        (Word.A, '"x"'),
    ],
)
def test_a_value_of_a_class_of_its_own_is_what_it_is(
    language: Any, value: object, text: str
) -> None:
    """As in the wheel, however the class shows it."""
    made = language.ClassAd()
    made["a"] = value
    made.update({"b": value})
    made[Word.A] = 1
    ad = language.ClassAd({"c": value})
    assert [repr(made.lookup("a")), repr(made.lookup("b"))] == [text, text]
    assert repr(ad.lookup("c")) == text
    assert made.eval(Word.A) == 1
    assert all(type(name) is str for name in made)
