"""Options of condor_config_val and condor_version beyond the recorded answers (R041)."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from conformance.config.vectors import run_tool, use_machine
from kettle.attributes.version import (
    CONDOR_VERSION,
    condor_platform,
    parse_os_release,
    parse_version,
)
from kettle.client.pool import Located
from kettle.tools.configuration import condor_version, listing, remote
from kettle.tools.configuration.request import read_request
from kettle.tools.programs import ProgramEndError, Streams
from kettle.tools.reach import Reach
from kettle.wire.sinful import Sinful

shows = pytest.mark.shows

TEXT = "HALF = $(HOUR) / 2\nHOUR = 3600\nTEXT @=end\na $(HALF)\nb\n@end\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_machine(monkeypatch)
    (tmp_path / "condor_config").write_text(TEXT)
    return tmp_path


def say(folder: Path, *arguments: str) -> tuple[int, str, str]:
    return run_tool(list(arguments), folder, {})


@shows("R041")
def test_raw_expanded_default_and_verbose(folder: Path) -> None:
    assert say(folder, "HALF") == (0, "3600 / 2\n", "")
    assert say(folder, "-raw", "HALF")[1] == "$(HOUR) / 2\n"
    assert say(folder, "-expand", "HALF")[1] == "3600 / 2\n"
    assert say(folder, "-default", "LOG")[1] == "$(LOCAL_DIR)/log\n"
    verbose = say(folder, "-verbose", "HALF")[1]
    assert " # at: @DIR@/condor_config, line 1\n # raw: HALF = $(HOUR) / 2\n" in verbose


def test_verbose_says_what_counts_for_nothing_and_why(folder: Path) -> None:
    said = say(folder, "-verbose", "DAGMAN_MAX_RESCUE_NUM", "SHADOW_LAZY_QUEUE_UPDATE")[1]
    assert said.split("\n\n")[0].endswith(
        "\n # counts for nothing: Kettle has no DAGMan; HTCondor's own reads it"
    )
    assert "\n # counts for nothing: Kettle's shadow does without it\n" in said
    assert "counts for" not in say(folder, "-verbose", "HALF", "MAX_JOBS_RUNNING", "HOUR")[1]
    assert "counts for" not in say(folder, "DAGMAN_MAX_RESCUE_NUM")[1]


def test_a_name_without_default_is_not_defined_whatever_daemons_do_then(folder: Path) -> None:
    for name in ("NEGOTIATOR_CYCLE_DELAY", "CLASSAD_LIFETIME", "SHADOW_RECONNECT_LOG"):
        assert say(folder, name) == (1, "", f"Not defined: {name}\n")
        assert f"{name} =" not in say(folder, "-dump")[1]


def test_a_knob_of_our_own_is_listed_where_it_is_set(folder: Path) -> None:
    assert say(folder, "KETTLE_METRICS_ADDRESS") == (0, "127.0.0.1\n", "")
    assert "KETTLE" not in say(folder, "-dump")[1]
    (folder / "condor_config").write_text("KETTLE_METRICS_PORT = 9090\n")
    assert "KETTLE_METRICS_PORT = 9090\n" in say(folder, "-dump")[1]


def test_a_default_of_a_daemon_s_own_is_shown_with_its_prefix(folder: Path) -> None:
    assert "\nTOOL.IsTool = true\n" in say(folder, "-dump")[1]
    assert "\nIsTool = true\n" in say(folder, "-dump", "-expanded")[1]
    said = say(folder, "-verbose", "IsSchedd", "-subsystem", "SCHEDD")[1]
    shown = "SCHEDD.IsSchedd = true\n # at: <Default>\n # raw: SCHEDD.IsSchedd = true\n\n"
    assert said == shown


def test_what_a_file_says_counts_as_it_is_written(folder: Path) -> None:
    (folder / "condor_config").write_text(
        "IsSchedd = false\nCOLLECTOR.USE_VOMS_ATTRIBUTES = False\n"
    )
    asked = ("IsSchedd", "COLLECTOR.USE_VOMS_ATTRIBUTES")
    assert say(folder, "-subsystem", "SCHEDD", *asked) == (0, "false\nFalse\n", "")


def test_a_detected_fact_has_a_default_too(folder: Path) -> None:
    asked = ("CONDOR_VERSION", "DETECTED_CPUS", "DETECTED_CPUS_LIMIT", "DETECTED_CORES")
    assert say(folder, "-default", *asked)[1] == "25.14.1\n1\n$(DETECTED_CPUS)\n1\n"
    said = say(folder, "-dump", "-verbose", "CONDOR_VERSION|DETECTED_CORES|SEC_TOKEN_DIRECTORY")[1]
    assert "CONDOR_VERSION = 25.14.1\n # at: <Default>\n" in said
    assert "DETECTED_CORES = 2\n # at: <Detected>\n # expanded: 2\n # default: 1\n" in said
    assert said.endswith(" # expanded: \n # default: \n")


def test_a_summary_leaves_out_what_is_the_default_all_the_same(folder: Path) -> None:
    text = "START = False\nSTART = True\nSCHEDD.START = True\nX.A = 1\nM = 1\n"
    (folder / "condor_config").write_text(text)
    said = run_tool(["-summary"], folder, {"_CONDOR_ZZ": "2"})[1]
    assert said.endswith("#\nX.A = 1\nM = 1\n\n#\n# from <Environment>\n#\nZZ = 2\n")
    assert "START" not in said
    asked = ["-summary", "-subsystem", "SCHEDD"]
    assert run_tool(asked, folder, {"_CONDOR_ZZ": "2"})[1].endswith("#\nZZ = 2\n")


def test_used_is_also_what_the_tool_asks_for_itself(folder: Path) -> None:
    said = say(folder, "-dump", "-used", "^(NO_DNS|DETECTED_CPUS|ENABLE_IPV4|START|FULL_HOSTNAME)$")
    shown = [line.split()[0] for line in said[1].splitlines() if line[:1] not in ("", "#")]
    assert shown == ["DETECTED_CPUS", "ENABLE_IPV4", "FULL_HOSTNAME", "NO_DNS"]


def test_trace_shows_what_was_before(folder: Path) -> None:
    (folder / "condor_config").write_text("HOUR = 1\nB = 2\nhour = 3\nHOUR @=end\nx\n@end\n")
    code, said, _ = say(folder, "-trace", "HOUR", "HOSTNAME")
    place = "@DIR@/condor_config, line"
    was = "".join(
        f" # trace: {name}\n  # was: {text}\n  # set at: {place} {line}\n"
        for name, text, line in (("hour", "1", 1), ("HOUR", "3", 3))
    )
    assert (code, said.rpartition("\n")[0].rpartition("\n")[0]) == (0, was + "x")
    assert "trace" not in say(folder, "-trace", "OUR")[1]
    assert "trace" in say(folder, "-trace", "-dump", "^HO")[1]


def test_a_trace_of_a_list_that_grows_keeps_the_last_texts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_TRACED", 120)
    (folder / "condor_config").write_text("L = item\n" + "L = $(L) item\n" * 20)
    said = say(folder, "-trace", "L")[1]
    last = " ".join(["item"] * 20)
    left_out = " # trace: 19 earlier texts are left out\n"
    assert said.startswith(f"{left_out} # trace: L\n  # was: {last}\n")
    assert said.count("# was:") == 1
    (folder / "condor_config").write_text(f"L = 1\nL = {'x' * 200}\nL = 2\n")
    assert f"# was: {'x' * 200}\n" in say(folder, "-trace", "L")[1]


@shows("R041")
def test_a_name_that_is_not_defined_ends_in_one(folder: Path) -> None:
    assert say(folder, "HALF", "nope") == (1, "3600 / 2\n", "Not defined: NOPE\n")


def test_a_machine_without_the_account_condor_has_no_tilde(folder: Path) -> None:
    wrong = "Error: Specified -tilde but can't find condor's home directory\n"
    assert say(folder, "-tilde") in [(1, "", wrong), (0, "/var/lib/condor\n", "")]


@shows("R041")
def test_a_tool_does_not_list_that_it_is_one(folder: Path) -> None:
    listed = say(folder, "-dump", "^Is(Tool|Schedd)$")[1]
    assert [line for line in listed.splitlines() if line.startswith("Is")] == ["IsSchedd = false"]
    assert say(folder, "IsTool")[1] == "true\n"


def test_dump_lists_what_matches(folder: Path) -> None:
    listed = say(folder, "-dump", "^H(ALF|OUR)$")[1]
    assert "HALF = $(HOUR) / 2\nHOUR = 3600\n" in listed
    assert say(folder, "-dump", "[")[2].startswith("[ is not a regular expression")


def test_dump_lists_what_is_in_force_for_a_daemon_or_an_instance(folder: Path) -> None:
    lines = "A = 1\nSCHEDD.A = 2\nLOC.A = 3\nSCHEDD.LOC.A = 4\n"
    (folder / "condor_config").write_text(lines)
    asked = ("-dump", "-subsystem", "SCHEDD")
    assert "\nSCHEDD.A = 2\n# Contrib" in say(folder, *asked, "^A$")[1]
    assert "\nLOC.A = 3\n# Contrib" in say(folder, "-dump", "-local-name", "LOC", "^A$")[1]
    assert "\nSCHEDD.LOC.A = 4\nSCHEDD.A = 2\n" in say(folder, *asked, "^(LOC|SCHEDD).A$")[1]
    assert (
        "\nSCHEDD.A = 2\n # at: @DIR@/condor_config, line 2\n"
        in say(folder, *asked, "-verbose", "^A$")[1]
    )
    assert "\nA = \n# Contrib" in say(folder, *asked, "-default", "^A$")[1]
    assert "\nA = 2\n# Contrib" in say(folder, *asked, "-expand", "^A$")[1]
    (folder / "condor_config").write_text("A = 1\nSCHEDD.A =\n")
    assert "\nA = \n# Contrib" in say(folder, *asked, "-expand", "^A$")[1]


def test_a_summary_of_nothing_is_nothing(folder: Path) -> None:
    (folder / "condor_config").write_text("# nothing\n")
    assert say(folder, "-summary") == (0, "", "")


def test_several_lines_are_shown_as_a_here_document(folder: Path) -> None:
    shown = say(folder, "-verbose", "TEXT")[1]
    assert shown.startswith("TEXT @=end\n   a 3600 / 2\n   b\n@end\n # at: ")
    assert " # raw: \n #   TEXT = a $(HALF)\n #   b\n" in shown


def test_the_whole_configuration_can_be_written_and_read_again(folder: Path) -> None:
    target = folder / "written"
    assert say(folder, "-writeconfig:file,only", str(target))[0] == 0
    target.rename(folder / "condor_config")
    assert say(folder, "TEXT")[1] == "a 3600 / 2\nb\n"


def test_detected_facts_are_part_of_the_summary_on_request(folder: Path) -> None:
    assert "HOSTNAME = ap\n" not in say(folder, "-summary")[1]
    assert "HOSTNAME = ap\n" in say(folder, "-summary:detected")[1]


def test_statistics_count_what_is_configured(folder: Path) -> None:
    (folder / "condor_config").write_text("LOG = /a/$(MINE)\nMINE = x$(MINE2)\n")
    code, said, _ = say(folder, "-stats")
    rows = dict(line.split(" = ") for line in said.splitlines())
    assert code == 0
    assert list(rows) == [
        "Macros", "Used", "Referenced", "Files", "StringBytes", "TablesBytes", "IsSorted",
    ]  # fmt: skip
    (folder / "condor_config").write_text("LOG = /a/$(MINE)\nMINE = x$(MINE2)\nMINE2 = y\n")
    more = dict(line.split(" = ") for line in say(folder, "-stats")[1].splitlines())
    grown = {name: int(more[name]) - int(rows[name]) for name in rows}
    assert grown == {
        "Macros": 1, "Used": 0, "Referenced": 1, "Files": 0, "StringBytes": 6, "TablesBytes": 0,
        "IsSorted": 1,
    }  # fmt: skip


def test_two_dashes_are_for_few_options_and_their_whole_names(folder: Path) -> None:
    # As the reference: of the others it says that they are no arguments.
    complaint = "--raw is not a valid argument\n@USAGE@\n"
    assert say(folder, "--raw", "HALF") == (1, "", complaint)
    assert say(folder, "--root-config", str(folder / "condor_config"), "-raw", "HALF")[0] == 0
    assert say(folder, "--root", str(folder / "condor_config"), "-raw", "HALF")[0] == 1


def test_a_circle_is_told_once_and_ends_in_one(folder: Path) -> None:
    (folder / "condor_config").write_text("A = $(B)\nB = $(A)\n")
    code, stdout, stderr = say(folder, "A")
    assert (code, stdout) == (1, "")
    assert stderr == "ERROR: B refers to itself: B -> A -> B\nNot defined: A\n"


def test_the_version_is_two_lines_that_peers_understand() -> None:
    out, err = io.StringIO(), io.StringIO()
    streams = Streams(io.StringIO(), out, err)
    assert condor_version.main(["condor_version"], {}, streams) == 0
    first, second = out.getvalue().splitlines()
    assert first == CONDOR_VERSION
    assert second.startswith("$CondorPlatform: X86_64-")
    assert parse_version(first) == (25, 14, 1)
    assert condor_version.main(["condor_version", "-arch", "-opsys"], {}, streams) == 0
    assert "-".join(out.getvalue().splitlines()[-2:]) in second
    assert condor_version.main(["condor_version", "-nonsense"], {}, streams) == 1


def test_a_platform_is_made_of_the_fields_of_os_release() -> None:
    fields = parse_os_release('NAME="Some Linux"\nID=some\nVERSION_ID="9.1"\n# comment\n')
    assert condor_platform(fields) == "$CondorPlatform: X86_64-some_9.1 $"
    assert parse_version("nothing") is None


def test_a_template_is_shown_as_it_stands_unless_it_is_to_be_expanded(folder: Path) -> None:
    # Recorded from HTCondor 25.14.1; with -expanded in the vectors (`config/cases.json`).
    assert say(folder, "use", "ROLE:Execute") == (
        0,
        "use ROLE:Execute is\n\tDAEMON_LIST=$(DAEMON_LIST) STARTD\n",
        "",
    )
    shown = say(folder, "use", "FEATURE:PartitionableSlot")[1]
    assert "NUM_SLOTS_TYPE_$(1:1)=1\n" in shown
    shown = say(folder, "use", "FEATURE:PartitionableSlot(2)")[1]
    assert shown.startswith("use FEATURE:PartitionableSlot(2) is\n\tNUM_SLOTS_TYPE_2=1\n")
    assert shown.endswith("\tSLOT_TYPE_2=100%\n\n")


def test_what_the_configuration_warns_of_is_told_beside_a_template(folder: Path) -> None:
    with (folder / "condor_config").open("a") as file:
        file.write("warning : mind the gap\n")
    code, said, told = say(folder, "use", "feature:GPUs")
    assert code == 0
    assert told.endswith("mind the gap\n")
    assert said


def test_use_of_nothing_is_answered_without_an_error(folder: Path) -> None:
    complaint = "use should be followed by a category or category:option argument\n"
    assert say(folder, "use") == (0, "Not defined: use \n", complaint)


@pytest.mark.parametrize(
    ("text", "shown", "is_told"),
    [
        ("MIN({24105, 10000})", "10000", False),
        ('"abc"', '"abc"', False),
        ("{1, 2}", "{ 1,2 }", False),
        ("1.5", "1.500000000000000E+00", False),
        ("1/0", "error", False),
        ("[a = 1]", "[ a = 1 ]", False),
        ("True", "true", False),
        ("vm", "undefined", False),
        ("undefined", "undefined", False),
        ("/tmp/spool", "/tmp/spool", True),
        ("*", "*", True),
    ],
)
def test_what_a_daemon_answers_is_evaluated(text: str, shown: str, is_told: bool) -> None:
    """Recorded from HTCondor 25.14.1."""
    err = io.StringIO()
    assert remote.evaluate(text, Streams(io.StringIO(), io.StringIO(), err)) == shown
    warning = f"Warning: Failed to evaluate '{text}', returning it as config value\n"
    assert err.getvalue() == (warning if is_told else "")


def test_a_pattern_of_files_that_is_none_ends_every_program(folder: Path) -> None:
    """As recorded, but for the place: HTCondor 25.14.1 names a line of its own source."""
    (folder / "condor_config").write_text(
        f"A = 1\nLOCAL_CONFIG_DIR = {folder}\nLOCAL_CONFIG_DIR_EXCLUDE_REGEXP = (\n"
    )
    code, out, err = say(folder, "A")
    assert (code, out) == (4, "")
    assert err == (
        'ERROR "LOCAL_CONFIG_DIR_EXCLUDE_REGEXP config parameter is not a valid regular '
        'expression.  Value: (,  Error Code: 114" at line 3 in file @DIR@/condor_config\n'
    )
    with pytest.raises(ProgramEndError, match="Error Code: 114") as caught:
        Reach({"CONDOR_CONFIG": str(folder / "condor_config")})
    assert caught.value.code == 4


@pytest.mark.parametrize(
    ("pattern", "read"),
    [
        ("^[[:alpha:]]+$", "a.conf b.pl"),
        (r"\habc", "a.conf abc b.pl"),
        ("(?i)^ABC", "a.conf b.pl"),
        ("^(?<n>a)bc", "a.conf b.pl"),
        (r"\Qa.conf\E", "abc b.pl"),
        (r"\N+f$", "abc b.pl"),
        (r"a\z", "a.conf abc b.pl"),
        ("", "a.conf abc b.pl"),
    ],
)
def test_a_pattern_of_files_is_perl_s(folder: Path, pattern: str, read: str) -> None:
    """Recorded from HTCondor 25.14.1."""
    for name in ("a.conf", "abc", "b.pl"):
        (folder / "local").mkdir(exist_ok=True)
        (folder / "local" / name).write_text(f"NAME_{name.replace('.', '_')} = 1\n")
    (folder / "condor_config").write_text(
        f"LOCAL_CONFIG_DIR_EXCLUDE_REGEXP = {pattern}\nLOCAL_CONFIG_DIR = {folder}/local\n"
    )
    code, out, _ = say(folder, "-config")
    assert code == 0
    assert [word.split("/")[-1] for word in out.split()[1:]] == read.split()


def test_a_daemon_has_no_tables_in_memory_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Located(Sinful.parse("<10.0.0.1:9618>"), "sam@ap")
    monkeypatch.setattr(remote, "_find", lambda *_: found)
    out, err = io.StringIO(), io.StringIO()
    request, around = read_request(["-schedd", "-stats"]), {"CONDOR_CONFIG": "ONLY_ENV"}
    assert remote.run_remote(request, [""], around, Streams(io.StringIO(), out, err)) == 1
    told = "# remote HTCondor version does not support -stats\n"
    assert (out.getvalue(), err.getvalue()) == ("", told)
