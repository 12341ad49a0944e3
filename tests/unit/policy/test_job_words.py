"""Which of the words that mean something a running job may say of itself, and which its run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kettle.attributes.job import STARTER_ADDRESS, Job
from kettle.policy.attribute_protection import ProtectedNames, may_report, may_set
from kettle.policy.job_words import is_jobs_to_set
from kettle.submit.registry import all_commands

SOURCE = Path(__file__).parents[3] / "src" / "kettle"
LISTS = ProtectedNames(frozenset({"owner", "jobuniverse"}), frozenset(), frozenset({"token"}))

OWN = ("MyProgress", "ChirpX", "Chirp_CRAB3_Exit", "Foo", "BatchNumber", "WantJobRouter")
STANDARD = (
    "Requirements", "Rank", "RequestMemory", "RequestDisk", "PeriodicHold", "PeriodicRelease",
    "OnExitRemove", "OnExitHold", "JobPrio", "JobBatchName", "JobDescription", "ImageSize",
    "ConcurrencyLimits", "DeferralTime", "AllowedJobDuration",
)  # fmt: skip
# By what they would do in a stranger's hands.
FILES = (
    "SUBMIT_Iwd", "SUBMIT_TransferOutputRemaps", "SUBMIT_Out", "Iwd", "Out", "Err", "In", "UserLog",
    "TransferOutputRemaps", "TransferInput", "TransferInputRemaps", "OutputDirectory",
    "TransferQueueInputList",
    "OutputDestination", "CheckpointDestination", "FileRemaps", "ManifestDir", "JobStarterLog",
    "EC2KeyPairFile", "GceAuthFile", "X509UserProxy", "ScitokensFile", "JobMaterializeItemsFile",
    "StageInStart", "StageInFinish", "JobUmask", "DAGManNodesLog", "UserLogUseXML", "AppendFiles",
)  # fmt: skip
RIGHTS = (
    "WantIOProxy", "WantRemoteUpdates", "WantDelayedUpdates", "StreamIn", "StreamOut", "StreamErr",
    "LimitDirectoryAccess", "RunAsOwner", "OAuthServicesNeeded", "TransferKey", "TransferSocket",
    "StarterIpAddr", "StartdIpAddr", "ClaimId", "WantRemoteIO",
)  # fmt: skip
CHARGED = ("AccountingGroup", "AcctGroup", "AcctGroupUser", "NiceUser", "ProjectName")
MAILED = ("NotifyUser", "JobNotification", "EmailAttributes")
PROGRAMS = (
    "Cmd", "Args", "Arguments", "Env", "Environment", "PreCmd", "PostCmd", "ToolDaemonCmd",
    "TransferPlugins", "ContainerImage", "DockerImage", "HookKeyword", "JarFiles", "GridResource",
    "Remote_Cmd", "OtherJobRemoveRequirements", "VMPARAM_vm_Disk",
)  # fmt: skip
# What the negotiator and the schedd tell a startd of a match in the job's ad.
OF_A_MATCH = (
    "RemoteGroup", "RemoteNegotiatingGroup", "RemoteAutoregroup", "RemotePool",
    "MatchedConcurrencyLimits", "SubmitterUserPrio", "SubmitterGroup", "SubmittorPrio",
    "_condor_NUM_DYNAMIC_SLOTS", "_condor_RESOURCE_COUNT", "ScheddName", "StartdSendsAlives",
    "WorkingCM",
)  # fmt: skip
HOW_IT_STANDS = (
    "JobStatus", "HoldReason", "JobStatusOnRelease", "NumJobStarts", "LeaveJobInQueue",
    "JobLeaseDuration", "KettleJobPid", "GlobalJobId", "Managed", "RoutedToJobId",
)  # fmt: skip


@pytest.mark.parametrize("name", [*OWN, *STANDARD])
def test_a_job_may_set_what_it_invents_and_its_policy_wishes_and_labels(name: str) -> None:
    assert may_set(name, LISTS)
    assert may_set(name.upper(), LISTS)


@pytest.mark.parametrize(
    "name", [*FILES, *RIGHTS, *CHARGED, *MAILED, *PROGRAMS, *OF_A_MATCH, *HOW_IT_STANDS]
)
def test_a_job_may_not_set_what_reaches_beyond_it(name: str) -> None:
    assert not may_set(name, LISTS)
    assert not may_set(name.lower(), LISTS)


def test_of_the_words_that_mean_something_only_the_marked_are_the_jobs() -> None:
    marked = {str(row) for row in vars(Job).values() if getattr(row, "by_job", False)}
    known = {str(row) for row in vars(Job).values() if hasattr(row, "by_job")}
    known |= {row.attribute for row in all_commands() if row.attribute}
    lowered = {name.lower() for name in marked}
    assert {n for n in known if is_jobs_to_set(n.lower())} == {
        n for n in known if n.lower() in lowered
    }


# Read of a job where its machine's word does no harm: what only the negotiator or a tool shows.
_HARMLESS = {
    "PreJobPrio1", "PreJobPrio2", "PostJobPrio1", "PostJobPrio2", "TimerRemove", "TotalJobRunTime",
    "WantNameTag",
}  # fmt: skip
_READ = re.compile(
    r"\b(?:_?job|job\.ad|request\.ad)"
    r"\.(?:string|boolean|integer|real|text|lookup|evaluate)\(\s*\"(\w+)\""
)


@pytest.mark.parametrize(
    "room",
    [
        "shadow", "schedd", "starter", "startd", "matchmaking", "negotiator", "transfer", "policy",
        "records", "config", "tools",
    ],
)  # fmt: skip
def test_every_attribute_that_is_read_of_a_job_is_decided(room: str) -> None:
    """A new one is a row of a table, or here with the reason why a job may set it."""
    read = {
        name
        for path in sorted((SOURCE / room).rglob("*.py"))
        for name in _READ.findall(path.read_text())
    }
    marked = {str(row).lower() for row in vars(Job).values() if getattr(row, "by_job", False)}
    free = {name for name in read if is_jobs_to_set(name.lower()) and name.lower() not in marked}
    assert free <= _HARMLESS


@pytest.mark.parametrize(
    "name",
    [
        *("ExitCode", "NumJobStarts", "HoldReason", "JobStatus", "CpusUsage", "AssignedGPUs"),
        STARTER_ADDRESS,
    ],
)
def test_a_run_reports_how_it_went(name: str) -> None:
    assert may_report(name, LISTS)
    # A list against users is none against what a shadow writes.
    listed = ProtectedNames(frozenset(), frozenset({name.lower()}), frozenset())
    assert may_report(name, listed) is (name != "AssignedGPUs")
    assert may_report("MyProgress", LISTS)


@pytest.mark.parametrize("name", ["Cmd", "Owner", "JobUniverse", "Token", "Iwd", "NotifyUser"])
def test_a_run_says_nothing_of_what_is_the_owners(name: str) -> None:
    assert not may_report(name, LISTS)


@pytest.mark.parametrize(
    "name", ['Owner true ? "victim" : usage', "x\n103 5.0 y usage", "assigned x"]
)
def test_what_is_no_name_is_reported_by_nobody(name: str) -> None:
    assert not may_report(name, LISTS)


def test_a_run_changes_nothing_that_is_listed_as_immutable_or_secure() -> None:
    lists = ProtectedNames(
        frozenset({"cpususage"}), frozenset({"myusage"}), frozenset({"myassets"})
    )
    assert not may_report("CpusUsage", lists)
    assert not may_report("MyUsage", lists)
    assert not may_report("MyAssets", lists)
    assert may_report("GPUsUsage", lists)
