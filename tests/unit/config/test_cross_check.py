"""What settings say of each other and is not so is found, with the nearest right name."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.config.check import check_config

Told = tuple[str, str, int, str, str]


def told(text: str) -> list[Told]:
    config = Config.from_text(text, subsystem="MASTER")
    return [
        (found.severity, found.kind, found.line, found.sentence, found.nearest)
        for found in check_config(config)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "JOB_TRANSFORM_NAMES = O, Two\nJOB_TRANSFORM_Twoo = SET A 1\nJOB_TRANSFORM_O = A\n",
            [
                (
                    "warning",
                    "undefined",
                    1,
                    "JOB_TRANSFORM_NAMES names Two, and nothing sets JOB_TRANSFORM_Two",
                    "TWOO",
                ),
                ("note", "unlisted", 2, "JOB_TRANSFORM_NAMES does not name TWOO", ""),
            ],
        ),
        (
            "MEMORY = -5\nHIGHPORT = 35000 * 2\nNUM_CPUS = $(NUM_SLOTS)\nNUM_SLOTS = $(NUM_CPUS)\n",
            [
                ("error", "value", 1, "MEMORY = -5 is not an integer of at least 0", ""),
                (
                    "warning",
                    "range",
                    2,
                    (
                        "HIGHPORT = 35000 * 2 makes no sense: it is not an integer from 0 to "
                        "65535; 65535 counts instead"
                    ),
                    "",
                ),
                (
                    "error",
                    "value",
                    3,
                    "NUM_SLOTS refers to itself: NUM_SLOTS -> NUM_CPUS -> NUM_SLOTS",
                    "",
                ),
                (
                    "error",
                    "value",
                    4,
                    "NUM_CPUS refers to itself: NUM_CPUS -> NUM_SLOTS -> NUM_CPUS",
                    "",
                ),
            ],
        ),
        (
            "SCHEDD_INTERVAL = 99999999999999999999\n",
            [
                (
                    "error",
                    "value",
                    1,
                    (
                        "SCHEDD_INTERVAL = 99999999999999999999 is not a number of seconds from "
                        "1 to 2147483647"
                    ),
                    "",
                )
            ],
        ),
        (
            "ALOW_WRITE = x\nMAX_JOB_RUNING = 5\nMAXJOBSRUNNING = 5\nMY_OWN = 3\n",
            [
                ("warning", "unknown", 1, "nothing reads ALOW_WRITE", "ALLOW_WRITE"),
                ("warning", "unknown", 2, "nothing reads MAX_JOB_RUNING", "MAX_JOBS_RUNNING"),
                ("warning", "unknown", 3, "nothing reads MAXJOBSRUNNING", "MAX_JOBS_RUNNING"),
                ("note", "unused", 4, "nothing reads MY_OWN, and nothing uses it", ""),
            ],
        ),
        (
            "STARTD_ATTRS = Foo\n",
            [("warning", "undefined", 1, "STARTD_ATTRS names Foo, and nothing sets Foo", "")],
        ),
        (
            "GROUP_NAMES = physics\nGROUP_QUOTA_phisics = 3\nGROUP_PRIO_FACTOR_physics = big\n",
            [
                ("warning", "undefined", 2, "GROUP_NAMES does not name PHISICS", "physics"),
                ("error", "value", 3, "GROUP_PRIO_FACTOR_physics = big is not a number", ""),
            ],
        ),
        (
            "SPOOL = $(LOCALDIR)/spool\nMAX_JOBS_RUNNING = $(MINE:5)\n",
            [
                (
                    "warning",
                    "undefined",
                    1,
                    "SPOOL mentions $(LOCALDIR), and nothing sets LOCALDIR",
                    "LOCAL_DIR",
                )
            ],
        ),
        (
            "COLLECTOR_HOST = $(CONDOR_HOST:9618\n",
            [("warning", "macro", 1, "a $( of COLLECTOR_HOST is not closed by )", "")],
        ),
        ("COLLECTOR_HOST = $(CONDOR_HOST:a($(X:b))) $$(Y:9618\n", []),
        (
            "GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 30\nGROUP_QUOTA_DYNAMIC_b = 0.5\n",
            [
                (
                    "warning",
                    "range",
                    2,
                    "GROUP_QUOTA_DYNAMIC_a = 30 makes no sense: it is a share, from 0 to 1",
                    "",
                )
            ],
        ),
        (
            "LOG = $(LOCAL_DIR/log\n",
            [("warning", "macro", 1, "a $( of LOG is not closed by )", "")],
        ),
        (
            "SCHED.MAX_JOBS_RUNNING = 3\n",
            [("warning", "unknown", 1, "SCHED is no daemon's name", "SCHEDD")],
        ),
        (
            "LOWPORT = 9600\nHIGHPORT = 9500\n",
            [("error", "value", 2, "HIGHPORT 9500 is below LOWPORT 9600: no port is left", "")],
        ),
        (
            "COLLECTOR_HOST = host:99999\n",
            [("error", "value", 1, "COLLECTOR_HOST names port 99999, and none is above 65535", "")],
        ),
        (
            "ANNEX_COLLECTOR = x\n",
            [
                (
                    "note",
                    "unread",
                    1,
                    "ANNEX_COLLECTOR counts for nothing: Kettle has no condor_annex",
                    "",
                )
            ],
        ),
    ],
)
def test_what_is_not_so_is_told_with_its_line(text: str, found: list[Told]) -> None:
    assert told(text) == found


def test_macros_of_other_languages_and_of_jobs_are_not_looked_for() -> None:
    assert told("LOG = $(LOCAL_DIR)/$(SUBSYSTEM)$(DOLLAR)\n") == []
    assert told("JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = SET B $(MY.C)\n") == []
