"""What `condor_submit` does with its options; recorded from HTCondor 25.14.1 where it prints."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import threading
from pathlib import Path
from typing import cast

import pytest

from kettle.classad import ClassAd, parse_old_ad
from kettle.tools.programs import Streams
from kettle.tools.submitting import condor_run
from kettle.tools.submitting.condor_submit import main, parse_arguments, read_description
from kettle.tools.submitting.sending import Progress, describe_offer, warn_of_sets, way_to_watch
from unit.submit.submitting import jobs_of

DESCRIPTION = "executable = /bin/echo\nqueue\n"


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.sub").write_text(DESCRIPTION)


def submit(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": "/dev/null"}
    code = main(["condor_submit", *words], environment, Streams(io.StringIO(), out, err))
    return code, out.getvalue(), err.getvalue()


def test_dump_speaks_as_if_the_jobs_were_queued(tmp_path: Path) -> None:
    said = "Storing job ClassAd(s).\n1 job(s) submitted to cluster 1.\n"
    hint = "To monitor your job(s), run: condor_watch_q -clusters 1\n"
    assert submit("-dump", "out", "job.sub") == (0, said, hint)
    assert 'Cmd="/bin/echo"' in (tmp_path / "out").read_text()


def test_dump_needs_no_program(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text("executable = nowhere\nqueue\n")
    assert submit("-dump", "out", "job.sub")[0] == 0
    assert submit("-dry-run", "out", "job.sub")[0] == 1


@pytest.mark.parametrize(
    ("option", "description", "left"),
    [
        ("-dry-run", "executable = /bin/true\nfoo bar\nqueue\n", None),
        ("-dump", "executable = /bin/true\nfoo bar\nqueue\n", ""),
        ("-dry-run", "executable = /bin/true\nrequest_memory = 1x\nqueue\n", "\n"),
        ("-dump", "executable = /bin/true\nrequest_memory = 1x\nqueue\n", "\n"),
        ("-dry-run:full", "executable = /bin/true\nrequest_memory = 1x\nqueue\n", None),
    ],
)
def test_what_a_dry_run_that_fails_leaves_of_its_file(
    tmp_path: Path, option: str, description: str, left: str | None
) -> None:
    (tmp_path / "job.sub").write_text(description)
    assert submit(option, "out", "job.sub")[0] == 1
    file = tmp_path / "out"
    assert (file.read_text() if file.exists() else None) == left


def test_a_line_without_an_equals_sign_may_be_appended() -> None:
    code, out, err = submit(
        "-append", "foo bar", "-append", "priority 7", "-dry-run", "-", "job.sub"
    )
    assert code == 0
    assert "JobPrio=7\n" in out
    assert err == "WARNING: the line 'foo = bar' was unused by condor_submit. Is it a typo?\n"


def test_a_line_without_an_equals_sign_in_the_description_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text(f"foo bar\n{DESCRIPTION}")
    code, out, err = submit("-dry-run", "-", "job.sub")
    assert (code, out) == (1, "Dry-Run job(s)")
    assert "on Line 1 of job.sub" in err


def test_why_a_line_is_refused_is_told_beside_warnings(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text("executable = /bin/true\nwarning : odd\nfoo bar\nqueue\n")
    code, _, err = submit("-dry-run", "-", "job.sub")
    assert code == 1
    assert '"foo bar" is neither an assignment nor a statement' in err


def test_warnings_before_a_line_that_is_refused_are_told(tmp_path: Path) -> None:
    """Recorded from condor_submit 25.14.1; behind a job it tells of them in the same place."""
    begin = "executable = /bin/true\nwarning : odd\nwarning : more\n"
    told = (
        'Submit:0:Warning "job.sub", Line 3: more\n|Submit:0:Warning "job.sub", Line 2: odd\n\n'
        "ERROR: Failed to parse command file (line 4).\n"
    )
    for rest, said in (
        ("error : text\nqueue\n", '\nSubmit:-1:Error "job.sub", Line 4: text\n|'),
        ("queue 1 2\n", "Invalid Queue count expression\n"),
    ):
        (tmp_path / "job.sub").write_text(begin + rest)
        code, _, err = submit("-dry-run", "-", "job.sub")
        assert code == 1
        assert err == f"\nERROR: on Line 4 of job.sub: {said}{told}"
    (tmp_path / "job.sub").write_text(begin + "queue\nerror : text\n")
    code, _, err = submit("-dry-run", "-", "job.sub")
    assert code == 1
    assert err.count(": odd\n") == err.count(": more\n") == 1


def test_where_no_job_is_made_warnings_are_told(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text("executable = /bin/true\nwarning : odd\nqueue in ()\n")
    code, _, err = submit("-dry-run", "-", "job.sub")
    assert code == 0
    assert err.endswith('no jobs queued\nWARNING: Warning "job.sub", Line 2: odd\n')


@pytest.mark.parametrize("line", ["[x]", "[x", "[x] y", " [ x ] "])
def test_a_line_in_brackets_in_the_description_is_an_error(tmp_path: Path, line: str) -> None:
    (tmp_path / "job.sub").write_text(f"{line}\n{DESCRIPTION}")
    code, _, err = submit("-dry-run", "-", "job.sub")
    assert code == 1
    assert "ERROR: on Line 1 of job.sub: " in err


def test_the_queue_statement_ends_at_the_next_option() -> None:
    request = parse_arguments(["-queue", "3", "in", "a", "-dry-run", "-", "job.sub"])
    assert (request.queue, request.dry_file, request.file) == ("3 in a", "-", "job.sub")
    code, out, err = submit("-queue", "3", "-dry-run", "-", "job.sub")
    assert (code, out) == (1, "Dry-Run job(s)")
    assert "-queue argument conflicts with queue statement in submit file" in err


@pytest.mark.parametrize(
    ("words", "jobs"),
    [
        (("-append", "queue 3", "none.sub"), 3),
        (("-a", "QUEUE", "none.sub"), 1),
        (("-a", "priority = 7", "-a", "queue 2 y in (a b)", "none.sub"), 4),
    ],
)
def test_the_queue_statement_may_be_appended(words: tuple[str, ...], jobs: int) -> None:
    """Recorded from condor_submit 25.14.1."""
    Path("none.sub").write_text("executable = /bin/true\npriority = 7\n")
    code, _, _ = submit("-dump", "ads", *words)
    assert (code, Path("ads").read_text().count("ProcId=")) == (0, jobs)


@pytest.mark.parametrize(
    "words",
    [("-a", "executable = /bin/true", "-a", "queue 2"), ("executable=/bin/true", "-queue", "2")],
)
def test_where_the_command_line_says_all_nothing_is_read(words: tuple[str, ...]) -> None:
    nothing = cast(io.StringIO, None)
    assert read_description(parse_arguments([*words]), Streams(nothing, nothing, nothing)) == ""


@pytest.mark.parametrize(
    "words", [("-a", "queue 3", "-a", "queue"), ("-a", "queue", "-queue", "2")]
)
def test_one_queue_statement_may_be_on_the_command_line(words: tuple[str, ...]) -> None:
    said = "condor_submit: only one -queue command allowed\n"
    assert submit(*words, "job.sub") == (1, "", said)


def test_a_dry_run_says_nothing_of_jobs_that_come_later(tmp_path: Path) -> None:
    text = DESCRIPTION.rpartition("queue")[0] + "max_materialize = 1\nqueue 10\n"
    (tmp_path / "job.sub").write_text(text)
    code, out, _ = submit("-dry-run", "-", "job.sub")
    assert code == 0
    assert "\n\n\n" not in out
    assert out.endswith("\n\n10 job(s) dry-run to cluster 1.\n")


LATE = "executable = /bin/echo\narguments = $INT(x)\nmax_materialize = 1\n"


def test_a_dry_run_of_later_jobs_makes_the_first_alone(tmp_path: Path) -> None:
    """Recorded from condor_submit 25.14.1."""
    (tmp_path / "job.sub").write_text(LATE + "queue 2 x in (1 b c)\n")
    for more in ((), ("-maxjobs", "1")):
        code, out, err = submit("-dry-run", "-", *more, "job.sub")
        assert (code, err) == (0, "")
        assert '\nArgs="1"\n' in out
        assert "ProcId" not in out
        assert out.endswith("\n\n6 job(s) dry-run to cluster 1.\n")
    # There are no whole ads of jobs that are made later.
    said = "Dry-Run job(s)\n6 job(s) dry-run to cluster 1.\n\n"
    assert submit("-dry-run:full", "-", "job.sub") == (0, said, "")


def test_a_variable_does_not_decide_whether_jobs_are_made_later(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text(
        "executable = /bin/true\nmax_materialize = $(x)\nqueue x in (1 2)\n"
    )
    _, out, _ = submit("-dry-run", "-", "job.sub")
    assert out.count("ProcId=") == 2


@pytest.mark.parametrize(
    ("queue", "last"),
    [
        ("queue 2 x in (1 2)\n", "Queue 2 x "),
        ("queue x from items\n", "Queue 1 x from items"),
        ("queue x,y from (\n1 2\n)\n", "Queue 1 x,y from <"),
    ],
)
def test_a_dry_run_can_show_the_digest(queue: str, last: str, tmp_path: Path) -> None:
    """Recorded from condor_submit 25.14.1."""
    (tmp_path / "items").write_text("1\n2\n")
    (tmp_path / "job.sub").write_text(LATE + queue)
    code, out, _ = submit("-dry-run:digest", "-", "job.sub")
    digest = (
        f"FACTORY.Requirements=MY.Requirements\narguments=$INT(x)\nFACTORY.Iwd={tmp_path}\n"
        f"max_materialize=1\n\n{last}\n"
    )
    assert code == 0
    head = f"Dry-Run job(s)\n\n----- submit digest -----\n{digest}-----\nClusterId=1\n"
    assert out[: len(head)] == head
    (tmp_path / "job.sub").write_text(LATE.replace("max_materialize = 1\n", "") + queue)
    assert "digest" not in submit("-dry-run:digest", "-", "job.sub")[1]


def test_a_dry_run_lists_short_names_first(tmp_path: Path) -> None:
    code, out, _ = submit("-dry-run:cluster=7", "-", "job.sub")
    names = [line.partition("=")[0] for line in out.split("\n\n")[0].splitlines()[1:]]
    cluster = names[: names.index("ProcId")]
    assert (code, cluster[0], "ClusterId=7\n" in out) == (0, "ClusterId", True)
    assert cluster[1:] == sorted(cluster[1:], key=lambda name: (len(name), name.lower()))


def test_a_dry_run_lists_short_names_first_of_later_jobs_too(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text(
        "executable = /bin/true\nlog = l.$(Process)\nMY.Zz = $(Process)\nMY.B = $(Process)\n"
        "queue 2\n"
    )
    code, out, _ = submit("-dry-run", "-", "job.sub")
    assert code == 0
    own = out[out.index("ProcId=1\n") :].split("\n")
    assert [line.partition("=")[0] for line in own[:5]] == [
        "ProcId",
        "JobStatus",
        "B",
        "Zz",
        "UserLog",
    ]


def test_a_dry_run_ends_its_line_before_a_job_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text(
        'executable = /bin/true\narguments = $(x)\nqueue x from (\na\nb "\n)\n'
    )
    code, out, err = submit("-dry-run", "-", "job.sub")
    assert code == 1
    assert out.endswith("JobStatus=1\n.\n")
    assert "illegal unescaped double-quote" in err
    # What is no job any more has no line.
    code, out, err = submit("-maxjobs", "1", "-dry-run", "-", "job.sub")
    assert "would exceed -maxjobs" in err
    assert out.endswith("JobStatus=1\n.")


def test_many_statements_are_no_matter_of_a_warning(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text("executable = /bin/true\nqueue\nqueue 2\n")
    out, err = io.StringIO(), io.StringIO()
    allowed = {"CONDOR_CONFIG": "/dev/null", "_CONDOR_SUBMIT_PREVENT_MULTI_QUEUE": "false"}
    words = ["condor_submit", "-dry-run", "-", "job.sub"]
    assert main(words, allowed, Streams(io.StringIO(), out, err)) == 0
    assert err.getvalue() == ""
    assert out.getvalue().endswith("\n3 job(s) dry-run to cluster 1.\n")


def test_a_dry_run_can_show_whole_ads_of_another_cluster(tmp_path: Path) -> None:
    (tmp_path / "job.sub").write_text(
        "executable = /bin/echo\narguments = $(x)\nqueue x in (a b)\n"
    )
    code, out, err = submit("-dry-run:cluster=7,full", "-", "job.sub")
    said, first, second = out.split("\n\n")
    assert (code, err) == (0, "")
    assert said == "Dry-Run job(s)..\n2 job(s) dry-run to cluster 7."
    for proc, (ad, argument) in enumerate(((first, "a"), (second, "b"))):
        lines = ad.strip().splitlines()
        assert lines == sorted(lines, key=lambda line: line.partition(" =")[0].lower())
        own = [f'Args = "{argument}"', "ClusterId = 7", f"ProcId = {proc}"]
        assert [line for line in lines if line in own] == own
    code, out, _ = submit("-dry-run:cluster=012job.sub", "-", "job.sub")
    assert (code, out.splitlines()[-1].strip()) == (0, "2 job(s) dry-run to cluster 12.")
    assert submit("-dry-run:nonsense", "-", "job.sub") == (
        1,
        "",
        "unknown option nonsense for -dry-run:<opts>\n",
    )


def test_an_error_of_the_queue_option_is_at_the_end_of_what_was_read() -> None:
    """Recorded from condor_submit 25.14.1."""
    said = "\nERROR: on Line {} of {}: {}\n\nERROR: Failed to parse command file (line {}).\n"
    missing = "can't open file /nonexistent: No such file or directory"
    _, _, err = submit("-dry-run", "-", "-", "-queue", "from", "/nonexistent")
    assert err == said.format(0, "<stdin>", missing, 0)
    _, _, err = submit("-dry-run", "-", "job.sub", "-queue", "x", "from", "|false")
    assert "-queue argument conflicts" in err
    _, _, err = submit("-queue")
    assert err == "condor_submit: -queue requires at least one argument\n"


def test_what_a_schedd_offers_is_said_as_the_reference_says_it() -> None:
    offered = ClassAd({"LateMaterialize": True, "UseJobsets": False})
    assert describe_offer(offered) == " Has Late Materialization enabled\n"
    offered["ExtendedSubmitCommands"] = parse_old_ad('Long = true\nFavoriteFruit = "a,b"')
    offered["ExtendedSubmitHelpFile"] = "https://example.org/help"
    assert describe_offer(offered).partition("enabled\n")[2] == (
        " Has Extended submit commands:\n"
        "\tFavoriteFruit  value is stringlist\n"
        "\tLong           value is boolean true/false\n"
        " Has Extended help:\n"
        "\thttps://example.org/help\n"
    )


def test_a_description_that_comes_by_a_dash_shows_each_job_and_nothing_else() -> None:
    """As the reference; -terse undoes it, and nobody wrote the file of what came by itself."""
    text = "executable = /bin/true\nhold = true\nqueue 2\n"
    for words, heads in (
        (["-dry-run", "/dev/null", "-"], ["", "** Proc 1.0:", "", "** Proc 1.1:", ""]),
        (["-terse", "-dry-run", "/dev/null", "-"], ["1.0 - 1.1"]),
        (
            ["-dump", "/dev/null", "-"],
            ["Storing job ClassAd(s)", "** Proc 1.0:", "", "** Proc 1.1:", ""],
        ),
    ):
        out, err = io.StringIO(), io.StringIO()
        where = Streams(io.StringIO(text), out, err)
        argv = ["condor_submit", *words]
        assert main(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 0
        said = out.getvalue().splitlines()
        assert [line for line in said if " = " not in line] == heads
        assert "JobSubmitFile" not in out.getvalue()


@pytest.mark.parametrize(
    ("words", "name"), [("-dry-run /dev/null -", "(stdin)"), ("-terse -dry-run /dev/null -", "")]
)
def test_of_a_description_by_stdin_that_queues_nothing_no_line_is_said_too_many(
    words: str, name: str
) -> None:
    """Recorded from condor_submit 25.14.1."""
    said, err = io.StringIO(), io.StringIO()
    where = Streams(io.StringIO("executable = /bin/true\nqueue x in ()\n"), said, err)
    argv = ["condor_submit", *words.split()]
    assert main(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 0
    assert said.getvalue() == ""
    warning = f'\nWARNING: "{name}" has only empty "queue" commands -- no jobs queued\n'
    assert err.getvalue() == (warning if name else "")


@pytest.mark.parametrize(
    ("words", "begin", "end"),
    [
        ("-dry-run /dev/null -terse -verbose", "Dry-Run job(s)\n** Proc 1.0:\n", '"ON_EXIT"\n\n\n'),
        ("-dump /dev/null -verbose", "Storing job ClassAd(s)\n** Proc 1.0:\n", '"ON_EXIT"\n\n\n'),
        ("-dry-run:full /dev/null -verbose", "Dry-Run job(s)\n** Proc 1.0", '"ON_EXIT"\n\n\n'),
        ("-dry-run /dev/null -verbose -terse", "1.0 - 1.0\n", "1.0 - 1.0\n"),
        ("-dump -", "\nClusterId=1\n", "JobStatus=1\n\n"),
        ("-dump - -verbose", "\nClusterId=1\n", "JobStatus=1\n\n\n"),
        ("-dump - -terse", "\nClusterId=1\n", "JobStatus=1\n"),
    ],
)
def test_what_is_written_and_what_is_said_keep_apart(
    words: str, begin: str, end: str, tmp_path: Path
) -> None:
    """Recorded: what is stored on standard output is all that is said there."""
    (tmp_path / "sub").write_text("executable = /bin/true\nqueue\n")
    out, err = io.StringIO(), io.StringIO()
    argv = ["condor_submit", *words.split(), str(tmp_path / "sub")]
    assert main(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, Streams(io.StringIO(), out, err)) == 0
    assert (out.getvalue()[: len(begin)], out.getvalue()[-len(end) :]) == (begin, end)
    assert err.getvalue() == ""


@pytest.mark.parametrize(
    ("option", "configured", "warned"),
    [((), "", True), (("-unused",), "", False), ((), "false", False), (("-u",), "false", True)],
)
def test_what_is_unused_is_said_or_not_as_is_wished(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: tuple[str, ...],
    configured: str,
    warned: bool,
) -> None:
    (tmp_path / "job.sub").write_text("executable = /bin/true\nfoo = bar\nqueue\n")
    knob = {"_CONDOR_WARN_ON_UNUSED_SUBMIT_FILE_MACROS": configured} if configured else {}
    out, err = io.StringIO(), io.StringIO()
    argv = ["condor_submit", *option, "-terse", "-dry-run", "out", "job.sub"]
    environment = {"CONDOR_CONFIG": "ONLY_ENV", **knob}
    assert main(argv, environment, Streams(io.StringIO(), out, err)) == 0
    said = "WARNING: the line 'foo = bar' was unused by condor_submit. Is it a typo?\n"
    assert err.getvalue() == (said if warned else "")


def test_a_script_of_dos_is_only_warned_of_where_that_is_wished(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_bytes(b"#!/bin/sh\r\n")
    (tmp_path / "job.sub").write_text(f"executable = {tmp_path}/a.sh\nqueue 2\n")
    name = f"Executable file {tmp_path}/a.sh is a script with CRLF (DOS/Windows) line endings."
    code, _, err = submit("-terse", "-dry-run", "out", "job.sub")
    assert (code, err.splitlines()[:2]) == (1, ["", f"ERROR: {name}"])
    options = ("-terse", "-allow-crlf-script", "-dry-run", "out")
    assert submit(*options, "job.sub") == (0, "1.0 - 1.1\n", f"\nWARNING: {name}\n")


def test_condor_run_says_that_nothing_was_submitted() -> None:
    out, err = io.StringIO(), io.StringIO()
    where = Streams(io.StringIO(), out, err)
    argv = ["condor_run", "-u", "nosuch", "true"]
    environment = {"CONDOR_CONFIG": "/dev/null", "HOME": str(Path.cwd())}
    assert condor_run.main(argv, environment, where) == 2
    assert (out.getvalue(), err.getvalue().splitlines()[-1]) == ("", "Failed to submit Condor job.")


_HEAD = "(007.000.000) 2026-11-23 08:00:00"
_USAGES = "".join(
    f"\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  {who} Usage\n"
    for who in ("Run Remote", "Run Local", "Total Remote", "Total Local")
)
TERMINATED = (
    f"005 {_HEAD} Job terminated.\n\t(1) Normal termination (return value 3)\n{_USAGES}"
    + "".join(
        f"\t0  -  {which} Bytes {way} By Job\n"
        for which in ("Run", "Total")
        for way in ("Sent", "Received")
    )
    + "...\n"
)
ABORTED = f"009 {_HEAD} Job was aborted.\n\tby user\n...\n"


class Tools:
    """Stands for the tools that condor_run starts: submitting has the job end at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[list[str]] = []
        self.written = ""
        self.event = TERMINATED
        self.meanwhile: list[int] = []
        monkeypatch.setattr(condor_run, "_run_tool", self.run)

    def run(self, argv: list[str], _: object) -> subprocess.CompletedProcess[str]:
        self.asked.append(argv)
        if argv[0] == "condor_submit":
            self.written = Path(argv[-1]).read_text()
            names = dict(re.findall(r"(\w+) = (\.condor\S+)", self.written))
            for number in self.meanwhile:
                # Another thread of the tests would take what is sent to the process.
                signal.pthread_kill(threading.main_thread().ident or 0, number)
            with Path(names["log"]).open("a") as log:
                log.write(self.event)
            if self.event == TERMINATED:
                Path(names["output"]).write_text("said\n")
        return subprocess.CompletedProcess(argv, 0, "7.0 - 7.0\n", "")


def run_it() -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = condor_run.main(["condor_run", "true"], {}, Streams(io.StringIO(), out, err))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("name", ["run", "submit", "log", "out", "error"])
def test_condor_run_leaves_alone_what_has_its_files_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """A link that somebody planted, or the log of an earlier run of the same process id."""
    tools = Tools(monkeypatch)
    victim, planted = tmp_path / "victim", Path(f".condor_{name}.{os.getpid()}")
    victim.write_text(ABORTED)
    victim.chmod(0o600)
    planted.symlink_to(victim)
    Path(f".condor_log.{os.getpid()}.1").write_text(ABORTED)
    assert run_it() == (3, "said\n", "")
    assert (victim.read_text(), victim.stat().st_mode & 0o777) == (ABORTED, 0o600)
    assert f"executable = .condor_run.{os.getpid()}.2\n" in tools.written
    # It takes away what is its own.
    assert planted.is_symlink()
    assert len(list(tmp_path.glob(".condor_*"))) == 2


def test_condor_run_says_so_where_all_names_are_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(condor_run, "_MOST_NAMES", 2)
    tools, taken = Tools(monkeypatch), f".condor_error.{os.getpid()}"
    (tmp_path / taken).touch()
    (tmp_path / f"{taken}.1").touch()
    code, out, err = run_it()
    assert (code, out, tools.asked) == (1, "", [])
    assert f"cannot write {taken}.1 in the current folder: File exists" in err
    assert len(list(tmp_path.glob(".condor_*"))) == 2


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT, signal.SIGHUP]])
def test_condor_run_takes_its_job_along_whenever_it_is_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, numbers: list[int]
) -> None:
    """Also while condor_submit runs, whose job is in the queue before it has said which it is."""
    tools = Tools(monkeypatch)
    tools.meanwhile = numbers
    code, out, err = run_it()
    assert (code, out) == (255, "")
    assert err in {f"Killed by {signal.Signals(number).name}.\n" for number in numbers}
    assert [argv[0] for argv in tools.asked] == ["condor_submit", "condor_rm"]
    assert tools.asked[1] == ["condor_rm", "7"]
    assert not list(tmp_path.glob(".condor_*"))


def test_condor_run_has_no_output_of_a_job_that_was_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Tools(monkeypatch).event = ABORTED
    assert run_it() == (2, "", "The job was abortedFailed to open job output file.\n")


def test_what_a_macro_function_cannot_do_is_told_before_what_follows_from_it(
    tmp_path: Path,
) -> None:
    lines = 'arguments = $STRING(strcat("a","b"))\n'
    (tmp_path / "job.sub").write_text(f"executable = /bin/echo\n{lines}queue\n")
    code, _, err = submit("-dry-run", "-", "job.sub")
    assert code == 1
    first = "ERROR at Queue statement on Line 3: $STRING macro: '\"b\"' is not a valid format"
    assert err.startswith(f"{first} specifier!\n\t at Step 0, ItemIndex 0\nERROR: ")


def test_a_set_of_jobs_is_a_name_and_is_told_to_be_no_more() -> None:
    for line, warnings in (("jobset = my set", 1), ("", 0)):
        made, _ = jobs_of(f"{line}\nqueue\n")
        warn_of_sets(made)
        said = ["\nWARNING: schedd does not support jobsets."]
        assert list(map(str, made.warnings)) == said[:warnings]


def test_what_is_said_of_a_job_has_its_place_in_both_streams_together(tmp_path: Path) -> None:
    """Recorded from HTCondor 25.14.1: macros are told of where their job begins, the rest last."""
    (tmp_path / "job.sub").write_text(
        "executable = /bin/echo\narguments = $CHOICE(Item,a,b)\nmine = 3\n"
        "requirements = TARGET.Memory > 5\nqueue Item in (0,7)\n"
    )
    both = io.StringIO()
    environment = {"CONDOR_CONFIG": "/dev/null"}
    streams = Streams(io.StringIO(), both, both)
    assert main(["condor_submit", "-dump", "out", "job.sub"], environment, streams) == 0
    lines = both.getvalue().splitlines()
    assert lines[0].startswith("Storing job ClassAd(s).ERROR at Queue statement on Line 5: $CHOICE")
    assert [line.split(" ", 1)[0] for line in lines[1:]] == [
        *("\t", ".", "2", "To", "WARNING:", "WARNING:")
    ]
    assert "refers to TARGET.Memory" in lines[5]
    assert "'mine = 3' was unused" in lines[6]


def test_a_submission_tells_the_way_to_watch_it_before_what_is_odd() -> None:
    """Recorded from HTCondor 25.14.1."""
    both = io.StringIO()
    made, _ = jobs_of("mine = 3\nrequirements = TARGET.Memory > 5\nqueue\n")
    show = Progress(Streams(io.StringIO(), both, both), "Submitting", "submitted", terse=False)
    show.begin()
    show.one()
    show.end(made, 7, way=way_to_watch(7))
    assert [line[:20] for line in both.getvalue().splitlines()] == [
        *("Submitting job(s).", "1 job(s) submitted t", "To monitor your job("),
        *("WARNING: your Requir", "WARNING: the line 'm"),
    ]


def test_a_folder_that_was_deleted_is_named_as_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    # What starts a tool tells of it in one line.
    with pytest.raises(FileNotFoundError, match="the folder that you are in was deleted; go to"):
        submit("-dry-run", "-", str(tmp_path / "job.sub"))


def test_a_dry_run_opens_its_file_once_for_all_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.sub").write_text("executable = /bin/true\nqueue 50\n")
    opened: list[object] = []

    def counted(path: str, *arguments: str, **more: str) -> object:
        opened.append(path)
        return open(path, *arguments, **more)  # type: ignore[call-overload]

    monkeypatch.setattr("kettle.tools.submitting.condor_submit.open", counted, raising=False)
    assert submit("-dry-run", "out", "job.sub")[0] == 0
    assert opened.count("out") == 1
    assert Path("out").read_text().count("\nProcId=") == 50
