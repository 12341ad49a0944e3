"""Words, exit codes and abbreviations of tools; recorded from HTCondor 25.14.1."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from kettle.classad import ClassAd
from kettle.client import running_job, spool
from kettle.client.pool import Pool
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.tools.jobs import condor_ssh_to_job, condor_tail
from kettle.tools.programs import Streams, load_tool
from kettle.tools.queue import condor_history, condor_q
from kettle.tools.queue.command_line import read_wish
from kettle.tools.queue.conflicts import NAME_ADVICE, POOL_ADVICE
from kettle.tools.reach import Reach
from kettle.tools.status import condor_status, condor_userprio
from kettle.tools.submitting import condor_run, condor_transfer_data
from kettle.tools.tokens import condor_token_request_list
from kettle.tools.tokens.token_commands import Wish


def streams() -> tuple[Streams, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Streams(io.StringIO(), out, err), out, err


UNKNOWN = "unknown host nosuch.invalid\n"


@pytest.mark.parametrize("words", [[], ["xx"], ["-foo"]])
def test_a_wrong_command_line_of_ssh_to_job_ends_with_2(words: list[str]) -> None:
    where, out, err = streams()
    assert condor_ssh_to_job.main(["condor_ssh_to_job", *words], {}, where) == 2
    assert (out.getvalue(), err.getvalue() != "") == ("", True)


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["condor_rm", "-addr", "here", "1"], "<ip.address.here:port>"),
        (["condor_transfer_data", "-addr", "here", "1"], "<ip.address.here:port>"),
        (["condor_submit", "-addr", "here", "a.sub"], "<ip:port>"),
    ],
)
def test_what_is_no_address_of_a_schedd_is_refused(words: list[str], form: str) -> None:
    where, out, err = streams()
    assert load_tool(words[0])(words, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 1
    assert err.getvalue() == (
        f'{words[0]}: "here" is not a valid address\nShould be of the form {form}\n'
        "For example: <123.456.789.123:6789>\n"
    )
    assert out.getvalue() == ""


@pytest.mark.parametrize("word", ["1.x", "1.0.0", "7up"])
def test_condor_q_takes_what_is_no_number_for_an_owner(word: str) -> None:
    assert read_wish([word]).owners == [word]


def test_the_shortest_word_for_autoclusters_is_auto() -> None:
    assert "autocluster" in read_wish(["-auto"]).flags


@pytest.mark.parametrize(
    ("values", "code", "said"),
    [
        ({}, 0, "Remote daemon reports no requests pending.\n"),
        ({"reqid": "7"}, 1, "Remote daemon did not provide information for request ID 7.\n"),
    ],
)
def test_that_no_token_is_asked_for_is_said_on_stderr(
    values: dict[str, str], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing: list[ClassAd] = []
    monkeypatch.setattr(condor_token_request_list, "choose_daemon", lambda *_: None)
    monkeypatch.setattr(condor_token_request_list, "list_token_requests", lambda *_: nothing)
    where, out, err = streams()
    reach = Reach({"CONDOR_CONFIG": "/dev/null"})
    wish = Wish(values=values)
    assert condor_token_request_list.list_requests(wish, reach, where) == code
    assert (out.getvalue(), err.getvalue()) == ("", said)


HERE = {"CONDOR_CONFIG": "ONLY_ENV", "_CONDOR_SCHEDD_ADDRESS_FILE": "schedd"}


@pytest.fixture
def schedd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schedd that is known, and never asked."""
    monkeypatch.chdir(tmp_path)
    Path("schedd").write_text("<127.0.0.1:9>\n$CondorVersion$\n")


@pytest.mark.usefixtures("schedd")
def test_condor_tail_of_an_ended_job_says_what_the_schedd_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise RefusedError("No such job: 9.0")

    monkeypatch.setattr(running_job, "find_starter", refuse)
    where, out, err = streams()
    assert condor_tail.main(["condor_tail", "9.0"], HERE, where) == 1
    assert (out.getvalue(), err.getvalue()) == ("", "No such job: 9.0\n")


@pytest.mark.usefixtures("schedd")
def test_condor_transfer_data_finds_no_job_by_a_constraint_that_means_nothing() -> None:
    where, out, err = streams()
    words = ["condor_transfer_data", "-constraint", "foo("]
    assert condor_transfer_data.main(words, HERE, where) == 0
    assert out.getvalue() == "Fetching data files...\n"
    assert err.getvalue().startswith("foo( is no constraint: ")


@pytest.mark.usefixtures("schedd")
def test_condor_transfer_data_says_that_no_job_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schedd leaves out jobs of others without a word, as if they were not there."""
    nothing: list[tuple[ClassAd, SimpleNamespace]] = []
    monkeypatch.setattr(spool, "fetch_output", lambda *_: iter(nothing))
    where, out, err = streams()
    assert condor_transfer_data.main(["condor_transfer_data", "9.0"], HERE, where) == 0
    assert out.getvalue() == "Fetching data files...\n"
    said = "Nothing was fetched: no job that was asked for is there and yours.\n"
    assert err.getvalue() == said


@pytest.mark.parametrize("words", [[], ["-u"], ["-a"], ["-hello"], ["-getenv"]])
def test_condor_run_without_a_command_says_its_usage_on_stdout(words: list[str]) -> None:
    where, out, err = streams()
    assert condor_run.main(["condor_run", *words], {}, where) == 1
    assert (out.getvalue(), err.getvalue()) == (condor_run.USAGE, "")


@pytest.mark.parametrize(
    ("words", "code", "said", "complaint"),
    [
        ("condor_q -pool nosuch.invalid -name x", 1, "\n", f"Error: {UNKNOWN}{POOL_ADVICE}\n"),
        ("condor_q -global -pool nosuch.invalid", 1, "\n", f"Error: {UNKNOWN}{POOL_ADVICE}\n"),
        ("condor_q -expert -global -pool nosuch.invalid", 1, "", f"Error: {UNKNOWN}"),
        ("condor_status -pool nosuch.invalid", 1, "\n", f"Error: {UNKNOWN}{POOL_ADVICE}\n"),
        ("condor_status -expert -pool nosuch.invalid", 1, "", f"Error: {UNKNOWN}"),
        (
            "condor_status -pool nosuch.invalid -expert",
            1,
            "\n",
            f"Error: {UNKNOWN}{POOL_ADVICE}\n",
        ),
        (
            "condor_status -expert -pool",
            1,
            "",
            (
                "condor_status: -pool requires a hostname as an argument.\n"
                'Use "condor_status -help" for details\n'
            ),
        ),
        ("condor_rm -pool nosuch.invalid 1", 1, "", f"condor_rm: {UNKNOWN}"),
    ],
)
def test_a_pool_that_is_no_host_is_named(words: str, code: int, said: str, complaint: str) -> None:
    where, out, err = streams()
    argv = words.split()
    assert load_tool(argv[0])(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == code
    assert (out.getvalue(), err.getvalue()) == (said, complaint)


def test_a_schedd_without_a_host_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kettle.client.pool.is_host", lambda _: False)
    nothing: list[ClassAd] = []
    monkeypatch.setattr(Pool, "query", lambda *_: nothing)
    monkeypatch.setattr("kettle.runtime.sockets.addresses.is_host", lambda _: False)
    for name, said, complaint in (
        ("nosuch", "\n", f"unknown host nosuch\n{NAME_ADVICE}"),
        ("a@nosuch", "", "Collector has no record of schedd/submitter"),
    ):
        where, out, err = streams()
        assert condor_q.main(["condor_q", "-name", name], {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 1
        assert (out.getvalue(), err.getvalue()) == (said, f"Error: {complaint}\n")


def test_a_constraint_that_is_none_shows_no_job(tmp_path: Path) -> None:
    """25.14.1: `Invalid constraint: ( (Owner ==) )`, all jobs of the file, exit code 0."""
    jobs = tmp_path / "jobs"
    jobs.write_text('ClusterId = 1\nProcId = 0\nOwner = "ann"\n')
    where, out, err = streams()
    words = ["condor_q", "-jobads", str(jobs), "-constraint", "Owner ==", "-af", "Owner"]
    assert condor_q.main(words, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 1
    assert (out.getvalue(), err.getvalue()) == ("", "Error: could not parse constraint Owner ==\n")


@pytest.mark.parametrize("names", ["Owner S", "Owner,S", "Owner, S"])
def test_blanks_part_attributes_as_commas_do(tmp_path: Path, names: str) -> None:
    ads = tmp_path / "ads"
    ads.write_text('Name = "a"\nOwner = "ann"\nS = 2\n')
    where, out, _ = streams()
    words = ["condor_status", "-ads", str(ads), "-any", "-long", "-attributes", names]
    assert condor_status.main(words, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 0
    assert out.getvalue() == 'Owner = "ann"\nS = 2\n\n'


def test_condor_status_says_of_a_constraint_that_it_is_none() -> None:
    where, out, err = streams()
    assert condor_status.main(["condor_status", "-constraint", "foo("], {}, where) == 1
    assert (out.getvalue(), err.getvalue()) == ("", "Error: invalid constraint\n\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("-dir", "Error: No search directory found for locating history files.\n"),
        ("-dir -search nofile", "Error: nofile is not a valid directory.\n"),
    ],
)
def test_condor_history_wants_a_folder_that_is_one(words: str, complaint: str) -> None:
    where, out, err = streams()
    assert condor_history.main(["condor_history", *words.split()], {}, where) == 1
    heading = " ID          OWNER            SUBMITTED   RUN_TIME   ST   COMPLETED CMD\n"
    assert (out.getvalue(), err.getvalue()) == (heading, complaint)


def test_condor_userprio_shows_the_ads_of_a_file(tmp_path: Path) -> None:
    ads = tmp_path / "ads"
    text = 'IsAccountingGroup = false\nName = "ann@x"\nPriority = 500.5\n\n'
    ads.write_text(text)
    words_only, empty = tmp_path / "words", tmp_path / "empty"
    words_only.write_text("these are no ads\nfoo\n")
    empty.write_text("\n\n")
    for word, code, said, complaint in (
        (str(ads), 0, text, ""),
        (str(words_only), 1, "", "Error -1 reading userprio ads\n"),
        (str(empty), 0, "", ""),
        ("/nofile", 1, "", "Can't open file of userprio ads: /nofile\n"),
    ):
        where, out, err = streams()
        words = ["condor_userprio", "-inputfile", word, "-long"]
        assert condor_userprio.main(words, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == code
        assert (out.getvalue(), err.getvalue()) == (said, complaint)


def test_a_collector_that_does_not_answer_is_named() -> None:
    where, out, err = streams()
    words = ["condor_status", "-pool", "127.0.0.1:1"]
    assert condor_status.main(words, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 1
    said = err.getvalue().splitlines()
    assert (out.getvalue(), said[0]) == ("", "Error: communication error")
    assert said[2] == "Error: Couldn't contact the condor_collector on 127.0.0.1:1."


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        # Recorded; but `-all` beside others, of which the reference says only its usage.
        (
            "condor_transfer_data -name",
            1,
            "condor_transfer_data: -name requires another argument\n",
        ),
        ("condor_transfer_data", 1, "You did not specify any jobs\n@"),
        ("condor_transfer_data -all 1", 1, "-all cannot be used with other constraints\n@"),
        ("condor_ssh_to_job", 2, "ERROR: You must specify a job!\n\n"),
        ("condor_ssh_to_job -nosuch", 2, "Unrecognized argument: -nosuch\n"),
        ("condor_ssh_to_job 1.x", 2, "Invalid job id: 1.x\n"),
        ("condor_ssh_to_job -shells", 2, "-shells requires an argument\n"),
        ("condor_tail -nosuch", 1, "Invalid Job ID: -nosuch\n@"),
        ("condor_tail -maxbytes", 1, "-maxbytes requires an argument.\n\n@"),
        ("condor_tail -maxbytes x 1", 1, "Error: maxbytes (x) is not valid\n\n@"),
        ("condor_tail -no-stdout 1", 1, "No file transfer specified.\n\n@"),
        ("condor_wait -wait", 1, "-wait requires an argument\n\n@"),
        ("condor_wait -num 0 log", 1, "-num must be greater than zero\n\n@"),
        ("condor_wait log 1 2", 1, "Extra argument: 2\n\n\n@"),
        ("condor_wait -num -3x log", 1, "-num must be greater than zero\n\n@"),
        ("condor_wait -nosuch", 1, "unknown option -nosuch\n\n@"),
    ],
)
def test_wrong_words_are_answered_as_recorded(words: str, code: int, complaint: str) -> None:
    where, out, err = streams()
    argv = words.split()
    assert load_tool(argv[0])(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == code
    assert out.getvalue() == ""
    said, usage, _ = err.getvalue().partition("Us")
    assert said + ("@" if usage else "") == complaint


def test_a_schedd_that_ends_at_the_first_failure_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As HTCondor's schedd does."""

    def fetch(*_words: object) -> Iterator[tuple[ClassAd, SimpleNamespace]]:
        failure = SimpleNamespace(reason="no room")
        yield ClassAd({"ClusterId": 3, "ProcId": 0}), SimpleNamespace(failure=failure)
        raise RemoteProtocolError("a message ends where an integer is expected")

    monkeypatch.setattr(spool, "fetch_output", fetch)
    place = SimpleNamespace(address="<127.0.0.1:1>")
    monkeypatch.setattr(condor_transfer_data, "_find_schedd", lambda _reach: place)
    where, out, err = streams()
    argv = ["condor_transfer_data", "-all"]
    assert condor_transfer_data.main(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 1
    assert out.getvalue() == "Fetching data files...\n"
    first, last = err.getvalue().strip().split("\n")
    assert "target job 3.0" in first
    assert first.endswith("no room")
    assert last == "ERROR: Failed to spool job files."


def test_what_is_behind_the_command_is_its_own() -> None:
    wish = condor_run.read_wish(["-ulocal", "-append", "a=1", "-getenvironment", "ls", "-a", "-h"])
    assert (wish.universe, wish.lines, wish.getenv) == ("local", ["a=1"], True)
    # Recorded from HTCondor 25.14.1: what is no option is a word of the command.
    assert condor_run.read_wish(["-x", "true"]).words == ["-x", "true"]
    assert condor_run.render_script(wish, {"SHELL": "/bin/zsh"}) == "#!/bin/zsh\nls -a -h \n"


def test_condor_run_names_its_files_as_the_reference_does() -> None:
    wish = condor_run.read_wish(["-u", "local", "-a", "priority = 3", "true"])
    text = condor_run.render_submit(wish, condor_run.Files(77), {"CONDOR_REQUIREMENTS": "A > 1"})
    assert text.splitlines() == [
        "universe = local",
        "executable = .condor_run.77",
        "notification = never",
        "log = .condor_log.77",
        "output = .condor_out.77",
        "error = .condor_error.77",
        "requirements = (A > 1)",
        "priority = 3",
        "queue",
    ]
