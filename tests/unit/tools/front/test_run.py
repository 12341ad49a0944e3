"""What `kettle run` makes of the files it is given."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from kettle.errors import NotFoundError, UsageError
from kettle.octets import to_bytes
from kettle.records.event_ends import JobTerminatedEvent
from kettle.tools.front.batch import Batch, Ending, PoolGoneError, Tally
from kettle.tools.front.run import (
    OutputShower,
    build_parser,
    choose_exit_code,
    find_files,
    read_request,
    report,
    tell_what_becomes,
)
from kettle.tools.programs import Streams


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b[1].txt", "b1.txt", "c?.dat"):
        Path(name).write_text(name)
    Path("folder").mkdir()
    return tmp_path


def names(found: list[str]) -> list[str]:
    assert all(os.path.isabs(path) for path in found)
    return [os.path.basename(path) for path in found]


def test_a_name_that_a_shell_has_expanded_is_that_file(files: Path) -> None:
    assert names(find_files(["a.txt", "b[1].txt", "folder"])) == ["a.txt", "b[1].txt"]
    assert names(find_files([str(files / "*.txt")])) == ["a.txt", "b1.txt", "b[1].txt"]


def test_a_file_that_several_patterns_match_is_one_job(files: Path) -> None:
    assert names(find_files(["b*.txt", "*.txt"])) == ["b1.txt", "b[1].txt", "a.txt"]


@pytest.mark.parametrize(
    ("patterns", "named"),
    [(["a.txt", "z*"], "z*"), (["gone.txt"], "gone.txt"), (["folder"], "folder")],
)
def test_a_pattern_without_a_file_is_named(files: Path, patterns: list[str], named: str) -> None:
    with pytest.raises(NotFoundError) as failure:
        find_files(patterns)
    assert str(failure.value).startswith(f"no file matches {named}")


@pytest.mark.parametrize("words", [[], ["--"], ["--json"], ["--each-file", "a.txt", "--"]])
def test_that_there_is_no_command_is_one_sentence(files: Path, words: list[str]) -> None:
    assert files.is_dir()
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    with pytest.raises(UsageError, match="there is no command to run"):
        read_request(build_parser().parse_args(words), streams)


@pytest.mark.parametrize(
    ("ending", "total", "code", "said"),
    [
        (Ending(removed=True), 1, 1, "job 7.0 was removed\n"),
        (Ending(code=3), 1, 3, ""),
        (Ending(removed=True), 2, 1, "job 7.0 was removed\n"),
    ],
)
def test_that_a_job_was_removed_is_said_and_is_no_success(
    tmp_path: Path, ending: Ending, total: int, code: int, said: str
) -> None:
    batch = Batch({}, tmp_path)
    batch.cluster = 7
    tally = Tally(total, ended={0: ending, **{proc: Ending(code=0) for proc in range(1, total)}})
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    report(batch, tally, streams)
    assert streams.stderr.getvalue() == said  # type: ignore[attr-defined]
    assert choose_exit_code(tally) == code


def test_of_a_pool_that_was_purged_nobody_says_that_its_jobs_are_queued(tmp_path: Path) -> None:
    config = tmp_path / "condor_config"
    batch = Batch({"CONDOR_CONFIG": str(config)}, tmp_path)
    batch.cluster = 7
    gone = PoolGoneError("the pool does not answer any more")
    purged = tell_what_becomes(batch, gone, " --dir p")
    assert str(purged) == (
        "the pool has been removed, and with it the jobs of cluster 7 that had not ended "
        "(kettle up --dir p makes a new pool, in which they can be run again)"
    )
    assert purged.for_ever
    removal = batch.remove()
    assert removal.done
    assert removal.said == "The pool is gone, and the jobs of cluster 7 with it."
    config.write_text("SCHEDD_HOST = nowhere.invalid\n")
    stopped = tell_what_becomes(batch, gone, " --dir p")
    assert "the jobs of cluster 7 that have not ended are still queued" in str(stopped)
    assert f"their output comes to {tmp_path}" in str(stopped)
    assert not stopped.for_ever


@pytest.mark.parametrize(("several", "shown"), [(False, b"a\r\n\xff b"), (True, b"a\r\n\xff b\n")])
def test_a_single_job_s_output_is_shown_byte_for_byte(
    tmp_path: Path, several: bool, shown: bytes
) -> None:
    (tmp_path / "out.0").write_bytes(b"a\r\n\xff b")
    streams = Streams(io.StringIO(), io.StringIO(newline=""), io.StringIO())
    shower = OutputShower(tmp_path, streams, shown=True, several=several)
    shower.on_event(JobTerminatedEvent(cluster=1, proc=0))
    assert to_bytes(streams.stdout.getvalue()) == shown  # type: ignore[attr-defined]
