"""Small words of `condor_q`: codes after -help, precisions, schedds without jobs.

Recorded from HTCondor 25.14.1.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from kettle.classad import ClassAd
from kettle.tools.printing.ad_filter import AdFilter
from kettle.tools.programs import Streams
from kettle.tools.queue import condor_q, sources
from kettle.tools.queue.sources import ALL_EMPTY, Answer
from kettle.tools.queue.usage import USAGE
from kettle.tools.queue.wish import Wish

if TYPE_CHECKING:
    from kettle.tools.reach import Reach

UNIVERSES = """\
    JobUniverse codes:
\t 1 Standard
\t 4 PVM
\t 5 Vanilla
\t 6 PVMD
\t 7 Scheduler
\t 8 MPI
\t 9 Grid
\t10 Java
\t11 Parallel
\t12 Local
\t13 VM

"""
STATES = """\
    JobStatus codes:
\t 1 I IDLE
\t 2 R RUNNING
\t 3 X REMOVED
\t 4 C COMPLETED
\t 5 H HELD
\t 6 > TRANSFERRING_OUTPUT
\t 7 S SUSPENDED
\t 8 F FAILED
\t 9 B BLOCKED
\t10 P PREPARING

"""


def run(*words: str, **knobs: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    streams = Streams(io.StringIO(), out, err)
    settings = {f"_CONDOR_{name}": value for name, value in knobs.items()}
    environment = {"CONDOR_CONFIG": "/dev/null", **settings}
    code = condor_q.main(["condor_q", *words], environment, streams)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("", ""),
        ("Universe", UNIVERSES),
        ("uni", UNIVERSES),
        ("un", ""),
        ("UNI", ""),
        ("State", STATES),
        ("st", STATES),
        ("S", ""),
        ("foo State Universe", UNIVERSES + STATES),
        ("State -name Universe", STATES),
        ("foo", ""),
    ],
)
def test_help_lists_codes(words: str, more: str) -> None:
    assert run("-help", *words.split()) == (0, USAGE + more, "")


@pytest.mark.parametrize(
    ("form", "attribute", "said"),
    [
        ("[%10.3v]", "A", "[       3.1]"),
        ("[%10.3v]", "B", "[       hel]"),
        ("[%10.3v]", "I", "[        42]"),
        ("[%10.3v]", "L", "[       { 1]"),
        ("[%.3v]", "T", "[tru]"),
        ("[%.3v]", "Nope", "[und]"),
        ("[%10.3V]", "B", '[       "he]'),
        ("[%-15V]", "B", '["hello world"  ]'),
        ("[%010v]", "I", "[        42]"),
        ("[%10.3r]", "X", "[       I +]"),
        ("[%.2R]", "X", "[I ]"),
        ("[%.v]", "I", "[]"),
    ],
)
def test_a_precision_cuts_values_of_any_kind(
    form: str, attribute: str, said: str, tmp_path: Path
) -> None:
    ads = tmp_path / "ads"
    ads.write_text(
        'ClusterId = 7\nProcId = 0\nA = 3.14159265\nB = "hello world"\nI = 42\n'
        'L = {1, "x"}\nT = true\nX = I + 1\n'
    )
    assert run("-jobads", str(ads), "-format", form, attribute) == (0, said, "")


@pytest.mark.parametrize("words", ["", "-nobatch", "-totals", "-af ClusterId", "-json", "-long"])
@pytest.mark.parametrize("source", ["-global", "-schedd-constraint false"])
@pytest.mark.parametrize("schedds", [0, 2])
def test_schedds_without_jobs_are_passed_over(
    words: str, source: str, schedds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object) -> Iterable[Answer]:
        for _number in range(schedds):
            nothing: list[ClassAd] = []
            streamed = words[:2] in {"-a", "-j", "-l"}
            runs = iter(nothing) if streamed else None
            yield Answer("Schedd: x", nothing, ClassAd({"Jobs": 0}), runs=runs)

    monkeypatch.setattr(sources, "ask_schedds", ask)
    assert ALL_EMPTY == "All queues are empty\n"
    expected = "" if schedds else ALL_EMPTY
    assert run(*source.split(), *words.split()) == (0, expected, "")


@pytest.mark.parametrize(
    ("counts", "asked"),
    [
        ({}, False),
        ({"TotalRunningJobs": 0, "TotalIdleJobs": 0, "TotalHeldJobs": 0, "TotalJobAds": 0}, False),
        *(({f"Total{what}": 1}, True) for what in ("IdleJobs", "HeldJobs", "RemovedJobs")),
        *(({f"Total{what}": 1}, True) for what in ("RunningJobs", "JobAds")),
    ],
)
def test_of_all_schedds_those_are_asked_that_say_that_they_have_jobs(
    counts: dict[str, int], asked: bool
) -> None:
    ad = ClassAd({"MyType": "Scheduler", "MyAddress": "<10.0.0.1:9>", "Name": "x", **counts})

    class Collector:
        def query(self, _command: int, query: ClassAd) -> list[ClassAd]:
            return [ad] if AdFilter(query.text("Requirements") or "")(ad) else []

    reach = cast("Reach", SimpleNamespace(pool=Collector(), named_pool=""))
    found = sources.find_schedds(Wish(flags={"global"}), reach)
    assert [schedd.name for _, schedd in found] == ["x"] * asked


@pytest.mark.parametrize(("old_summary", "said"), [("false", True), ("true", False)])
def test_a_schedd_with_jobs_of_others_is_shown_for_its_totals(
    old_summary: str, said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object) -> Iterable[Answer]:
        nothing: list[ClassAd] = []
        yield Answer("Schedd: x", nothing, ClassAd({"Jobs": 0, "AllusersJobs": 3}))

    monkeypatch.setattr(sources, "ask_schedds", ask)
    code, out, _ = run("-global", CONDOR_Q_SHOW_OLD_SUMMARY=old_summary)
    assert (code, "Total for all users: 3 jobs" in out, bool(out)) == (0, said, said)


def test_a_schedd_with_jobs_is_shown_beside_one_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: object) -> Iterable[Answer]:
        job = ClassAd({"ClusterId": 3, "ProcId": 0})
        for ads in ([], [job]):
            yield Answer("Schedd: x", ads, runs=iter(ads))

    monkeypatch.setattr(sources, "ask_schedds", ask)
    assert run("-global", "-af", "ClusterId") == (0, "3\n", "")


def test_the_configuration_chooses_tables(tmp_path: Path) -> None:
    """Q_DEFAULT_PRINT_FORMAT_FILE, the one of a table, CONDOR_Q_DASH_BATCH_IS_DEFAULT."""
    (tmp_path / "ads").write_text(
        'ClusterId = 7\nProcId = 0\nOwner = "ann"\nJobStatus = 5\nCmd = "/bin/x"\nQDate = 1\n'
    )
    (tmp_path / "mine").write_text("SELECT NOTITLE NOHEADER\nOwner AS O WIDTH -9\nSUMMARY NONE\n")
    (tmp_path / "config").write_text(
        f"Q_DEFAULT_PRINT_FORMAT_FILE = {tmp_path}/mine\n"
        f"Q_DEFAULT_HOLD_PRINT_FORMAT_FILE = {tmp_path}/none\n"
        "CONDOR_Q_DASH_BATCH_IS_DEFAULT = false\n"
    )
    environment = {"CONDOR_CONFIG": str(tmp_path / "config")}

    def lines(*words: str) -> list[str]:
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        argv = ["condor_q", "-jobads", str(tmp_path / "ads"), *words]
        assert condor_q.main(argv, environment, streams) == 0
        return streams.stdout.getvalue().splitlines()  # type: ignore[attr-defined]

    assert lines() == lines("-nobatch") == ["ann"]
    assert lines("-batch")[3].split()[:2] == ["OWNER", "BATCH_NAME"]
    # A file that is not there is no error.
    assert lines("-hold")[3].startswith(" ID      OWNER          HELD_SINCE")
    assert lines("-af", "ClusterId") == ["7"]


def test_the_ads_of_a_table_are_written_as_they_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded: a banner, attributes without blanks, and only if there are ads and a table."""
    monkeypatch.chdir(tmp_path)
    Path("queue.ads").write_text('ClusterId = 3\nProcId = 0\nCmd = "/a = b"\n')
    raw = '# condor_q v25.14.1 raw query results\nClusterId=3\nProcId=0\nCmd="/a = b"\n\n'
    for words, out, err, filed in (
        ("-af ClusterId -capture-raw-results", f"{raw}3\n", "", ""),
        ("-af ClusterId -capture:-2", "3\n", raw, ""),
        ("-af ClusterId -capture:raw", "3\n", "", raw),
        ("-af ClusterId -capture:+raw", "3\n", "", raw + raw),
        ("-af ClusterId -capture:no/raw", "3\n", "", raw + raw),
        ("-long -attributes ProcId -capture", "ProcId = 0\n\n", "", raw + raw),
        ("-af ClusterId -constraint false -capture", "", "", raw + raw),
    ):
        said, complaint = io.StringIO(), io.StringIO()
        argv = ["condor_q", "-jobads", "queue.ads", *words.split()]
        where = Streams(io.StringIO(), said, complaint)
        assert condor_q.main(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, where) == 0
        assert (said.getvalue(), complaint.getvalue()) == (out, err)
        assert (Path("raw").read_text() if filed else "") == filed


def test_what_a_query_costs_is_said(tmp_path: Path) -> None:
    ads = tmp_path / "queue.ads"
    ads.write_text("ClusterId = 3\nProcId = 0\n")
    out, err = io.StringIO(), io.StringIO()
    words = ["condor_q", "-jobads", str(ads), "-af", "ClusterId", "-prof"]
    assert (
        condor_q.main(words, {"CONDOR_CONFIG": "ONLY_ENV"}, Streams(io.StringIO(), out, err)) == 0
    )
    assert out.getvalue() == "3\n"
    line = (
        r"Fetching job ads\.\.\. 1 ads \(caching OFF\), "
        r"\d+\.\d{3} CPU-sec, -?\d+ bytes \(from \d+ to \d+\)\n"
    )
    assert re.fullmatch(line, err.getvalue())


def test_a_dry_run_says_what_is_asked(tmp_path: Path) -> None:
    """Constraint and projection as HTCondor 25.14.1 tells them; its columns are its own affair."""
    path = tmp_path / "jobs"
    path.write_text("ClusterId = 4\nProcId = 0\nJobStatus = 1\n")
    words = ("-dry-run", "-jobads", str(path), "-limit", "7", "4.0", "-af", "Cmd", "JobPrio")
    code, out, err = run(*words)
    assert (code, out) == (0, "")
    assert err.splitlines() == [
        "",
        "condor_q",
        "",
        "DryRun",
        "Constraint: ( ((ClusterId == 4 && ProcId == 0)) )",
        "  Only own jobs: false",
        "Opts: limit=7",
        "Projection:",
        "  Cmd",
        "  JobPrio",
        "  ServerTime",
        "",
    ]
    code, out, err = run("-dry:x", "-jobads", str(path), "-allusers")
    assert (code, out.splitlines()[-2].split(";")[0]) == (0, "Total for query: 0 jobs")
    assert "Constraint: <null>\n" in err
