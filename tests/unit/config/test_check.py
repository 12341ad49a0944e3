"""What is odd about a whole configuration is found, with its file, its line and what is meant."""

from __future__ import annotations

import pytest

from kettle.config import Config, load_config
from kettle.config.check import broken_config, check_config
from kettle.config.deprecated import OLD_NAMES, find_newer
from kettle.config.finding import Finding, is_bad
from kettle.config.sources import MemorySources
from kettle.errors import ConfigError


def check(text: str, **more: str) -> list[Finding]:
    return check_config(Config.from_text(text, subsystem="MASTER", **more))  # type: ignore[arg-type]


def told(text: str) -> list[tuple[str, str, int, str]]:
    return [(finding.severity, finding.kind, finding.line, finding.name) for finding in check(text)]


def test_a_misspelt_knob_is_named_with_the_nearest_one() -> None:
    (finding,) = check("A = 1\nNUM_CPUZ = $(A)\n")
    assert (finding.severity, finding.kind, finding.place) == (
        "warning",
        "unknown",
        "/condor_config, line 2",
    )
    assert finding.nearest == "NUM_CPUS"
    assert finding.advice == "did you mean NUM_CPUS?"


def test_a_misspelt_knob_of_one_daemon_is_too() -> None:
    (finding,) = check("SCHEDD.MAX_JOBS_RUNING = 3\n")
    assert (finding.kind, finding.nearest) == ("unknown", "MAX_JOBS_RUNNING")


def test_a_macro_that_nothing_uses_is_a_note() -> None:
    assert told("MY_THING = 4\n") == [("note", "unused", 1, "MY_THING")]


@pytest.mark.parametrize(
    "use",
    [
        "START = $(MY_THING)",
        "if $(MY_THING)\nendif",
        "if defined MY_THING\nendif",
        "START = $(MY_THING)\nSTART = true",
        "STARTD_ATTRS = $(STARTD_ATTRS) MY_THING",
        "SCHEDD.START_LOCAL_UNIVERSE = $(MY_THING:3)",
    ],
)
def test_a_macro_that_something_uses_is_none(use: str) -> None:
    assert told(f"MY_THING = 4\n{use}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "SEC_CLIENT_AUTHENTICATION_METHODS = FS",
        "SLOT_TYPE_1 = 100%",
        "JOB_TRANSFORM_Mine = SET A 1\nJOB_TRANSFORM_NAMES = Mine",
        "GROUP_QUOTA_physics = 3\nGROUP_NAMES = physics",
        "XSW_LIMIT = 3",
        "STARTD_CRON_GPU_EXECUTABLE = /bin/true",
        "SYSTEM_PERIODIC_HOLD_Old = JobStatus == 5\nSYSTEM_PERIODIC_HOLD_NAMES = Old",
        "ALLOW_NEGOTIATOR = *",
        "use ROLE : Personal",
        "use FEATURE : PartitionableSlot",
        "use POLICY : HOLD_IF_MEMORY_EXCEEDED",
        "use SECURITY : HOST_BASED",
    ],
)
def test_names_of_families_and_of_templates_are_no_strangers(line: str) -> None:
    assert told(f"{line}\n") == []


def test_a_value_that_its_knob_does_not_take_is_an_error() -> None:
    (finding,) = check("KILLING_TIMEOUT = 10 minutes\n")
    assert (finding.severity, finding.kind, finding.line) == ("error", "value", 1)
    assert finding.sentence == (
        "KILLING_TIMEOUT = 10 minutes is not a number of seconds of at least 0"
    )
    assert finding.advice == "did you mean 600?"


def test_so_it_is_for_one_daemon_alone() -> None:
    assert told("SCHEDD.MAX_JOBS_RUNNING = x\n") == [
        ("error", "value", 1, "SCHEDD.MAX_JOBS_RUNNING")
    ]


def test_a_ring_of_macros_is_an_error_that_shows_it() -> None:
    one, two = check("A = $(B)\nB = $(A)\n")
    assert (one.severity, one.line, two.line) == ("error", 1, 2)
    assert "B -> A -> B" in one.sentence


@pytest.mark.parametrize(
    ("line", "newer"),
    [
        ("HOSTALLOW_READ = *", "ALLOW_READ"),
        ("STARTD_EXPRS = FOO", "STARTD_ATTRS"),
        ("VIRTUAL_MACHINE_TYPE_2 = 50%", "SLOT_TYPE_2"),
        ("ALLOW_WRITE_COLLECTOR = *", "ALLOW_DAEMON_COLLECTOR"),
        ("JOB_ROUTER_ENTRIES = [ ]", "JOB_ROUTER_ROUTE_NAMES"),
    ],
)
def test_an_older_spelling_is_named_with_the_newer_one(line: str, newer: str) -> None:
    (finding,) = check(f"{line}\n")
    assert (finding.severity, finding.kind, finding.nearest) == ("warning", "deprecated", newer)
    assert finding.advice == f"write {newer}"


def test_no_newer_spelling_is_an_older_one() -> None:
    for old in OLD_NAMES:
        example = old.new.replace(r"\1", "X").replace(r"\2", "Y")
        assert find_newer(example) == ("", "")


def test_a_colon_for_an_equals_sign_is_an_older_spelling() -> None:
    (finding,) = check("A = 1\nALIVE_INTERVAL : $(A)\n")
    assert (finding.kind, finding.line, finding.advice) == ("deprecated", 2, "write = instead")


def test_a_policy_that_can_never_be_true_is_a_warning() -> None:
    (finding,) = check("LOW = 5\nSTART = (Memory > 10) && \\\n (Memory < $(LOW))\n")
    assert (finding.severity, finding.kind, finding.name) == ("warning", "never", "START")
    assert finding.sentence == (
        "START can never be true: Memory > 10 and Memory < 5 are never true together"
    )


@pytest.mark.parametrize(
    "line",
    [
        "WANT_HOLD = MemoryUsage > RequestMemory && false",
        "PREEMPTION_REQUIREMENTS = JobStatus =!= JobStatus",
        "SYSTEM_PERIODIC_VACATE = time() < 0",
        'SLOT1_START = Owner == "a" && Owner == "b"',
        "SLOT_TYPE_1_PREEMPT = Cpus > 4 && Cpus < 2",
    ],
)
def test_every_kind_of_policy_is_looked_at(line: str) -> None:
    assert [kind for _, kind, _, _ in told(f"{line}\n")] == ["never"]


def test_a_call_that_is_always_an_error_is_told_in_every_expression() -> None:
    first, second, third = check(
        'RANK = strcatt(Name)\nPREEMPT = regexp("a[", Name)\nSTART = zzz(1)\n'
    )
    assert (first.kind, first.line, first.nearest) == ("call", 1, "strcat")
    assert first.sentence == "in RANK, strcatt() is no function"
    assert (second.kind, second.line) == ("call", 2)
    # And not that it can never be true.
    assert (third.kind, third.line) == ("call", 3)


def test_a_policy_that_is_switched_off_and_a_rank_are_none() -> None:
    assert (
        told("PREEMPT = False\nKILL = FALSE\nRANK = 0 * Memory\nNEGOTIATOR_PRE_JOB_RANK = 0\n")
        == []
    )


def test_a_policy_that_does_not_parse_is_told_once() -> None:
    assert told("START = Memory >\n") == [("error", "value", 1, "START")]
    assert told("SYSTEM_PERIODIC_HOLD_Old = Memory >\n") == [
        ("error", "value", 1, "SYSTEM_PERIODIC_HOLD_Old")
    ]


def test_findings_stand_in_the_order_of_files_and_lines() -> None:
    sources = MemorySources({"/b": "NUM_CPUZ = 1\nKILLING_TIMEOUT = x\n", "/a": "MINE = 3\n"})
    config = load_config(sources, {}, subsystem="MASTER", root="/b", more=("/a",))
    places = [(finding.source, finding.line) for finding in check_config(config)]
    assert places == [("/b", 1), ("/b", 2), ("/a", 1)]


def test_what_cannot_be_read_at_all_is_one_finding() -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_text("A = 1\nnonsense here\n")
    finding = broken_config(caught.value)
    assert (finding.severity, finding.kind, finding.line) == ("error", "syntax", 2)
    assert finding.sentence == '"nonsense here" is neither an assignment nor a statement'


@pytest.mark.parametrize("line", ["\x85", "\xa0", "\u2028", "\x1c", "\x1f \x1e"])
def test_a_line_of_what_python_alone_takes_for_blanks_is_refused(line: str) -> None:
    with pytest.raises(ConfigError, match="neither an assignment nor a statement") as caught:
        Config.from_text(f"A = 1\n{line}\n")
    assert caught.value.line == 2


def test_one_fails_for_errors_and_where_one_is_strict_for_warnings() -> None:
    error, warning, note = (
        Finding(severity, "k", "f", 1, "n", "s") for severity in ("error", "warning", "note")
    )
    assert is_bad([note, error], strict=False)
    assert not is_bad([note, warning], strict=False)
    assert is_bad([note, warning], strict=True)
    assert not is_bad([note], strict=True)


def test_a_fault_in_an_included_file_is_where_it_is() -> None:
    files = {"/a": "A = 1\ninclude : /b\n", "/b": "\ninclude : /c\n", "/c": "\n\nnonsense\n"}
    with pytest.raises(ConfigError) as caught:
        load_config(MemorySources(files), {}, root="/a")
    finding = broken_config(caught.value)
    assert finding.place == "/c, line 3"
    assert finding.sentence == '"nonsense" is neither an assignment nor a statement'


def test_an_included_file_that_is_not_there_is_told_where_it_is_included() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(MemorySources({"/a": "A = 1\ninclude : /b\n"}), {}, root="/a")
    finding = broken_config(caught.value)
    assert finding.place == "/a, line 2"
    assert finding.sentence.startswith("can't open file /b")


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("", "BAR is no part of the value before it, which the comment above ends"),
        ("\\", "BAR is a part of the value before it, as the comment above ends in a backslash"),
    ],
)
def test_what_a_comment_makes_of_a_setting_behind_it_is_told(end: str, said: str) -> None:
    text = f"FOO = a, \\\n   # more{end}\nBAR = $(FOO)\nLOCAL_NAME = $(FOO) $(BAR)\n"
    told = [one for one in check(text) if "the comment above" in one.sentence]
    assert [(one.severity, one.line, one.sentence) for one in told] == [("warning", 3, said)]
    for other in (
        "FOO = a \\\n# more\n\nBAR = b\n",
        "FOO = a \\\n# more\n  Name == 3\n",
        "FOO = a \\\n# more\n  Name =?= 3\n",
        "FOO = a\n# more \\\nBAR = b\n",
        "FOO = a \\\n  BAR = b\n",
    ):
        assert not [one for one in check(other) if "the comment above" in one.sentence]


def test_a_backslash_at_the_end_of_the_last_line_is_told_of() -> None:
    for text in ("FOO = 1\nBAR = $(FOO) \\", "FOO = 1\nBAR = $(FOO) \\\n"):
        odd = [one for one in check(text) if one.kind == "backslash"]
        assert [(one.severity, one.line) for one in odd] == [("warning", 2)]
    assert "backslash" not in {one.kind for one in check("FOO = 1 \\\n\n# end \\\n")}


def test_what_a_template_sets_that_a_setting_uses_stands_where_the_setting_is() -> None:
    config = Config.from_text("# ours\nAUTO_USE_FEATURE_GPUS = true\n", subsystem="MASTER")
    (found,) = check_config(config)
    assert (found.name, found.place) == ("STARTD_CRON_JOBLIST", "/condor_config, line 2")


def test_what_a_function_cannot_compute_is_told_of_the_reading_or_of_who_asks() -> None:
    config = Config.from_text("include ifexist : /x$INT(a b)\nA = $INT(c d)\n")
    assert [remark.text for remark in config.warnings] == [
        'ERROR "$INT() macro: a b does not evaluate to an integer!"'
    ]
    assert config.problems == []
    assert config.get("A") is None
    assert [remark.text for remark in config.problems] == [
        'ERROR "$INT() macro: c d does not evaluate to an integer!"'
    ]
