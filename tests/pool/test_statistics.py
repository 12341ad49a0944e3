"""The daemons' ads have the reference's statistics, and they count."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import ClassAd, parse_ads
from kettle.pool.personal import PersonalPool
from kettle.startd.facts import PUBLISHED_FLAGS
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, wait_until

RECORDED = Path(__file__).parent.parent / "data" / "statistics" / "reference_names.txt"

# What the reference publishes and Kettle does not, by kind of ad: a pattern and why.
MISSING = {
    "Collector": {
        r"(Recent)?CCB(Outbound|Streaming|Tunnel)\w+": "our broker relays no streams",
        r"(Recent)?ForkQueriesFrom\w+": "no answer was large enough for a child",
    },
    "Scheduler": {
        r"FileTransferDiskThrottle\w+": "transfers are not throttled by the disk's load",
        r"FileTransfer\w+(PerSecond|Load)_(1m|5m)": "told once such a time has passed",
        r"MaxRunningSchedulerJobsPerOwner": "START_SCHEDULER_UNIVERSE alone bounds them",
    },
    "StartD": {
        r"HasCommonFilesTransfer|MappingMethod": "jobs share no files on a machine",
    },
    "Submitter": {
        r"OCU\w+": "nobody buys capacity for an owner",
        r"(Recent)?JobsShould(Hold|Requeue)": "left out as long as there was none",
    },
    "Machine": {
        r"(Recent)?DaemonCoreDutyCycle|MonitorSelf\w+": (
            "in the startd's own ad alone: slots' ads are sent at every change of a job"
        ),
        r"HasCommonFilesTransfer|MappingMethod": "jobs share no files on a machine",
        r"LastFetchWork\w+|Unhibernate": "not statistics",
    },
}
# What Kettle publishes and the reference does not.
MORE = {
    "Collector": r"AuthenticatedIdentity|ClassAdLifetime|Daemon(LastReconfig|Start)Time",
    "DaemonMaster": r"Arch|DaemonList|OpSys|OpSysAndVer|MonitorSelf(User|Sys)CpuTime",
    "Machine": r"IsOwner",
    "Negotiator": r"MonitorSelf(User|Sys)CpuTime",
    "Scheduler": r"MonitorSelf(User|Sys)CpuTime",
    "StartD": r"CondorScratchDir|ExecuteVolume|TargetType|MonitorSelf(User|Sys)CpuTime",
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    # The recorded ads are a machine's without Java.
    config = "UPDATE_INTERVAL = 2\nJAVA =\nSCHEDD_COLLECT_STATS_BY_Cmd = Cmd\n"
    with personal_pool(tmp_path_factory.mktemp("statistics"), config) as pool:
        yield pool


@pytest.fixture(scope="module")
def ads(pool: PersonalPool, work_folder: Path) -> dict[str, ClassAd]:
    """Return an ad of each kind after three jobs, each with a file of 100,000 bytes.

    It comes back as a job's output, and goes to a URL.
    """
    (work_folder / "data").write_bytes(b"x" * 100_000)
    (work_folder / "put").mkdir()
    (work_folder / "put").chmod(0o777)
    (work_folder / "job.sub").write_text(
        "executable = /usr/bin/tee\narguments = put\ninput = data\ntransfer_output_files = put\n"
        f'transfer_output_remaps = "put=file://{work_folder}/put/$(ProcId)"\n'
        "should_transfer_files = yes\noutput = out.$(ProcId)\nlog = log\n"
        f"initialdir = {work_folder}\nqueue 3\n"
    )
    code, _, complaint = run_tool(pool, "condor_submit", str(work_folder / "job.sub"))
    assert code == 0, complaint
    run_tool(pool, "condor_wait", "-wait", "120", str(work_folder / "log"))
    found: dict[str, ClassAd] = {}

    def are_told() -> bool:
        found.clear()
        text = "\n".join(
            run_tool(pool, "condor_status", which, "-l")[1] for which in ("-any", "-collector")
        )
        for ad in parse_ads(text):
            if ad.string("SlotType") != "Dynamic":
                found[ad.string("MyType") or ""] = ad
        return (
            (found["Scheduler"].integer("JobsCompleted") or 0) >= 3
            and (found["StartD"].integer("JobStarts") or 0) >= 3
            and (found["StartD"].real("TotalTransferOutputMB") or 0) >= 6 * 100_000 / 2**20
            and "LastNegotiationCycleEnd0" in found["Negotiator"]
        )

    wait_until(are_told, 20, lambda: f"only {sorted(found)}")
    return found


def normal(names: set[str]) -> set[str]:
    """Write the numbers of negotiation cycles as the recorded list does."""
    return {re.sub(r"^(LastNegotiationCycle\w+?)[012]$", r"\1#", name) for name in names}


def recorded() -> dict[str, set[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, name = line.split()
            names[kind].add(name)
    return names


def features_this_processor_lacks() -> set[str]:
    """Name the attributes that the recording machine's processor had, and no processor here."""
    told = re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    flags = told[1].split() if told else []
    return {name for flag, name in PUBLISHED_FLAGS.items() if flag not in flags}


@pytest.mark.parametrize(
    "kind",
    ["Collector", "DaemonMaster", "Machine", "Negotiator", "Scheduler", "StartD", "Submitter"],
)
def test_a_daemons_ad_has_the_names_of_the_references(ads: dict[str, ClassAd], kind: str) -> None:
    ours = normal(set(ads[kind].names()))
    theirs = recorded()[kind] - features_this_processor_lacks()
    missing = theirs - ours
    known = MISSING.get(kind, {})
    unexplained = {n for n in missing if not any(re.fullmatch(one, n) for one in known)}
    assert not unexplained
    idle = [one for one in known if not any(re.fullmatch(one, name) for name in missing)]
    assert not idle, "a difference is gone: take it off the list"
    more = {name for name in ours - theirs if not re.fullmatch(MORE.get(kind, ""), name)}
    assert not more


def test_what_is_missing_has_its_row_in_the_manual() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "statistics.md").read_text()
    rows = re.findall(
        r"^\|[^|\n]+\|([^|\n]+)\|[^|\n]+\|$", page.partition("has not")[2], re.MULTILINE
    )
    beginnings = [name.rstrip("…") for row in rows for name in re.findall(r"`([^`]+)`", row)]
    # What is there as soon as there is something to tell is not missing, nor are other attributes.
    passing = (
        r".*(PerSecond|Load)_(1m|5m)|JobsShould(Hold|Requeue)|ForkQueriesFrom\w+"
        r"|LastFetchWork\w+|Unhibernate"
    )
    for kind, patterns in MISSING.items():
        for name in recorded()[kind]:
            bare = name.removeprefix("Recent")
            if not any(re.fullmatch(one, name) for one in patterns) or re.fullmatch(passing, bare):
                continue
            assert any(bare.startswith(one) for one in beginnings), name


def test_the_figures_count_what_happened(ads: dict[str, ClassAd]) -> None:
    schedd, startd, collector = ads["Scheduler"], ads["StartD"], ads["Collector"]
    jobs = schedd.integer("JobsSubmitted") or 0
    assert jobs >= 3
    assert schedd.integer("JobsStarted") == schedd.integer("JobsExitedNormally") == jobs
    assert (schedd.string("JobsCompletedRuntimes") or "").startswith(f"{jobs}, 0")
    assert ads["Submitter"].integer("JobsCompleted") == jobs
    assert ads["Submitter"].string("JobsCompletedRuntimes") == schedd.string(
        "JobsCompletedRuntimes"
    )
    assert (schedd.real("FileTransferUploadBytes") or 0) >= 100_000 * jobs
    assert (schedd.real("FileTransferDownloadBytes") or 0) >= 100_000 * jobs
    for what in ("FileRead", "FileWrite", "NetRead", "NetWrite"):
        assert (schedd.real(f"FileTransfer{what}Seconds") or 0) > 0, what
    moved = startd.real("TotalTransferInputMB") or 0
    assert moved >= 100_000 / 2**20 * jobs
    assert startd.real("AvgTransferInputMB") == pytest.approx(moved / jobs)
    assert (collector.integer("RecentUpdatesTotal_Slot") or 0) >= 1
    by_kind = [name for name in collector.names() if name.startswith("UpdatesTotal_")]
    assert collector.integer("UpdatesTotal") == sum(collector.integer(n) or 0 for n in by_kind)
    assert (collector.integer("InProcQueriesFromTOOL") or 0) >= 1
    assert (ads["Negotiator"].real("LastNegotiationCycleCpuTime0") or 0) > 0


def test_more_of_a_schedds_statistics_are_shown_to_who_asks(
    pool: PersonalPool, ads: dict[str, ClassAd]
) -> None:
    assert "RecentWindowMax" not in ads["Scheduler"]
    name = ads["Scheduler"].string("Name") or ""
    asked = ("condor_status", "-schedd", "-direct", name, "-l", "-statistics", "SCHEDD:2")
    [more] = parse_ads(run_tool(pool, *asked)[1])
    assert more.integer("RecentWindowMax") == 1200
    shadows = (more.integer("ShadowsStarted") or 0) + (more.integer("ShadowsRecycled") or 0)
    assert shadows == more.integer("JobsStarted")
    assert (more.integer("CmdJobsCompleted") or 0) >= 3
    assert more.integer("Cmd__usr_bin_tee_JobsCompleted") == more.integer("CmdJobsCompleted")


@pytest.mark.parametrize("kind", ["Collector", "DaemonMaster", "Negotiator", "Scheduler", "StartD"])
def test_a_daemon_measures_itself(ads: dict[str, ClassAd], kind: str) -> None:
    ad = ads[kind]
    assert 5_000 < (ad.integer("MonitorSelfResidentSetSize") or 0) < 1_000_000
    assert (ad.integer("MonitorSelfRegisteredSocketCount") or 0) >= 1
    assert (ad.integer("MonitorSelfSecuritySessions") or 0) >= 1
    assert 0 < (ad.real("DaemonCoreDutyCycle") or 0) < 1
