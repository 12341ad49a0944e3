"""Step: Requirements, what the user wrote and what follows from the rest of the job.

Order and words of the clauses are the reference's (vectors, topic "requirements"); a clause is
left out where the user's own expression speaks of its attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse
from kettle.classad import UNDEFINED
from kettle.classad.text import equals, quote_operand
from kettle.digits import whole
from kettle.errors import SubmitError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.submit import policy, transfer
from kettle.submit.job import JobBuilder, evaluate, mentioned_names, split_at_commas, unquoted
from kettle.submit.requests import is_more_than

if TYPE_CHECKING:
    from collections.abc import Collection

DISK = "(TARGET.Disk >= RequestDisk)"
# Newer startds size the disk of a slot by themselves.
NEWER_DISK = f'(versionGE(split(TARGET.CondorVersion)[1], "25.12.0") || {DISK})'
TOTAL_DISK = "(TARGET.TotalDisk >= DiskUsage)"
USED_DISK = "(TARGET.Disk >= DiskUsage)"
LOCAL_DEFERRAL = (
    "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime))"
    " && (time() < (DeferralTime + DeferralWindow)))"
)
DEFERRAL = f"TARGET.HasJobDeferral && {LOCAL_DEFERRAL}"
VIRTUAL = {
    "hasvm": "(TARGET.HasVM =?= true)",
    "vm_type": "(TARGET.VM_Type == MY.JobVMType)",
    "vm_availnum": "(TARGET.VM_AvailNum > 0)",
}
# Two machines with one network address do not run on one host.
OTHER_ADDRESS = (
    "((MY.VM_CkptMac =?= undefined) || (TARGET.VM_All_Guest_Macs =?= undefined) || "
    '(stringListIMember(MY.VM_CkptMac,TARGET.VM_All_Guest_Macs,",") == false))'
)
NEWER = 'versioncmp(split(TARGET.CondorVersion)[1],"8.9.7") >= 0'
_SIDE = late_pattern(r"\A(?:(?:target|other|\.left|\.right)\.|\.)")
CUDA_VERSION = late_pattern(r"\+?(\d+)(?:\.\+?(\d+))?")
MIGHT_TRANSFER = (
    JobUniverse.VANILLA,
    JobUniverse.MPI,
    JobUniverse.PARALLEL,
    JobUniverse.JAVA,
    JobUniverse.VM,
)
ENCRYPTED = (
    ("encrypt_input_files", "EncryptInputFiles"),
    ("encrypt_output_files", "EncryptOutputFiles"),
    ("dont_encrypt_input_files", "DontEncryptInputFiles"),
    ("dont_encrypt_output_files", "DontEncryptOutputFiles"),
)
# What names an operating system: who asks for one of these has chosen it. A version alone does not.
SYSTEMS = frozenset(
    ("opsys", "opsysandver", "opsyslegacy", "opsyslongname", "opsysname", "opsysshortname")
)
SAME_DOMAIN = "(TARGET.FileSystemDomain == MY.FileSystemDomain)"
MIXED = {"Disk": "Your", "Memory": "your"}


def set_requirements(job: JobBuilder) -> None:
    """Decide Requirements; tell about clauses of the user's that are not needed any more."""
    user = job.param("requirements")
    if job.forced.get("Requirements") is not None:
        if user is not None:
            job.warn(
                "requirements",
                "Use of MY.Requirements or +Requirements  overrides requirements. You "
                "should remove one of these statements from your submit file.",
            )
        _keep_cuda_text(job)
        return
    users = [f"({text})" for text in (user, _appended(job)) if text]
    if job.universe is JobUniverse.GRID and job.grid_type != "condor":
        # Of what another system decides nothing is known, and nothing said.
        _keep_cuda_text(job)
        clauses = users
    else:
        names = _attributes_in(" && ".join(users))
        _look_at(job, users, names)
        clauses = users + _clauses(job, names)
    try:
        job.set_conjunction("Requirements", clauses or ["true"])
    except SubmitError as error:
        raise SubmitError(
            f"{error.said}\nWARNING: Could not get attribute references from Requirements: "
            f"{' && '.join(users)}",
            command="requirements",
            mark=error.mark,
        ) from error.__cause__


def _look_at(job: JobBuilder, users: list[str], names: Collection[str]) -> None:
    """Refuse requirements that ask for themselves; tell of what is better asked for otherwise."""
    if "requirements" in names:
        raise SubmitError(
            f"Requirements = {' && '.join(users)}\n"
            "Is Circular. Did you intend to use $(Requirements) ?",
            command="requirements",
        )
    mixed = {} if job.universe is JobUniverse.VM else MIXED
    for attribute, your in mixed.items():
        lower = attribute.lower()
        if lower in names:
            job.warn(
                "requirements",
                f"{your} Requirements expression refers to TARGET.{attribute}. This is "
                f"obsolete. Set request_{lower} and condor_submit will modify the Requirements "
                "expression as needed.",
            )


def _attributes_in(text: str) -> frozenset[str]:
    """Return the names that an expression asks for, whichever of the two ads it asks.

    What something is selected from is asked for. Compat: where the job has that and it is no ad,
    the reference warns that it could not tell
    (test_what_something_is_selected_from_is_asked_for).
    """
    return frozenset(_SIDE.sub("", name).partition(".")[0] for name in mentioned_names(text))


def _appended(job: JobBuilder) -> str:
    by_universe = {JobUniverse.VANILLA: "APPEND_REQ_VANILLA", JobUniverse.VM: "APPEND_REQ_VM"}
    special = by_universe.get(job.universe)
    text = job.config.get(special) if special else None
    return text or job.config.get("APPEND_REQUIREMENTS") or ""


def _clauses(job: JobBuilder, names: Collection[str]) -> list[str]:
    clauses = _machine(job, names)
    clauses += _resources(job, names)
    if job.ask(_is_there, "ToolDaemonCmd") and "hastdp" not in names:
        clauses.append("TARGET.HasTDP")
    if _is_true(job, "encrypt_execute_directory", "EncryptExecuteDirectory") and (
        "encryptexecutedirectory" not in names
    ):
        clauses.append("TARGET.HasEncryptExecuteDirectory")
    clauses += _transfer(job, names)
    if policy.needs_deferral(job):
        clauses.append(LOCAL_DEFERRAL if job.universe is JobUniverse.LOCAL else DEFERRAL)
    checkpoints = _is_said(job, "checkpoint_exit_code", "SuccessCheckpointExitCode")
    if "hasselfcheckpointtransfers" not in names and (
        checkpoints or evaluate(job.forced.get("WantFTOnCheckpoint") or "") is True
    ):
        clauses.append("TARGET.HasSelfCheckpointTransfers")
    clauses += _cuda(job)
    if evaluate(job.forced.get("OCUWanted") or "") is True:
        clauses.append("TARGET.OCU =?= true")
    return clauses


def _text_of(job: JobBuilder, command: str, attribute: str) -> str:
    """Return the string of an attribute that no step before this one needs, empty for none."""
    forced = job.forced.get(attribute)
    if forced is None:
        return unquoted(job.said(command, attribute) or "") if command else ""
    value = evaluate(forced)
    return value if isinstance(value, str) else ""


def _is_said(job: JobBuilder, command: str, attribute: str) -> bool:
    """Tell whether a command is given, or was for the cluster."""
    return job.param(command) is not None or job.of_cluster(attribute) is not None


def _is_true(job: JobBuilder, command: str, attribute: str) -> bool:
    forced = job.forced.get(attribute)
    if forced is not None:
        return evaluate(forced) is True
    said = job.boolean(command)
    if said is None:
        return evaluate(job.of_cluster(attribute) or "") is True
    return said


def _transfer(job: JobBuilder, names: Collection[str]) -> list[str]:
    """Say that files can travel or that both sides see the same ones."""
    if job.universe not in MIGHT_TRANSFER:
        return []
    should = _text_of(job, "", "ShouldTransferFiles") or job.should_transfer
    mentions_domain = "filesystemdomain" in names
    if should == "NO":
        return [] if mentions_domain else [SAME_DOMAIN]
    if "hasfiletransfer" in names or "hasjobtransferplugins" in names:
        return []
    ability = _transfer_ability(job, names)
    if should == "YES" or mentions_domain:
        return [f"({ability})"]
    return [f"({SAME_DOMAIN} || ({ability}))"]


def _transfer_ability(job: JobBuilder, names: Collection[str]) -> str:
    """Return what the machine must offer so that the files can travel.

    Decides WantTransferPluginMethods too: the kinds of URL that the machine has to understand.
    """
    plugins = _text_of(job, "transfer_plugins", "TransferPlugins")
    can = "TARGET.HasJobTransferPlugins" if plugins else "TARGET.HasFileTransfer"
    if "hasperfileencryption" not in names and any(
        _is_said(job, command, attribute) or job.forced.get(attribute) is not None
        for command, attribute in ENCRYPTED
    ):
        can += " && TARGET.HasPerFileEncryption"
    when = _text_of(job, "", "WhenToTransferOutput") or job.when_to_transfer
    if (
        when == "ON_SUCCESS"
        or _is_true(job, "preserve_relative_paths", "PreserveRelativePaths")
        or _text_of(job, "transfer_checkpoint_files", "TransferCheckpoint")
    ):
        can += f" && {NEWER}"
    if evaluate(job.forced.get("RequireCommonFilesTransfer") or "") is True:
        can += " && TARGET.HasCommonFilesTransfer >= 2"
    methods = transfer.plugin_methods(
        plugins, _urls(job), remaps=_text_of(job, "transfer_output_remaps", "TransferOutputRemaps")
    )
    _check_destination(job)
    if methods:
        transfer.check_object_store(job, methods)
        job.set_string("WantTransferPluginMethods", ",".join(methods))
    if "hasfiletransferpluginmethods" in names:
        return can
    return can + "".join(
        f" && stringListIMember({quote_operand(method)},TARGET.HasFileTransferPluginMethods)"
        for method in methods
    )


def _urls(job: JobBuilder) -> list[str]:
    """Return what travels, the URLs at least."""
    forced = job.forced.get("TransferInput")
    names = split_at_commas(_text_of(job, "", "TransferInput")) if forced else job.transferred_urls
    return [*names, _text_of(job, "output_destination", "OutputDestination")]


def _check_destination(job: JobBuilder) -> None:
    destination = _text_of(job, "output_destination", "OutputDestination")
    if destination and not transfer.URL.match(destination):
        job.warn(
            "output_destination",
            "output_destination must be a URL, did you mean output_directory ?",
        )


def _keep_cuda_text(job: JobBuilder) -> None:
    """Decide CUDAVersion of a job that gets no clause for it: the text as it is, as there."""
    text = job.param("cuda_version")
    if text and job.forced.get("CUDAVersion") is None:
        job.set_string("CUDAVersion", text)


def _cuda(job: JobBuilder) -> list[str]:
    """Decide CUDAVersion, as thousands and hundredths; raise SubmitError for another form."""
    text = job.param("cuda_version")
    if text is None or job.forced.get("CUDAVersion") is not None:
        return []
    match = CUDA_VERSION.fullmatch(text.lstrip(BLANKS))
    if match is None:
        raise SubmitError(
            "cuda_version must be of the form 'x' or 'x.y', where x and y are positive integers."
        )
    # Compat: the reference takes numbers below zero, too, and makes others of them
    # (test_a_version_of_cuda_is_no_number_below_zero).
    major, minor = whole(match.group(1)), match.group(2)
    if minor is not None or major < 1000:
        major = major * 1000 + whole(minor or "0") % 100
    job.set_integer("CUDAVersion", major)
    return ["CUDAVersion <= TARGET.CUDAMaxSupportedVersion"]


def _machine(job: JobBuilder, names: Collection[str]) -> list[str]:
    if job.universe is JobUniverse.JAVA:
        return ["TARGET.HasJava"]
    clauses = []
    if "arch" not in names:
        clauses.append(f"({equals('TARGET.Arch', job.config.get('ARCH') or '')})")
    if job.universe is JobUniverse.VM:
        clauses += [clause for name, clause in VIRTUAL.items() if name not in names]
        if job.current("JobVMCheckpoint") == "true" and "vm_ckptmac" not in names:
            clauses.append(OTHER_ADDRESS)
    elif job.container_clause:
        clauses.append(job.container_clause)
    elif SYSTEMS.isdisjoint(names):
        clauses.append(f"({equals('TARGET.OpSys', job.config.get('OPSYS') or '')})")
    return clauses


def _resources(job: JobBuilder, names: Collection[str]) -> list[str]:
    clauses = _disk(job, names)
    if job.universe is JobUniverse.VM:
        clauses += _virtual(job, names)
    elif job.ask(_asks_more_than, "RequestMemory", 1):
        clauses.append("(TARGET.Memory >= RequestMemory)")
    counts_cpus = job.universe is not JobUniverse.GRID and "cpus" not in names
    if counts_cpus and job.ask(_asks_more_than, "RequestCpus", 1):
        clauses.append("(TARGET.Cpus >= RequestCpus)")
    for tag in job.ask(_asked_for):
        if tag.lower() not in names:
            clauses += _at_least(job, tag)
    return clauses


def _asks_more_than(job: JobBuilder, name: str, bound: float) -> bool:
    """Tell whether a request needs a clause."""
    return is_more_than(job.current(name), bound)


def _is_there(job: JobBuilder, name: str) -> bool:
    """Tell whether the job has an attribute."""
    return job.current(name) is not None


def _disk(job: JobBuilder, names: Collection[str]) -> list[str]:
    is_asked = job.ask(_is_there, "RequestDisk")
    if "disk" in names:
        return [DISK] if is_asked and job.universe is not JobUniverse.VM else []
    if not is_asked:
        return [TOTAL_DISK if job.universe is JobUniverse.VM else USED_DISK]
    if not job.ask(_asks_more_than, "RequestDisk", 0):
        return []
    return [NEWER_DISK if job.universe is JobUniverse.VANILLA else DISK]


def _virtual(job: JobBuilder, names: Collection[str]) -> list[str]:
    clauses = []
    if job.current("JobVMType") != '"xen"':
        clauses.append("(TARGET.TotalMemory >= MY.JobVMMemory)")
    if "vm_memory" not in names:
        clauses.append("(TARGET.VM_Memory >= MY.JobVMMemory)")
    if job.current("JobVMHardwareVT") == "true" and "vm_hardwarevt" not in names:
        clauses.append("TARGET.VM_HardwareVT")
    if job.current("JobVMNetworking") == "true":
        if "vm_networking" not in names:
            clauses.append("TARGET.VM_Networking")
        if job.current("JobVMNetworkingType") is not None:
            clauses.append('stringListIMember(JobVMNetworkingType,TARGET.VM_Networking_Types,",")')
    return clauses


def _asked_for(job: JobBuilder) -> list[str]:
    """Return the tags of the resources beside cores, memory and disk, GPUs among them."""
    tags: dict[str, str] = {}
    for name in (*job.attributes.names(), *job.forced.names()):
        tag = name[len("Request") :]
        if name.lower().startswith("request") and len(tag) > 1 and not tag.startswith("_"):
            tags.setdefault(tag.lower(), tag)
    for common in ("cpus", "disk", "memory"):
        tags.pop(common, None)
    if job.config.boolean("SUBMIT_GENERATE_CUSTOM_RESOURCE_REQUIREMENTS") is False:
        return [tags["gpus"]] if "gpus" in tags else []
    return [tags[tag] for tag in sorted(tags)]


def _at_least(job: JobBuilder, tag: str) -> list[str]:
    """Return the clause for one resource, none where nothing is asked for."""
    name = f"Request{tag}"
    text = job.current(name) or ""
    # A number looks at nothing.
    value = evaluate(text, None if text.isdecimal() else dict(job.attributes))
    if isinstance(value, str):
        return [f"regexp({name},TARGET.{tag})"] if value else []
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number and value is not UNDEFINED:
        return []
    if isinstance(value, (int, float)) and value <= 0:
        return []
    if job.ask(_is_there, f"Require{tag}"):
        return [f"(countMatches(MY.Require{tag},TARGET.Available{tag}) >= {name})"]
    return [f"(TARGET.{tag} >= {name})"]
