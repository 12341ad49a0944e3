"""Programs whose standard streams are closed, or cannot take what is written, do their work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = str(Path(__file__).parents[2] / "src")
TOOL = (
    "import sys; from kettle.tools.programs import run_program as r; sys.exit(r(sys.argv.pop(1)))"
)
DAEMON = "import runpy, sys; sys.argv.pop(0); runpy.run_module(sys.argv[0], run_name='__main__')"
LOST = "the standard output cannot be written"
FULL = f"{LOST}: No space left on device"


def start(redirection: str, code: str, *words: str) -> tuple[int, str, str]:
    """Run a program as a shell with these redirections does; return its code and what it said."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirection}', "sh", sys.executable, "-P", "-c", code, *words],
        env={"PYTHONPATH": SOURCE, "CONDOR_CONFIG": "/dev/null", "PATH": os.environ["PATH"]},
        input="executable = /bin/true\nqueue\n", capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def submit_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streams") / "job.sub"
    path.write_text("executable = /bin/true\nqueue\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("redirection", "heard", "complaint"),
    [
        (">&-", False, ""),
        ("2>&-", True, ""),
        ("<&-", True, ""),
        (">&- 2>&- <&-", False, ""),
        (">/dev/full", False, f"condor_submit: {FULL}\n"),
        ("2>/dev/full", True, ""),
        (">/dev/full 2>&1", False, ""),
        ("1</dev/null", False, f"condor_submit: {LOST}: Bad file descriptor\n"),
    ],
)
def test_a_submit_does_its_work_whatever_its_streams_are(
    submit_file: Path, redirection: str, heard: bool, complaint: str
) -> None:
    ads = submit_file.with_name("ads")
    ads.unlink(missing_ok=True)
    words = ("condor_submit", "-dry-run", str(ads), str(submit_file))
    code, said, problem = start(redirection, TOOL, *words)
    assert (code, problem) == (0, complaint)
    assert ("1 job(s)" in said) is heard
    assert 'Cmd="/bin/true"' in ads.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["condor_version", "condor_config_val", "classad_eval", "kettle"])
def test_a_full_output_is_told_once_and_changes_no_exit_code(name: str) -> None:
    words = {"classad_eval": ("1 + 1",), "kettle": ("-help",), "condor_config_val": ("-dump",)}
    code, _, problem = start(">/dev/full", TOOL, name, *words.get(name, ()))
    assert (code, problem) == (0, f"{name}: {FULL}\n")


def test_a_wrong_word_stays_one_where_nobody_can_be_told() -> None:
    assert start("2>&-", TOOL, "condor_version", "-nonesuch")[0] == 1
    assert start("2>/dev/full", TOOL, "condor_version", "-nonesuch")[0] == 1


def test_what_is_read_from_a_closed_input_is_nothing(tmp_path: Path) -> None:
    code, _, problem = start("<&-", TOOL, "condor_submit", "-dry-run", str(tmp_path / "ads"), "-")
    assert code == 1
    assert "No 'executable' parameter was provided" in problem


def test_an_input_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    ads = str(tmp_path / "ads")
    code, _, problem = start("0>/dev/null", TOOL, "condor_submit", "-dry-run", ads, "-")
    assert (code, problem) == (1, "ERROR: Bad file descriptor\n")


def test_a_reader_that_goes_away_ends_a_tool_without_a_word() -> None:
    wide = 'strcat("x", repeat("y", 100000))'
    code, _, problem = start("| true", TOOL, "classad_eval", *[wide] * 20)
    assert (code, problem) == (0, "")


@pytest.mark.parametrize("name", ["startd", "shadow", "starter"])
def test_daemons_say_their_usage_into_what_is_full_or_closed(name: str) -> None:
    words = (f"kettle.{name}", "-help")
    assert start(">/dev/full", DAEMON, *words) == (0, "", f"condor_{name}: {FULL}\n")
    assert start(">&- 2>&- <&-", DAEMON, *words) == (0, "", "")


def _unheard(name: str, *words: str) -> int:
    """Return the exit code of a program whose words nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-P", "-c", TOOL, name, *words],
        env={"PYTHONPATH": SOURCE, "CONDOR_CONFIG": "/dev/null", "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL, stdout=writer, stderr=writer, timeout=60, check=False,
    )  # fmt: skip
    os.close(writer)
    return done.returncode


@pytest.mark.parametrize("name", ["condor_rm", "condor_qedit", "condor_prio", "condor_reconfig"])
def test_what_acts_tells_by_its_exit_code_what_it_did_though_nobody_listens(name: str) -> None:
    # There is no schedd, and no daemon: nothing was done.
    words = {"condor_qedit": ("1", "A", "1"), "condor_prio": ("-p", "1", "1")}
    assert _unheard(name, *words.get(name, ("-all",))) == 1
    assert _unheard(name, "-version") == 0


def test_what_answers_ends_when_nobody_listens() -> None:
    assert _unheard("condor_version") == -signal.SIGPIPE
