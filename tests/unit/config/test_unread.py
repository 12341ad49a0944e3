"""What is known and counts for nothing is told, by the daemon that it would be for."""

from __future__ import annotations

from kettle.config import Config
from kettle.config.unread import find_unread, tell_unread, why_unread


def test_each_daemon_tells_of_its_own_and_the_master_of_the_rest() -> None:
    config = Config.from_text(
        "MAX_JOBS_RUNNING = 5\nSCHEDD.SHADOW_LAZY_QUEUE_UPDATE = true\nROOSTER_INTERVAL = 77\n"
        "DAGMAN_VERBOSITY = 5\n"
    )
    for line, name, program in zip(
        tell_unread(config, "MASTER"),
        ("DAGMAN_VERBOSITY (/condor_config, line 4)", "ROOSTER_INTERVAL (/condor_config, line 3)"),
        ("DAGMan", "condor_rooster"),
        strict=True,
    ):
        why = f"Kettle has no {program}; HTCondor's own reads it"
        assert line == f"WARNING: {name} counts for nothing: {why}"
    (line,) = tell_unread(config, "SHADOW")
    assert line.startswith("WARNING: SCHEDD.SHADOW_LAZY_QUEUE_UPDATE (/condor_config, line 2)")
    assert list(tell_unread(config, "SCHEDD")) == []


def test_what_a_template_sets_or_another_setting_mentions_is_not_told() -> None:
    mentioned = Config.from_text("ROOSTER_INTERVAL = 77\nMINE = $(ROOSTER_INTERVAL)\n")
    assert list(find_unread(mentioned)) == []
    for role in ("Personal", "Execute", "CentralManager", "Submit"):
        assert list(find_unread(Config.from_text(f"use ROLE:{role}\n"))) == []


def test_words_that_are_there_to_be_mentioned_count() -> None:
    for name in ("MINUTE", "RELEASE_DIR", "MAX_JOBS_RUNNING", "No_Such_Name"):
        assert why_unread(name) == ""
