"""A whole configuration is checked against the declared knobs."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.config.declared import (
    check_values,
    declared_knobs,
    find_faults,
    find_own_faults,
    find_slips,
)
from kettle.config.knobs.history import HistoryKnobs
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.startd import StartdKnobs
from kettle.config.knobs.starter import StarterKnobs
from kettle.config.origin import Origin
from kettle.errors import ConfigError


def test_every_table_is_walked() -> None:
    knobs = declared_knobs()
    assert len(knobs) > 1000
    assert {"SCHEDD_INTERVAL", "NUM_CPUS", "COLLECTOR_HOST"} <= knobs.keys()


def test_a_value_that_its_knob_does_not_take_is_named_with_its_place() -> None:
    with pytest.raises(ConfigError, match="line 2") as caught:
        check_values(Config.from_text("A = 1\nMAX_JOBS_RUNNING = abc\n"))
    assert "MAX_JOBS_RUNNING" in str(caught.value)


def test_a_misspelt_knob_is_found_and_a_macro_of_one_s_own_is_not() -> None:
    config = Config.from_text("NUM_CPUZ = 3\nMY_THING = 4\nNUM_CPUX = 5\nFOO = $(NUM_CPUX)\n")
    assert [(name, near) for name, _, near in find_slips(config)] == [("NUM_CPUZ", "NUM_CPUS")]


def test_a_site_s_own_rules_of_submission_are_no_slips() -> None:
    config = Config.from_text(
        "SUBMIT_REQUIREMENT_NAME = true\nSUBMIT_REQUIREMENT_NAMEZ = true\n"
        "SUBMIT_REQUIREMENT_NAMES = x\n"
    )
    assert list(find_slips(config)) == []


def test_names_that_have_no_default_are_no_slips() -> None:
    config = Config.from_text(
        "SEC_CLIENT_AUTHENTICATION_METHODS = FS\nALLOW_NEGOTIATOR = *\n"
        "MAX_HISTORY_LOG = 1\nMAX_EPOCH_HISTORY_ROTATIONS = 2\nKETTLE_METRICS_PRT = 1\n",
        subsystem="MASTER",
    )
    found = [(name, near) for name, _, near in find_slips(config)]
    assert found == [("KETTLE_METRICS_PRT", "KETTLE_METRICS_PORT")]


def test_numbers_and_truth_values_set_to_nothing_are_their_default_and_texts_are_empty() -> None:
    config = Config.from_text("ALIVE_INTERVAL =\nENABLE_CHIRP =\nHISTORY =\n")
    assert config[ScheddKnobs.ALIVE_INTERVAL] == 300
    assert config[StarterKnobs.ENABLE_CHIRP] is True
    assert config[HistoryKnobs.HISTORY] == ""


def test_what_must_go_on_has_the_default_of_a_knob_that_is_set_wrongly() -> None:
    config = Config.from_text("KILLING_TIMEOUT = soon\nMATCH_TIMEOUT = 0\nNUM_SLOTS = many\n")
    assert config.value(StartdKnobs.KILLING_TIMEOUT) == 30
    assert config.value(StartdKnobs.MATCH_TIMEOUT) == 0
    assert config.value(StartdKnobs.NUM_SLOTS) == 0


def test_a_knob_without_a_default_is_not_defined_and_no_slip() -> None:
    config = Config.from_text("REQUEST_CLAIM_TIMEOUTS = 3\nREQUEST_CLAIM_TIMEOUT = 20\n")
    assert config.find_default("REQUEST_CLAIM_TIMEOUT") is None
    assert config[ScheddKnobs.REQUEST_CLAIM_TIMEOUT] == 20
    assert Config.from_text("")[ScheddKnobs.REQUEST_CLAIM_TIMEOUT] == 1800
    assert "REQUEST_CLAIM_TIMEOUT" not in [name for name, _, _ in find_slips(config)]


def test_no_default_is_a_fault() -> None:
    config = Config.from_text("", facts={"DETECTED_MEMORY": "1000"})
    for knob in declared_knobs().values():
        # A text that is the default but for white space is not the default itself.
        if knob.default:
            config.assign(knob.name, f"{knob.default} ", Origin("ours"))
    assert [str(fault) for fault in find_faults(config)] == []


@pytest.mark.parametrize(
    "line",
    ["ROOSTER_INTERVAL = soon", "DAGMAN_VERBOSITY = banana", "MAX_REAPS_PER_CYCLE = -1"],
)
def test_a_slip_in_a_knob_that_counts_for_nothing_is_no_fault(line: str) -> None:
    assert list(find_faults(Config.from_text(f"{line}\n", subsystem="SCHEDD"))) == []


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        ("MAX_HISTORY_LOG = 20Kb", ["SCHEDD", "STARTD"]),
        ("NUM_CPUS = two", ["STARTD"]),
        ("MAX_SCHEDD_LOG = foo", ["SCHEDD"]),
        ("SCHEDD.NUM_CPUS = two", []),
        ("SCHEDD.SCHEDD_INTERVAL = abc", ["SCHEDD"]),
        ("TCP_KEEPALIVE_INTERVAL = 5 min", ["MASTER", "SCHEDD", "STARTD", "NEGOTIATOR"]),
        ("SEC_READ_SESSION_DURATION = 1 day", ["MASTER", "SCHEDD", "STARTD", "NEGOTIATOR"]),
        ("DAGMAN_VERBOSITY = banana", []),
        ("OUR_A = $(OUR_B)\nOUR_B = $(OUR_A)", []),
    ],
)
def test_a_wrong_value_stops_the_daemons_that_read_it(line: str, stops: list[str]) -> None:
    found = [
        daemon
        for daemon in ("MASTER", "SCHEDD", "STARTD", "NEGOTIATOR")
        if list(find_own_faults(Config.from_text(f"{line}\n", subsystem=daemon)))
    ]
    assert found == stops


def test_the_settings_of_a_daemon_of_the_site_s_own_are_no_slips() -> None:
    text = "DAEMON_LIST = MASTER, SCHEDD2 MYD\nSCHEDD2 = $(SCHEDD)\nMYD_ARGS = -x\nNUM_CPUZ = 3\n"
    assert [name for name, _, _ in find_slips(Config.from_text(text))] == ["NUM_CPUZ"]
    gone = Config.from_text(text.replace("SCHEDD2 MYD", "SCHEDD"))
    assert len(list(find_slips(gone))) == 3
