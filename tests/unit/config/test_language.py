"""The configuration language, row by row (R024 to R041)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.config import Config, MemorySources, load_config
from kettle.config.knobs.negotiator import NegotiatorKnobs
from kettle.config.knobs.places import PlaceKnobs
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.startd import StartdKnobs
from kettle.config.loading import MOST_LOCAL_FILES
from kettle.errors import ConfigError

shows = pytest.mark.shows


def read(text: str, **more: object) -> Config:
    return Config.from_text(text, **more)  # type: ignore[arg-type]


@shows("R024")
def test_later_definitions_win_in_any_case_and_over_all_sources() -> None:
    sources = MemorySources(
        files={
            "/root": "LOCAL_CONFIG_DIR = /d\nLOCAL_CONFIG_FILE = /local\nA = 0\nB = 0\nC = 0\n",
            "/d/10": "a = ten\nb = ten\n",
            "/d/20": "A = twenty\n",
            "/local": "c = local\n",
        }
    )
    config = load_config(sources, {"CONDOR_CONFIG": "/root", "_CONDOR_B": "environment"})
    assert [config.get(name) for name in "abc"] == ["twenty", "environment", "local"]
    assert config.files == ["/root", "/d/10", "/d/20", "/local"]


@pytest.mark.parametrize("by_one_another", [False, True])
def test_more_local_files_than_the_bound_are_refused(by_one_another: bool) -> None:
    """HTCondor 25.14.1 has no such bound; what it has not read it would not have told of."""

    def read(count: int) -> Config:
        names = [f"/l/{number}" for number in range(count)]
        listed = names[:1] if by_one_another else names
        files = {"/root": f"A = 0\nLOCAL_CONFIG_FILE = {' '.join(listed)}\n"}
        for number, name in enumerate(names):
            more = f"LOCAL_CONFIG_FILE = {' '.join(names[number + 1 : number + 2])}\n"
            files[name] = f"A = {number}\n" + (more if by_one_another else "")
        return load_config(MemorySources(files=files), {"CONDOR_CONFIG": "/root"})

    assert read(MOST_LOCAL_FILES).get("A") == str(MOST_LOCAL_FILES - 1)
    with pytest.raises(ConfigError, match="LOCAL_CONFIG_FILE names more than 1000 files") as caught:
        read(MOST_LOCAL_FILES + 1)
    assert "/l/1000 is one too many" in str(caught.value)
    assert caught.value.source == (f"/l/{MOST_LOCAL_FILES - 1}" if by_one_another else "/root")
    assert "LOCAL_CONFIG_DIR" in caught.value.hint


def test_a_folder_s_own_knob_names_one_folder_whatever_its_name() -> None:
    sources = MemorySources(
        files={
            "/root": "KETTLE_CONFIG_DIR = /a pool, of mine/config.d\n",
            "/a pool, of mine/config.d/10": "A = mine\n",
            "/a/evil": "A = somebody's\n",
        }
    )
    config = load_config(sources, {"CONDOR_CONFIG": "/root"})
    assert config.get("A") == "mine"
    assert config.files == ["/root", "/a pool, of mine/config.d/10"]


@shows("R024")
def test_the_environment_counts_in_both_spellings_of_its_prefix() -> None:
    config = read("A = file\n", environment={"_condor_A": "low", "_CONDOR_B": "up"})
    assert (config.get("A"), config.get("B")) == ("low", "up")
    assert str(config.origin("A")) == "<Environment>"


@shows("R025")
def test_a_missing_root_file_is_named() -> None:
    with pytest.raises(ConfigError, match="/nowhere/condor_config"):
        load_config(MemorySources(), {"CONDOR_CONFIG": "/nowhere/condor_config"})


@shows("R025")
def test_without_any_file_the_message_says_where_was_looked() -> None:
    with pytest.raises(ConfigError, match="/etc/condor/condor_config"):
        load_config(MemorySources(), {})


@shows("R025")
def test_the_default_place_is_found_and_only_env_reads_no_file() -> None:
    sources = MemorySources(files={"/etc/condor/condor_config": "A = etc\n"})
    assert load_config(sources, {}).get("A") == "etc"
    assert load_config(sources, {"CONDOR_CONFIG": "ONLY_ENV"}).get("A") is None


@shows("R026")
def test_macros_are_expanded_at_use() -> None:
    config = read("A = $(B)\nB = 1\nB = 2\nC = $(NOPE)x$(NOPE:7)\n")
    assert config.get("A") == "2"
    assert config.get("C") == "x7"


@shows("R027")
def test_a_self_reference_is_expanded_at_once_and_sees_defaults() -> None:
    config = read("X = a\nX = $(X) b\nX = $(X) c\nDAEMON_LIST = $(DAEMON_LIST) STARTD\n")
    assert config.raw("X") == "a b c"
    assert config.get("DAEMON_LIST") == "MASTER STARTD"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("X = 1\nX += 2\n", "1 2"),
        ("X += 2\n", "2"),
        ("X =\nX += 2\n", "2"),
        ("X = 1\nX +=\n", "1 "),
        ("X = 1\nX += $(X) 3\n", "1 1 3"),
        ("X = 1\nX +,= 2\nX +;;= 3\nX +&&= 4\nX +**=5\n X +||= 6\nX +|=7\n",
         "1,2 ;; 3 && 4 ** 5 || 6|7"),
        ("Y = y\nX = $(Y)\nX += $(Z)\n", "$(Y) $(Z)"),
        ("X @=e\na\n@e\nX += b\n", "a b"),
        ("X word = 2\n", "2"),
    ],
)  # fmt: skip
def test_what_is_added_to_a_name_follows_what_it_had(lines: str, text: str) -> None:
    assert Config.from_text(lines).raw("X") == text


def test_what_is_added_to_a_default_follows_the_default() -> None:
    assert Config.from_text("DAEMON_LIST += SCHEDD\n").get("DAEMON_LIST") == "MASTER SCHEDD"


@pytest.mark.parametrize("line", ["X + 3 = 2", "X @ = 2", "X + = 2", "X +:2", "X +| =5", "X+=2"])
def test_a_plus_that_adds_nothing_is_refused(line: str) -> None:
    with pytest.raises(ConfigError):
        Config.from_text(f"X = 1\n{line}\n")


@shows("R028")
def test_a_circle_of_macros_is_an_error_that_shows_the_circle() -> None:
    config = read("A = $(B)\nB = x$(A)\nC = $INT(C)\n")
    with pytest.raises(ConfigError, match="B -> A -> B"):
        config.get("A")
    with pytest.raises(ConfigError, match="refers to itself"):
        config.get("C")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0x1F", "31"),
        ("-0X1.8p3", "-12"),
        ("2.", "2"),
        ("1.e2", "100"),
        ("-inf", "-INF"),
        ("NaN(3)", "NAN"),
        ("0x1p5000", "INF"),
        ("2 + 3", "5"),
        ("true", "1"),
        ("0x", ""),
    ],
)
def test_a_real_number_is_read_as_c_reads_it(text: str, number: str) -> None:
    assert read(f"A = $REAL(B)\nB = {text}\n").get("A") == (number or None)


def test_a_name_that_doubles_itself_on_every_line_is_an_error_and_not_the_end_of_memory() -> None:
    with pytest.raises(ConfigError, match="the expansion of B has no end"):
        Config.from_text("B = some text\n" + "B = $(B) $(B)\n" * 40)
    config = Config.from_text("B = x\nB = $(B)$(B) and $(B:y)\n")
    assert config.raw("B") == "xx and x"


def test_a_mention_of_itself_after_a_dollar_is_the_matchmakers() -> None:
    config = Config.from_text("B = x$\nB = $(B)$(B) $(B)\n")
    assert config.raw("B") == "x$$(B) x$"


@shows("R028")
def test_names_that_double_each_other_do_not_run_away() -> None:
    text = "A0 = xxxxxxxxxx\n" + "".join(f"A{n} = $(A{n - 1})$(A{n - 1})\n" for n in range(1, 40))
    with pytest.raises(ConfigError, match="no end"):
        read(text).get("A39")


@shows("R029")
def test_a_comment_inside_a_continued_value_is_skipped() -> None:
    config = read("A = one \\\n# note\n# note \\\n  two\nSTART = (x) && \\\n   (y)\n")
    assert config.get("A") == "one two"
    assert config.raw("START") == "(x) && (y)"


@pytest.mark.parametrize(
    "statement",
    [
        "ALLOW_WRITE = *.x.y",
        "  allow_write=*.x.y",
        "ALLOW_WRITE @=end\n*.x.y\n@end",
        "if true\nALLOW_WRITE = *.x.y\nendif",
        "use ROLE:Personal\nALLOW_WRITE = *.x.y",
        "# another\n# third \\\nALLOW_WRITE = *.x.y",
    ],
)
def test_a_comment_at_the_end_of_a_continued_value_hides_no_statement(statement: str) -> None:
    """Source: `condor_config_val` of 25.14.1, which has the word C in the value, too."""
    config = read(f"STARTD_ATTRS = A, B, \\\n#  C\n{statement}\n")
    assert config.get("STARTD_ATTRS") == "A, B, "
    assert config.get("ALLOW_WRITE") == "*.x.y"
    (said,) = config.warnings
    assert said.is_warning
    assert said.line == 3 + statement.count("#")
    assert said.text.endswith("is no part of the value before it, which the comment above ends")


@pytest.mark.parametrize(
    "more",
    [
        "$(D) = 3",
        "Name == 3",
        "Name =?= 3",
        "Name =!= 3",
        "Name >= 3",
        "ifThenElse(x, y, z)",
        "use less",
        "queue up",
        "x ? y : z",
        '"A=1',
    ],
)
def test_what_is_no_statement_behind_a_comment_goes_on_with_the_value(more: str) -> None:
    config = read(f"A = one \\\n# note\n  {more}\nB = 2\n")
    assert (config.raw("A"), config.get("B")) == (f"one {more}", "2")
    assert not config.warnings


def test_a_setting_that_a_comment_with_a_backslash_swallows_is_warned_of() -> None:
    """The reference swallows it, too, and is silent."""
    config = read("A = one, \\\n# note \\\nALLOW_WRITE = b\n")
    assert config.get("A") == "one, ALLOW_WRITE = b"
    assert [(said.line, said.is_warning) for said in config.warnings] == [(3, True)]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("x\\\n# c\nB = 2\n", "x\nB = 2"),
        ("x\\\n# c\n", "x"),
        ("\\\n# c\n\n# d\n", ""),
        (" \\\n# c\n", ""),
        ("x\\\n# c\ny\\\n@end\n", "xy@end"),
        ("x\\\n# c\\\n@end\n", "x@end"),
        ("x\\\n@end\n", "x@end"),
    ],
)
def test_a_comment_behind_a_continuation_hides_no_end_of_a_here_document(
    body: str, value: str
) -> None:
    """Source: `condor_config_val` of 25.14.1, which has the letters of the comment in the text."""
    config = Config.from_text(f"A @=end\n{body}@end\nB = 1\n")
    assert (config.get("A") or "", config.get("B")) == (value, "1")


@shows("R030")
def test_comments_set_nothing() -> None:
    config = read("# A = 1\n## B = 2\n   # C = 3\nD = 4 # no comment\n")
    assert [entry.name for entry in config.entries()] == ["D"]
    assert config.get("D") == "4 # no comment"


@shows("R031")
@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ("defined X", True),
        ("defined NOPE", False),
        ("!defined NOPE", True),
        ("version >= 24.0", True),
        ("version < 8.1.6", False),
        ("true", True),
        ("$(NOPE:no)", False),
    ],
)
def test_if_takes_the_right_branch(condition: str, taken: bool) -> None:
    config = read(f"X = 1\nif {condition}\nA = then\nelse\nA = else\nendif\n")
    assert config.get("A") == ("then" if taken else "else")


@shows("R031")
@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        *[(word, True) for word in ("t", "T", "YES", "True", "1", "1.5", "-1", "1e", "1.5.6")],
        *[(word, False) for word in ("f", "No", "0", "00", "-0.0", "!1", "$(NOPE)")],
        *[(f"defined {name}", True) for name in ("X", "t", "no", "1e3", "TRUE", "use ROLE")],
        *[(f"defined {name}", False) for name in ("Y", "n", "EMPTY", "a/b", "use NOPE")],
        ("version = 25.14.1", True),
        ("version >= v8.1.6", True),
        ("version != 25.14", False),
        ("! defined N", True),
    ],
)
def test_a_condition_is_read_as_the_reference_reads_it(condition: str, taken: bool) -> None:
    config = read(f"X = 1\nEMPTY =\nif {condition}\nA = then\nelse\nA = else\nendif\n")
    assert config.get("A") == ("then" if taken else "else")


@shows("R031")
@pytest.mark.parametrize(
    ("condition", "why"),
    [
        *[(word, "expression is not") for word in ("y", "N", "on", "off", "!", "-", "a/b", "0x1")],
        *[(word, "complex conditionals") for word in ("+1", "_", ".", "1 1", "defined +Foo")],
        *[(f"version {it}", "complex cond") for it in ("25.14.1", ">=25.14.x", "!8.1", "> -8.1")],
        *[(f"version {it}", "version literal") for it in (">= 5.0.0", "=> 8.1", ">= 8", "<> 8.1")],
        ("version>=8.1.6", "complex conditionals"),
        ("defined -1", "complex conditionals"),
        ("defined A:B", "defined argument must be"),
    ],
)
def test_what_is_no_condition_says_why(condition: str, why: str) -> None:
    with pytest.raises(ConfigError, match=rf"is not a valid if condition because \w* ?{why}"):
        read(f"if {condition}\nendif\n")


@shows("R031")
def test_an_elif_that_is_no_condition_is_told_as_one() -> None:
    with pytest.raises(ConfigError, match="y is not a valid elif condition because expression"):
        read("if false\nelif y\nendif\n")
    assert read("if true\nelif y\nendif\nif false\nif y\nendif\nendif\nA = 1\n").get("A") == "1"


@shows("R031")
def test_a_missing_endif_is_an_error_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"endif\(s\) not found") as caught:
        read("A = 1\nif true\nB = 1\n")
    assert caught.value.line == 3


@shows("R032")
def test_templates_are_found_in_any_case_and_spacing() -> None:
    config = read("use feature:staticslots\nUSE Feature : PartitionableSlot(2, 50%)\n")
    assert config.get("NUM_SLOTS_TYPE_1") == "1"
    assert config.get("SLOT_TYPE_2") == "50%"
    assert str(config.origin("SLOT_TYPE_2")).endswith("use FEATURE:PartitionableSlot+2")


@shows("R032")
def test_an_unknown_template_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean use FEATURE:GPUs"):
        read("use FEATURE:GPU\n")
    with pytest.raises(ConfigError, match="ROLE, FEATURE, POLICY, SECURITY"):
        read("use FOO:BAR\n")


@shows("R033")
def test_role_personal_names_all_daemons() -> None:
    daemons = read("use ROLE:Personal\n").words("DAEMON_LIST")
    assert set(daemons) == {"MASTER", "COLLECTOR", "NEGOTIATOR", "STARTD", "SCHEDD"}


@shows("R034")
def test_policy_desktop_sets_the_policy() -> None:
    config = read("use POLICY:Desktop\n")
    for name in ("START", "SUSPEND", "PREEMPT", "CONTINUE", "IS_OWNER"):
        assert config.origin(name) is not None
        assert config.expression(name) is not None
    assert config.get("IS_OWNER") == "(START =?= False)"


@shows("R035")
def test_a_here_document_keeps_its_lines() -> None:
    assert read("X @=end\none\n  two\n@end\n").get("X") == "one\ntwo"
    with pytest.raises(ConfigError, match="scanning for '@end'") as caught:
        read("X @=end\none\n")
    assert caught.value.source == "/condor_config"


@shows("R036")
def test_numbers_and_truth_values_may_be_expressions() -> None:
    facts = {"DETECTED_CORES": "4"}
    config = read(
        "CLAIM_WORKLIFE = 2 * $(MINUTE)\nNUM_CPUS = $(DETECTED_CORES)*2\n"
        "NEGOTIATOR_CONSIDER_PREEMPTION = 1 > 2\n",
        facts=facts,
    )
    assert config[StartdKnobs.CLAIM_WORKLIFE] == 120
    assert config[StartdKnobs.NUM_CPUS] == 8
    assert config[NegotiatorKnobs.NEGOTIATOR_CONSIDER_PREEMPTION] is False


@shows("R037")
def test_predefined_macros_build_on_each_other() -> None:
    config = read("LOCAL_DIR = /l\nRELEASE_DIR = /r\n", facts={"DETECTED_MEMORY": "100"})
    places = [PlaceKnobs.LOG, PlaceKnobs.SPOOL, PlaceKnobs.BIN, PlaceKnobs.SBIN]
    assert [config[place] for place in places] == ["/l/log", "/l/spool", "/r/bin", "/r/sbin"]
    assert config.integer("DETECTED_MEMORY") == 100


@shows("R038")
def test_macros_of_ones_own_are_legal() -> None:
    config = read("BOINC_HOME = /x\nHOOK = $(BOINC_HOME)/run\n")
    assert config.get("HOOK") == "/x/run"
    assert config.warnings == []


# As condor_config_val of 25.14.1 prints them, with -raw; `x` is set before, or not.
@pytest.mark.parametrize(
    ("macro", "set_before", "unset_before"),
    [
        ("$F(x)", "1 a/b.c", "x"),
        ("$Fp(X)", "1 a/", ""),
        ("$Fn(x)", "b", "x"),
        ("$Fq(X)", '"1 a/b.c"', '"X"'),
        ("$Fw(X)", "1 a\\b.c", "X"),
        ("$Fnx(x)", "b.c", "x"),
        ("$INT(x)", "$INT(x)", "$INT(x)"),
        ("$(x:d)", "1 a/b.c", "d"),
    ],
)
def test_a_file_s_name_that_is_taken_apart_may_be_the_knob_s_own(
    macro: str, set_before: str, unset_before: str
) -> None:
    assert read(f"X = 1 a/b.c\nX = <{macro}>\n").raw("X") == f"<{set_before}>"
    assert read(f"X = <{macro}>\n").raw("X") == f"<{unset_before}>"


@pytest.mark.parametrize(
    ("function", "value"),
    [("Fp", "/x/y/"), ("Fd", "y/"), ("Fn", "q"), ("F", "/x/y/q.txt"), ("Fq", '"/x/y/q.txt"')],
)
def test_a_knob_s_own_path_is_taken_apart_as_it_is_expanded(function: str, value: str) -> None:
    text = f"P = /x/y\nB = $(P)/q.txt\nB = ${function}(B)\nP = /z\n"
    assert read(text).raw("B") == value


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("$CHOICE(0,A)", None, []),
        ("$CHOICE(1,A)", None, ["$CHOICE() config macro: index 1 is out of range!"]),
        ("$RANDOM_INTEGER(1,x)", "1", ["$RANDOM_INTEGER() config macro: invalid max!"]),
        ("$RANDOM_INTEGER(3,3,)", "3", []),
    ],
)
def test_what_a_function_lacks_is_told_as_it_is(
    text: str, value: str | None, said: list[str]
) -> None:
    config = read(f"A =\nZ = {text}\n")
    assert config.get("Z") == value
    assert [remark.text for remark in config.problems] == [f'ERROR "{text}"' for text in said]


@pytest.mark.parametrize("word", ["use", "include"])
@pytest.mark.parametrize(
    "rest", ["ROLE = Submit", "A B=Submit", "ROLE @=x\nSubmit\n@x", "!=Submit"]
)
def test_a_keyword_with_an_operator_is_a_name_that_is_set(word: str, rest: str) -> None:
    config = read(f"{word} {rest}\nDAEMON_LIST = X\n")
    assert (config.raw(word), config.raw("DAEMON_LIST")) == ("Submit", "X")


def load_files(first: str, **others: str) -> Config:
    files = {"/c": first, **{f"/{name.replace('_', '/')}": text for name, text in others.items()}}
    return load_config(MemorySources(files=files), {"CONDOR_CONFIG": "/c"})


@pytest.mark.parametrize(
    ("first", "value", "files"),
    [
        ("LOCAL_CONFIG_DIR = /e\n", "12", "/c /e/0 /f/0"),
        ("LOCAL_CONFIG_DIR = /e\nLOCAL_CONFIG_FILE = /p\n", "1p2", "/c /e/0 /p /f/0"),
        ("LOCAL_CONFIG_FILE = /q\n", "q2", "/c /q /f/0"),
        ("LOCAL_CONFIG_FILE = /p, /p\n", "pp", "/c /p /p"),
        ("LOCAL_CONFIG_FILE = /p, /r, /p\n", "prp", "/c /p /r /p"),
        ("LOCAL_CONFIG_FILE = /p, /s, /p\n", "psr", "/c /p /s /r"),
        ("LOCAL_CONFIG_FILE = /n, /p\nREQUIRE_LOCAL_CONFIG_FILE = false\n", "p", "/c /n /p"),
    ],
)
def test_local_files_are_read_as_often_as_the_lists_that_they_change_say(
    first: str, value: str, files: str
) -> None:
    config = load_files(
        first,
        e_0="A = $(A)1\nLOCAL_CONFIG_DIR = /f\n",
        f_0="A = $(A)2\n",
        p="A = $(A)p\n",
        q="A = $(A)q\nLOCAL_CONFIG_DIR = /f\n",
        r="A = $(A)r\n",
        s="A = $(A)s\nLOCAL_CONFIG_FILE = /p /s /r\n",
    )
    assert (config.get("A"), config.files) == (value, files.split())


def test_a_local_command_that_fails_is_an_error_whatever_is_required() -> None:
    with pytest.raises(ConfigError):
        load_files("LOCAL_CONFIG_FILE = /nope |\nREQUIRE_LOCAL_CONFIG_FILE = false\n")


def test_what_is_set_back_to_its_default_is_set_there() -> None:
    config = read("START = False\nSTART = true\nSUSPEND = false\nOPSYS = LINUX\n")
    assert (config.raw("START"), str(config.origin("START"))) == ("true", "/condor_config, line 2")
    assert (config.raw("SUSPEND"), str(config.origin("SUSPEND"))) == ("False", "<Default>")
    known = read("OPSYS = LINUX\n", facts={"OPSYS": "LINUX"})
    assert str(known.origin("OPSYS")) == "/condor_config, line 1"


def test_a_dollar_with_a_default_is_a_macro_like_others() -> None:
    config = read("A = $(DOLLAR)\nB = $(DOLLAR:a b)\nC = $(Dollar:$(A))\n")
    assert [config.get(name) for name in "ABC"] == ["$", "a b", "$"]
    assert read("DOLLAR = 7\nA = $(DOLLAR:x)$(DOLLAR)\n").get("A") == "7$"


def test_a_last_line_is_a_line() -> None:
    config = read("A = 1\n  B = 2  ")
    assert (config.raw("A"), config.raw("B")) == ("1", "2")
    assert read("A = 1\nB = 2 \\").raw("B") == "2 "


def test_the_last_line_has_its_own_number_whether_or_not_it_ends() -> None:
    assert str(read("A = 1\nB = 2").origin("B")) == "/condor_config, line 2"


@pytest.mark.parametrize("line", ["error", "warning", "error nothing", "warning all is well"])
def test_what_is_said_stands_behind_a_colon(line: str) -> None:
    word = line.split()[0]
    with pytest.raises(ConfigError, match="Line 2 while reading") as caught:
        read(f"A = 1\n{line}\n")
    assert f"{word} needs a colon before what it says: {word} : TEXT" in str(caught.value)
    (said,) = read("warning : all is well\n").warnings
    assert (said.text, said.line, said.is_warning) == ("all is well", 1, True)


def test_a_name_that_is_none_is_told_as_it_became() -> None:
    with pytest.raises(ConfigError, match="Illegal Identifier: <x y>"):
        read("A = x y\n$(A) = 1\n")


def test_a_default_ends_where_its_bracket_closes_whatever_is_nested_in_it() -> None:
    lines = "A = a\nB =\nC = $(A:$(X:$(Y)))z\nD = $(B:$(X:$(A)))z\nE = $(A:(()))z\n"
    assert [read(lines).get(name) for name in "CDE"] == ["az", "az", "az"]


def test_a_mention_of_itself_in_a_default_is_what_was_before() -> None:
    assert read("A = 1\nA = $ENV(NO:$(A)) 2\n").get("A") == "1 2"
    assert read("A = 1\nA = $(NO:$(A) 2)\n").get("A") == "1 2"


def test_what_cannot_be_computed_while_files_are_read_is_told_among_the_warnings() -> None:
    config = read("warning : a\nA = $INT(x)\nif $(A)\nendif\nwarning : b\n")
    said = [remark.text for remark in config.warnings]
    assert said == ["a", 'ERROR "$INT() macro: x does not evaluate to an integer!"', "b"]
    assert config.problems == []
    assert config.get("A") is None
    assert (len(config.warnings), len(config.problems)) == (3, 1)


def test_the_subsystem_is_spelt_as_it_was_given() -> None:
    config = read("A = $(SUBSYSTEM) $(LOCALNAME)\nSCHEDD.B = 1\n", subsystem="schedd")
    assert (config.get("A"), config.get("B")) == ("schedd schedd", "1")


@shows("R039")
def test_prefixes_override_per_daemon_and_instance() -> None:
    text = "FOO = 2\nSTARTD.FOO = 1\nSTARTD.S2.FOO = 3\nL.FOO = 4\n"
    assert read(text).get("FOO") == "2"
    assert read(text, subsystem="STARTD").get("FOO") == "1"
    assert read(text, subsystem="STARTD", local_name="S2").get("FOO") == "3"
    assert read(text, subsystem="SCHEDD", local_name="L").get("FOO") == "4"


@shows("R040")
def test_bad_syntax_is_fatal_with_file_and_line() -> None:
    with pytest.raises(ConfigError, match=r"Line 2 while reading .*/condor_config") as caught:
        read("A = 1\nthis is not valid\n")
    assert (caught.value.source, caught.value.line) == ("/condor_config", 2)
    assert '"this is not valid"' in str(caught.value)


@shows("R040")
def test_a_misspelt_statement_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match='did you mean "endif"'):
        read("if true\nendfi\n")


def test_a_value_of_the_wrong_kind_names_place_range_and_knob() -> None:
    config = read("A = 1\nSCHEDD_INTERVAL = often\n")
    with pytest.raises(ConfigError, match=r"/condor_config, line 2: SCHEDD_INTERVAL = often"):
        _ = config[ScheddKnobs.SCHEDD_INTERVAL]


def test_an_empty_value_means_what_the_daemon_does_without_one() -> None:
    assert read("SCHEDD_INTERVAL =\n")[ScheddKnobs.SCHEDD_INTERVAL] == 300
    assert read("")[ScheddKnobs.SCHEDD_INTERVAL] == 300


def test_a_misspelt_knob_has_a_nearest_name() -> None:
    assert read("").nearest("NEGOTIATOR_INTERVALL") == "NEGOTIATOR_INTERVAL"
    assert read("").nearest("QQQQ") == ""


def test_a_fact_of_the_machine_cannot_be_overridden() -> None:
    config = read("HOSTNAME = liar\nARCH = MINE\n", facts={"HOSTNAME": "h", "ARCH": "X86_64"})
    assert (config.get("HOSTNAME"), config.get("ARCH")) == ("h", "MINE")


def test_an_included_command_may_keep_what_it_said() -> None:
    sources = MemorySources(
        files={"/c": "include command into /cache : /bin/x y\n"}, commands={"/bin/x y": "A = 1\n"}
    )
    assert load_config(sources, {"CONDOR_CONFIG": "/c"}).get("A") == "1"
    assert sources.files["/cache"] == "A = 1\n"
    sources.commands.clear()
    assert load_config(sources, {"CONDOR_CONFIG": "/c"}).get("A") == "1"


class NoCache(MemorySources):
    """What a command said can neither be kept nor read again."""

    def read_text(self, path: str) -> str:
        if path == "/cache":
            raise PermissionError(13, "Permission denied", path)
        return super().read_text(path)

    def write_text(self, path: str, text: str) -> None:
        raise PermissionError(13, "Permission denied", path)


@pytest.mark.parametrize("kept", [True, False])
def test_a_kept_command_whose_file_is_closed_to_us_is_a_configuration_error(kept: bool) -> None:
    files = {"/c": "A = 1\ninclude command into /cache : /bin/x\n"}
    if kept:
        files["/cache"] = ""
    sources = NoCache(files=files, commands={"/bin/x": "A = 2\n"})
    with pytest.raises(ConfigError) as caught:
        load_config(sources, {"CONDOR_CONFIG": "/c"})
    assert (caught.value.source, caught.value.line) == ("/c", 2)
    said = "can't open file /cache: " if kept else "can't open '/cache' for write\n"
    assert said in str(caught.value)
    assert "Permission denied" in str(caught.value)


def test_the_automatic_retry_policy_is_in_force_for_the_schedd_only() -> None:
    assert read("", subsystem="SCHEDD").words("JOB_TRANSFORM_NAMES") == ("PelicanRetry",)
    assert read("").get("JOB_TRANSFORM_NAMES") is None


def test_a_local_command_file_is_run_when_its_name_ends_in_a_bar() -> None:
    sources = MemorySources(
        files={"/c": "LOCAL_CONFIG_FILE = /bin/x y|\n"}, commands={"/bin/x y": "A = 1\n"}
    )
    assert load_config(sources, {"CONDOR_CONFIG": "/c"}).get("A") == "1"


def test_a_person_has_a_file_of_their_own_but_root_and_daemons_do_not() -> None:
    sources = MemorySources(files={"/c": "", "/home/u/.condor/user_config": "A = mine\n"})
    environment = {"CONDOR_CONFIG": "/c", "HOME": "/home/u"}
    assert load_config(sources, environment).get("A") == "mine"
    assert load_config(sources, environment, subsystem="SCHEDD").get("A") is None
    sources.facts["REAL_UID"] = "0"
    assert load_config(sources, environment).get("A") is None


def test_a_number_that_is_not_finite_is_no_whole_number() -> None:
    assert Config.from_text("A = 1e999\n").integer("A") is None


WINDOWS = r"""
BOINC_HOME = C:\BOINC
BOINC_Executable = C:\PROGRA~1\BOINC\boinc.exe
BOINC_Arguments = --dir $(BOINC_HOME) \
          --attach_project http://einstein.phys.uwm.edu [account_key]
BOINC_Owner = domain\user
STARTER_ALLOW_RUNAS_OWNER = True
"""


@shows("R094")
def test_settings_for_windows_are_read_and_every_one_of_them_is_in_the_manual() -> None:
    config = read(WINDOWS)
    assert config.get("BOINC_Executable") == r"C:\PROGRA~1\BOINC\boinc.exe"
    assert config.get("BOINC_Arguments") == (
        r"--dir C:\BOINC --attach_project http://einstein.phys.uwm.edu [account_key]"
    )
    assert config.get("BOINC_Owner") == r"domain\user"
    page = Path(__file__).parents[3] / "docs/reference/windows.md"
    for name in ("BOINC_Executable", "BOINC_Arguments", "BOINC_Owner", "STARTER_ALLOW_RUNAS_OWNER"):
        assert f"`{name}" in page.read_text(encoding="utf-8")


def test_an_unknown_template_is_told_in_one_line_with_file_and_line() -> None:
    with pytest.raises(ConfigError) as nearby:
        read("A = 1\nuse FEATURE : GPU\n")
    last = str(nearby.value).splitlines()[-1]
    assert ", line 2: there is no template FEATURE:GPU; did you mean use FEATURE:GPUs?" in last
    with pytest.raises(ConfigError) as strange:
        read("use ROLE : Xyzzy\n")
    last = str(strange.value).splitlines()[-1]
    assert ", line 1: there is no template ROLE:Xyzzy; the templates are " in last
    assert "Personal" in last


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("$INT(Big,%d)", "705032704"),
        ("$INT(Big,%lld)", "5000000000"),
        ("$INT(Big)", "5000000000"),
        ("$INT(Big,%x)", "2a05f200"),
        ("$INT(Below,%x)", "fffffffb"),
        ("$INT(Below,%u)", "4294967291"),
        ("$INT(Below,%o)", "37777777773"),
        ("$INT(Below,%llo)", "1777777777777777777773"),
        ("$INT(Below,%lx)", "fffffffffffffffb"),
        ("$INT(Letter,%c)", "A"),
        ("$INT(Below,%c)", "\udcfb"),
        ("$INT(Letter,<%4c>)", "<   A>"),
    ],
)
def test_a_format_of_c_sees_as_much_of_a_number_as_in_c(call: str, text: str) -> None:
    # What condor_config_val of 25.14.1 prints.
    assert read(f"Big = 5000000000\nBelow = -5\nLetter = 65\nA = {call}\n").get("A") == text


@pytest.mark.parametrize("call", ["$INT(N,%12345d)", "$REAL(N,%.12345f)", "$STRING(N,%12345s)"])
def test_a_width_that_would_fill_the_memory_is_no_format(call: str) -> None:
    config = read(f"N = 1\nA = {call}\n")
    assert config.get("A") == call.partition(",")[2].rstrip(")")


# As condor_config_val of 25.14.1 says.
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$(Z:a b,c/d.e:f\\g_$)", "a b,c/d.e:f\\g_$"),
        ("$(Z:x-y)z", "$(Z:x-y)z"),
        ("$(Z:x;y)", "$(Z:x;y)"),
        ('$(Z:"a b")', '$(Z:"a b")'),
        ("$(Z:x\ty)", "$(Z:x\ty)"),
        ("$(Z:é)", "$(Z:é)"),
        ("$(C:a;b)", "$(C:a;b)"),
        ("$(Z:$(C)-)", "$(Z:cc-)"),
        ("$(Z:-$(C))", "$(Z:-cc)"),
        ("$(Z:(a;b)c)", "(a;b)c"),
        ("$(Z:((;)))", "((;))"),
        ("$(Z:$(Q)x)", "a;bx"),
        ("$(Z:$(Y:a-b)c)", "$(Y:a-b)c"),
        ("$(Z:$(Y:a-b);)", "$(Z:$(Y:a-b);)"),
        ("$(Z:a;$(P)b", "$(Z:a;x)b"),
        ("$(Z:a$(P)b", "axb"),
        ("$(Z:$(C)$(P) $(Z:-)", "ccx $(Z:-)"),
        ("$ENV(NO:a-b)", "$ENV(NO:a-b)"),
        ("$ENV(NO:$(C))", "cc"),
    ],
)
def test_a_default_is_of_plain_letters(text: str, value: str) -> None:
    config = Config.from_text(f"C = cc\nQ = a;b\nP = x)\nA = {text}\n")
    assert config.get("A") == value


@pytest.mark.parametrize("line", ["[a b]", "[1 + 1]", "[a=1]", "[ a ]"])
def test_what_stands_in_brackets_is_one_word(line: str) -> None:
    with pytest.raises(ConfigError):
        Config.from_text(f"A = 1\n{line}\n")


@pytest.mark.parametrize("line", ["[a]", " [a] ", "[a+1]", "[]", "[a", "[a]x"])
def test_a_word_in_brackets_means_nothing(line: str) -> None:
    assert Config.from_text(f"A = 1\n{line}\n").get("A") == "1"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("use ROLE : ,", "use ROLE: does not recognise "),
        ("use ROLE:,", "use ROLE:,: does not recognise "),
        ("use ROLE : Nosuch", "use ROLE: does not recognise Nosuch"),
        ("use ROLE: Nosuch", "use ROLE: Nosuch: does not recognise Nosuch"),
        ("use ROLE:Nosuch", "use ROLE:Nosuch: does not recognise Nosuch"),
    ],
)
def test_a_template_that_nobody_knows_is_told_as_the_reference_does(line: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Config.from_text(line + "\n")
    assert str(refused.value).split("\n")[0] == f"Error: {said}"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        # As `condor_config_val` of 25.14.1 says it.
        ("use ROLE : Nope", ["Error: use ROLE: does not recognise Nope", "use ROLE:Nope"]),
        ("use ROLE :Nope", ["Error: use ROLE: does not recognise Nope", "use ROLE:Nope"]),
        (
            "use ROLE: Nope",
            ["Error: use ROLE: Nope: does not recognise Nope", "use ROLE: Nope:Nope"],
        ),
        ("use ROLE:Nope", ["Error: use ROLE:Nope: does not recognise Nope", "use ROLE:Nope:Nope"]),
        ("use $(Z):Nope", ["Error: use ROLE:Nope: does not recognise Nope", "use ROLE:Nope:Nope"]),
        ("use NOPE : x y", ["use NOPE:x y"]),
        ("use NOPE: x", ["use NOPE: x:x"]),
        ("use : x", ["Error: use needs a keyword before : x", "use :x"]),
    ],
)
def test_a_use_that_is_none_is_told_as_the_reference_tells_it(
    statement: str, said: list[str]
) -> None:
    with pytest.raises(ConfigError) as wrong:
        read(f"Z = ROLE\n{statement}\n")
    lines = str(wrong.value).splitlines()
    assert lines[: len(said) - 1] == said[:-1]
    assert lines[len(said) - 1].endswith(f", Line 2: at {said[-1]}")


class _Closed(MemorySources):
    """Files of which some can be looked at and not read, and some not even that."""

    def read_text(self, path: str) -> str:
        if "closed" in path:
            raise PermissionError(13, "Permission denied", path)
        return super().read_text(path)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/closed", "ERROR: Can't read global config source /closed: Permission denied"),
        ("/open", "ERROR: Can't read config source /closed: Permission denied"),
        ("/closed/one", '"/closed/one" cannot be read: Permission denied'),
        ("/folder", '"/folder" is a directory.  Please specify a file.'),
        ("/none", '"/none" does not exist.'),
    ],
)
def test_why_a_file_cannot_be_read_is_said(path: str, said: str) -> None:
    files = {
        "/closed": "",
        "/open": "LOCAL_CONFIG_FILE = /closed\n",
        "/folder/a": "",
        "/folder": "",
    }
    with pytest.raises(ConfigError) as caught:
        load_config(_Closed(files), {"CONDOR_CONFIG": path})
    assert said in str(caught.value)


def test_a_folder_of_settings_that_is_not_there_counts_as_empty() -> None:
    files = {"/root": "LOCAL_CONFIG_DIR = /nonesuch, /d\nA = 0\n", "/d/10": "A = 1\n"}
    config = load_config(MemorySources(files=files), {"CONDOR_CONFIG": "/root"})
    assert (config.get("A"), config.files) == ("1", ["/root", "/d/10"])
