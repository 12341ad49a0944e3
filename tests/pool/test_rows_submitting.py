"""What a submit description says is what the job in the queue is (R046 to R069, R093)."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, daemon_pid, run_tool, submit, wait_until

HELD = "executable = /bin/sh\nhold = true\n"
shows = pytest.mark.shows


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("rows"), "MASTER_BACKOFF_CEILING = 1\n") as pool:
        yield pool


def held(pool: PersonalPool, folder: Path, lines: str, *attributes: str) -> list[list[str]]:
    """Queue held jobs and return what condor_q says their attributes are."""
    jobs = submit(pool, folder, HELD + lines + ("" if "queue" in lines else "\nqueue\n"))
    return ask_queue(pool, str(jobs.cluster), *attributes)


@shows("R046")
@pytest.mark.parametrize("text", ["queue\n", "executable = /bin/true\nqueue 1 2\n"])
def test_a_description_that_means_nothing_is_an_error_and_queues_nothing(
    pool: PersonalPool, work: Path, text: str
) -> None:
    before = ask_queue(pool, "-all", "ClusterId")
    (work / "bad.sub").write_text(text)
    code, _, complaint = run_tool(pool, "condor_submit", str(work / "bad.sub"))
    assert code != 0
    assert "ERROR" in complaint
    assert ask_queue(pool, "-all", "ClusterId") == before


@shows("R046")
def test_what_was_submitted_is_said_in_two_lines(pool: PersonalPool, work: Path) -> None:
    (work / "good.sub").write_text(HELD + "queue 3\n")
    code, said, complaint = run_tool(pool, "condor_submit", str(work / "good.sub"))
    assert code == 0
    assert "ERROR" not in complaint
    first, second = said.splitlines()
    assert re.fullmatch(r"Submitting job\(s\)\.+", first)
    found = re.fullmatch(r"3 job\(s\) submitted to cluster (\d+)\.", second)
    assert found is not None
    assert ask_queue(pool, found[1], "ProcId") == [["0"], ["1"], ["2"]]


@shows("R047")
def test_commands_are_known_in_any_case_and_queue_n_makes_procs_from_zero(
    pool: PersonalPool, work: Path
) -> None:
    lines = "# a comment\nReQuest_CPUS = 2\nqueue 3\n"
    rows = held(pool, work, lines, "ProcId", "RequestCpus")
    assert rows == [["0", "2"], ["1", "2"], ["2", "2"]]


@shows("R048")
def test_macros_are_expanded_at_submit(pool: PersonalPool, work: Path) -> None:
    lines = "X = 5\narguments = $(X) $(Cluster) $(ProcId)\noutput = out.$(PROCESS)\nqueue 2\n"
    [[cluster, args, out], second] = held(pool, work, lines, "ClusterId", "Args", "Out")
    assert (args, out) == (f"5 {cluster} 0", "out.0")
    assert second == [cluster, f"5 {cluster} 1", "out.1"]


@shows("R049")
def test_attributes_of_the_user_s_own_are_inserted_verbatim(pool: PersonalPool, work: Path) -> None:
    lines = '+Foo = "a"\n+Bar = 1+1\nMY.Baz = true\n'
    jobs = submit(pool, work, HELD + lines + "queue\n")
    words = ["-af:lr", "Foo", "Bar", "Baz"]
    code, said, _ = run_tool(pool, "condor_q", str(jobs.cluster), *words)
    assert (code, said) == (0, 'Foo = "a" Bar = 1 + 1 Baz = true\n')


@shows("R051")
def test_universes_have_their_numbers(pool: PersonalPool, work: Path) -> None:
    numbers = {}
    for name, more in {
        "vanilla": "",
        "local": "",
        "scheduler": "",
        "grid": "grid_resource = condor a b\n",
        "java": "arguments = Main\n",
        "vm": "vm_type = kvm\nvm_memory = 64\nvm_disk = a:vda:w\n",
        "docker": "docker_image = debian\n",
        "container": "container_image = a.sif\n",
    }.items():
        [[numbers[name]]] = held(pool, work, f"universe = {name}\n{more}", "JobUniverse")
    assert numbers == {
        "vanilla": "5",
        "local": "12",
        "scheduler": "7",
        "grid": "9",
        "java": "10",
        "vm": "13",
        "docker": "5",
        "container": "5",
    }
    (work / "bad.sub").write_text(HELD + "universe = foo\nqueue\n")
    code, _, complaint = run_tool(pool, "condor_submit", str(work / "bad.sub"))
    assert code != 0
    assert "foo" in complaint


@shows("S011")
@pytest.mark.parametrize(
    ("universe", "name"), [("parallel", "Parallel"), ("standard", "Standard"), ("11", "Parallel")]
)
def test_a_parallel_job_is_described_and_refused(
    pool: PersonalPool, work: Path, universe: str, name: str
) -> None:
    description = work / "parallel.sub"
    text = f"executable = /bin/true\nuniverse = {universe}\nmachine_count = 2\n"
    for more in ("queue\n", "max_materialize = 1\nqueue 3\n"):
        description.write_text(text + more)
        code, _, complaint = run_tool(pool, "condor_submit", str(description))
        assert code == 1
        assert complaint.strip() == f"ERROR: '{name}' is not a supported universe."
    code, said, _ = run_tool(pool, "condor_submit", "-dry-run", "-", str(description))
    if name == "Parallel":
        assert code == 0
        assert "JobUniverse=11" in said
    assert ask_queue(pool, "-all", "JobUniverse").count(["11"]) == 0


@shows("R053")
def test_requirements_are_the_user_s_and_what_every_job_needs(
    pool: PersonalPool, work: Path
) -> None:
    lines = "requirements = Foo\nshould_transfer_files = yes\n"
    jobs = submit(pool, work, HELD + lines + "queue\n")
    said = run_tool(pool, "condor_q", str(jobs.cluster), "-af:r", "Requirements")[1]
    for word in ("Foo", "OpSys", "Arch", "Disk", "Memory", "HasFileTransfer"):
        assert word in said


@shows("R055")
def test_should_transfer_files_knows_its_words(pool: PersonalPool, work: Path) -> None:
    said = {}
    for word in ("YES", "NO", "IF_NEEDED", "yes", "true", "always"):
        lines = f"should_transfer_files = {word}\n"
        [[said[word]]] = held(pool, work, lines, "ShouldTransferFiles")
    assert said == {
        "YES": "YES",
        "NO": "NO",
        "IF_NEEDED": "IF_NEEDED",
        "yes": "YES",
        "true": "YES",
        "always": "YES",
    }
    (work / "bad.sub").write_text(HELD + "should_transfer_files = maybe\nqueue\n")
    assert run_tool(pool, "condor_submit", str(work / "bad.sub"))[0] != 0


@shows("R058")
def test_a_missing_input_file_holds_the_job_with_a_reason_that_names_it(
    pool: PersonalPool, work: Path
) -> None:
    text = (
        "executable = /bin/true\nshould_transfer_files = yes\ntransfer_input_files = nope\nqueue\n"
    )
    jobs = submit(pool, work, text)
    jobs.wait_for(12, 15)
    [code, reason] = jobs.wait_for_status(5, "HoldReasonCode", "HoldReason")
    assert code == "13"
    assert "nope" in reason


@shows("R061")
def test_limits_of_a_job_become_attributes(pool: PersonalPool, work: Path) -> None:
    lines = (
        "kill_sig = SIGINT\njob_max_vacate_time = 11\n"
        "max_job_retirement_time = 12\njob_lease_duration = 1313\n"
    )
    names = ("KillSig", "JobMaxVacateTime", "MaxJobRetirementTime", "JobLeaseDuration")
    assert held(pool, work, lines, *names) == [["SIGINT", "11", "12", "1313"]]


@shows("R063")
def test_an_unknown_command_is_named_in_a_warning_and_the_job_is_queued(
    pool: PersonalPool, work: Path
) -> None:
    (work / "odd.sub").write_text(HELD + "inptu = x\nqueue\n")
    code, said, complaint = run_tool(pool, "condor_submit", str(work / "odd.sub"))
    assert code == 0
    assert "inptu" in complaint
    assert "1 job(s) submitted" in said


@shows("R065")
def test_job_ids_are_never_used_again_even_after_a_restart_of_the_schedd(
    pool: PersonalPool, work: Path
) -> None:
    clusters = [submit(pool, work, HELD + "queue\n").cluster for _ in range(3)]
    assert clusters == list(range(clusters[0], clusters[0] + 3))
    assert run_tool(pool, "condor_rm", str(clusters[-1]))[0] == 0
    wait_until(lambda: ask_queue(pool, str(clusters[-1]), "ProcId") == [], 5)
    schedd = daemon_pid(pool, "condor_schedd")
    os.kill(schedd, signal.SIGKILL)
    daemon_pid(pool, "condor_schedd", other_than=schedd)
    wait_until(lambda: run_tool(pool, "condor_q", "-all")[0] == 0, 10)
    assert submit(pool, work, HELD + "queue\n").cluster > clusters[-1]


@shows("R067")
def test_jobs_are_named_by_id_cluster_user_constraint_or_all(
    pool: PersonalPool, work: Path
) -> None:
    jobs = submit(pool, work, HELD + "+Row67 = ProcId\nqueue 5\n")
    cluster = str(jobs.cluster)

    def states() -> list[str]:
        return [status for [status] in ask_queue(pool, cluster, "JobStatus")]

    # Each way of naming jobs, for each of the tools that may be used on a job that waits.
    constraint = f"ClusterId == {cluster} && Row67 < 2"
    [[owner]] = ask_queue(pool, f"{cluster}.2", "Owner")
    run_tool(pool, "condor_qedit", cluster, "Requirements", "false")
    for words, named in (
        ((f"{cluster}.4",), ["4"]),
        ((cluster,), ["0", "1", "2", "3", "4"]),
        (("-constraint", constraint), ["0", "1"]),
    ):
        assert run_tool(pool, "condor_release", *words)[0] == 0
        rows = ask_queue(pool, cluster, "JobStatus", "ProcId")
        assert [proc for status, proc in rows if status == "1"] == named, words
        assert run_tool(pool, "condor_hold", *words)[0] == 0
        assert states() == ["5"] * 5
    assert run_tool(pool, "condor_rm", f"{cluster}.0")[0] == 0
    assert (
        run_tool(pool, "condor_rm", "-constraint", f"ClusterId == {cluster} && Row67 == 1")[0] == 0
    )
    wait_until(lambda: states() == ["5", "5", "5"], 5)
    assert run_tool(pool, "condor_rm", "no-such-user")[0] != 0
    assert len(states()) == 3
    assert run_tool(pool, "condor_rm", owner)[0] == 0
    wait_until(lambda: states() == [], 5)
    again = submit(pool, work, HELD + "queue 2\n")
    assert run_tool(pool, "condor_rm", "-all")[0] == 0
    wait_until(lambda: ask_queue(pool, str(again.cluster), "JobStatus") == [], 5)


@shows("R069")
def test_condor_qedit_changes_what_a_user_may_change(pool: PersonalPool, work: Path) -> None:
    jobs = submit(pool, work, HELD + "queue\n")
    cluster = str(jobs.cluster)
    assert run_tool(pool, "condor_qedit", cluster, "Foo", "5")[0] == 0
    assert ask_queue(pool, cluster, "Foo") == [["5"]]
    assert run_tool(pool, "condor_qedit", cluster, "ClusterId", "9999")[0] != 0
    assert ask_queue(pool, cluster, "ClusterId") == [[cluster]]


@shows("R093")
def test_amounts_are_in_mib_and_kib(pool: PersonalPool, work: Path) -> None:
    program = work / "program"
    program.write_bytes(b"#!/bin/sh\n" + b"#" * 3 * 1024 * 1024)
    program.chmod(0o755)
    lines = f"executable = {program}\nrequest_memory = 1GB\nrequest_disk = 1GB\nhold=true\nqueue\n"
    jobs = submit(pool, work, lines)
    names = ("RequestMemory", "RequestDisk", "ImageSize", "ExecutableSize")
    [[memory, disk, image, executable]] = ask_queue(pool, str(jobs.cluster), *names)
    assert (memory, disk) == ("1024", "1048576")
    # Sizes are rounded up to a quarter of their order of magnitude.
    assert 3072 <= int(executable) <= 3072 * 1.25
    assert int(image) >= 3072
    wait_until(lambda: run_tool(pool, "condor_status", "-af", "Name")[1] != "", 10)
    words = ("TotalMemory", "TotalDisk", "TotalVirtualMemory")
    said = run_tool(pool, "condor_status", "-af", *words)[1].split()
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert abs(int(said[0]) - total // 1024**2) <= total // 1024**2 * 0.05
    stat = os.statvfs(pool.folder)
    assert abs(int(said[1]) - stat.f_bavail * stat.f_frsize // 1024) < int(said[1]) * 0.2
    assert int(said[2]) >= int(said[0]) * 1024 * 0.5
