"""Numbers outside of a knob's range are refused, or the nearest counts; the check tells which."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import kettle
from kettle.config import Config
from kettle.config.check import check_config
from kettle.config.declared import find_own_faults
from kettle.config.knob import PathKnob, integer, place
from kettle.config.knobs.master import MasterKnobs
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.security import SecurityKnobs
from kettle.config.ranges import BYTES, COUNT, PORT, POSITIVE, Range
from kettle.errors import ConfigError
from kettle.negotiator.settings import read_settings
from kettle.runtime.renewal import tell_own_settings

NOT_STARTED = "daemons that read it do not start; those that run keep their older configuration"


def told(text: str) -> list[tuple[str, str, int, str, str]]:
    return [
        (found.severity, found.kind, found.line, found.sentence, found.advice)
        for found in check_config(Config.from_text(text, subsystem="MASTER"))
    ]


@pytest.mark.parametrize(
    ("which", "value", "words"),
    [
        (COUNT, None, "of at least 0"),
        (COUNT, -1, "of at least 0"),
        (COUNT, 3e9, "from 0 to 2147483647"),
        (PORT, None, "from 0 to 65535"),
        (BYTES, 3e9, "of at least 0"),
        (Range(-(1 << 31), (1 << 31) - 1), 3e9, "of at most 2147483647"),
        (Range(float("-inf"), float("inf")), None, ""),
    ],
)
def test_a_range_names_the_bounds_that_matter(which: Range, value: float, words: str) -> None:
    assert which.words(value) == words


def test_what_is_not_taken_is_an_error_and_what_makes_no_sense_becomes_the_nearest() -> None:
    knob = integer("5", within=COUNT, sense=POSITIVE, doc="A number.")
    knob.name = "A_NUMBER"
    assert [knob.parse(text) for text in ("7", "1", "0")] == [7, 1, 1]
    for text in ("-1", "3000000000", "x"):
        with pytest.raises(ConfigError):
            knob.parse(text)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "UPDATE_INTERVAL = 99999999999",
            "is not a number of seconds from 1 to 2147483647",
        ),
        ("NEGOTIATOR_CYCLE_DELAY = -1", "is not a number of seconds of at least 0"),
        ("MEMORY = -1", "is not an integer of at least 0"),
        ("COLLECTOR_PORT = 70000", "is not an integer from 0 to 65535"),
        ("PERIODIC_EXPR_TIMESLICE = 1.5", "is not a real number from 0 to 1"),
        ("MAX_JOBS_RUNNING = 3000000000", "is not an integer from 0 to 2147483647"),
        ("MAX_HISTORY_ROTATIONS = 0", "is not an integer of at least 1"),
    ],
)
def test_what_daemons_refuse_is_an_error_that_says_so(line: str, sentence: str) -> None:
    assert told(f"{line}\n") == [("error", "value", 1, f"{line} {sentence}", NOT_STARTED)]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("UPDATE_INTERVAL = 0", "it is not a number of seconds of at least 1; 1 counts instead"),
        ("MASTER_BACKOFF_FACTOR = -1", "it is not a real number of at least 0; 0 counts instead"),
        ("NUM_CPUS = 0", "it is not an integer of at least 1; all cores count"),
        ("NUM_CPUS = -3", "it is not an integer of at least 1; all cores count"),
        ("SCHEDD_INTERVAL = 0", "it is not a number of seconds of at least 1; 1 counts instead"),
        ("LOWPORT = -5", "it is not an integer from 0 to 65535; 0 counts instead"),
        ("CLAIM_WORKLIFE = -7", "it is not a number of seconds of at least -1; -1 counts instead"),
        ("NICE_USER_PRIO_FACTOR = -0.5", "it is not a real number of at least 0; 0 counts instead"),
        ("NUM_SLOTS_TYPE_1 = -1", "it is not an integer of at least 0; 0 counts instead"),
        (
            "SEC_DEFAULT_SESSION_LEASE = -9",
            "it is not a number of seconds of at least 0; the default counts",
        ),
    ],
)
def test_what_makes_no_sense_is_a_warning_that_says_what_counts(line: str, sentence: str) -> None:
    found = [("warning", "range", 1, f"{line} makes no sense: {sentence}", "")]
    assert told(f"{line}\n") == found


def test_what_nothing_reads_has_a_range_too_where_its_kind_tells_it() -> None:
    for line, wanted in {
        "OUT_LOWPORT = 70000": "an integer from 0 to 65535",
        "BENCHMARKS_MAX_JOB_LOAD = -2": "a real number of at least 0",
        "ROOSTER_INTERVAL = -5": "a number of seconds of at least 0",
    }.items():
        ((_, kind, _, sentence, advice),) = told(f"{line}\n")
        assert kind in ("range", "value")
        assert sentence.endswith(f"is not {wanted}")
        assert advice == ""


def test_a_relative_path_of_what_several_daemons_find_makes_no_sense() -> None:
    ((severity, kind, line, sentence, _),) = told("MAIL = mailx\nLOG = relative/path\n")
    assert (severity, kind, line) == ("warning", "range", 2)
    assert sentence == (
        "LOG = relative/path is no absolute path: each daemon looks for it in the folder in which "
        "it works"
    )
    for text in ("SCHEDD_LOG = SYSLOG", "LOG = /var/log", "LOG = $(SPOOL)"):
        assert told(f"{text}\n") == []
    assert isinstance(place("", doc="A path."), PathKnob)


def test_a_daemon_does_not_start_with_what_is_refused_and_does_with_what_makes_no_sense() -> None:
    text = "COLLECTOR_QUERY_WORKERS = -1\nUPDATE_INTERVAL = 0\nSCHEDD_INTERVAL = 0\n"
    config = Config.from_text(text, subsystem="COLLECTOR")
    (fault,) = find_own_faults(config)
    assert "COLLECTOR_QUERY_WORKERS = -1" in str(fault)
    assert config[ScheddKnobs.SCHEDD_INTERVAL] == 1


def test_a_pause_of_nothing_is_taken() -> None:
    config = Config.from_text("MASTER_BACKOFF_CONSTANT = 0\nSEC_TOKEN_MAX_AGE = -4\n")
    assert config[MasterKnobs.MASTER_BACKOFF_CONSTANT] == 0
    assert config[SecurityKnobs.SEC_TOKEN_MAX_AGE] == -1
    assert told("MASTER_BACKOFF_CONSTANT = 0\n") == []


def test_a_daemon_tells_its_log_of_what_is_its_own_and_makes_no_sense() -> None:
    text = "SCHEDD_INTERVAL = 0\nNEGOTIATOR_INTERVAL = -1\nLOG = logs\n"
    one, two = tell_own_settings(Config.from_text(text, subsystem="SCHEDD"))
    assert one == (
        "WARNING: /condor_config, line 3: LOG = logs is no absolute path: each daemon looks for it "
        "in the folder in which it works"
    )
    assert two == (
        "WARNING: /condor_config, line 1: SCHEDD_INTERVAL = 0 makes no sense: it is not a number "
        "of seconds of at least 1; 1 counts instead"
    )


def test_more_requests_than_are_fetched_at_a_time_are_told() -> None:
    text = "NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE = 50000\n"
    assert read_settings(Config.from_text(text)).requests_at_a_time == 10_000
    ((severity, kind, _, sentence, _),) = told(text)
    assert (severity, kind) == ("warning", "range")
    assert sentence.endswith("from 1 to 10000; 10000 counts instead")


def test_no_reader_has_a_range_beside_that_of_the_row() -> None:
    """Whoever wants another nearest number says so in the row, where the check sees it, too."""
    found = []
    for path in Path(kettle.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "config" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("max", "min"):
                found += [ast.unparse(node) for argument in node.args if _reads(argument)]
    # What is any age has another number there.
    assert found == ["max(0, config.value(SecurityKnobs.SEC_TOKEN_MAX_AGE))"]


def _reads(node: ast.expr) -> bool:
    """Tell whether an expression is a value of the configuration."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value).endswith("config")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return isinstance(node, ast.Call) and any(map(_reads, node.args))
    is_reader = node.func.attr in ("value", "read", "integer", "real")
    return is_reader and ast.unparse(node.func.value).endswith("config")
