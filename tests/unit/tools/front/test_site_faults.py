"""What only the readers of rules, lists and daemons can judge is found at its place."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.config.check import check_config
from kettle.tools.front.site_faults import find_site_faults
from kettle.wire.security.setting_words import why_nobody


def told(text: str) -> list[tuple[str, int, str, str]]:
    config = Config.from_text(text, subsystem="MASTER")
    return [
        (found.severity, found.line, found.sentence, found.nearest)
        for found in check_config(config, find_site_faults)
    ]


def test_a_mistyped_statement_of_a_rule_is_told_at_its_own_line() -> None:
    rule = (
        "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\n# a comment\nSET B 1\n\n SETT C 2\n@end\n"
    )
    assert told(rule) == [
        ("error", 6, "JOB_TRANSFORM_A: SETT is not a valid transform keyword", "SET")
    ]


def test_an_expression_of_a_rule_that_is_none_is_told() -> None:
    ((severity, line, sentence, _),) = told("JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = SET B (\n")
    assert (severity, line) == ("error", 2)
    assert sentence.startswith("JOB_TRANSFORM_A: SET B needs an expression: expected a value")
    assert told("JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = SET B $(C) + 1\n") == []


def test_routes_and_the_classad_form_are_judged_too() -> None:
    ((_, line, sentence, nearest),) = told(
        "JOB_ROUTER_ROUTE_NAMES = R\nJOB_ROUTER_ROUTE_R @=x\nREQIREMENTS true\n@x\n"
    )
    assert (line, nearest) == (3, "REQUIREMENTS")
    assert sentence.startswith("JOB_ROUTER_ROUTE_R: REQIREMENTS is not")
    ((_, line, sentence, _),) = told("JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = [ set_B = \n")
    assert (line, sentence) == (
        2,
        "JOB_TRANSFORM_A: Could not parse transform classad JOB_TRANSFORM_A",
    )


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("192.168.0.0/99", "192.168.0.0/99 is no network"),
        ("300.1.1.1", "300.1.1.1 is no address"),
        ("10.0.0.*.*", "10.0.0.*.* has more than four parts"),
        ("user@/host", "user@ is no USER@DOMAIN"),
        ("@domain/host", "@domain is no USER@DOMAIN"),
        ("ho!st", "ho!st is no host's name"),
    ],
)
def test_an_entry_that_matches_nobody_is_told_with_the_reason(entry: str, why: str) -> None:
    assert why_nobody(entry) == why
    found = told(f"DENY_WRITE = *.example.org, {entry}\n")
    assert found == [("error", 1, f"{entry} in DENY_WRITE matches nobody: {why}", "")]


@pytest.mark.parametrize(
    "entry",
    [
        "*",
        "*/*",
        "alice@*",
        "*@example.org/10.0.0.0/8",
        "condor@x/*.x.org",
        "10.0.*",
        "fe80::1",
        "[::1]",
        "2001:db8::/32",
        "192.168.0.0/255.255.0.0",
        "+group/host",
        "host-1.example.org",
    ],
)
def test_entries_that_match_somebody_are_none(entry: str) -> None:
    assert why_nobody(entry) == ""


@pytest.mark.parametrize(
    ("text", "sentence", "nearest"),
    [
        (
            "ALLOW_ADMINSTRATOR = root@*",
            "ADMINSTRATOR is no level of authorization",
            "ALLOW_ADMINISTRATOR",
        ),
        (
            "DAEMON_LIST = MASTER SCHEDDD",
            "DAEMON_LIST names SCHEDDD, and SCHEDDD is not set to a program",
            "SCHEDD",
        ),
        (
            "SEC_READ_ENCRYPTION = REQURED",
            "SEC_READ_ENCRYPTION = REQURED is not one of REQUIRED, PREFERRED, OPTIONAL, NEVER",
            "REQUIRED",
        ),
        (
            "SEC_READ_AUTHENTICATION_METHODS = FS, KERBROS",
            "SEC_READ_AUTHENTICATION_METHODS names KERBROS, which is no method",
            "KERBEROS",
        ),
        (
            "STARTD_CRON_X_PERIODE = 5m",
            "nothing reads STARTD_CRON_X_PERIODE",
            "STARTD_CRON_X_PERIOD",
        ),
    ],
)
def test_words_that_are_none_are_told_with_the_nearest(
    text: str, sentence: str, nearest: str
) -> None:
    ((_, line, said, near),) = told(f"{text}\n")
    assert (line, said, near) == (1, sentence, nearest)


def test_a_part_of_a_machine_that_makes_no_sense_is_told() -> None:
    ((severity, line, sentence, _),) = told("SLOT_TYPE_1 = cpus=50%, zzz=20%\n")
    assert (severity, line, sentence) == ("error", 1, "SLOT_TYPE_1: unknown resource 'zzz'")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=150%",
            ("error", 2, "SLOT_TYPE_1 gives a slot 150% of the machine's Cpus"),
        ),
        (
            "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 3/2",
            ("error", 2, "SLOT_TYPE_1 gives a slot 150% of the machine's Cpus"),
        ),
        (
            "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = ram=-1",
            ("error", 2, "SLOT_TYPE_1 gives a slot -1 Memory"),
        ),
        (
            "NUM_SLOTS_TYPE_1 = 2\nSLOT_TYPE_1 = 60%",
            ("error", 2, "the slot types ask for 120% of Memory"),
        ),
        (
            "NUM_SLOTS_TYPE_1 = 2",
            ("error", 1, "NUM_SLOTS_TYPE_1 is 2, and nothing sets SLOT_TYPE_1"),
        ),
        (
            "SLOT_TYPE_2 = 50%",
            ("note", 1, "nothing sets NUM_SLOTS_TYPE_2: there are no slots of this type"),
        ),
    ],
)
def test_what_no_machine_can_be_divided_into_is_told(
    text: str, expected: tuple[str, int, str]
) -> None:
    assert [found[:3] for found in told(f"{text}\n")] == [expected]


def test_what_a_machine_can_be_divided_into_is_not_told() -> None:
    assert told("NUM_SLOTS_TYPE_1 = 2\nSLOT_TYPE_1 = 50%\n") == []
    assert told("NUM_SLOTS_TYPE_1 = 0\n") == []
    assert told("use FEATURE : PartitionableSlot\n") == []


def test_words_between_a_name_and_its_operator_are_told_of() -> None:
    assert told("use ROLE = Submit\n")[0][:3] == (
        "warning",
        1,
        "this sets use; ROLE means nothing",
    )
    ((_, line, sentence, _),) = told("START = true\nNUM_CPUS more = 3\n")
    assert (line, sentence) == (2, "this sets NUM_CPUS; more means nothing")
    assert told("NUM_CPUS @=x\n3\n@x\n") == []


def test_instances_that_a_site_names_are_daemons_names() -> None:
    text = (
        "DAEMON_LIST = MASTER SCHEDD_B\nSCHEDD_B = $(SCHEDD)\nSCHEDD_B_ARGS = -local-name scheddb\n"
    )
    assert told(f"{text}scheddb.SCHEDD_NAME = b@\nSCHEDD_B.SCHEDD_NAME = c@\n") == []
    assert told("scheddb.SCHEDD_NAME = b@\n")[0][2] == "SCHEDDB is no daemon's name"


def test_a_number_of_logs_is_no_path_and_a_list_of_folders_is_more_than_one() -> None:
    assert told("MAX_NUM_SCHEDD_LOG = 5\n") == []
    assert [found[0] for found in told("SINGULARITY_TARGET_DIR = /srv\n")] == ["note"]
    assert told("LOCAL_CONFIG_DIR = /usr/none,/etc/none\n") == []
    assert told("SCHEDD_LOG = $(LOG)/SchedLog\n") == []


def test_a_name_that_no_expression_can_mention_is_told_of_at_its_line() -> None:
    text = (
        "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\nSET 1B 1\nDEFAULT C.D 2\n"
        "COPY My-E F\nDELETE MY.G\nDELETE /^x-/\nSET $(H) 1\n@end\n"
    )
    said = (
        "JOB_TRANSFORM_A: no expression can mention an attribute {!r}: "
        "a name is letters, digits and _"
    )
    assert [(line, sentence) for _, line, sentence, _ in told(text)] == [
        (3, said.format("1B")),
        (4, said.format("C.D")),
        (5, said.format("My-E")),
    ]


@pytest.mark.parametrize(
    ("line", "sentence", "nearest"),
    [
        (
            "ALLOW_ADMINISTRATOR = *",
            (
                "* in ALLOW_ADMINISTRATOR: anybody who is let in may stop daemons and change "
                "users' priorities"
            ),
            "",
        ),
        (
            "ALLOW_CONFIG = root@x, */*",
            "* in ALLOW_CONFIG: anybody who is let in may change what SETTABLE_ATTRS_CONFIG names",
            "",
        ),
        (
            "DENY_WRITE = *",
            "* in DENY_WRITE: nobody has WRITE then, whatever ALLOW_WRITE says",
            "",
        ),
        (
            "NETWORK_INTERFACE = loo",
            "NETWORK_INTERFACE = loo is no address, and no interface of this machine",
            "lo",
        ),
        (
            "NETWORK_INTERFACE = 10.0.0.256",
            "NETWORK_INTERFACE = 10.0.0.256 is no address, and no interface of this machine",
            "",
        ),
        (
            "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = memory=1/2, cpsu=2",
            "SLOT_TYPE_1 names cpsu, which counts as Cpus for its first letter",
            "Cpus",
        ),
    ],
)
def test_what_is_taken_and_hardly_meant_is_told(line: str, sentence: str, nearest: str) -> None:
    ((severity, _, said, near),) = told(f"{line}\n")
    assert (severity, said, near) == ("warning", sentence, nearest)


@pytest.mark.parametrize(
    "line",
    [
        "ALLOW_ADMINISTRATOR = root@*, */10.0.0.1",
        "ALLOW_WRITE = *",
        "DENY_ADMINISTRATOR = *",
        "NETWORK_INTERFACE = *",
        "NETWORK_INTERFACE = 10.1.*",
        "NETWORK_INTERFACE = ::1",
        "NETWORK_INTERFACE = lo",
        "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = c=1, mem: 25%, ram=10, virtualmemory=auto, gpus=0",
    ],
)
def test_what_is_written_so_on_purpose_is_not(line: str) -> None:
    assert told(f"{line}\n") == []
