"""Every expression that the manual prints parses, means what it should, prints as itself (R023)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.classad import Context, parse_ad, parse_expression, unparse
from kettle.errors import ClassAdSyntaxError

shows = pytest.mark.shows
TABLE = Path(__file__).parents[2] / "data" / "manual_expressions.tsv"
ROWS = [
    line.split("\t")
    for line in TABLE.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
NOW = 1_000_000.0
MACHINE = """[
    KeyboardIdle = 1200; ConsoleIdle = 5000; LoadAvg = 0.2; CondorLoadAvg = 0.1; CpuBusyTime = 0;
    State = "Claimed"; Activity = "Idle"; SlotID = 1; PolicyForSlot1 = true;
    Memory = 2048; Cpus = 8;
    EnteredCurrentState = 999000; EnteredCurrentActivity = 999400; JobStart = 999000;
    LastBenchmark = 900000; ClockMin = 600; ClockDay = 3; IsDesktop = true; HasVM = true;
    OpSysAndVer = "CentOS8"; Capability = 8.6; SUSPEND = false; WANT_SUSPEND = false;
    START = undefined; NonSuspendableSlotState = "Owner"; IsSuspendableSlot = false;
]"""
JOB = """[
    Owner = "coltrane"; ImageSize = 4096; InteractiveJob = true; RequestCpus = 1;
    RequestMemory = 130; RequestDisk = 2000; JobUniverse = 5; JobStatus = 1; QDate = 990000;
    DevShmSize = "1000"; SingularityImage = "img"; WantSomeDirMounted = true; LastRejMatchTime = 5;
    MemoryUsage = 100; DiskUsage = 300; RequestGpu = 1; HasSingularity = true;
]"""
# The two that are misprinted, each without its last bracket.
DEFECTS = [
    ("003:1358", "(LoadAvg - CondorLoadAvg) >= 0.5 || KeyboardIdle < 60", "("),
    ("003:1509", 'strcat("slot", SlotID - 7, "_State")', "eval("),
]


@shows("R023")
@pytest.mark.parametrize(("place", "name", "text", "value"), ROWS, ids=lambda word: word[:24])
def test_it_parses_and_means_what_it_says(place: str, name: str, text: str, value: str) -> None:
    ad, job = parse_ad(MACHINE), parse_ad(JOB)
    context = Context(lambda: NOW)
    found = ad.evaluate_expression(parse_expression(text, old=True), job, context)
    wanted = ad.evaluate_expression(parse_expression(value), None, context)
    assert type(found) is type(wanted), f"{place} {name}"
    assert found == wanted, f"{place} {name}"


@shows("R020")
@shows("R023")
@pytest.mark.parametrize(("place", "name", "text", "value"), ROWS, ids=lambda word: word[:24])
def test_what_is_printed_of_it_is_the_same(place: str, name: str, text: str, value: str) -> None:
    expr = parse_expression(text, old=True)
    assert parse_expression(unparse(expr)) == expr, f"{place} {name}"
    assert parse_expression(unparse(expr, old=True), old=True) == expr, f"{place} {name}"


@shows("R023")
@pytest.mark.parametrize(("place", "inside", "opened"), DEFECTS)
def test_a_misprint_is_an_error_that_shows_the_place(place: str, inside: str, opened: str) -> None:
    text = opened + inside
    with pytest.raises(ClassAdSyntaxError, match=r"expected .* before the end") as caught:
        parse_expression(text, old=True)
    assert caught.value.column == len(text), place
    parse_expression(text + ")", old=True)
