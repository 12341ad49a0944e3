"""How a machine is divided into slots (A002 to A018), with a pool for each way of dividing."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, daemon_pid, run_tool, submit, wait_until

shows = pytest.mark.shows

SLEEPER = "executable = /bin/sleep\narguments = 60\ntransfer_executable = false\n"
SMALL = "request_memory = 10MB\nrequest_disk = 1MB\n"
WHOLE = """\
NUM_CPUS = 3
MEMORY = 10240
STARTD_RECOMPUTE_DISK_FREE = false
CGROUP_MEMORY_LIMIT_POLICY = none
"""
STATIC = """\
NUM_CPUS = 4
MEMORY = 4000
NUM_SLOTS_TYPE_1 =
SLOT_TYPE_1 =
SLOT_TYPE_1_PARTITIONABLE =
use FEATURE : StaticSlots
"""
TWO = "NUM_CPUS = 2\nMEMORY = 2000\nNUM_SLOTS_TYPE_1 = 2\nSLOT_TYPE_1 = 50%\n"
MIXED = """\
NUM_CPUS = 4
MEMORY = 4000
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = 50%
NUM_SLOTS_TYPE_2 = 1
SLOT_TYPE_2 = 50%
SLOT_TYPE_2_PARTITIONABLE = false
STARTD_NAME = ep7
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    """One partitionable slot."""
    with personal_pool(tmp_path_factory.mktemp("whole"), WHOLE) as pool:
        yield pool


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    """As many static slots as cores."""
    with personal_pool(tmp_path_factory.mktemp("static"), STATIC) as pool:
        yield pool


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    """Two static slots, the second with its sandboxes elsewhere, and one with them nowhere."""
    # Whoever jobs run as can enter it.
    with tempfile.TemporaryDirectory(prefix="kettle-own-", dir="/tmp") as place:
        os.chmod(place, 0o1777)
        lines = f"SLOT2_EXECUTE = {place}\nSLOT3_EXECUTE = {place}/gone\n"
        text = STATIC.replace("NUM_CPUS = 4", "NUM_CPUS = 3") + lines
        with personal_pool(tmp_path_factory.mktemp("own"), text) as pool:
            yield pool


def slots(pool: PersonalPool, *attributes: str) -> list[list[str]]:
    """Return attributes of every slot ad in the collector, by name."""
    code, said, complaint = run_tool(pool, "condor_status", "-af:t", "Name", *attributes)
    assert code == 0, complaint
    return sorted(line.split("\t") for line in said.splitlines())


def names(pool: PersonalPool) -> list[str]:
    """Return the slots' names without the host."""
    return [row[0].partition("@")[0] for row in slots(pool)]


def running(pool: PersonalPool, work: Path, lines: str = SMALL, count: int = 1) -> Jobs:
    jobs = submit(pool, work, f"{SLEEPER}{lines}queue {count}\n")
    jobs.wait_for(1, 15)
    return jobs


def remove(jobs: Jobs) -> None:
    assert run_tool(jobs.pool, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_for(9, 10)


@shows("A004")
@shows("A006")
@shows("A007")
@shows("A017")
def test_a_machine_is_one_partitionable_slot_unless_configured_otherwise(
    tmp_path: Path,
) -> None:
    default = "NUM_SLOTS =\nNUM_SLOTS_TYPE_1 =\nSLOT_TYPE_1 =\nSLOT_TYPE_1_PARTITIONABLE =\n"
    with personal_pool(tmp_path, default) as pool:
        [[name, kind, partitionable, misspelt, cpus, detected, memory, total]] = slots(
            pool,
            "SlotType",
            "PartitionableSlot",
            "PartionableSlot",
            "Cpus",
            "DetectedCpus",
            "Memory",
            "DetectedMemory",
        )
    assert name == f"slot1@{os.uname().nodename}"
    assert (kind, partitionable, misspelt) == ("Partitionable", "true", "undefined")
    assert cpus == detected
    assert memory == total


@shows("A003")
@shows("A008")
@shows("A009")
@shows("A010")
@shows("A012")
@shows("A013")
def test_a_job_gets_its_measure_cut_out_and_gives_it_back(whole: PersonalPool, work: Path) -> None:
    words = ("SlotID", "SlotType", "DynamicSlot", "Cpus", "Memory", "Disk", "TotalSlotCpus")
    wait_until(lambda: len(slots(whole)) == 1, 10)
    [before] = slots(whole, *words)
    disk = int(before[6])
    assert before[1:6] == ["1", "Partitionable", "undefined", "3", "10240"]
    jobs = running(whole, work, "request_cpus = 1\nrequest_memory = 2GB\nrequest_disk = 1GB\n")
    wait_until(lambda: len(slots(whole)) == 2, 2)
    more = (*words, "State", "Activity", "JobId", "RemoteOwner")
    wait_until(lambda: slots(whole, *more)[-1][-2] == f"{jobs.cluster}.0", 5)
    rest, cut = slots(whole, *more)
    assert re.fullmatch(r"slot1_1@\S+", cut[0])
    assert cut[1:6] == ["1", "Dynamic", "true", "1", "2048"]
    assert rest[1:6] == ["1", "Partitionable", "undefined", "2", "8192"]
    assert int(rest[6]) + int(cut[6]) == disk
    assert int(cut[6]) >= 1024 * 1024
    assert (rest[7], cut[7]) == ("3", "1")
    assert rest[8:] == ["Unclaimed", "Idle", "undefined", "undefined"]
    assert cut[8] == "Claimed"
    assert cut[10] == f"{jobs.cluster}.0"
    remove(jobs)
    wait_until(lambda: slots(whole, *words) == [before], 5)


@shows("A011")
def test_the_next_fitting_job_takes_the_slot_over(whole: PersonalPool, work: Path) -> None:
    text = "executable = /bin/true\nrequest_cpus = 3\n" + SMALL + "queue 3\n"
    jobs = submit(whole, work, text)
    jobs.wait_for(5, 20)
    hosts = re.findall(r"SlotName: (\S+)@", jobs.log.read_text())
    assert hosts == ["slot1_1"] * 3
    said = Path(whole.log_folder, "NegotiatorLog").read_text()
    assert len(re.findall(rf"Matched {jobs.cluster}\.", said)) == 1


@shows("A015")
def test_a_limit_that_is_not_enforced_is_accounted_for(whole: PersonalPool, work: Path) -> None:
    (work / "eat.py").write_text("data = bytearray(b'x') * (200 << 20)\n")
    (work / "job.sh").write_text('#!/bin/sh\nexec python3 "$1"\n')
    (work / "job.sh").chmod(0o755)
    text = f"executable = {work}/job.sh\narguments = {work}/eat.py\nrequest_memory = 10\n"
    jobs = submit(whole, work, text + "request_disk = 1MB\nqueue\n")
    jobs.wait_for(5, 20)
    text = jobs.log.read_text()
    assert "(return value 0)" in text
    row = re.search(r"^\s*Memory \(MB\) +: +(\d+) +(\d+) +(\d+)", text, re.MULTILINE)
    assert row is not None, text
    used, asked, given = map(int, row.groups())
    assert used >= 200
    assert asked == 10
    assert given < used


@shows("A002")
@shows("A005")
@shows("A018")
def test_static_slots_are_even_parts_with_one_job_each(static: PersonalPool, work: Path) -> None:
    wait_until(lambda: len(names(static)) == 4, 10)
    rows = slots(static, "SlotType", "Cpus", "Memory", "Disk")
    assert [row[0].partition("@")[0] for row in rows] == ["slot1", "slot2", "slot3", "slot4"]
    assert {tuple(row[1:4]) for row in rows} == {("Static", "1", "1000")}
    disks = [int(row[4]) for row in rows]
    assert max(disks) - min(disks) <= 1024
    jobs = submit(static, work, f"{SLEEPER}{SMALL}queue 6\n")
    wait_until(lambda: len(jobs.count_events(1)) == 4, 15)

    def hosts() -> list[str]:
        return sorted(run_tool(static, "condor_q", "-run", "-af", "RemoteHost")[1].split())

    wait_until(lambda: hosts() == [row[0] for row in rows], 5, lambda: str(hosts()))
    remove(jobs)


@shows("A016")
def test_the_number_of_slots_changes_only_when_the_startd_restarts(tmp_path: Path) -> None:
    with personal_pool(tmp_path, TWO + "MASTER_BACKOFF_CEILING = 1\n") as pool:
        wait_until(lambda: names(pool) == ["slot1", "slot2"], 10)
        more = TWO.replace("TYPE_1 = 2", "TYPE_1 = 1") + "NUM_SLOTS_TYPE_2=1\nSLOT_TYPE_2=auto\n"
        Path(pool.folder, "config.d", "slots").write_text(
            more + "SLOT_TYPE_2_PARTITIONABLE = true\nSLOT_TYPE_3 = auto\nNUM_SLOTS_TYPE_3 = 1\n"
        )
        startd = daemon_pid(pool, "condor_startd")
        assert run_tool(pool, "condor_reconfig", "-startd")[0] == 0
        wait_until(
            lambda: "configuration was read again" in Path(pool.log_folder, "StartLog").read_text(),
            5,
            lambda: Path(pool.log_folder, "StartLog").read_text(),
        )
        assert names(pool) == ["slot1", "slot2"]
        assert run_tool(pool, "condor_restart", "-startd")[0] == 0
        wait_until(lambda: names(pool) == ["slot1", "slot2", "slot3"], 15)
        assert daemon_pid(pool, "condor_startd") != startd


@shows("A014")
def test_several_partitionable_slots_each_have_their_own_parts(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, TWO) as pool:
        assert {tuple(row[1:]) for row in slots(pool, "SlotType", "Cpus", "Memory")} == {
            ("Partitionable", "1", "1000")
        }
        jobs = running(pool, work, SMALL, 2)
        wait_until(lambda: names(pool) == ["slot1", "slot1_1", "slot2", "slot2_1"], 5)
        remove(jobs)


@shows("A004")
@shows("A005")
def test_the_three_types_of_slots_carry_the_startd_s_name(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, MIXED) as pool:
        jobs = running(pool, work, f"request_cpus = 2\n{SMALL}", 2)
        wait_until(lambda: len(slots(pool)) == 3, 5)
        rows = slots(pool, "SlotType")
        assert {row[1] for row in rows} == {"Partitionable", "Dynamic", "Static"}
        host = os.uname().nodename
        assert {row[0].partition("@")[2] for row in rows} == {f"ep7@{host}"}
        remove(jobs)


def test_a_program_says_what_the_machine_has_and_jobs_get_pieces_of_it(
    work: Path, tmp_path: Path
) -> None:
    program = work / "look"
    program.write_text("#!/bin/sh\necho 'DetectedSquids = \"a, b\"'\n")
    program.chmod(0o755)
    text = (
        f"MACHINE_RESOURCE_INVENTORY_Squids = {program}\n"
        "MACHINE_RESOURCE_INVENTORY_Gone = /no/such/program\n"
    )
    with personal_pool(tmp_path, text) as pool:
        code, said, complaint = run_tool(
            pool, "condor_status", "-af", "Squids", "AssignedSquids", "Gone"
        )
        assert (code, said) == (0, "2 a,b 0\n"), complaint
        lines = "should_transfer_files = yes\nrequest_squids = 1\nrequest_memory = 10MB\n"
        jobs = submit(
            pool,
            work,
            "executable = /bin/true\ntransfer_executable = false\nrequest_disk = 1MB\n"
            f"{lines}queue\n",
        )
        jobs.wait_for(5, 30)
        log = Path(pool.folder, "log", "StartLog").read_text()
        assert "MACHINE_RESOURCE_INVENTORY_Gone finds nothing" in log


@shows("A030")
def test_jobs_of_a_slot_with_a_folder_of_its_own_run_there(
    own_folder: PersonalPool, tmp_path: Path
) -> None:
    place = run_tool(own_folder, "condor_config_val", "SLOT2_EXECUTE")[1].strip()
    assert [row[1] for row in slots(own_folder, "SlotBrokenCode")] == ["undefined"] * 2 + ["3"]
    jobs = submit(
        own_folder,
        tmp_path,
        "executable = /bin/pwd\ntransfer_executable = false\nshould_transfer_files = YES\n"
        "output = out\nrequirements = SlotID == 2\nrequest_memory = 10MB\n"
        "request_disk = 1MB\nqueue\n",
    )
    jobs.wait_for(5, 30)
    assert (tmp_path / "out").read_text().startswith(f"{place}/dir_")
    wait_until(lambda: not list(Path(place).glob("dir_*")), 10)
