"""What condor_who shows of slots that run jobs, and of whom it asks; beside the reference's."""

from __future__ import annotations

import io
import os
import socket
import time
from pathlib import Path

import pytest

from kettle.classad import ClassAd, parse_ad
from kettle.errors import (
    AuthenticationFailed,
    KettleError,
    NotConnected,
    UsageError,
    WireError,
)
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.status import condor_who
from kettle.tools.status.condor_who import listening_addresses, main, question_of, read_wish
from kettle.tools.status.who_tables import Wish
from kettle.tools.status.who_tables import render as render_found
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful

BANNER = "\n--Startd : vm has 1 job(s) running:\n"
# As the reference printed them of one running job.
USUAL = (
    "OWNER     CLIENT    SLOT JOB   RUNTIME    PID    JOB_DIR",
    "tester@vm 127.0.0.1 1_1  1.0   0+00:00:02",
)


def render(wish: Wish, ads: list[ClassAd]) -> str:
    return render_found(wish, {"<127.0.0.1:1>": ads})


@pytest.fixture
def ads() -> list[ClassAd]:
    return [
        parse_ad(
            '[Name="slot1_1@vm"; Machine="vm"; State="Claimed"; RemoteOwner="tester@vm"; '
            'ClientMachine="127.0.0.1"; JobId="1.0"; TotalJobRunTime=2; JobPid=0]'
        )
    ]


def test_headings_stand_below_the_banner_of_their_machine(ads: list[ClassAd]) -> None:
    wish = read_wish(["-af:h", "Name", "State"])
    assert render(wish, ads) == f"{BANNER}Name       State  \nslot1_1@vm Claimed\n\n"
    assert render(wish, []) == ""


def test_values_alone_have_no_banner(ads: list[ClassAd]) -> None:
    assert render(read_wish(["-af", "Name", "State"]), ads) == "slot1_1@vm Claimed\n"


def test_added_columns_come_after_the_usual_ones(ads: list[ClassAd]) -> None:
    _, banner, heading, row, *_ = render(read_wish(["-aaf", "Name", "State"]), ads).split("\n")
    assert f"\n{banner}\n" == BANNER
    assert heading.startswith("OWNER     CLIENT    SLOT JOB   RUNTIME    PID")
    assert heading.endswith(" Name       State  ")
    assert row.startswith(USUAL[1])
    assert row.endswith(" slot1_1@vm Claimed")


def test_a_print_format_has_the_banner_too(ads: list[ClassAd], tmp_path: Path) -> None:
    path = tmp_path / "pf"
    path.write_text("SELECT\n Name AS N\n State AS S\nSUMMARY NONE\n")
    wish = read_wish(["-print-format", str(path)])
    assert render(wish, ads) == f"{BANNER}N          S      \nslot1_1@vm Claimed\n\n"


def test_a_startd_that_is_a_process_is_shown_with_it(ads: list[ClassAd]) -> None:
    wish = read_wish(["-pid", "25813"])
    wish.pids["<127.0.0.1:1>"] = wish.pid
    assert "\n--Startd : vm PID 25813 has 1 job(s) running:\n" in render(wish, ads)


def test_every_startd_has_a_banner_of_its_own(ads: list[ClassAd]) -> None:
    wish = read_wish(["-allpids", "-af:h", "Name"])
    wish.pids.update({"<a>": 7, "<b>": 8})
    said = render_found(wish, {"<a>": ads, "<b>": ads, "<c>": []})
    banners = [line for line in said.split("\n") if line.startswith("--")]
    assert banners == [f"--Startd : vm PID {pid} has 1 job(s) running:" for pid in (7, 8)]


@pytest.mark.parametrize("refusal", [AuthenticationFailed("no"), NotConnected("gone")])
def test_somebody_elses_startd_keeps_nobody_from_seeing_the_others(
    ads: list[ClassAd], monkeypatch: pytest.MonkeyPatch, refusal: WireError
) -> None:
    ours, theirs = "<127.0.0.1:2>", "<127.0.0.1:1>"

    def answer(_connector: object, address: Sinful, *_: object) -> list[ClassAd]:
        if str(address) == theirs:
            raise refusal
        return ads

    monkeypatch.setattr("kettle.client.pool.query_ads", answer)
    reach = Reach({"CONDOR_CONFIG": "ONLY_ENV"})
    wish = read_wish(["-allpids"])
    wish.pids.update({theirs: 7, ours: 8})
    monkeypatch.setattr(condor_who, "startd_processes", list)
    assert list(condor_who.fetch(reach, wish, Path("/"))) == [ours]
    alone = read_wish(["-address", theirs])
    with pytest.raises(KettleError):
        condor_who.fetch(reach, alone, Path("/"))


JOBS = """
--Startd : vm has 2 job(s) running:
SLOT    USER      PID   MEM_USE  PROGRAM   {more}
slot1_1 tester@vm 19261 100.0 MB /bin/sleep{one}
slot1_4 tester@vm 19251 100.0 MB /bin/sleep{one}

"""


@pytest.fixture
def claims() -> list[ClassAd]:
    return [
        ClassAd(
            {
                "RemoteHost": f"slot1_{slot}@vm",
                "User": "tester@vm",
                "JobPid": pid,
                "RequestMemory": 100,
                "RequestCpus": 1,
                "Cmd": "/bin/sleep",
            }
        )
        for slot, pid in ((4, 19251), (1, 19261))
    ]


def test_jobs_have_a_table_of_their_own(claims: list[ClassAd]) -> None:
    """Recorded from HTCondor 25.14.1."""
    assert render(read_wish(["-jobs"]), claims) == JOBS.format(more="", one="")
    wish = read_wish(["-jobs", "-aaf", "RequestCpus"])
    assert render(wish, claims) == JOBS.format(more=" RequestCpus", one=" 1          ")
    assert render(read_wish(["-jobs"]), []) == ""
    # A starter that has not told yet which process its job is.
    claims[0].discard("JobPid")
    row = render(read_wish(["-jobs"]), claims).splitlines()[4]
    assert row == "slot1_4 tester@vm undefined 100.0 MB /bin/sleep"
    claims[0]["JobPid"] = 19251
    cut = render(read_wish(["-jobs", "-wide:20"]), claims).split("\n")
    assert cut[2:4] == ["SLOT    USER      P", "slot1_1 tester@vm 1"]


def test_jobs_are_asked_for_among_what_a_startd_keeps_to_itself() -> None:
    command, query = question_of(read_wish(["-jobs", "-constraint", "ProcId == 0"]))
    assert command is Command.QUERY_MULTIPLE_ADS
    assert (query.string("TargetType"), query.boolean("Snapshot")) == ("Slot.Claim", True)


def test_a_file_says_what_stands_above_a_table(claims: list[ClassAd], tmp_path: Path) -> None:
    """Recorded from HTCondor 25.14.1."""
    path = tmp_path / "bf"
    ends = "RECORDPREFIX '' FIELDPREFIX '' FIELDSUFFIX '\\n' RECORDSUFFIX ''"
    path.write_text(f"SELECT BARE LABEL SEPARATOR ' = ' {ends}\nUser AS Who\nRequestCpus AS N\n")
    said = render(read_wish(["-jobs", "-banner-format", str(path)]), claims).split("\n")
    assert said[:4] == [
        "",
        "Who = tester@vm",
        "N = 1 has 2 job(s) running:",
        JOBS.split("\n")[2][:43],
    ]
    path.write_text("SELECT\nUser AS Who\nRequestCpus AS Cores\n")
    said = render(read_wish(["-jobs", "-banner-format", str(path)]), claims).split("\n")
    assert said[:3] == ["", "tester@vm 1    ", " has 2 job(s) running:"]
    out, err = io.StringIO(), io.StringIO()
    words = ["condor_who", "-banner-format"]
    assert main(words, {}, Streams(io.StringIO(), out, err)) == 1
    assert err.getvalue() == "Error: -banner-format requires a filename argument\n"


def test_a_format_that_chooses_nothing_leaves_the_usual_table(claims: list[ClassAd]) -> None:
    wish = read_wish(["-jobs", "-print-format", os.devnull])
    assert render(wish, claims) == JOBS.format(more="", one="")


def test_who_is_asked_is_said_on_demand(tmp_path: Path) -> None:
    for word in ("-verbose", "-diagnostic", "-diag:query"):
        out = io.StringIO()
        environment = {"_CONDOR_LOG": str(tmp_path), "CONDOR_CONFIG": "ONLY_ENV"}
        streams = Streams(io.StringIO(), out, io.StringIO())
        assert main(["condor_who", word], environment, streams) == 0
        assert f'LOG directory "{tmp_path}"' in out.getvalue()


def test_a_process_is_asked_where_it_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert f"<127.0.0.1:{port}>" in listening_addresses(os.getpid())


def test_a_process_that_is_no_startd_runs_nothing(ads: list[ClassAd]) -> None:
    del ads
    assert listening_addresses(2**22 + 1) == []


@pytest.mark.parametrize("words", [["-snapshot"], ["-statistics", "All:1"]])
def test_sets_of_statistics_change_nothing(words: list[str], ads: list[ClassAd]) -> None:
    assert render(read_wish(words), ads) == render(read_wish([]), ads)


def test_slots_may_have_to_satisfy_an_expression() -> None:
    wish = read_wish(["-constraint", "Cpus > 5", "-cons", "true"])
    _, query = question_of(wish)
    assert query.text("Requirements") == "(JobId =!= undefined) && (Cpus > 5) && (true)"
    with pytest.raises(UsageError):
        read_wish(["-constraint", "Cpus >"])


def test_a_process_is_a_number() -> None:
    assert listening_addresses(read_wish(["-pid", "x"]).pid) == []
    with pytest.raises(UsageError):
        read_wish(["-pid"])
    # What is no option is passed over, as the reference does it.
    assert read_wish(["-snap", "x", "-startd"]).startd


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("-pid", "Error: Argument -pid requires a process id parameter\n"),
        ("-print-format", "Error: -print-format requires a filename argument\n"),
    ],
)
def test_a_missing_word_is_asked_for(words: str, complaint: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    streams = Streams(io.StringIO(), out, err)
    assert main(["condor_who", *words.split()], {"CONDOR_CONFIG": "ONLY_ENV"}, streams) == 1
    assert err.getvalue() == complaint


def test_a_startd_is_asked_for_its_own_ad_only_where_that_is_wanted() -> None:
    command, query = question_of(read_wish(["-constraint", "Cpus > 1"]))
    assert command == Command.QUERY_STARTD_ADS
    assert query.text("Requirements") == "(JobId =!= undefined) && (Cpus > 1)"
    command, query = question_of(read_wish(["-startd", "-af", "Name"]))
    assert (command, query.string("TargetType")) == (Command.QUERY_MULTIPLE_ADS, "StartD")
    assert query.text("Requirements") in (None, "true")


def test_startds_are_shown_by_name_and_address() -> None:
    ads = [parse_ad('[Name="vm"; MyType="StartD"; MyAddress="<127.0.0.1:9>"; Arch="X"]')]
    assert render(read_wish(["-startd"]), ads) == "\nNAME ADDRESS      \nvm   <127.0.0.1:9>\n\n"
    assert render(read_wish(["-startd", "-af", "Name", "MyType"]), ads) == "vm StartD\n"
    assert render(read_wish(["-startd", "-af:h", "Name"]), ads) == "\nName\nvm  \n\n"


def test_the_heading_of_run_times_stands_as_far_from_longer_ids(ads: list[ClassAd]) -> None:
    """Recorded."""
    ads[0]["JobId"], ads[0]["JobPid"], ads[0]["TotalJobRunTime"] = "22.0", 4194304, 246
    heading, row = render(read_wish([]), ads).splitlines()[2:4]
    assert heading.rstrip() == "OWNER     CLIENT    SLOT JOB    RUNTIME    PID     JOB_DIR"
    assert row.rstrip() == "tester@vm 127.0.0.1 1_1  22.0   0+00:04:06 4194304"


def test_pilots_of_the_ospool_have_columns_and_a_banner_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Recorded of a startd that is no pilot."""
    monkeypatch.setattr(time, "localtime", time.gmtime)
    ad = parse_ad(
        '[Name="slot1_1@vm"; Machine="vm"; RemoteUser="tester@vm"; ClientMachine="127.0.0.1"; '
        'JobId="22.0"; TotalJobRunTime=301; JobPid=540400; StarterPid=540397; Memory=128; '
        "Disk=1048576; Cpus=1; CpusUsage=0.0; DaemonStartTime=1795382426]"
    )
    assert render(read_wish(["-osp"]), [ad]) == (
        "\nBatch System : \nBatch Job    : \nBirthdate    : 2026-11-22 21:20:26\nTemp Dir     : \n"
        "Startd : vm has 1 job(s) running:\n"
        "PROJECT   USER   AP_HOSTNAME JOBID   RUNTIME    MEMORY    DISK      CPUs EFCY PID    "
        "STARTER\n"
        "undefined tester 127.0.0.1   22.0    0+00:05:01  128.0 MB 1024.0 MB    1 0.00 540400 "
        "540397 \n\n"
    )
    ad["GLIDEIN_MASTER_NAME"], ad["GLIDEIN_SiteWMS"] = "glidein_1", "SLURM"
    said = render(read_wish(["-ospool"]), [ad]).splitlines()
    assert (said[1], said[5]) == (
        "Batch System : SLURM",
        "Startd : glidein_1 has 1 job(s) running:",
    )


def test_a_startd_is_asked_for_so_many_slots_at_most() -> None:
    for words, limit in (
        (["-limit", "2"], 2),
        (["-lim", "x"], None),
        (["-startd", "-limit", "3"], 3),
    ):
        assert question_of(read_wish(words))[1].integer("LimitResults") == limit
    assert read_wish(["-noccv:1", "-timed", "-envpid", "1"]).limit == 0
