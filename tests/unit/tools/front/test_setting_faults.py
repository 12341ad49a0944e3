"""What of single settings their readers would not take, or would take for something else."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.config.check import check_config
from kettle.config.default_texts import DEFAULTS
from kettle.tools.front.setting_faults import find_setting_faults
from kettle.tools.front.site_faults import find_site_faults


def told(text: str) -> list[tuple[str, str, str]]:
    """Return the severity, the sentence and what is meant; of paths all are there."""
    config = Config.from_text(text, subsystem="MASTER")
    found = check_config(
        config,
        lambda config: [
            *(one for one in find_site_faults(config) if one.kind != "path"),
            *find_setting_faults(config, lambda path: not path.startswith("/nope")),
        ],
    )
    kept = [one for one in found if one.kind != "unread"]
    return list(dict.fromkeys((one.severity, one.sentence, one.nearest) for one in kept))


@pytest.mark.parametrize(
    ("line", "severity", "sentence", "nearest"),
    [
        ("ENABLE_IPV6 = perhaps", "error", "ENABLE_IPV6 = perhaps is not true, false or auto", ""),
        (
            "NEGOTIATOR_INTERVAL = -5",
            "warning",
            (
                "NEGOTIATOR_INTERVAL = -5 makes no sense: it is not a number of seconds of at "
                "least 1; 1 counts instead"
            ),
            "",
        ),
        (
            "MAX_DEFAULT_LOG = 10 Mbb",
            "warning",
            "MAX_DEFAULT_LOG = 10 Mbb is read as 10 Mb",
            "10 Mb",
        ),
        (
            "MAX_SCHEDD_LOG = ten",
            "error",
            "MAX_SCHEDD_LOG = ten is not a size such as 10 Mb, or a time such as 2 days",
            "",
        ),
        (
            "EVENT_LOG_MAX_SIZE = 50 Mb",
            "error",
            "EVENT_LOG_MAX_SIZE = 50 Mb is not an integer of at least -1",
            "",
        ),
        (
            "CGROUP_MEMORY_LIMIT_POLICY = sotf",
            "warning",
            (
                "CGROUP_MEMORY_LIMIT_POLICY = sotf is not one of hard, soft, custom, none: no "
                "control group limits the memory of jobs then"
            ),
            "soft",
        ),
        (
            "JOB_DISK_LIMIT_POLICY = off",
            "warning",
            "JOB_DISK_LIMIT_POLICY = off is not one of hard, soft, none: it counts as soft",
            "",
        ),
        (
            "JOB_DEFAULT_NOTIFICATION = allways",
            "error",
            (
                "JOB_DEFAULT_NOTIFICATION = allways is not one of never, always, complete, start, "
                "error"
            ),
            "",
        ),
        (
            "SUBMIT_REQUEST_MISSING_UNITS = eror",
            "warning",
            ("SUBMIT_REQUEST_MISSING_UNITS = eror is not one of error, warn: condor_submit warns"),
            "error",
        ),
        ("JOB_START_COUNT = 0", "error", "JOB_START_COUNT = 0 is not an integer of at least 1", ""),
        (
            "MAX_HISTORY_LOG = 20 Mb",
            "error",
            "MAX_HISTORY_LOG = 20 Mb is not an integer of at least 0",
            "",
        ),
        (
            "SLOT_TYPE_3_PARTITIONABLE = perhaps",
            "error",
            "SLOT_TYPE_3_PARTITIONABLE = perhaps is not boolean",
            "",
        ),
        (
            "SLOT_TYPE_4_PARTITIONABL = true",
            "warning",
            "nothing reads SLOT_TYPE_4_PARTITIONABL",
            "SLOT_TYPE_4_PARTITIONABLE",
        ),
        (
            "STARTD_DEBUG = D_FULLDEBG",
            "warning",
            "STARTD_DEBUG names D_FULLDEBG, which is no kind of message",
            "D_FULLDEBUG",
        ),
        (
            "SEC_DEFAULT_CRYPTO_METHODS = AES, BLOWFSH",
            "error",
            "SEC_DEFAULT_CRYPTO_METHODS names BLOWFSH, which is no method of encryption",
            "BLOWFISH",
        ),
        (
            "SEC_DEFALT_AUTHENTICATION = REQUIRED",
            "warning",
            "nothing reads SEC_DEFALT_AUTHENTICATION",
            "SEC_DEFAULT_AUTHENTICATION",
        ),
        ("SPOOL = /nope/spool", "note", "SPOOL = /nope/spool is not there, on this machine", ""),
        ("SPOOL = /nope\xa0x", "note", "SPOOL = /nope\xa0x is not there, on this machine", ""),
        (
            "SPOOL = \x85",
            "warning",
            (
                "SPOOL = \x85 is no absolute path: "
                "each daemon looks for it in the folder in which it works"
            ),
            "",
        ),
        (
            "SEC_PASSWORD_FILE = /nope/pw",
            "note",
            "SEC_PASSWORD_FILE = /nope/pw is in /nope, which is not there, on this machine",
            "",
        ),
        (
            "SYSTEM_PERIODIC_HOLD = JobStatus == 2 && JobStatus == 5",
            "warning",
            (
                "SYSTEM_PERIODIC_HOLD can never be true: JobStatus == 2 and JobStatus == 5 are "
                "never true together"
            ),
            "",
        ),
    ],
)
def test_a_fault_is_told_with_what_is_meant(
    line: str, severity: str, sentence: str, nearest: str
) -> None:
    assert told(f"{line}\n") == [(severity, sentence, nearest)]


@pytest.mark.parametrize(
    ("line", "sentence", "nearest"),
    [
        ("PERIOD = 5 minutes", "PERIOD = 5 minutes is not a number with s, m or h behind it", "5m"),
        ("PERIOD = often", "PERIOD = often is not a number with s, m or h behind it", ""),
        (
            "MODE = Perodic",
            "MODE = Perodic is not one of Periodic, WaitForExit, OneShot, OnDemand",
            "Periodic",
        ),
        ("KILL = perhaps", "KILL = perhaps is not boolean", ""),
        ("JOB_LOAD = much", "JOB_LOAD = much is not a real number from 0 to 100", ""),
        ("CONDITION = Cpus >", "CONDITION = Cpus > is not an expression", ""),
    ],
)
def test_settings_of_programs_that_run_by_the_clock_are_judged(
    line: str, sentence: str, nearest: str
) -> None:
    for who in ("STARTD_CRON_A_", "SCHEDD_CRON_A_", "BENCHMARKS_A_"):
        meant = nearest
        assert told(f"{who}{line}\n") == [("error", f"{who}{sentence}", meant)]


def test_a_misspelt_one_of_theirs_has_its_right_name() -> None:
    assert told("STARTD_CRON_A_PERODIC = 3m\n") == [
        ("warning", "nothing reads STARTD_CRON_A_PERODIC", "STARTD_CRON_A_PERIOD")
    ]


def test_every_wrong_word_of_a_list_is_told() -> None:
    assert [sentence for _, sentence, _ in told("DAEMON_LIST = MASTER SCHED COLECTOR\n")] == [
        "DAEMON_LIST names SCHED, and SCHED is not set to a program",
        "DAEMON_LIST names COLECTOR, and COLECTOR is not set to a program",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "ENABLE_IPV4 = FALSE",
        "ENABLE_IPV6 = auto",
        "MAX_DEFAULT_LOG = 10 Mb",
        "MAX_STARTD_LOG = 7 days",
        "MAX_COLLECTOR_LOG = 104857600",
        "STARTD_CRON_A_PERIOD = 5min",
        "STARTD_CRON_A_MODE = waitforexit",
        "STARTD_DEBUG = D_FULLDEBUG, -D_LOAD | D_SECURITY:2",
        "COLLECTOR_DEBUG =",
        "SEC_WRITE_CRYPTO_METHODS = AES, 3DES",
        "SEC_TOKEN_DIRECTORY = /etc/tokens.d",
        "TCP_KEEPALIVE_INTERVAL = -1",
        "SLOT_TYPE_2_MYATTR = 4",
        "FLOCK_TO = other.pool",
        "SYSTEM_PERIODIC_REMOVE = JobStatus == 5 && CurrentTime - EnteredCurrentStatus > 900",
        "FLOCK_FROM = *.edu",
        "DAEMON_SHUTDOWN = Total == 0",
        "GROUP_QUOTA_ROUND_ROBIN_RATE = 1e100\nGROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 3",
    ],
)
def test_what_is_right_is_not_told(line: str) -> None:
    assert told(f"{line}\n") == []


def test_the_defaults_are_right() -> None:
    facts = {"FULL_HOSTNAME": "h", "DETECTED_MEMORY": "4096", "TILDE": "/t", "USERNAME": "u"}
    facts |= {"DETECTED_CPUS": "4", "DETECTED_CPUS_LIMIT": "4", "CONDOR_HOST": "h"}
    text = "".join(f"{name} = {text}\n" for name, text in DEFAULTS.values() if "\n" not in text)
    config = Config.from_text(text, subsystem="MASTER", facts=facts)
    found = check_config(config, find_site_faults)
    assert [one for one in found if one.severity != "note"] == []
