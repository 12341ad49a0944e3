"""What a submit description would do is counted, and its faults are found where they stand."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.errors import SubmitError
from kettle.submit.build import read_submission
from kettle.submit.check import Report, check_submission
from kettle.submit.sources import MemorySubmitSources, SubmitFacts

FILES = {
    "bad.inc": "\nfoo bar\n",
    "run.sh": "#!/bin/sh\n",
    "in.0": "x" * 100,
    "in.1": "y" * 50,
    "common.dat": "z" * 10,
}


def check(text: str, **more: object) -> Report:
    facts = SubmitFacts(
        now=1_700_000_000,
        user="me",
        folder="/work",
        file_name="job.sub",
        version="v",
        platform="p",
        environment={},
    )
    sources = MemorySubmitSources(dict(FILES))
    submission = read_submission(text, sources, Config.from_text("", subsystem="SUBMIT"), facts)
    return check_submission(submission, **more)  # type: ignore[arg-type]


def test_jobs_files_and_sizes_are_counted() -> None:
    report = check(
        "executable = run.sh\ninput = in.$(Process)\n"
        "transfer_input_files = common.dat, http://x/y\nrequest_cpus = 2\nqueue 2\n"
    )
    assert report.findings == []
    assert (report.jobs, report.universe, report.urls) == (2, "vanilla", 1)
    assert report.requests["RequestCpus"] == "2"
    assert [file.path for file in report.inputs] == [
        "/work/run.sh",
        "/work/in.0",
        "/work/common.dat",
        "/work/in.1",
    ]
    assert (report.most_bytes, report.total_bytes) == (120, 120 + 70)


@pytest.mark.parametrize(
    ("items", "total"), [("0 1 0", 110 + 60 + 110), ("1 0 1", 60 + 110 + 60), ("0 0 1", 280)]
)
def test_an_item_that_returns_has_its_own_size(items: str, total: int) -> None:
    report = check(f"executable = run.sh\ninput = in.$(Item)\nqueue in ({items})\n")
    assert (report.most_bytes, report.total_bytes) == (110, total)


def test_a_fault_is_not_said_of_the_command_error() -> None:
    report = check(
        "executable = run.sh\nerror = err.txt\noutput = out.txt\nlog = job.log\n"
        "on_exit_hold = (ExitCode != 0\nqueue\n"
    )
    (finding,) = report.findings
    assert (finding.name, finding.line) == ("on_exit_hold", 5)
    assert "^" in finding.hint


def test_a_missing_input_is_an_error_at_its_line_with_the_nearest_file() -> None:
    report = check("executable = run.sh\ntransfer_input_files = comon.dat\nqueue\n")
    (finding,) = report.findings
    assert (finding.severity, finding.kind, finding.place) == (
        "error",
        "missing",
        "job.sub, line 2",
    )
    assert finding.sentence == "/work/comon.dat is not there"
    assert [file.path for file in report.missing] == ["/work/comon.dat"]


def test_a_misspelt_command_is_named_with_the_nearest_one() -> None:
    (finding,) = check("executable = run.sh\nrequst_memory = 1GB\nqueue\n").findings
    assert (finding.severity, finding.kind, finding.line) == ("warning", "unknown", 2)
    assert finding.nearest == "request_memory"


def test_a_misspelt_request_is_told_once() -> None:
    (finding,) = check("executable = run.sh\nrequest_cpu = 4\nqueue\n").findings
    assert (finding.kind, finding.line, finding.nearest) == ("unknown", 2, "request_cpus")


@pytest.mark.parametrize("line", ["requirements = (Disk >", "request_memory = 5x5", "+x = 1 +"])
def test_what_is_no_expression_is_told_without_what_would_be_made_of_it(line: str) -> None:
    error = check(f"executable = run.sh\n{line}\nqueue\n").refusal
    assert error is not None
    name, _, text = line.partition(" = ")
    assert error.line == 2
    assert error.sentence == f"what {name.replace('+', 'MY.')} says is no expression"
    drawn = error.hint.split("\n")[-2:]
    assert drawn[0].strip() == text
    assert "^" in drawn[1]


def test_so_it_is_where_no_job_can_be_made() -> None:
    slip, error = check("exectuable = run.sh\nfoo = 1\nqueue\n").findings
    assert error.severity == "error"
    assert (slip.line, slip.nearest) == (1, "executable")


def test_a_line_that_nothing_uses_is_a_note() -> None:
    (finding,) = check("executable = run.sh\nzork = 1\nqueue\n").findings
    assert (finding.severity, finding.kind, finding.line) == ("note", "unused", 2)


def test_a_value_that_means_nothing_is_an_error_at_its_line() -> None:
    report = check("executable = run.sh\nwhen_to_transfer_output = SOMETIMES\nqueue\n")
    (finding,) = report.findings
    assert (finding.severity, finding.line, finding.name) == (
        "error",
        2,
        "when_to_transfer_output",
    )
    assert report.jobs == 0


def test_where_an_expression_does_not_parse_is_drawn() -> None:
    report = check("executable = run.sh\nrank = Memory +\nqueue\n")
    (finding,) = report.findings
    assert finding.place == "job.sub, line 2"
    assert finding.hint.split("\n")[1:] == [
        "           Memory +",
        "                   ^ expected a value, not the end",
    ]


def test_a_line_that_is_none_is_an_error_at_its_line() -> None:
    (finding,) = check("executable = run.sh\nfoo bar\nqueue\n").findings
    assert (finding.severity, finding.kind, finding.place) == (
        "error",
        "syntax",
        "job.sub, line 2",
    )
    assert "ERROR" not in finding.sentence
    assert "\n" not in finding.sentence


def test_a_condition_that_can_never_be_true_is_a_warning() -> None:
    report = check("executable = run.sh\nperiodic_hold = Tries > 3 && Tries < 2\nqueue\n")
    (finding,) = report.findings
    assert (finding.severity, finding.kind, finding.line) == ("warning", "never", 2)
    assert finding.sentence.startswith("periodic_hold can never be true: Tries > 3 and")


def test_a_call_that_is_always_an_error_is_told() -> None:
    text = 'executable = run.sh\nrequirements = regexp("a[", Name)\nrank = strcatt(Name)\nqueue\n'
    found = check(text).findings
    assert [(one.kind, one.line, one.nearest) for one in found] == [
        ("call", 2, ""),
        ("call", 3, "strcat"),
    ]


def test_what_no_schedd_takes_is_an_error() -> None:
    def refuse(universe: int | None) -> None:
        raise SubmitError(f"universe {universe} is none of ours")

    (finding,) = check("universe = vanilla\nexecutable = run.sh\nqueue\n", refuse=refuse).findings
    assert (finding.severity, finding.line) == ("error", 1)
    assert finding.sentence == "universe 5 is none of ours"


def test_a_program_that_stays_is_not_looked_for() -> None:
    text = "executable = /opt/there\ntransfer_executable = false\nqueue\n"
    report = check(text)
    assert report.inputs == []
    assert report.findings == []


@pytest.mark.parametrize("count", [1, 1000])
def test_a_file_of_all_jobs_is_looked_at_once(count: int) -> None:
    report = check(f"executable = run.sh\narguments = $(Process)\nqueue {count}\n")
    assert (report.jobs, len(report.inputs)) == (count, 1)
    assert report.total_bytes == count * len(FILES["run.sh"])


def test_of_very_many_missing_files_the_last_finding_says_how_many_more() -> None:
    report = check("executable = run.sh\ntransfer_input_files = f.$(Process)\nqueue 60\n")
    assert len(report.missing) == 60
    assert len(report.findings) == 51
    assert report.findings[-1].sentence == "… and 10 more, up to /work/f.59"
    assert report.findings[-1].nearest == ""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("+Mine = (", "MY.Mine"),
        ("MY.Mine = (", "MY.Mine"),
        ("initialdir = nowhere/$(Process)", "initialdir"),
        ("request_cpus = many of them", "request_cpus"),
    ],
)
def test_a_fault_is_found_by_what_the_complaint_repeats(line: str, name: str) -> None:
    (finding,) = check(f"executable = run.sh\narguments = 3\n{line}\nqueue\n").findings
    assert (finding.severity, finding.line, finding.name) == ("error", 3, name)


def test_a_fault_in_an_included_file_is_where_it_is() -> None:
    (finding,) = check("executable = run.sh\ninclude : bad.inc\nqueue\n").findings
    assert finding.place == "bad.inc, line 2"
    assert finding.sentence == '"foo bar" is neither an assignment nor a statement'


@pytest.mark.parametrize(
    ("line", "severity", "sentence"),
    [
        (
            "output = gone/x.out",
            "warning",
            "the folder /work/gone is not there: the job is held at its end",
        ),
        ("log = /gone/x.log", "warning", "the folder /gone is not there: the job is held"),
        (
            "request_cpus = -1",
            "warning",
            "request_cpus is below zero: no machine has less than nothing",
        ),
        ("concurrency_limits = a:b", "error", "a:b is no limit: a name, or NAME:NUMBER"),
        (
            "cron_minute = a",
            "error",
            "Invalid parameter value 'a' for CronMinute: the jobs would be held",
        ),
        (
            "cron_day_of_week = */0",
            "error",
            "a step of 0 comes to nothing: the jobs would be held",
        ),
        (
            "arguments = $(Undefnd)",
            "warning",
            "arguments mentions $(Undefnd), and nothing sets Undefnd",
        ),
    ],
)
def test_what_would_be_taken_and_comes_to_nothing_is_told_at_its_line(
    line: str, severity: str, sentence: str
) -> None:
    report = check(f"executable = run.sh\n{line}\nqueue\n")
    found = [(f.severity, f.line, f.sentence) for f in report.findings]
    assert (severity, 2, sentence) in found


def test_a_macro_that_is_nearly_set_is_named_and_those_of_the_queue_are_known() -> None:
    report = check(
        "executable = run.sh\nname = x\narguments = $(naem) $(Item) $(ClusterId) $$(Memory) $(n:3)"
        "\nqueue\n"
    )
    (found,) = [f for f in report.findings if f.kind == "undefined"]
    assert (found.line, found.name, found.nearest) == (3, "arguments", "name")


def test_lines_that_end_otherwise_than_they_look_are_told_of() -> None:
    report = check("executable = job.sh \\\n# note\nqueue\narguments = 1 \\")
    odd = [(one.kind, one.line, one.name) for one in report.findings]
    assert ("cut", 3, "queue") in odd
    assert ("backslash", 4, "\\") in odd


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        # What lacks is told where it is called for: the kind of job, else the jobs themselves.
        ("executable = run.sh\nuniverse = parallel\nqueue\n", 2, "No machine_count specified!"),
        ("executable = run.sh\nWantParallelScheduling = true\nqueue\n", 2, "No machine_count spec"),
        ("arguments = 1\n\nqueue 2\n", 3, "No 'executable' parameter was provided"),
        (
            "executable = run.sh\nuniverse = grid\ngrid_resource = ec2 https://e/\nqueue\n",
            3,
            "EC2 jobs require",
        ),
        ("executable = run.sh\nuniverse = vm\nvm_type = kvm\nqueue\n", 2, "vm_memory cannot be"),
        # What is wrong with a value is told at its line, whatever the complaint calls it.
        ("executable = run.sh\nkill_sig = 0\nqueue\n", 2, "invalid signal 0"),
        ("executable = run.sh\nimage_size = -1\nqueue\n", 2, "Image Size must be positive"),
        ("executable = run.sh\ninitialdir = 'x'\nqueue\n", 2, "No such directory"),
        ("executable = run.sh\nx509userproxy = nope\nqueue\n", 2, "unable to read proxy file"),
        ("executable = run.sh\narguments2 = $(x)\nqueue x in (1)\n", 2, "Expecting double-quoted"),
        ('executable = run.sh\nconcurrency_limits = "\nqueue\n', 2, "Invalid concurrency limit"),
        ("executable = run.sh\ncontainer_image = nope\nqueue\n", 2, "/work/nope is not there"),
    ],
)
def test_every_fault_has_its_line(text: str, line: int, sentence: str) -> None:
    faults = [one for one in check(text).findings if one.severity == "error"]
    assert [(one.line, sentence in one.sentence) for one in faults][:1] == [(line, True)]


def test_no_more_files_are_looked_at_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kettle.submit.check.MOST_FILES", 2)
    report = check("executable = run.sh\ntransfer_input_files = in.0, in.1, no.such\nqueue\n")
    assert [file.path for file in report.inputs] == ["/work/run.sh", "/work/in.0"]
    assert [finding for finding in report.findings if finding.kind == "missing"] == []
    # Values that are forgotten are worked out anew.
    report = check("executable = run.sh\ninput = in.$(Process)\nqueue 2\n")
    assert [file.path for file in report.inputs] == ["/work/run.sh", "/work/in.0"]


@pytest.mark.parametrize("folder", ["a[b]", "a?", "a*"])
def test_a_folder_that_is_a_pattern_has_no_nearest_file(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FILES, "/work/ab/data.in", "x")
    nearest = {
        path: next(
            finding.nearest
            for finding in check(f"executable = run.sh\ninput = {path}\nqueue\n").findings
            if finding.kind == "missing"
        )
        for path in ("ab/data.im", f"{folder}/data.im")
    }
    assert nearest == {"ab/data.im": "data.in", f"{folder}/data.im": ""}


@pytest.mark.parametrize(
    ("lines", "name", "nearest"),
    [
        ("requirements = Memry > 10", "Memry", "Memory"),
        ("requirements = TARGET.OpSy == 1 && Memory > 1", "OpSy", "OpSys"),
        ("rank = KeybordIdle", "KeybordIdle", "KeyboardIdle"),
        ("+Requirements = Cpu > 1", "Cpu", "Cpus"),
    ],
)
def test_an_attribute_that_is_nearly_one_of_machines_is_told_of(
    lines: str, name: str, nearest: str
) -> None:
    report = check(f"executable = run.sh\n{lines}\nqueue\n")
    (found,) = [one for one in report.findings if one.kind == "attribute"]
    assert (found.severity, found.line, found.nearest) == ("warning", 2, nearest)
    assert f" asks for {name}, " in found.sentence


@pytest.mark.parametrize(
    "lines",
    [
        "requirements = Memory > 10 && HasFoo && GLIDEIN_Site == 1 && foo.Memry",
        "requirements = Memry > 10\n+Memry = 5",
        "requirements = Cpuz > 1\nrequest_cpuz = 1",
        "requirements = HasDockerURL && (",
        "rank = JobPrio + Mips",
    ],
)
def test_an_attribute_that_somebody_has_or_may_have_is_not_told_of(lines: str) -> None:
    report = check(f"executable = run.sh\n{lines}\nqueue\n")
    assert [one for one in report.findings if one.kind == "attribute"] == []
