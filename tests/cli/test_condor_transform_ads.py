"""condor_transform_ads: which rules there are, what is told, and how it ends."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.configuration.condor_transform_ads import USAGE, main
from kettle.tools.programs import Streams

ONE = "A = 1\nClusterId = 4\nProcId = 0\n"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one").write_text(ONE)
    Path("condor_config").write_text("")


def run(*words: str, stdin: str = "", config: str = "") -> tuple[int, str, str]:
    Path("condor_config").write_text(config)
    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO())
    environment = {"CONDOR_CONFIG": "condor_config"}
    code = main(["condor_transform_ads", *words], environment, streams)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


def rules(text: str, *words: str, config: str = "") -> tuple[int, str, str]:
    Path("rules").write_text(text)
    return run("-rules", "rules", *words, config=config)


def test_it_ends_with_0_when_all_went_well() -> None:
    assert rules("SET B 2", "one") == (0, "A = 1\nB = 2\nClusterId = 4\nProcId = 0\n\n", "")
    assert rules("SET B 2", "one", "no") == (
        1,
        "A = 1\nB = 2\nClusterId = 4\nProcId = 0\n\n",
        "Can't open file of ClassAds: no\n",
    )


def test_a_macro_of_the_command_line_has_what_follows_the_equals_sign() -> None:
    for word in ("x=5", "x = 5", "+x=5"):
        name = "MY.x" if "+" in word else "x"
        assert rules(f"SET B $({name})", "one", word)[1].split("\n")[1] == "B = 5"
    assert rules("SET B 1", "one", "=5")[::2] == (
        1,
        "condor_transform_ads: invalid attribute name '' for attrib=value assigment\n",
    )


def test_blanks_that_macros_leave_are_told_as_they_are() -> None:
    assert rules("SET B $(no) * 2", "one")[2] == "ERROR: SET B invalid expression :  * 2\n"


def test_a_number_of_times_that_is_none_is_no_statement() -> None:
    assert rules("SET B 2\nTRANSFORM -1", "one")[2].startswith("ERROR: invalid TRANSFORM statement")


def test_a_macro_of_the_command_line_is_there_in_every_round() -> None:
    out = rules('SET B "$(x)$(Item)"\nTRANSFORM in (p q)', "one", "x=5")[1]
    assert [line for line in out.split("\n") if line.startswith("B")] == ['B = "5p"', 'B = "5q"']


def test_rules_without_a_statement_leave_the_ads_alone() -> None:
    for text in ("", "GridResource = batch\n", "REQUIREMENTS A == 1\n", "NAME x\n"):
        assert rules(text, "one") == (0, f"{ONE}\n", "")


@pytest.mark.parametrize("condition", ["defined MY.A", "$(MY.A)", "defined MY.C"])
@pytest.mark.parametrize(
    ("iteration", "times"),
    [
        ("", 1),
        ("TRANSFORM", 1),
        ("TRANSFORM 2", 2),
        ("TRANSFORM x in (a,b)", 2),
        ("TRANSFORM x from (\na\nb\n)", 2),
    ],
)
def test_rules_whose_statements_stand_in_an_if_are_applied(
    condition: str, iteration: str, times: int
) -> None:
    # The reference makes as many; without TRANSFORM it crashes.
    text = f"if {condition}\nSET B 1\nendif\n{iteration}\n"
    code, out, err = rules(text, "one")
    assert (code, err) == (0, "")
    assert out.count("ClusterId") == times
    assert out.count("B = 1\n") == (0 if "MY.C" in condition else times)


@pytest.mark.parametrize("a", [1, 2])
def test_a_branch_of_an_expression_is_taken_or_not_without_a_word(a: int) -> None:
    text = f"SET X 1\nif true\nif $(MY.A) == {a}\nSET B 1\nelse\nSET B 2\nendif\nendif\nSET Z 1\n"
    code, out, err = rules(text, "one")
    assert (code, err) == (0, "")
    assert f"B = {a}\n" in out


def test_a_configured_rule_whose_statements_stand_in_an_if_is_applied() -> None:
    config = "JOB_TRANSFORM_T @=e\nif defined MY.A\nSET B 1\nendif\n@e\n"
    assert run("-jobt", "T", "one", config=config) == (0, f"A = 1\nB = 1\n{ONE[6:]}\n", "")


def test_what_makes_no_sense_is_told_in_the_references_words() -> None:
    code, out, err = rules("SET B 1\nDELET A\n", "one")
    assert (code, out) == (255, "")
    assert err == (
        "Invalid rules file rules : DELET is not a valid transform keyword\n\n"
        "Transform of ad  failed!\n"
    )


def test_what_fails_only_when_it_is_applied_is_told_too() -> None:
    code, _, err = rules("a = $(b)\nb = $(a)\nSET B $(a)", "one")
    assert code == 255
    assert err.startswith("ERROR: rules, line 3: a refers to itself: A -> B -> A\n")


def test_rules_of_the_configuration_are_applied_in_order() -> None:
    config = (
        "JOB_TRANSFORM_P @=e\nNAME other\nSET X 1\n@e\n"
        "JOB_TRANSFORM_Q @=e\nREQUIREMENTS X == 1\nSET Y $(MY.X)2\n@e\n"
        "JOB_ROUTER_ROUTE_R @=e\nSET Z 3\n@e\n"
    )
    code, out, err = run("-jobt", "P, Q No", "-jobr", "R", "-verbose", "one", config=config)
    assert code == 0
    assert out.startswith("SET X to 1\nSET Y to 12\nSET Z to 3\nA = 1\n")
    assert err == (
        "# Applying transforms to ads from one\n#   Job 4.0\n"
        "#   Transform P \n#   Transform Q \n#   Transform R \n"
    )
    assert "Skipped" in run("-jobt", "Q", "-v", "one", config=config)[2]


def test_a_file_may_hold_knobs_that_a_later_option_names() -> None:
    Path("knobs").write_text("JOB_TRANSFORM_P = SET B $(C)\nC = 7\n")
    for named in (["-jobt", "P"], ["-rules", "config://JOB_TRANSFORM_P/"]):
        assert "B = \n" not in run("-rules", "knobs", *named, "one")[1]
        assert run("-rules", "knobs", *named, "one")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["one"], "ERROR : no transform rules specified.\n" + USAGE),
        (["-rules", "no", "one"], "Can't open rules file: no\n"),
        (["-rules", "it"], "Warning: no input file specified - nothing to transform.\n"),
        (["-rules"], "condor_transform_ads: -rules requires another argument\n"),
        (["-jobt", "-v"], "condor_transform_ads: -jobtransforms requires another argument\n"),
        (["-rules", "it", "-rules", "it", "one"], "Error at it. Previous transform was an"),
        (["-jobt", "No", "one"], "ERROR : there is no JOB_TRANSFORM_No\n"),
        (["-jobt", "Bad", "one"], "JOB_TRANSFORM_Bad invalid transform text, ignoring. (err=-1)"),
        (["-rules", "it", "-out:blue", "-", "one"], "there is no form blue"),
        (["-rules", "it", "-out", "no/such", "one"], "ERROR: Failed to open output file (No such"),
        (["-rules", "bad", "one"], "ERROR reading transform rules from bad : invalid REQUIREM"),
        (["-bogus"], "unknown option -bogus"),
        (["-convert:file"], "condor_transform_ads: -convert:file requires another argument\n"),
        (["-convert:file", "no"], "Failed to open ceconfig file 'no'"),
        (["-convert:blue"], "condor_transform_ads: -convert:blue"),
    ],
)
def test_what_cannot_be_meant_is_told(words: list[str], said: str) -> None:
    Path("it").write_text("SET B 1\nTRANSFORM 2\n")
    Path("bad").write_text("REQUIREMENTS (\nSET B 1\n")
    code, _, err = run(*words, config="JOB_TRANSFORM_Bad = [ set_A = \n")
    assert code in {1, 255}
    assert err.startswith(said)


def test_what_is_no_ad_is_told() -> None:
    Path("junk").write_text("A = 1\n\nB = (\n")
    code, out, err = rules("SET C 1", "junk")
    assert (code, out) == (1, "A = 1\nC = 1\n\n")
    assert err.startswith("ERROR: junk: line 3:")
    assert rules("SET C 1", "-xml", "one") == (1, "", "ERROR: one: there is no ad in it\n")


def test_no_empty_line_stands_between_ads_in_xml() -> None:
    Path("two").write_text("A = 1\n\nB = 2\n\n")
    _, said, _ = rules("SET C 1", "-out:xml", "-", "two")
    # Source: observed of 25.14.1.
    assert said.splitlines()[2:] == [
        "<classads>",
        *("<c>", '    <a n="A"><i>1</i></a>', '    <a n="C"><i>1</i></a>', "</c>"),
        *("<c>", '    <a n="B"><i>2</i></a>', '    <a n="C"><i>1</i></a>', "</c>"),
        "</classads>",
    ]


def test_a_name_that_a_pattern_makes_and_that_is_none_is_told() -> None:
    said = rules(r"COPY /^A/ 1\0", "one")[2]
    assert said == "ERROR: COPY A new name 1A is not valid\n"


def test_an_output_of_auto_is_as_the_first_input() -> None:
    Path("json").write_text('[ { "A": 1 } ]')
    assert rules("SET B 2", "-out:auto", "-", "json", "one")[1].startswith('[\n{\n  "A": 1,')
    assert rules("SET B 2", "-json", "json")[1].startswith('[\n{\n  "A": 1,')
    assert rules("SET B 2", "-json", "-out:long", "-", "json")[1] == "A = 1\nB = 2\n\n"
    assert rules("SET B 2", "-out:new,nosort", "-", "json")[1] == "{\n[ A = 1; B = 2 ]\n}\n"
    assert rules("SET B 2", "-out:long", "made", "one")[1] == ""
    assert Path("made").read_text().startswith("A = 1\nB = 2\n")


def test_rules_and_ads_may_both_come_from_standard_input() -> None:
    text = 'SET B "$(x)"\nTRANSFORM x from (\np\n)\nA = 5\n'
    assert run("-rules", "-", "-", stdin=text) == (0, 'A = 5\nB = "p"\n\n', "")
    assert run("-rules", "-", "-", stdin="SET B 2\nTRANSFORM 1\nA = 5\n")[1] == "A = 5\nB = 2\n\n"


def test_old_routes_come_out_as_knobs_of_another_configuration() -> None:
    Path("summary").write_text(
        'JOB_ROUTER_ENTRIES = [name="x y"; set_A = 1][name="z"; requirements=target.x==1; '
        "set_InputRSL=1][ set_b = 2]\nJOB_ROUTER_DEFAULTS = [set_q=1]\n"
    )
    assert run("-convert:file", "summary") == (
        0,
        (
            "\n##### Route 1\nJOB_ROUTER_ROUTE_xy @=jre\n   NAME x y\n"
            "   # autoconversion of route 'x y' from old route syntax\n   # set_* rules\n"
            "   SET A 1\n   SET q 1\n@jre\n"
            "\n##### Route 2\nJOB_ROUTER_ROUTE_z @=jre\n   REQUIREMENTS x == 1\n"
            "   # autoconversion of route 'z' from old route syntax\n   # set_* rules\n"
            "   SET q 1\n@jre\n\nJOB_ROUTER_ROUTE_NAMES = xy z\n"
        ),
        "",
    )


def test_old_routes_of_a_file_are_converted_too() -> None:
    Path("routes").write_text('[ name="f2"; eval_set_B = Foo; set_InputRSL = 5 ]\n')
    config = "JOB_ROUTER_ENTRIES_FILE = routes\nJOB_ROUTER_DEFAULTS = set_A = 1; Foo = 2\n"
    assert run("-convert", config=config)[1] == (
        "\n##### JOB_ROUTER_ENTRIES_FILE [1] #####\nNAME f2\n"
        "# autoconversion of route 'f2' from old route syntax\nFoo = 2\n# set_* rules\nSET A 1\n"
        "# eval_set_* rules\nEVALSET B 2\n"
    )
    assert "SET InputRSL 5\n" in run("-convert:2", config=config)[1]


def test_the_usual_defaults_of_a_compute_element_become_macros() -> None:
    defaults = (
        "eval_set_RequestMemory = maxMemory; eval_set_RequestCpus = xcount; set_InputRSL = 1; "
        'eval_set_remote_queue = queue; copy_OnExitHold = "orig"; eval_set_OnExitHold = Short; '
    )
    config = (
        f"JOB_ROUTER_DEFAULTS = {defaults}\n"
        'JOB_ROUTER_ENTRIES = [ name = "a"; xcount = 7; eval_set_RequestMemory = 5 ] '
        '[ name = "b"; minWallTime = 10 ]\n'
    )
    for wanted, rsl in (("2", ["SET InputRSL 1"]), ("3", [])):
        first, second = run(f"-convert:{wanted}", config=config)[1].split("\n##### ")[1:]
        assert first.splitlines()[3:] == [
            "xcount = 7",
            "# set_* rules",
            *rsl,
            "SET remote_queue $Fq(queue)",
            "SET RequestCpus $(xcount:1)",
            "# eval_set_* rules",
            "EVALSET RequestMemory 5",
        ]
        assert "SET RequestMemory $(maxMemory:2000)\n# hold what ends before" in second
        assert "EVALSET" not in second
    unchanged = run("-convert:1", config=config)[1]
    assert "EVALSET RequestCpus 7\n" in unchanged
    assert "$(xcount" not in unchanged


@pytest.mark.parametrize(
    ("job", "held", "code"),
    [
        ("RemoteWallClockTime = 599", True, 42),
        ("RemoteWallClockTime = 601", False, 42),
        ("Idle = 1", False, 42),
        ("RemoteWallClockTime = 601\nOnExitHold = true\nOnExitHoldSubCode = 7", True, 7),
        ("RemoteWallClockTime = 5\nOnExitHold = false", True, 42),
    ],
)
def test_a_converted_route_holds_what_ends_too_soon(job: str, held: bool, code: int) -> None:
    config = (
        "JOB_ROUTER_DEFAULTS = eval_set_OnExitHold = Short\n"
        'JOB_ROUTER_ENTRIES = [ name = "b"; minWallTime = 10 ]\n'
    )
    converted = run("-convert:2", config=config)[1]
    Path("job").write_text(f"{job}\n")
    made = rules(
        f"{converted}\nEVALSET Held OnExitHold\nEVALSET Code OnExitHoldSubCode\n"
        "EVALSET Why OnExitHoldReason",
        "job",
    )
    assert made[::2] == (0, "")
    said = dict(line.split(" = ", 1) for line in made[1].splitlines() if line)
    assert (said["Held"], said["Code"]) == (str(held).lower(), str(code))
    if held and code == 42:
        seconds = job.split()[2]
        assert said["Why"] == f'"It ran only {seconds} seconds."'


def test_what_is_for_tests_of_the_tool_itself() -> None:
    assert rules("SET B 2", "-testing:nooutput,repeat:3", "one") == (0, "", "")
    code, out, _ = rules("SET B 2", "-test:nooutput", "-verbose", "one")
    assert (code, out) == (0, "SET B to 2\n")
    assert rules("SET B (", "-testing:nooutput", "one")[::2] == (
        0,
        "ERROR: SET B invalid expression : (\n",
    )
    assert run("-unit-test:2", "one", "none") == (
        0,
        f"{ONE}async open failed : 2 No such file or directory\n",
        "",
    )


def test_a_route_that_does_not_parse_is_told() -> None:
    code, out, err = run("-convert", config='JOB_ROUTER_ENTRIES = [ name = "x"\n')
    assert (code, out) == (1, "\n##### JOB_ROUTER_ENTRIES [1] #####\n\n")
    assert err.startswith("JOB_ROUTER_ENTRIES [1]: a route does not parse (")


def test_help_knows_rules_and_conversion() -> None:
    assert run("-help") == (0, USAGE, "")
    assert "EVALMACRO name expression" in run("-help", "rules")[1]
    assert "JOB_ROUTER_DEFAULTS filled in" in run("-help", "convert")[1]
    assert run() == (1, "", USAGE)


@pytest.mark.parametrize("form", ["json", "new"])
def test_what_is_told_of_an_ad_has_a_line_of_its_own(form: str) -> None:
    Path("two").write_text("A = 1\n\nB = 2\n\n")
    _, said, _ = rules("SET C 1", "-verbose", f"-out:{form}", "-", "two")
    # Source: observed of 25.14.1.
    told = said.splitlines()
    assert [number for number, line in enumerate(told) if line == "SET C to 1"][1:] == [
        told.index(",") - 1
    ]
