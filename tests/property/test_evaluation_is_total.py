"""Whatever a stranger writes into an ad, its evaluation ends with a value and raises nothing."""

from __future__ import annotations

import itertools
import random
import signal
from collections.abc import Iterator

import pytest

from kettle.classad import ERROR, ClassAd, RelativeTime, parse_expression
from kettle.classad.compile import evaluate_lazily
from kettle.classad.functions import library, regex
from kettle.classad.functions.library import families
from kettle.classad.functions.table import Function, StrictFunction
from kettle.classad.operators import BINARY, UNARY
from kettle.classad.state import SpentError, new_state
from kettle.classad.values import Value
from kettle.runtime import pattern_limit

ROWS = [row for rows in families().values() for row in rows]
HOSTILE = (
    '"0x' + "f" * 400 + '"',
    '"-0x' + "f" * 400 + '"',
    f'"{"9" * 5000}"',
    f'"-{"9" * 5000}.5, {"9" * 400}"',
    f'"{"9" * 5000}d"',
    f'"{"9" * 400}+{"9" * 400}:00:00"',
    '"1e400"',
    '"infinity"',
    '"nan"',
    '"9999-99-99T99:99:99+99:99"',
    f'"{"%9999d" * 300}"',
    '"[("',
    '""',
    '"\\\\"',
    'real("INF")',
    '-real("INF")',
    'real("NaN")',
    "1e300",
    "-9223372036854775807 - 1",
    "9223372036854775807",
    "0",
    "-1",
    "true",
    'relTime(real("INF"))',
    'relTime(real("NaN"))',
    "absTime(9223372036854775807)",
    'absTime(0,real("INF"))',
    f"{{ {','.join(['1'] * 5000)} }}",
    f'{{ "{"9" * 5000}",error,undefined,real("NaN"),{{}} }}',
    "{" * 60 + "}" * 60,
    "[ Year = 9223372036854775807; Month = 12; Day = -1 ]",
    "[]",
    '"<="',
    "undefined",
    "error",
    "Circle",
    "Deep0",
)


def _world() -> ClassAd:
    ad = ClassAd()
    ad.insert_text("Circle", "Circle + 1")
    for number in range(300):
        ad.insert_text(f"Deep{number}", f"(((Deep{number + 1} + 1)))")
    return ad


WORLD = _world()


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """Patterns are bounded, as in daemons."""
    before = signal.getsignal(signal.SIGVTALRM)
    pattern_limit.install()
    yield
    signal.signal(signal.SIGVTALRM, before)
    regex.set_bound(regex.unbounded)


def _value(text: str) -> Value:
    return evaluate_lazily(parse_expression(text), new_state(WORLD))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_function_raises_whatever_its_arguments_are(row: Function) -> None:
    """Without the net of the evaluator, which would make ERROR of a mistake of ours."""
    dice = random.Random(row.name)
    cases: list[tuple[str, ...]] = [(), *((one,) for one in HOSTILE)]
    cases += itertools.product(HOSTILE, HOSTILE)
    cases += [tuple(dice.choices(HOSTILE, k=dice.choice((3, 3, 4)))) for _ in range(800)]
    values = {text: _value(text) for text in HOSTILE}
    trees = {text: parse_expression(text) for text in HOSTILE}
    for case in cases:
        state = new_state(WORLD)
        try:
            if isinstance(row.apply, StrictFunction):
                row.apply.call(state, [values[text] for text in case])
            else:
                row.apply.call(state, tuple(trees[text] for text in case))
        except SpentError:
            # That the evaluation has done all the work it may is for the evaluator to catch.
            continue
        except Exception as error:
            shown = ",".join(text[:40] for text in case)
            raise AssertionError(f"{row.name}({shown}) raises {error!r}") from error


def test_no_operator_raises_whatever_its_operands_are() -> None:
    values = [_value(text) for text in HOSTILE]
    for operation in UNARY.values():
        for value in values:
            operation(value)
    for combine in BINARY.values():
        for left, right in itertools.product(values, values):
            combine(left, right)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('int("0x{f}")', -(1 << 63)),
        ('int("-0x{f}")', -(1 << 63)),
        ('real("0x{f}") > 1e308', True),
        ('round("0x{f}")', -(1 << 63)),
        ('pow("0x{f}", 2) > 1e308', True),
        ('stringListSum("{9}")', -(1 << 63)),
        ('stringListMax("-{9}")', 0),
        ('stringListMin("{9},1")', 1),
        ('stringListAvg("{9},1")', -(1 << 63)),
        ('stringListSum("4294967296,1")', 4294967297),
        ('stringListSum("1-2,2")', 3),
        ('stringListMax("-5.5,-1")', 1.1754943508222875e-38),
    ],
)
def test_numbers_that_no_register_holds_are_what_the_reference_makes_of_them(
    text: str, value: object
) -> None:
    whole = text.replace("{f}", "f" * 400).replace("{9}", "9" * 5000)
    assert WORLD.evaluate_expression(parse_expression(whole)) == value


def test_a_moment_moved_by_a_span_without_end_is_a_moment() -> None:
    for span in ('relTime(real("INF"))', 'relTime(real("NaN"))', "relTime(1e300)"):
        for text in (f"absTime(1) + {span}", f"{span} + absTime(1)", f"absTime(1) - {span}"):
            assert WORLD.evaluate_expression(parse_expression(f"isAbsTime({text})")) is True


def test_what_a_function_raises_is_an_error_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The net: of a function that fails only its call is ERROR, in the ad it stands in."""

    def fails(_state: object, _values: list[Value]) -> Value:
        raise KeyError("nobody thought of it")

    row = Function("fails", "fails()", "", (), StrictFunction(fails))
    monkeypatch.setitem(library._functions, "fails", row)
    ad = ClassAd({"Here": 7})
    for text, value in (
        ("fails()", ERROR),
        ("ifThenElse(isError(fails()), Here, 0)", 7),
        ("fails() =?= error && Here == 7", True),
        ("[ A = fails(); B = isError(A) && Here == 7 ].B", True),
    ):
        tree = parse_expression(text)
        assert ad.evaluate_expression(tree) == value, text


def test_a_span_of_more_days_than_a_number_holds_is_read() -> None:
    found = WORLD.evaluate_expression(parse_expression(f'relTime(strcat("{"9" * 5000}","d"))'))
    assert found is ERROR or isinstance(found, float | RelativeTime)
