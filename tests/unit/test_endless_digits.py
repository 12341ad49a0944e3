"""Numbers without end, as anybody may write them, are numbers or are refused: nothing raises."""

from __future__ import annotations

import contextlib

import pytest

from kettle.config import Config
from kettle.digits import MOST_DIGITS, whole
from kettle.errors import KettleError
from unit.submit.submitting import submission

ENDLESS = "1" * 5000


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("007", 7),
        ("-12", -12),
        ("+" + "0" * 5000 + "5", 5),
        ("-" + "0" * 5000, 0),
        (ENDLESS, 10**MOST_DIGITS),
        ("-" + ENDLESS, -(10**MOST_DIGITS)),
    ],
)
def test_digits_without_end_are_a_number_with_many(text: str, number: int) -> None:
    assert whole(text) == number


@pytest.mark.parametrize("text", ["", "x", "1" * 40 + "x", "+-" + "1" * 40, "-" * 40])
def test_what_is_no_number_is_none_however_long(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid literal|is no whole number"):
        whole(text)


@pytest.mark.parametrize(
    "text",
    [
        "$INT(X)",
        "$INT(X,%d)",
        "$INT(-$(X))",
        "$REAL(X)",
        "$CHOICE(X,a,b)",
        "$SUBSTR(Y,X)",
        "$SUBSTR(Y,0,X)",
        f"$RANDOM_INTEGER(1,{ENDLESS})",
        f"$RANDOM_INTEGER(1,9,{ENDLESS})",
    ],
)
def test_no_function_of_macros_raises(text: str) -> None:
    config = Config.from_text(f"X = {ENDLESS}\nY = abc\nA = {text}\n")
    assert isinstance(config.get("A") or "", str)


def test_no_version_raises() -> None:
    for version in (f"1.{ENDLESS}", f"1.2.{ENDLESS}", f"{ENDLESS}.1.1"):
        with contextlib.suppress(KettleError):
            Config.from_text(f"if version >= {version}\nA = 1\nendif\n")


@pytest.mark.parametrize(
    "lines",
    [
        f"machine_count = {ENDLESS}\nuniverse = parallel",
        f"cuda_version = {ENDLESS}.{ENDLESS}\nrequest_gpus = 1",
        f"gpus_minimum_runtime = {ENDLESS}\nrequest_gpus = 1",
        f"job_lease_duration = {ENDLESS}",
        f"kill_sig = {ENDLESS}",
        f"vm_vcpus = {ENDLESS}\nuniverse = vm",
        f"queue x in [{ENDLESS}:] (a b)",
        f"queue x in [:{ENDLESS}] (a b)",
    ],
)
def test_no_description_raises(lines: str) -> None:
    text = lines if "queue" in lines else f"{lines}\nqueue"
    made = submission(f"executable = /bin/true\n{text}\n", {"/bin/true": "x"})
    with contextlib.suppress(KettleError):
        list(made.jobs())
