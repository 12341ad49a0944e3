"""From job ad to what is started."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd
from kettle.config.java import JavaMachine
from kettle.errors import LanguageError
from kettle.starter.argument_syntax import (
    parse_arguments,
    parse_either_environment,
    parse_environment,
    render_new_syntax,
    split_new_syntax,
)
from kettle.starter.launch import (
    CannotLaunch,
    Surroundings,
    plan_launch,
    uses_file_transfer,
)
from kettle.starter.sandbox import Sandbox

BOX = Sandbox("/x/dir_7")


def job(**attributes: object) -> ClassAd:
    return ClassAd({"Cmd": "/home/u/run.sh", "Iwd": "/home/u", "JobUniverse": 5, **attributes})


def plan(ad: ClassAd, *, transfers: bool = True, **around: object) -> object:
    return plan_launch(
        ad, ClassAd({"Cpus": 2}), BOX, Surroundings(starter_pid=7, **around), transfers=transfers
    )


def test_new_syntax_groups_with_single_quotes() -> None:
    assert split_new_syntax("3 simple 'a b' 'it''s' ''") == ["3", "simple", "a b", "it's", ""]


def test_old_syntax_knows_no_quotes() -> None:
    assert parse_arguments(None, "a 'b c'") == ["a", "'b", "c'"]


def test_an_open_quote_is_an_error() -> None:
    with pytest.raises(LanguageError, match="unbalanced"):
        split_new_syntax("'abc")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)))
def test_rendered_arguments_split_into_the_same(words: list[str]) -> None:
    assert split_new_syntax(render_new_syntax(words)) == words


def test_both_environment_syntaxes() -> None:
    assert parse_environment("A=1 B='x y'", "C=3") == {"A": "1", "B": "x y"}
    assert parse_environment(None, "A=1;B=x y") == {"A": "1", "B": "x y"}
    assert parse_environment(None, "A=1|B=2", "|") == {"A": "1", "B": "2"}


def test_old_syntax_is_parted_at_cs_blanks_and_nothing_else_is_taken_away() -> None:
    assert parse_arguments(None, " a\vb\t\u00a0c\x1c\r\n") == ["a\vb", "\u00a0c\x1c"]
    old = " \tA =b ; ;\u00a0C=d\nE= e"
    assert parse_environment(None, old) == {"A ": "b ", "\u00a0C": "d", "E": " e"}


def test_a_transferred_program_runs_from_the_scratch_directory() -> None:
    made = plan(job(Arguments="1 'two words'"))
    assert made.argv == ("/x/dir_7/scratch/run.sh", "1", "two words")
    assert made.cwd == "/x/dir_7/scratch"


def test_a_program_that_is_not_transferred_keeps_its_path() -> None:
    assert plan(job(TransferExecutable=False)).argv[0] == "/home/u/run.sh"
    assert plan(job(Cmd="bin/x"), transfers=False).argv[0] == "/home/u/bin/x"


@pytest.mark.parametrize("transfers", [True, False])
def test_a_job_runs_where_it_says_and_its_files_stay_where_they_are(transfers: bool) -> None:
    own = "/x/dir_7/scratch" if transfers else "/home/u"
    made = plan(job(RemoteIwd="/data", In="i", Out="o", StreamOut=False), transfers=transfers)
    assert made.cwd == made.environment["_CONDOR_JOB_IWD"] == "/data"
    files = {os.path.dirname(file.path) for file in (made.stdin, made.stdout)}
    assert {os.path.dirname(made.argv[0]), *files} == {own}
    assert plan(job(RemoteIwd="below"), transfers=transfers).cwd == f"{own}/below"
    assert plan(job(RemoteIwd=""), transfers=transfers).cwd == own


def test_output_has_the_special_name_only_where_streaming_is_refused_outright() -> None:
    # wire notes, Names and lists
    assert plan(job(Out="o", StreamOut=False)).stdout.path == "/x/dir_7/scratch/_condor_stdout"
    assert plan(job(Out="logs/o")).stdout.path == "/x/dir_7/scratch/o"
    streamed = plan(job(Out="logs/o", StreamOut=True)).stdout
    assert (streamed.path, streamed.stream) == ("logs/o", True)
    assert plan(job(Out="/dev/null", StreamOut=False)).stdout.path == "/dev/null"


def test_the_job_reads_its_input_also_where_that_was_not_to_travel() -> None:
    made = plan(job(In="data/in", TransferIn=False))
    assert made.stdin.path == "/x/dir_7/scratch/in"


def test_output_and_error_of_one_name_are_one_file() -> None:
    made = plan(job(Out="o", Err="o", StreamOut=False, StreamErr=False))
    assert made.stderr.path == made.stdout.path == "/x/dir_7/scratch/_condor_stdout"
    apart = plan(job(Out="o", Err="e", StreamOut=False, StreamErr=False))
    assert apart.stderr.path == "/x/dir_7/scratch/_condor_stderr"


def test_without_transfer_standard_files_are_in_the_initial_directory() -> None:
    made = plan(job(In="in", Out="o", StreamOut=False), transfers=False)
    assert (made.stdin.path, made.stdout.path) == ("/home/u/in", "/home/u/o")


def test_a_variable_may_name_the_scratch_directory_before_there_is_one() -> None:
    # What `$$(CondorScratchDir)` became at the access point.
    made = plan(job(Environment="WHERE=#CoNdOrScRaTcHdIr#/in")).environment
    assert made["WHERE"] == "/x/dir_7/scratch/in"


def test_the_environment_names_the_sandbox_and_limits_threads() -> None:
    environment = plan(job(Environment="A=1 OMP_NUM_THREADS=9 _CONDOR_SLOT=fake")).environment
    assert environment["A"] == "1"
    assert environment["OMP_NUM_THREADS"] == "9"
    assert environment["MKL_NUM_THREADS"] == "2"
    assert environment["_CONDOR_SLOT"] == "slot1"
    assert environment["_CONDOR_SCRATCH_DIR"] == "/x/dir_7/scratch"
    assert environment["_CONDOR_CHIRP_CONFIG"] == "/x/dir_7/user/.chirp.config"
    assert environment["CUDA_VISIBLE_DEVICES"] == "10000"
    assert "PATH" not in environment


@pytest.mark.shows("R090")
def test_a_wrapper_gets_program_and_arguments() -> None:
    made = plan(job(Args="1 2"), wrapper="/etc/wrap")
    assert made.argv == ("/etc/wrap", "/x/dir_7/scratch/run.sh", "1", "2")
    complaint = "/x/dir_7/scratch/.job_wrapper_failure"
    assert made.environment["_CONDOR_WRAPPER_ERROR_FILE"] == complaint
    assert "_CONDOR_WRAPPER_ERROR_FILE" not in plan(job()).environment


def test_what_a_job_says_of_its_removal_is_the_signal_whoever_wants_it_to_leave() -> None:
    every = {"KillSig": "SIGINT", "RemoveKillSig": "SIGUSR1", "HoldKillSig": "SIGHUP"}
    assert plan(job(**every)).soft_kill_signal == signal.SIGUSR1
    del every["RemoveKillSig"]
    assert plan(job(**every)).soft_kill_signal == signal.SIGINT
    assert plan(job(HoldKillSig="SIGHUP")).soft_kill_signal == signal.SIGTERM


def test_core_files_are_off_unless_asked_for() -> None:
    assert plan(job()).core_bytes == 0
    assert plan(job(CoreSize=-1)).core_bytes is None
    assert plan(job(CoreSize=4096)).core_bytes == 4096


def test_bad_arguments_hold_the_job() -> None:
    with pytest.raises(CannotLaunch) as failure:
        plan(job(Arguments="'open"))
    assert failure.value.code == HoldReasonCode.FailedToCreateProcess


def test_a_relative_initial_directory_holds_the_job() -> None:
    with pytest.raises(CannotLaunch) as failure:
        plan(job(Iwd="home"), transfers=False)
    assert failure.value.code == HoldReasonCode.IwdError


def test_if_needed_looks_at_the_file_system_domain() -> None:
    ad = job(ShouldTransferFiles="IF_NEEDED", FileSystemDomain="ap.example")
    assert uses_file_transfer(ad, "ep.example")
    assert not uses_file_transfer(ad, "AP.example")
    assert uses_file_transfer(job(ShouldTransferFiles="YES"), "x")
    assert not uses_file_transfer(job(ShouldTransferFiles="NO"), "x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("A=1;B=two words", {"A": "1", "B": "two words"}),
        ('"A=1 B=\'two words\' C=""q"""', {"A": "1", "B": "two words", "C": '"q"'}),
    ],
)
def test_a_configured_environment_is_in_either_syntax(text: str, expected: dict[str, str]) -> None:
    assert parse_either_environment(text) == expected


def test_a_configured_environment_with_an_open_quote_is_an_error() -> None:
    with pytest.raises(LanguageError, match="unbalanced"):
        parse_either_environment('"A=1')


JAVA = JavaMachine("/opt/java", "-cp", ("/lib", "."), ";", ("-Xmx1g",))


def test_a_java_job_is_started_by_the_configured_java() -> None:
    ad = job(
        JobUniverse=10,
        Cmd="java",
        Arguments="Hello 'a b'",
        JarFiles="/home/u/one.jar,two.jar",
        JavaVMArguments="-Dx=1 -ea",
    )
    words = ["-Xmx1g", "-Dx=1", "-ea", "Hello", "a b"]
    box = BOX.scratch
    inside = plan(ad, java=JAVA)
    path = f"/lib;.;{box};{box}/one.jar;{box}/two.jar"
    assert list(inside.argv) == ["/opt/java", "-cp", path, *words]
    beside = plan(ad, transfers=False, java=JAVA)
    assert beside.argv[2] == "/lib;.;/home/u;/home/u/one.jar;two.jar"


def test_a_java_job_is_held_where_no_java_is_configured() -> None:
    with pytest.raises(CannotLaunch, match="no Java is configured"):
        plan(job(JobUniverse=10), java=JavaMachine())


def test_a_virtual_machine_is_held_and_not_started_as_a_program() -> None:
    with pytest.raises(CannotLaunch, match="no virtual machines"):
        plan(job(JobUniverse=13))
