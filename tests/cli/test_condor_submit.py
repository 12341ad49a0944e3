"""What `condor_submit` does with its options; recorded from HTCondor 25.14.1 where it prints."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.programs import Streams
from kettle.tools.submitting.condor_submit import main, parse_arguments

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
    assert (code, out) == (1, "Dry-Run job(s)\n")
    assert "on Line 1 of job.sub" in err


def test_the_queue_statement_ends_at_the_next_option() -> None:
    request = parse_arguments(["-queue", "3", "in", "a", "-dry-run", "-", "job.sub"])
    assert (request.queue, request.dry_file, request.file) == ("3 in a", "-", "job.sub")
    code, out, err = submit("-queue", "3", "-dry-run", "-", "job.sub")
    assert (code, out) == (1, "Dry-Run job(s)\n")
    assert "-queue argument conflicts with queue statement in submit file" in err
