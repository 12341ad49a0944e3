"""Which attributes of its ad are a running job's own to set, and which a run's to report.

Pure: names. A machine that runs a job says whatever it likes in the job's name. So of the
attributes that mean something here, those that the job may set are marked in the table
(`attributes/job.py`, `by_job`): its policy, its wishes for a machine, its labels, its sizes. Not
marked is what says where files are read and written at the access point or by the user's tools,
what a starter may reach, which programs run, who is charged, who gets mail, and how the job stands.
Names that mean nothing here are the user's own (+MyProgress), and free.
"""

from __future__ import annotations

from functools import cache

from kettle.attributes import match_words
from kettle.attributes.job import STARTER_ADDRESS, Job
from kettle.records.unwritten_events import SHADOW_EVENTS
from kettle.submit.registry import all_commands

_BY_JOB = frozenset(str(row).lower() for row in vars(Job).values() if getattr(row, "by_job", False))
# What a run says of itself, by the table: what its shadow or its starter writes, how the job stands
# (which the job machine decides), the events that its shadow has not written yet, and where its
# starter listens.
_OF_A_RUN = frozenset(
    str(row).lower()
    for row in vars(Job).values()
    if not {"shadow", "starter"}.isdisjoint(getattr(row, "written_by", "").split(", "))
) | {"jobstatus", SHADOW_EVENTS.lower(), STARTER_ADDRESS.lower()}
# What the machine says of each resource, of whatever name.
_OF_RESOURCES = ("usage", "provisioned")
# Families of names that others read: where the user's tools put a spooled job's files, our own
# notes, what authentication and credentials say, what the negotiator says of a submitter and of a
# match, what daemons tell one another in a job's ad, what a job is at another access point or under
# another manager, what a late materialized cluster reads, and what a workflow or a virtual machine
# makes of a job.
_FAMILIES = (
    *match_words.FAMILIES, "submit_", "kettle", "authtoken", "x509", "oauth", "_condor_",
    "routed", "jobmaterialize", "dagman", "machineattr", "ec2tag", "ec2parameter", "vmparam_",
)  # fmt: skip
# Names that mean something, beside the tables of attributes and of submit commands.
_BESIDE = frozenset(
    name.lower()
    for name in (
        *match_words.KEPT_WITH_A_SLOT,
        "AlwaysRunAsOwner", "ClaimId", "ClaimIds", "CredentialDir", "DAGParentNodeNames",
        "DelegatedProxyExpiration", "DisableCoolDown", "EC2RemoteVirtualMachineName", "Env",
        "EnvDelim",
        "FirstJobMatchDate", "GridJobStatus", "HookKeyword", "JavaVMArguments",
        "JobAbortEventLogged", "JobCoolDownExpiration", "JobCoreFileName", "JobRequiresSandbox",
        "JobUid", "JobUmask",
        "LastRejMatchNegotiator", "LastRemoteWallClockTime", "LimitDirectoryAccess", "Managed",
        "ManagedManager", "MyAddress", "NumJobCoolDowns",
        "OtherJobRemoveRequirements",
        "PostArgs", "PostArguments", "PostCmd", "PostEnv", "PostEnvironment", "PreArgs",
        "PreArguments", "PreCmd", "PreEnv", "PreEnvironment", "PublicClaimIds", "RouteName",
        "ScheddName", "SendCredential", "ShadowIpAddr", "ShadowVersion", "StartdHandlesAlives",
        "StartdIpAddr", "StartdSendsAlives", "StarterHandlesAlives", "TransferInputRemaps",
        "TransferQueueInputList",
        "UidDomain", "UserLogExecuteEventAttrs", "WallClockCheckpoint", "WantDelayedUpdates",
        "WantRemoteUpdates", "WorkingCM",
    )
)  # fmt: skip


@cache
def _known() -> frozenset[str]:
    """Return the attributes that mean something, in lower case."""
    of_jobs = {str(row).lower() for row in vars(Job).values() if hasattr(row, "by_job")}
    of_submit = {row.attribute.lower() for row in all_commands() if row.attribute}
    return _BESIDE | of_jobs | of_submit


def is_jobs_to_set(lower: str) -> bool:
    """Tell whether an attribute, in lower case, is the running job's own to set."""
    if lower in _BY_JOB:
        return True
    return not lower.startswith(_FAMILIES) and lower not in _known()


def is_of_a_resource(lower: str) -> bool:
    """Tell whether an attribute, in lower case, says how much of a resource a run had or used.

    By its ending or beginning, so whoever asks has to know that it is a name at all.
    """
    return lower.endswith(_OF_RESOURCES) or lower.startswith("assigned")


def is_of_a_run(lower: str) -> bool:
    """Tell whether an attribute, in lower case, is by the table a run's to report."""
    return lower in _OF_A_RUN
