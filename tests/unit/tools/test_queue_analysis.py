"""What `condor_q -better-analyze` says; the texts were recorded from HTCondor 25.14.1."""

from __future__ import annotations

import time

import pytest

from kettle.classad import ClassAd, parse_ad, parse_expression, parse_old_ad
from kettle.policy.attribute_protection import RESTS_UNTIL
from kettle.tools.queue.analysis import Known, read_autoclusters, render_analysis
from kettle.tools.queue.analysis_wish import AnalysisWish, read_analysis
from kettle.tools.queue.clauses import wrap
from kettle.tools.queue.job_matches import Priorities, read_priorities_text
from kettle.tools.queue.machine_analysis import render_machine, render_unmatchable
from kettle.tools.queue.wish import Wish

JOB = """\
ClusterId = 3
ProcId = 0
JobStatus = 1
JobUniverse = 5
RequestCpus = 20
RequestDisk = 10
RequestMemory = 10
FileSystemDomain = "vm"
LastRejMatchTime = 1795273687
LastRejMatchReason = "no match found"
LastRejMatchNegotiator = "vm"
Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && \
(versionGE(split(TARGET.CondorVersion)[1],"25.12.0") || (TARGET.Disk >= RequestDisk)) && \
(TARGET.Memory >= RequestMemory) && (TARGET.Cpus >= RequestCpus) && \
((TARGET.FileSystemDomain == MY.FileSystemDomain) || (TARGET.HasFileTransfer))
"""
SLOT = """\
Name = "slot1@vm"
Machine = "vm"
Arch = "X86_64"
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
Cpus = 5
Disk = 73304520
FileSystemDomain = "vm"
HasFileTransfer = true
Memory = 16000
OpSys = "LINUX"
State = "Unclaimed"
PartitionableSlot = true
Requirements = TARGET.RequestCpus <= MY.Cpus
"""
SAID = """\
The Requirements expression for job 3.000 is

    (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") &&
    (versionGE(split(TARGET.CondorVersion)[1],"25.12.0") ||
      (TARGET.Disk >= RequestDisk)) && (TARGET.Memory >= RequestMemory) &&
    (TARGET.Cpus >= RequestCpus) &&
    ((TARGET.FileSystemDomain == MY.FileSystemDomain) ||
      (TARGET.HasFileTransfer))

    [0]    : TARGET.Arch == "X86_64"
    [1]    : TARGET.OpSys == "LINUX"
    [2]    : [0] && [1]
    [3]    : versionGE(split(TARGET.CondorVersion)[1],"25.12.0")
    [4]    : TARGET.Disk >= RequestDisk
    [5]    : [3] || [4]
    [6]    : [2] && [5]
    [7]    : TARGET.Memory >= RequestMemory
    [8]    : [6] && [7]
    [9]    : TARGET.Cpus >= RequestCpus
    [10]   : [8] && [9]
    [11]   : TARGET.FileSystemDomain == MY.FileSystemDomain
    [12]   : TARGET.HasFileTransfer
    [13]   : [11] || [12]
    [14]   : [10] && [13]

Job 3.000 defines the following attributes:

    FileSystemDomain = "vm"
    RequestCpus = 20
    RequestDisk = 10 (kb)
    RequestMemory = 10 (mb)

slot1@vm has the following attributes:

    TARGET.Arch = "X86_64"
    TARGET.CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
    TARGET.Cpus = 5
    TARGET.Disk = 73304520 (kb)
    TARGET.FileSystemDomain = "vm"
    TARGET.HasFileTransfer = true
    TARGET.Memory = 16000 (mb)
    TARGET.OpSys = "LINUX"

The Requirements expression for job 3.000 reduces to these conditions:

        Slots
Step   Matched  Condition
----- --------- ---------
[0]           1  TARGET.Arch == "X86_64"
[1]           1  TARGET.OpSys == "LINUX"
[3]           1  versionGE(split(TARGET.CondorVersion)[1],"25.12.0")
[7]           1  TARGET.Memory >= RequestMemory
[9]           0  TARGET.Cpus >= RequestCpus
[11]          1  TARGET.FileSystemDomain == MY.FileSystemDomain


003.000:  Run analysis summary ignoring user priority.  Of 1 slots on 1 machines,
      1 slots are rejected by your job's requirements
      0 slots reject your job because of their own requirements
      0 slots match and are willing to run your job

WARNING:  Be advised:
   No machines matched the job's constraints

"""


def test_a_job_that_no_slot_is_large_enough_for() -> None:
    found = render_analysis(parse_old_ad(JOB), [parse_old_ad(SLOT)])
    assert found == (
        f"{SAID}No successful match recorded.\n"
        f"Last failed match: {time.ctime(1795273687)} from vm\n"
        "Reason for last match failure: no match found\n"
    )


def test_a_running_job_says_when_it_was_matched() -> None:
    job = parse_old_ad(JOB)
    job.update({"JobStatus": 2, "RequestCpus": 1, "LastMatchTime": 1795273690})
    found = render_analysis(job, [parse_old_ad(SLOT)])
    assert found.endswith(
        f"\n003.000:  Job is running.\n\nLast successful match: {time.ctime(1795273690)}\n"
    )
    assert "1 slots match and are willing to run your job" in found


def test_of_alternatives_that_not_all_slots_meet_each_is_counted() -> None:
    job = parse_old_ad("ClusterId = 1\nProcId = 0\nRequirements = TARGET.A || TARGET.B\n")
    slots = [parse_old_ad(text) for text in ("A = true\nB = false\n", "A = false\nB = true\n")]
    found = render_analysis(job, slots)
    table = found.partition("----- --------- ---------\n")[2].splitlines()[:3]
    assert [line.split()[:2] for line in table] == [["[0]", "1"], ["[1]", "1"], ["[2]", "2"]]


def test_an_expression_is_broken_behind_the_last_joint_that_fits() -> None:
    """What was said before counts as part of the same lines, as in the reference."""
    text = " && ".join(["Alpha == 1"] * 7)
    assert wrap(text) == f"{text[:69]}\n    {text[70:]}"
    assert wrap("Start && Limits", "x" * 80) == f"{'x' * 80}Start &&\n    Limits"


@pytest.mark.parametrize(
    ("said", "warning"),
    [
        (
            {"JobUniverse": 9, "GridResource": "batch slurm"},
            "Analysis is only meaningful for Grid universe jobs using matchmaking.",
        ),
        ({"JobUniverse": 7}, "Analysis is not complete for Scheduler or Local universe jobs."),
        ({"JobUniverse": 12}, "Analysis is not complete for Scheduler or Local universe jobs."),
    ],
)
def test_a_job_that_takes_no_slot_has_a_warning_behind_its_conditions(
    said: dict[str, object], warning: str
) -> None:
    job = parse_old_ad(JOB)
    job.update(said)
    assert f"\n\nWARNING: {warning}\n\n\n003.000:  Run " in render_analysis(
        job, [parse_old_ad(SLOT)], Known(schedd=ClassAd())
    )
    job.update({"JobUniverse": 9, "GridResource": "condor $$(Name)"})
    assert "meaningful" not in render_analysis(job, [parse_old_ad(SLOT)])


def test_a_job_that_cools_down_says_so() -> None:
    job = parse_old_ad(JOB)
    job.update({"JobCoolDownExpiration": 1200, "ServerTime": 1000})
    assert "\n003.000:  Job is in cool down.\n\n" in render_analysis(job, [])


def test_a_job_that_rests_after_failed_runs_says_why_and_how_long() -> None:
    job = parse_old_ad(JOB)
    said = "Job is in cool down: its last runs failed at once, it is tried again in 16 s."
    job.update({RESTS_UNTIL: 1016, "ServerTime": 1000})
    assert f"\n003.000:  {said}\n\n" in render_analysis(job, [])
    reason = "Error from slot1@ep: no room for its sandbox"
    job["VacateReason"] = reason
    assert f"\n003.000:  {said}\n\nVacate reason: {reason}\n\n" in render_analysis(job, [])
    job["ServerTime"] = 1016
    assert "cool down" not in render_analysis(job, [])


_BESIDE = """\
003.000:  Run analysis summary ignoring user priority.  Of 1 slots on 0 machines,
      0 slots are rejected by your job's requirements
      {refusing} slots reject your job because of their own requirements
      {willing} slots match and are willing to run your job

{advice}
003.000:  {state}{sentence}


"""
_ADVICE = """\
WARNING:  Be advised:
   Job did not match any machines' constraints
   To see why, pick a machine that you think should match and add
     -reverse -machine <name>
   to your query.

"""


@pytest.mark.parametrize(
    ("universe", "status", "policy", "willing", "sentence"),
    [
        (12, 1, "true", True, "This schedd's StartLocalUniverse evalutes to true for this job."),
        (12, 1, "JobPrio > 5", False, "StartLocalUniverse evalutes to false for this job."),
        (7, 2, "NoSuch < 5", None, "StartSchedulerUniverse policy failed to evalute for this job."),
    ],
)
def test_a_job_beside_its_schedd_is_told_what_that_one_thinks_of_it(
    universe: int, status: int, policy: str, willing: bool | None, sentence: str
) -> None:
    """Recorded from HTCondor 25.14.1, slips included."""
    job = parse_old_ad(JOB)
    job.discard("LastRejMatchTime")
    job.update({"JobUniverse": universe, "JobStatus": status, "JobPrio": 0})
    name = "StartLocalUniverse" if universe == 12 else "StartSchedulerUniverse"
    schedd = parse_old_ad(f"{name} = {policy}\n")
    expected = _BESIDE.format(
        refusing=int(willing is False),
        willing=int(willing is True),
        advice="" if willing else _ADVICE,
        state="Job is running.\n\n" if status == 2 else "",
        sentence="This schedd's " + sentence.removeprefix("This schedd's "),
    )
    slots = [parse_old_ad(SLOT)]
    known = Known(schedd=schedd)
    assert render_analysis(job, slots, known).endswith(expected)
    assert render_analysis(job, slots, known, AnalysisWish()) == f"\n{expected}"
    need = (
        "WARNING: A schedd ClassAd is needed to do analysis for scheduler or Local universe jobs."
    )
    assert f"{need}\n\n\n" in render_analysis(job, slots)
    assert "Run analysis" not in render_analysis(job, slots)


def test_conditions_are_shown_in_new_syntax_and_attributes_in_old() -> None:
    """Recorded from HTCondor 25.14.1."""
    job = parse_old_ad(
        "ClusterId = 1\nProcId = 0\nJobStatus = 1\nAlso = X =!= 2.5 && Y is undefined\n"
        'Requirements = (Foo =?= 1.5) && (Bar == "a\\b") && Also\n'
    )
    said = render_analysis(job, [])
    assert '    (Foo is 1.500000000000000E+00) && (Bar == "a\\\\b") && Also\n' in said
    assert "    [0]    : Foo is 1.500000000000000E+00\n" in said
    assert "    Also = X =!= 2.5 && Y =?= undefined\n" in said


def test_where_there_is_no_slot_nothing_is_counted() -> None:
    said = render_analysis(parse_old_ad(JOB), [])
    assert "Run analysis" not in said
    # Of conditions together none is left out.
    table = said.partition("----- --------- ---------\n")[2]
    assert '0  TARGET.Arch == "X86_64"\n' in table
    assert "0  TARGET.Memory >= RequestMemory\n" in table


def test_slots_are_named_on_demand() -> None:
    job, slot = parse_old_ad(JOB), parse_old_ad(SLOT)
    job["Requirements"] = False
    slots = [slot] * 11
    said = render_analysis(job, slots, wanted=AnalysisWish(detailed=True, names=True))
    names = ", ".join([slot.string("Name") or ""] * 10)
    assert f"     11 slots are rejected by your job's requirements: {names}, ...\n" in said
    assert "slots are rejected by your job's requirements\n" in render_analysis(job, slots)
    job["Requirements"] = True
    slot["Requirements"] = False
    assert "of their own requirements: slot1@vm\n" in render_analysis(
        job, [slot], wanted=AnalysisWish(detailed=True, names=True)
    )


def test_all_jobs_are_tried_with_a_drained_slot() -> None:
    small, large = (
        parse_old_ad(
            f"ClusterId = {cpus}\nProcId = 0\nJobStatus = 1\nRequestCpus = {cpus}\n"
            "Requirements = TARGET.Cpus >= RequestCpus\n"
        )
        for cpus in (1, 8)
    )
    slot = parse_old_ad(
        'Name = "slot1@vm"\nMachine = "vm"\nCpus = 6\nTotalSlotCpus = 8\n'
        'PartitionableSlot = true\nMachineResources = "Cpus"\n'
        "WithinResourceLimits = TARGET.RequestCpus <= MY.Cpus\n"
        "Requirements = WithinResourceLimits\n"
    )
    said = render_machine(slot, [small, large])
    assert "    1 match the requirements of this slot.\n" in said
    assert "    2 would match both slot and job requirments if the slot was drained.\n" in said


def test_a_job_is_told_what_a_slot_would_do_when_drained() -> None:
    """Recorded from HTCondor 25.14.1, where the slots of the jobs before are counted again."""
    job = parse_old_ad(
        "ClusterId = 6\nProcId = 0\nJobStatus = 1\nJobUniverse = 5\nRequestCpus = 8\n"
        'Requirements = TARGET.Arch == "X86_64" && TARGET.Cpus >= RequestCpus\n'
    )
    slot = parse_old_ad(
        'Name = "slot1@vm"\nMachine = "vm"\nArch = "X86_64"\nCpus = 6\nTotalSlotCpus = 8\n'
        'PartitionableSlot = true\nMachineResources = "Cpus"\n'
        "WithinResourceLimits = TARGET.RequestCpus <= MY.Cpus\n"
        "Requirements = WithinResourceLimits\n"
    )
    said = """\
         Slots      If    \n\
Step   Matched   Drained  Condition
----- --------- --------- ---------
[1]           0         1  TARGET.Cpus >= RequestCpus


006.000:  Run analysis summary ignoring user priority.  Of 1 slots on 1 machines,
      0 slots are rejected by your job's requirements
      0 slots reject your job because of their own requirements
      0 slots match and are willing to run your job
      1 slots would match if drained

"""
    assert render_analysis(job, [slot]).endswith(said)
    # A second job knows nothing of what was drained for the first.
    assert render_analysis(job, [slot]).endswith(said)
    # With nothing to be said against any slot, its numbers alone are told in brief.
    assert render_analysis(job, [slot], wanted=AnalysisWish()).startswith("\n006.000:  Run ")
    named = render_analysis(job, [slot], Known(machine="slot1@vm"))
    assert "slot1@vm has the following attributes:\n\n" in named
    assert (
        "slot1@vm has the following attributes when drained:\n\n"
        '    TARGET.Arch = "X86_64"\n    TARGET.Cpus = 8\n'
    ) in named


PRIORITIES = """\
LastUpdate1 = 7
Name1 = "ann@vm"
Priority1 = 502.161
Name2 = "bob@vm"
Priority2 = 900.5
"""


def test_with_priorities_it_is_said_who_has_to_give_way() -> None:
    """Recorded from HTCondor 25.14.1, which crashes where the user has no priority."""
    job = parse_old_ad(
        'ClusterId = 4\nProcId = 0\nUser = "ann@vm"\nRequirements = TARGET.Memory > 1\n'
    )
    slots = [
        parse_old_ad(
            f'Name = "{name}"\nMachine = "vm"\nMemory = 5\nRequirements = true\n'
            f'{f"""RemoteUser = "{user}" """ if user else ""}\nRank = 0\nCurrentRank = 0\n'
        )
        for name, user in (("a", "ann@vm"), ("b", "bob@vm"), ("c", "eve@vm"), ("d", ""))
    ]
    users = read_priorities_text(PRIORITIES)
    assert users == {"ann@vm": 502.161, "bob@vm": 900.5}
    known = Known(priorities=Priorities(users, parse_expression("false")))
    assert render_analysis(job, slots, known).endswith(
        """
Submittor ann@vm has a priority of 502.161

004.000:  Run analysis summary considering user priority.  Of 4 slots on 1 machines,
      0 slots are rejected by your job's requirements
      0 slots reject your job because of their own requirements
      1 slots match and are already running one of your jobs
      1 slots match but are serving users with a better priority in the pool
      1 slots match but will not currently preempt their existing job
      0 slots match but are currently offline

      1 slots match and are willing to run your job

"""
    )
    job["User"] = "new@vm"
    assert "ignoring user priority.  Of 4 slots" in render_analysis(job, slots, known)


def test_a_job_learns_from_its_autocluster() -> None:
    """Recorded from HTCondor 25.14.1."""
    job = parse_old_ad(JOB)
    job.discard("LastRejMatchTime")
    job["AutoClusterId"] = 5
    told = parse_ad(
        '[ Analyze = [ ac5 = [ AutoClusterId = 5; LastRejMatchReason = "no match found"; '
        'LastRejMatchNegotiator = "vm"; LastRejMatchTime = 1795418000; '
        "LastMatchTime = 1795417000; NumRunning = 2; NumCompleted = 1 ] ] ]"
    )
    known = Known(autoclusters=read_autoclusters(told))
    assert render_analysis(job, [], known).endswith(
        f"Last failed match for this autocluster: {time.ctime(1795418000)} from vm\n"
        "\tReason: no match found\n"
        f"Last successful match for this autocluster: {time.ctime(1795417000)}\n"
        "This autocluster currently has 2 running and 1 completed jobs.\n"
    )
    job["LastRejMatchTime"] = 1795418001
    assert "autocluster" not in render_analysis(job, [], known)


def test_words_that_show_the_reference_at_work_change_nothing() -> None:
    def wanted(*options: tuple[str, str], **more: object) -> AnalysisWish:
        return read_analysis(Wish(analyses=list(options), **more))  # type: ignore[arg-type]

    better = wanted(("better-analyze", ""))
    assert wanted(("better-analyze", "diag,show-work:if,memory,slot-exprs")) == better
    assert wanted(("better-analyze", "nop")) == AnalysisWish(detailed=True, details=4)
    assert wanted(("analyze", "1+4")) == AnalysisWish(details=5)
    assert wanted(("better-analyze", "pri,s")) == AnalysisWish(detailed=True, summary=True)
    assert wanted(("better-analyze", ""), ("reverse-analyze", "")) == AnalysisWish(
        detailed=True, reverse=True
    )
    assert wanted(("analyze", "priority"), flags={"nouserprios"}) == AnalysisWish()


def test_a_job_without_an_autocluster_is_named_itself() -> None:
    slots = [parse_old_ad(SLOT)]
    jobs = [
        parse_old_ad(f"ClusterId = 1\nProcId = {proc}\nRequirements = {wish}\n")
        for proc, wish in enumerate(("TARGET.Cpus > 9", "TARGET.Cpus > 4", "false"))
    ]
    jobs[1]["AutoClusterId"] = 3
    assert render_unmatchable(jobs, slots) == (
        "No slots match autocluster -1, jobs : 1.0\nNo slots match autocluster -1, jobs : 1.2\n"
        "All slots reject autocluster 3, jobs : 1.1\n"
    )
