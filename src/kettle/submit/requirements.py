"""Step: Requirements, what the user wrote and what follows from the rest of the job.

Order and words of the clauses are the reference's (vectors, topic "requirements"); a clause is
left out where the user's own expression speaks of its attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse
from kettle.classad.text import equals
from kettle.submit.job import JobBuilder, mentioned_names
from kettle.submit.requests import custom_requests, is_more_than

if TYPE_CHECKING:
    from collections.abc import Collection

DISK = "(TARGET.Disk >= RequestDisk)"
# Newer startds size the disk of a slot by themselves.
NEWER_DISK = f'(versionGE(split(TARGET.CondorVersion)[1],"25.12.0") || {DISK})'
DEFERRAL = (
    "TARGET.HasJobDeferral && (((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime))"
    " && (time() < (DeferralTime + DeferralWindow)))"
)
SAME_DOMAIN = "(TARGET.FileSystemDomain == MY.FileSystemDomain)"
MIXED = {"Memory": "your", "Disk": "Your"}


def set_requirements(job: JobBuilder) -> None:
    """Decide Requirements; tell about clauses of the user's that are not needed any more."""
    own = [text for text in (job.param("requirements"), _appended(job)) if text]
    mentioned = mentioned_names(" && ".join(own))
    names = {name for _, name in mentioned}
    for attribute, your in MIXED.items():
        lower = attribute.lower()
        if ("", lower) in mentioned or ("target", lower) in mentioned:
            job.warnings.append(
                f"WARNING: {your} Requirements expression refers to TARGET.{attribute}. This is "
                f"obsolete. Set request_{lower} and condor_submit will modify the Requirements "
                "expression as needed."
            )
    clauses = [f"({text})" for text in own]
    clauses += _clauses(job, names)
    job.set_expression("Requirements", " && ".join(clauses) or "true")


def _appended(job: JobBuilder) -> str:
    by_universe = {JobUniverse.VANILLA: "APPEND_REQ_VANILLA", JobUniverse.VM: "APPEND_REQ_VM"}
    special = by_universe.get(job.universe)
    text = job.config.get(special) if special else None
    return text or job.config.get("APPEND_REQUIREMENTS") or ""


def _clauses(job: JobBuilder, names: Collection[str]) -> list[str]:
    if job.universe is JobUniverse.GRID and job.grid_type != "condor":
        return []
    clauses = _machine(job, names)
    clauses += _resources(job, names)
    if job.boolean("encrypt_execute_directory"):
        clauses.append("TARGET.HasEncryptExecuteDirectory")
    clauses += _transfer(job, names)
    if job.param("checkpoint_exit_code") is not None:
        clauses.append("TARGET.HasSelfCheckpointTransfers")
    if job.needs_deferral:
        clauses.append(DEFERRAL)
    return clauses


def _transfer(job: JobBuilder, names: Collection[str]) -> list[str]:
    if not job.transfer_ability or "hasfiletransfer" in names:
        return []
    mentions_domain = "filesystemdomain" in names
    if job.should_transfer == "NO":
        return [] if mentions_domain else [SAME_DOMAIN]
    if job.should_transfer == "YES" or mentions_domain:
        return [f"({job.transfer_ability})"]
    return [f"({SAME_DOMAIN} || ({job.transfer_ability}))"]


def _machine(job: JobBuilder, names: Collection[str]) -> list[str]:
    if job.universe is JobUniverse.JAVA:
        return ["TARGET.HasJava"]
    clauses = []
    if "arch" not in names:
        clauses.append(f"({equals('TARGET.Arch', job.config.get('ARCH') or '')})")
    if job.universe is JobUniverse.VM:
        clauses += [
            "(TARGET.HasVM =?= true)",
            "(TARGET.VM_Type == MY.JobVMType)",
            "(TARGET.VM_AvailNum > 0)",
        ]
    elif job.container_clause:
        clauses.append(job.container_clause)
    elif not any(name.startswith("opsys") for name in names):
        clauses.append(f"({equals('TARGET.OpSys', job.config.get('OPSYS') or '')})")
    return clauses


def _resources(job: JobBuilder, names: Collection[str]) -> list[str]:
    clauses = []
    if is_more_than(job.current("RequestDisk"), 0):
        newer = job.universe is JobUniverse.VANILLA and "disk" not in names
        clauses.append(NEWER_DISK if newer else DISK)
    if job.universe is JobUniverse.VM:
        clauses.append("(TARGET.VM_Memory >= MY.JobVMMemory)")
    elif is_more_than(job.current("RequestMemory"), 1):
        clauses.append("(TARGET.Memory >= RequestMemory)")
    if is_more_than(job.current("RequestCpus"), 1):
        clauses.append("(TARGET.Cpus >= RequestCpus)")
    gpus = job.current("RequestGPUs")
    if is_more_than(gpus, 0):
        if job.current("RequireGPUs") is not None:
            clauses.append("(countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs)")
        else:
            clauses.append(_at_least("GPUs", gpus or ""))
    if job.config.boolean("SUBMIT_GENERATE_CUSTOM_RESOURCE_REQUIREMENTS") is not False:
        for name, _ in custom_requests(job):
            text = job.current(f"Request{name}")
            if is_more_than(text, 0):
                clauses.append(_at_least(name, text or ""))
    return clauses


def _at_least(resource: str, text: str) -> str:
    if text.startswith('"'):
        return f"regexp(Request{resource},TARGET.{resource})"
    return f"(TARGET.{resource} >= Request{resource})"
