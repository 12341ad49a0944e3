"""`condor_history`: whose history, which kinds of records, and what counts as looked at."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

# Of each: banner's word, cluster, proc, owner; the newest last.
EPOCHS = (
    ("EPOCH", 1, 0, "ann"),
    ("INPUT", 2, 0, "ann"),
    ("OUTPUT", 3, 0, "ben"),
    ("CHECKPOINT", 4, 0, "ben"),
    ("STARTER", 5, 0, "ben"),
    ("EPOCH", 6, 0, "ann"),
)


def record(word: str, cluster: int, proc: int, owner: str) -> str:
    return (
        f'ClusterId = {cluster}\nProcId = {proc}\nOwner = "{owner}"\n'
        f'*** {word} ClusterId={cluster} ProcId={proc} RunInstanceId=0 Owner="{owner}" '
        f"CurrentTime=5\n"
    )


def run(folder: Path, *words: str, more: str = "") -> tuple[int, str, str]:
    """Run the tool in a folder with an epoch history, a history and a schedd's own."""
    (folder / "epochs").write_text("".join(record(*row) for row in EPOCHS))
    jobs = [("", number, 0, "ann" if number < 4 else "ben") for number in range(1, 7)]
    (folder / "history").write_text("".join(record(*row) for row in jobs))
    (folder / "own").write_text(
        "TotalRunningJobs = 7\nTotalHeldJobs = 2\nRecentDaemonCoreDutyCycle = 0.25\n"
        "RecordWriteDate = 1700000000\n*** SCHEDD CurrentTime=1700000000\n"
    )
    config = folder / "config"
    config.write_text(
        f"HISTORY = {folder}/history\nJOB_EPOCH_HISTORY = {folder}/epochs\n"
        f"SCHEDD_DAEMON_HISTORY = {folder}/own\n{more}"
    )
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    environment = {"CONDOR_CONFIG": str(config), "PATH": "/bin", "TZ": "UTC"}
    code: int = load_tool("condor_history")(["condor_history", *words], environment, streams)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


@pytest.mark.parametrize(("words", "clusters"), [([], "2 1"), (["-forwards"], "1 2")])
def test_the_records_of_a_pipe_are_shown_newest_first(
    tmp_path: Path, words: list[str], clusters: str
) -> None:
    """The reference shows none of them without `-forwards`."""
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w") as pipe:
        pipe.write(record("", 1, 0, "ann") + record("", 2, 0, "ann"))
        pipe.close()
        code, said, complaint = run(
            tmp_path, "-file", f"/dev/fd/{reading}", *words, "-af", "ClusterId"
        )
    assert (code, said.split(), complaint) == (0, clusters.split(), "")


def test_what_cannot_be_read_backwards_is_told_in_words(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    name = os.ttyname(theirs)
    # In a process that leads no session: what opens a terminal there makes it the session's own,
    # and is hung up when it closes.
    words = [
        "-c",
        "from kettle.tools.programs import run_program; exit(run_program('condor_history'))",
    ]
    try:
        done = subprocess.run(
            [sys.executable, *words, "-file", name],
            env={**os.environ, "CONDOR_CONFIG": "ONLY_ENV"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error opening history file {name}: ")
    assert "seekable" in done.stderr


@pytest.mark.parametrize(
    ("words", "clusters"),
    [
        (["-epochs"], "6 1"),
        (["-epochs", "-type", "starter"], "5"),
        (["-epochs", "-type", "STARTER,OutPut"], "5 3"),
        (["-epochs", "-type", "transfer"], "4 3 2"),
        (["-epochs", "-type", "ALL"], "6 5 4 3 2 1"),
        (["-epochs", "-type", "nonesuch"], ""),
        (["-transfer"], "4 3 2"),
        (["-transfer-history:oI"], "3 2"),
        (["-transfer:c"], "4"),
        # What a banner rules out is not looked at.
        (["2", "1.0", "-scanlimit", "2"], "2 1"),
        (["ann", "-scanlimit", "2"], "3 2"),
        (["-scanlimit", "2"], "6 5"),
        (["-stream", "-limit", "1"], "6"),
        (["-stream-results:false", "-limit", "1"], "6"),
        (["-since", "ClusterId == 4"], "6 5"),
        (["-constraint", "ClusterId < 3", "-scanlimit", "2"], ""),
    ],
)
def test_the_records_meant_are_shown(tmp_path: Path, words: list[str], clusters: str) -> None:
    code, said, complaint = run(tmp_path, *words, "-af", "ClusterId")
    assert (code, complaint) == (0, "")
    assert said.split() == clusters.split()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-transfer"], "-transfer-history does not have a default print table"),
        (["-transfer:q"], "Unknown -transfer-history extra attribute 'q'"),
        (["-startd", "-epochs"], "-startd can not be used in association with -epochs"),
        (["-daemon:foo"], "No daemon history to read: FOO_DAEMON_HISTORY undefined"),
        (["-extract", "x"], "-extract requires a constraint for which ClassAds to copy"),
        (["-extract", "x", "-name", "y", "1"], "-extract can only be used when reading directly"),
        (["-completedsince", "2099-01-01"], "'2099-01-01' not valid parameter for -completedsince"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: list[str], complaint: str) -> None:
    code, said, why = run(tmp_path, *words)
    assert code != 0
    assert f"Error: {complaint}" in why
    assert "1.0" not in said
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("words", [["-daemon"], ["-daemon:schedd"]])
def test_what_a_schedd_recorded_of_itself_has_a_table_of_its_own(
    tmp_path: Path, words: list[str]
) -> None:
    code, said, complaint = run(tmp_path, *words)
    assert (code, complaint) == (0, "")
    headings, row = said.splitlines()
    assert headings.split()[:5] == [
        "TIMESTAMP",
        "DUTY_CYCLE",
        *["RunningJobs", "IdleJobs", "HeldJobs"],
    ]
    assert headings.split()[5:] == [
        "Download",
        "Waiting",
        "WaitingMB",
        "Upload",
        "Waiting",
        "WaitingMB",
    ]
    assert row.split()[2:] == ["25.00%", "7", "0", "2", "0", "0", "0.00", "0", "0", "0.00"]


@pytest.mark.parametrize("way", ["-forwards", "-backwards"])
def test_a_record_may_end_with_a_banner_that_says_nothing(tmp_path: Path, way: str) -> None:
    path = tmp_path / "bare"
    path.write_text("Foo = 1\n***\nFoo = 2\n***\n")
    code, said, complaint = run(tmp_path, way, "-file", str(path), "-af", "Foo")
    assert (code, complaint) == (0, "")
    assert said.split() == (["1", "2"] if way == "-forwards" else ["2", "1"])


USER_LOG = Path(__file__).parents[1] / "data/cli/condor_q/user.log"


@pytest.mark.parametrize(("way", "clusters"), [("-backwards", "[4,2,1]"), ("-forwards", "[1,2,4]")])
def test_a_damaged_record_hides_no_other_one(tmp_path: Path, way: str, clusters: str) -> None:
    text = "".join(record("", number, 0, "ann") for number in (1, 2, 3, 4, 5))
    for number in (3, 5):
        text = text.replace(f"ClusterId = {number}\n", f"ClusterId = {number}\nno record\n")
    (tmp_path / "damaged").write_text(text)
    code, out, complaint = run(tmp_path, "-file", f"{tmp_path}/damaged", way, "-json")
    assert code == 0
    assert [ad["ClusterId"] for ad in json.loads(out)] == json.loads(clusters)
    assert complaint == "\t*** Warning: Bad history file; skipping malformed ad(s)\n"


def test_a_user_log_gives_run_time_and_end(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, "-userlog", str(USER_LOG))
    # Recorded from HTCondor 25.14.1.
    row = f"100.0        {USER_LOG.owner():<14.14}  1/15 06:00   0+00:09:00 C   1/15 06:10 ???\n"
    assert (code, out.splitlines(keepends=True)[1]) == (0, row)


@pytest.mark.parametrize(
    ("words", "procs"),
    [
        ("", "0 1 2"),
        ("-limit 2", "0 1"),
        ("-match 1", "0"),
        ("-limit 0", "0 1 2"),
        ("-scanlimit 2 -constraint ProcId>0", "1"),
        ("-since 7.0", "1 2"),
        ("-since 7.2", ""),
        ("-since ProcId<2", "2"),
        ("-since 99.0", "0 1 2"),
    ],
)
def test_limits_hold_for_a_user_log(words: str, procs: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    submitted = (
        "000 (007.00{0}.000) 2026-01-02 03:04:05 Job submitted from host: <127.0.0.1:9>\n...\n"
    )
    log.write_text("".join(submitted.format(proc) for proc in range(3)))
    code, out, _ = run(tmp_path, "-userlog", str(log), *words.split(), "-af", "ProcId")
    assert (code, out.split()) == (0, procs.split())


def test_records_are_copied_out_only_by_a_constraint(tmp_path: Path) -> None:
    said = "Error: -extract requires a constraint for which ClassAds to copy\n"
    assert run(tmp_path, "-extract", str(tmp_path / "to")) == (1, "", said)
    here = "Error: -extract can only be used when reading directly from a history file\n"
    assert run(tmp_path, "-name", "ap@", "-extract", str(tmp_path / "to")) == (1, "", here)
    assert run(tmp_path, "-extract", str(tmp_path / "to"), "-constraint", "ClusterId == 2")[0] == 0
    assert "ClusterId = 2\n" in (tmp_path / "to").read_text()


def test_a_search_may_find_no_file_and_a_pool_alone_asks_nobody(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "-search", str(tmp_path / "nothing"))
    assert (code, out.count("\n"), err) == (0, 1, "")
    code, out, _ = run(tmp_path, "-pool", "nowhere.invalid", "-af", "ClusterId")
    assert (code, out.split()) == (0, ["6", "5", "4", "3", "2", "1"])


def test_runs_are_read_from_a_folder_with_a_file_for_each_job(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for cluster, proc in ((10, 0), (9, 0), (9, 1)):
        text = record("EPOCH", cluster, proc, "ann")
        (folder / f"job.runs.{cluster}.{proc}.ads").write_text(text)
    (folder / "history").write_text(record("", 7, 0, "ann"))
    words = ["-dir", "-search", str(folder), "-af", "ClusterId", "ProcId"]
    # As in the reference no other history is looked for in a folder.
    assert run(tmp_path, *words) == (0, "", "")
    assert run(tmp_path, "-epochs", *words) == (0, "10 0\n9 1\n9 0\n", "")
    assert run(tmp_path, "-epochs", "-forwards", "9", *words) == (0, "9 0\n9 1\n", "")


def test_run_files_are_deleted_only_when_all_of_them_is_read(tmp_path: Path) -> None:
    """JOB_EPOCH_HISTORY_DIR with -epochs:d, as in HTCondor, which deletes the unread ones too."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for proc in (0, 1):
        (folder / f"job.runs.9.{proc}.ads").write_text(record("EPOCH", 9, proc, "ann") * 2)
    words = ["-dir", "-epochs:d", "-af", "ClusterId", "ProcId"]
    knob = f"JOB_EPOCH_HISTORY_DIR = {folder}\n"
    complaint = "Error: -epoch:d (delete) cannot be used with"
    for others, said in (
        (["-limit", "1"], "-limit or -match."),
        (["-match", "1"], "-limit or -match."),
        (["-scanlimit", "1"], "-scanlimit."),
        (["-constraint", "ProcId == 0"], "-constraint, -since or an owner."),
    ):
        code, out, err = run(tmp_path, *others, *words, more=knob)
        assert (code, out) == (1, "")
        assert f"{complaint} {said}" in err
    assert len(list(folder.iterdir())) == 2
    assert run(tmp_path, "9.1", *words, more=knob) == (0, "9 1\n9 1\n", "")
    assert [path.name for path in folder.iterdir()] == ["job.runs.9.0.ads"]
    assert run(tmp_path, *words, more=knob) == (0, "9 0\n9 0\n", "")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("word", ["true", "false", "undefined", "=="])
def test_a_search_is_ended_by_a_job_or_by_what_a_record_may_be(tmp_path: Path, word: str) -> None:
    code, said, complaint = run(tmp_path, "-since", word)
    assert (code, said) == (1, "")
    assert complaint == (
        f"Error: invalid -since constraint: {word}\n\tconstraint must be a job-id, or expression.\n"
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("WHERE ClusterId > 4", "6 5"),
        ('WHERE ClusterId > 2 && Owner == "ann"', "3"),
        ("WHERE false", ""),
    ],
)
def test_a_condition_of_a_print_format_chooses_records(
    tmp_path: Path, lines: str, said: str
) -> None:
    """25.14.1: `WHERE expression is not valid: …`, exit code 1, whatever the condition is."""
    wanted = tmp_path / "wanted.cpf"
    wanted.write_text(f"SELECT\n  ClusterId\n{lines}\n")
    words = ("-file", str(tmp_path / "history"), "-print-format", str(wanted))
    code, out, err = run(tmp_path, *words)
    assert (code, out.split(), err) == (0, ["ClusterId", *said.split()], "")


def test_a_node_without_a_name_has_its_owner_and_no_complaint(tmp_path: Path) -> None:
    """25.14.1: `DAG node job with no DAGNodeName attribute!` for each, on stderr."""
    wanted = tmp_path / "wanted.cpf"
    wanted.write_text("SELECT\n  Owner PRINTAS DAG_OWNER\n")
    nodes = tmp_path / "nodes"
    nodes.write_text('Owner = "ann"\nDAGManJobId = 3\n*** Offset = 0 ClusterId = 7\n')
    said = run(tmp_path, "-file", str(nodes), "-print-format", str(wanted))
    assert said == (0, "Owner\nann  \n", "")


def test_a_condition_of_a_print_format_that_does_not_parse_is_refused(tmp_path: Path) -> None:
    wanted = tmp_path / "wanted.cpf"
    wanted.write_text("SELECT\n  ClusterId\nWHERE JobStatus ==\n")
    words = ("-file", str(tmp_path / "history"), "-print-format", str(wanted))
    complaint = "Error:  could not parse constraint ( (JobStatus ==) )\n"
    assert run(tmp_path, *words) == (1, "", complaint)
