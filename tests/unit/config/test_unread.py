"""What is known and counts for nothing is told, by the daemon that it would be for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kettle
from kettle.config import Config
from kettle.config.check import check_config
from kettle.config.declared import declared_knobs, find_slips
from kettle.config.families import FAMILIES, is_told_of
from kettle.config.table_readers import READERS, teller_of
from kettle.config.unread import find_area, find_unread, why_unread
from kettle.runtime.renewal import tell_own_settings

# The subsystems whose programs are daemons: those that tell of settings when they start.
_DAEMONS = {
    found[1]
    for path in Path(kettle.__file__).parent.glob("*/__main__.py")
    if (found := re.search(r"daemon\.run\(\"(\w+)\"", path.read_text()))
}


def _told(text: str, subsystem: str) -> list[str]:
    return tell_own_settings(Config.from_text(text, subsystem=subsystem))


def test_each_daemon_tells_of_its_own_and_the_master_of_the_rest() -> None:
    text = (
        "MAX_JOBS_RUNNING = 5\nSCHEDD.SHADOW_LAZY_QUEUE_UPDATE = true\nROOSTER_INTERVAL = 77\n"
        "DAGMAN_VERBOSITY = 5\n"
    )
    for line, name, program in zip(
        _told(text, "MASTER"),
        ("DAGMAN_VERBOSITY (/condor_config, line 4)", "ROOSTER_INTERVAL (/condor_config, line 3)"),
        ("DAGMan", "condor_rooster"),
        strict=True,
    ):
        why = f"Kettle has no {program}; HTCondor's own reads it"
        assert line == f"WARNING: {name} counts for nothing: {why}"
    (line,) = _told(text, "SCHEDD")
    assert line.startswith("WARNING: SCHEDD.SHADOW_LAZY_QUEUE_UPDATE (/condor_config, line 2)")
    assert _told(text, "STARTD") == []


def test_who_tells_of_a_table_is_a_daemon_that_does() -> None:
    assert {"MASTER", "SCHEDD", "STARTD"} <= _DAEMONS
    tables = {find_area(name)[0] for name, knob in declared_knobs().items() if knob.unread}
    tables |= {row.area for row in FAMILIES if row.area} | set(READERS)
    assert {teller_of(table) for table in tables} <= _DAEMONS
    assert {reader for readers in READERS.values() for reader in readers} <= _DAEMONS


def test_each_name_that_counts_for_nothing_is_told_of_by_one_daemon_that_starts() -> None:
    names = [name for name, knob in declared_knobs().items() if knob.unread]
    # A text that is no default, and mentions nothing.
    text = "".join(f"{name} = a text of ours\n" for name in names)
    told = [line.split()[1] for daemon in sorted(_DAEMONS) for line in _told(text, daemon)]
    missing = set(names) - set(told)
    # Every schedd's configuration has a template that wraps this one's text.
    assert {name for name in missing if is_told_of(name)} == {"SYSTEM_ON_VACATE_COOL_DOWN"}
    assert len(told) == len(set(told))


def test_what_a_template_sets_or_another_setting_mentions_is_not_told() -> None:
    mentioned = Config.from_text("ROOSTER_INTERVAL = 77\nMINE = $(ROOSTER_INTERVAL)\n")
    assert list(find_unread(mentioned)) == []
    for role in ("Personal", "Execute", "CentralManager", "Submit"):
        assert list(find_unread(Config.from_text(f"use ROLE:{role}\n"))) == []


@pytest.mark.parametrize(
    ("text", "is_mentioned"),
    [
        ("$INT(ROOSTER_INTERVAL)", True),
        ("$SUBSTR(X, Rooster_Interval)", True),
        ("$CHOICE(1,ROOSTER_INTERVAL)", True),
        ("$(X:$(Y:$(ROOSTER_INTERVAL)))", True),
        ("$(SCHEDD.ROOSTER_INTERVAL)", True),
        ("$(ROOSTER_INTERVAL_X:3)", False),
        ("$CHOICE(1,a,ROOSTER_INTERVAL) $INT(X,ROOSTER_INTERVAL)", False),
        ("$$(ROOSTER_INTERVAL) $ENV(ROOSTER_INTERVAL)", False),
    ],
)
def test_what_a_macro_or_function_may_ask_for_is_a_macro_of_the_sites_own(
    text: str, is_mentioned: bool
) -> None:
    config = Config.from_text(f"ROOSTER_INTERVAL = 77\nMINE = {text}\n")
    assert [macro.name for macro, _ in find_unread(config)] == ["ROOSTER_INTERVAL"][is_mentioned:]
    # So is one that looks like a knob.
    text = re.sub("ROOSTER_INTERVAL", "MAX_JOBS_RUNING", text, flags=re.IGNORECASE)
    slip = Config.from_text(f"MAX_JOBS_RUNING = 77\nMINE = {text}\n")
    assert [name for name, _, _ in find_slips(slip)] == ["MAX_JOBS_RUNING"][is_mentioned:]


def test_what_a_statement_asks_for_is_mentioned() -> None:
    text = "ROOSTER_INTERVAL = 77\ninclude ifexist : /x/$(ROOSTER_INTERVAL)\n"
    assert list(find_unread(Config.from_text(text))) == []


def test_words_that_are_there_to_be_mentioned_count() -> None:
    for name in ("MINUTE", "RELEASE_DIR", "MAX_JOBS_RUNNING", "No_Such_Name"):
        assert why_unread(name) == ""


def test_what_has_no_default_and_no_reader_is_told_too() -> None:
    assert why_unread("CONDOR_FSYNC") == "Kettle's daemons do without it"
    assert why_unread("flock_from") == "Kettle's schedd does without it"
    (line,) = _told("FLOCK_FROM = *.edu\n", "SCHEDD")
    assert line.endswith("line 1) counts for nothing: Kettle's schedd does without it")
    assert list(find_unread(Config.from_text("FLOCK_TO = a\nSYSTEM_PERIODIC_HOLD = false\n"))) == []


def test_programs_that_would_run_by_the_clock_are_told_once_by_their_daemon() -> None:
    text = "STARTD_CRON_JOBLIST = A\nSTARTD_CRON_A_EXECUTABLE = /x\nSTARTD_CRON_A_PERIOD = 5m\n"
    (line,) = _told(text, "STARTD")
    assert line == (
        "WARNING: STARTD_CRON_JOBLIST (/condor_config, line 1) counts for nothing: Kettle's startd "
        "runs no programs by the clock; HTCondor's own does"
    )
    assert _told(text, "MASTER") == []
    assert why_unread("STARTD_CRON_A_PERIOD")


def test_so_they_are_where_a_template_names_them() -> None:
    (line,) = _told("use FEATURE : StartdCronPeriodic(A, 5m, /bin/x)\n", "STARTD")
    assert line.startswith("WARNING: STARTD_CRON_JOBLIST (")


def test_made_up_names_that_count_are_not_told() -> None:
    for name in ("SCHEDD_NAME", "SCHEDD_MAX_JOBS", "GROUP_QUOTA_A", "SHADOW_LOG", "NOT_RESPONDING"):
        assert why_unread(name) == ""


def test_how_long_an_authentication_may_take_counts_for_nothing_at_any_level() -> None:
    names = ("SEC_DEFAULT_AUTHENTICATION_TIMEOUT", "SEC_READ_AUTHENTICATION_TIMEOUT")
    assert [find_area(name)[0] for name in names] == ["security"] * 2
    assert find_area("SEC_READ_AUTHENTICATION_METHODS")[0] == ""


def test_an_expression_that_nothing_evaluates_is_told_as_any_other_knob() -> None:
    names = ("DEFRAG_REQUIREMENTS", "MEMORY_USAGE_METRIC", "GRIDMANAGER_SELECTION_EXPR")
    assert [find_area(name)[0] for name in names] == ["defrag", "starter", "grid"]
    assert why_unread("CONSUMPTION_MEMORY") == why_unread("CONSUMPTION_FOO")
    for name in ("CURB_MATCHMAKING", "JOB_DEFAULT_REQUESTCPUS", "MASTER_NAME"):
        assert why_unread(name) == ""


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("SCHEDD_TIMEOUT_MULTIPLIER = 3", "SCHEDD_TIMEOUT_MULTIPLIER", "daemons do without it"),
        *(
            (f"{name} =\n", name, f"a {daemon} runs no programs by the clock")
            for daemon in ("master", "collector", "negotiator")
            for name in (f"{daemon.upper()}_CRON_JOBLIST",)
        ),
        ("MY_HOOK_PREPARE_JOB = /x", "MY_HOOK_PREPARE_JOB", "Kettle calls no hooks"),
        ("MY_HOOK_FETCH_WORK = /x", "MY_HOOK_FETCH_WORK", "Kettle calls no hooks"),
        ("SLOT_TYPE_1_CONSUMPTION_POLICY = true", "SLOT_TYPE_1_CONSUMPTION_POLICY", "without it"),
        ("SLOT_TYPE_12_PERIODIC_CHECKPOINT = 1", "SLOT_TYPE_12_PERIODIC_CHECKPOINT", "without it"),
        ("SLOT1_PERIODIC_CHECKPOINT = 1", "SLOT1_PERIODIC_CHECKPOINT", "without it"),
    ],
)
def test_the_check_and_the_reason_say_the_same_of_a_made_up_name(
    text: str, name: str, why: str
) -> None:
    (found,) = check_config(Config.from_text(f"{text}\n", subsystem="MASTER"))
    assert (found.severity, found.kind, found.nearest) == ("note", "unread", "")
    assert found.sentence == f"{name} counts for nothing: {why_unread(name)}"
    assert why in found.sentence


def test_what_is_read_of_some_slots_alone_is_not_told() -> None:
    for name in ("SLOT_TYPE_1_START", "SLOT1_USER", "SLOT_TYPE_1", "STARTD_JOB_HOOK_KEYWORD"):
        assert why_unread(name) == ""
    assert why_unread("SLOT1_" * 5000) == ""
