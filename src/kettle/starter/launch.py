"""What exactly is started for a job: program, arguments, environment, files, signals.

A pure function of the job ad, the slot ad and the sandbox. `$$()` is expanded before the ad gets
here (by the schedd or shadow). Opening files, changing users and spawning is `services/job.py`;
the layout of the sandbox is `sandbox.py`.
"""

from __future__ import annotations

import posixpath
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

from kettle.attributes.abilities import SCRATCH_DIRECTORY_MARK
from kettle.attributes.codes import HoldReasonCode, JobUniverse
from kettle.classad import ClassAd
from kettle.config.java import JavaMachine
from kettle.errors import KettleError, LanguageError
from kettle.policy.kill_signals import kill_signal
from kettle.starter.argument_syntax import parse_arguments, parse_environment
from kettle.starter.sandbox import Sandbox
from kettle.transfer.plan import STDERR_NAME, STDOUT_NAME, streams_share_a_file

# Which attributes say how a program is asked to leave, whoever asks: as in HTCondor what is said
# for a removal counts for holds and vacates too, HoldKillSig in the scheduler universe only
# (test_which_signal_a_job_gets_is_what_htcondor_sends).
SOFT_KILL_ATTRIBUTES = ("RemoveKillSig", "KillSig")

# What keeps numerical libraries from using more cores than the slot has.
THREAD_LIMITS = (
    "CUBACORES",
    "GOMAXPROCS",
    "JULIA_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OPENBLAS_NUM_THREADS",
    "PYTHON_CPU_COUNT",
    "ROOT_MAX_THREADS",
    "TF_LOOP_PARALLEL_ITERATIONS",
    "TF_NUM_THREADS",
)

# The device number that no machine has: a job without GPUs sees none.
NO_GPU = "10000"

# Where USER_JOB_WRAPPER says why it would not start the job.
WRAPPER_ERROR_NAME = ".job_wrapper_failure"


class CannotLaunch(KettleError):  # noqa: N818 - the name says what happened
    """The job cannot be started as its ad describes it; it is held with `code`."""

    def __init__(self, message: str, code: int, subcode: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.subcode = subcode


@dataclass(frozen=True)
class StandardFile:
    """One of stdin, stdout, stderr: a local path, or a name on the submit side to stream."""

    path: str
    stream: bool = False


_NOTHING = "/dev/null"


@dataclass(frozen=True)
class LaunchPlan:
    """Everything a spawn needs; paths are absolute."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: str
    stdin: StandardFile
    stdout: StandardFile
    stderr: StandardFile
    umask: int = 0o22
    nice: int = 0
    core_bytes: int | None = 0
    # The cores that it may run on, where it is bound to some.
    cores: frozenset[int] | None = None
    soft_kill_signal: int = signal.SIGTERM
    # The file of the job itself, before USER_JOB_WRAPPER; its absence holds the job.
    program: str = ""

    @property
    def streams(self) -> bool:
        """Whether any of the standard files is streamed."""
        return self.stdin.stream or self.stdout.stream or self.stderr.stream

    @property
    def reads_and_writes_nothing(self) -> bool:
        """Whether all three standard files are /dev/null, as a spawn has them by itself."""
        paths_are_one = self.stdin.path == self.stdout.path == self.stderr.path
        return paths_are_one and self.stdin.path == _NOTHING and not self.streams


@dataclass(frozen=True)
class SlotShare:
    """What of the machine is the slot's, as the job's environment says it."""

    # Empty for a job that has no slot.
    cores: str = "1"
    gpus: str = ""
    # Identifiers of other resources, by the name of the attribute that has them.
    assigned: Mapping[str, str] = field(default_factory=dict)


def share_of(slot: ClassAd) -> SlotShare:
    """Read a slot's share from its ad; without a slot nothing is said of the machine."""
    if not len(slot):
        return SlotShare(cores="")
    assigned = {
        name: slot.string(name) or ""
        for name in slot.names()
        if name.lower().startswith("assigned") and name.lower() != "assignedgpus"
    }
    cores = max(1, slot.integer("Cpus") or 1)
    return SlotShare(str(cores), slot.string("AssignedGPUs") or "", assigned)


@dataclass(frozen=True)
class Surroundings:
    """What the starter knows beside the ads, as the launch plan needs it."""

    slot_name: str = "slot1"
    starter_pid: int = 0
    ancestors: Mapping[str, str] = field(default_factory=dict)
    home: str = ""
    bin_directory: str = ""
    wrapper: str = ""
    renice: int = 0
    cores: frozenset[int] | None = None
    delayed_prefix: str = "Chirp*"
    starter_environment: Mapping[str, str] = field(default_factory=dict)
    slot_tmp: str = ""
    # None where it has to be read from the slot's ad.
    share: SlotShare | None = None
    java: JavaMachine = field(default_factory=JavaMachine)


def uses_file_transfer(job: ClassAd, file_system_domain: str) -> bool:
    """Whether the job runs in the sandbox: YES, or IF_NEEDED across file system domains.

    One of the local universe has its files where it is.
    """
    if job.integer("JobUniverse") == JobUniverse.LOCAL:
        return False
    choice = (job.string("ShouldTransferFiles") or "").upper()
    if choice == "YES":
        return True
    if choice == "IF_NEEDED":
        theirs = job.string("FileSystemDomain") or ""
        return not theirs or theirs.lower() != file_system_domain.lower()
    return False


def executable_path(job: ClassAd, sandbox: Sandbox, *, transfers: bool) -> str:
    """Return the program's absolute path."""
    command = job.string("Cmd")
    if not command:
        raise CannotLaunch("the job has no Cmd", HoldReasonCode.FailedToCreateProcess, 2)
    if transfers and job.boolean("TransferExecutable") is not False:
        return posixpath.join(sandbox.scratch, posixpath.basename(command))
    return posixpath.join(working_directory(job, sandbox, transfers=transfers), command)


def working_directory(job: ClassAd, sandbox: Sandbox, *, transfers: bool) -> str:
    """Return where the job runs: where its files are, unless it says another (RemoteIwd).

    What it names is neither made nor brought back; a relative one is below the other.
    """
    own = files_directory(job, sandbox, transfers=transfers)
    other = job.string("RemoteIwd")
    return posixpath.join(own, other) if other else own


def files_directory(job: ClassAd, sandbox: Sandbox, *, transfers: bool) -> str:
    """Return where a job's files are: its scratch directory, or its Iwd on a shared file system."""
    if transfers:
        return sandbox.scratch
    iwd = job.string("Iwd")
    if not iwd or not iwd.startswith("/"):
        raise CannotLaunch(f"Iwd {iwd!r} is not an absolute path", HoldReasonCode.IwdError, 2)
    return iwd


def plan_launch(
    job: ClassAd, slot: ClassAd, sandbox: Sandbox, around: Surroundings, *, transfers: bool
) -> LaunchPlan:
    """Turn a job ad into what to start.

    Raises CannotLaunch with the hold code where the ad makes no sense.
    """
    try:
        arguments = parse_arguments(job.string("Arguments"), job.string("Args"))
        wanted = parse_environment(
            job.string("Environment"), job.string("Env"), job.string("EnvDelim") or ";"
        )
    except LanguageError as error:
        raise CannotLaunch(str(error), HoldReasonCode.FailedToCreateProcess, 22) from error
    if job.integer("JobUniverse") == JobUniverse.VM:
        # The seeds' other case, trouble of the machine, would send the job round and round.
        why = "this starter only looks after processes; it starts no virtual machines"
        raise CannotLaunch(why, HoldReasonCode.FailedToCreateProcess, 38)
    cwd = working_directory(job, sandbox, transfers=transfers)
    files = files_directory(job, sandbox, transfers=transfers)
    program = executable_path(job, sandbox, transfers=transfers)
    argv = (program, *arguments)
    if job.integer("JobUniverse") == JobUniverse.JAVA:
        argv = java_command(job, around.java, files, arguments, transfers=transfers)
        program = argv[0]
    if around.wrapper:
        argv = (around.wrapper, *argv)
    error_name = STDOUT_NAME if streams_share_a_file(job) else STDERR_NAME
    return LaunchPlan(
        argv=argv,
        environment=plan_environment(slot, sandbox, around, wanted, cwd),
        cwd=cwd,
        stdin=plan_stdin(job, sandbox, files, transfers=transfers),
        stdout=plan_output(job, "Out", "StreamOut", STDOUT_NAME, files, transfers=transfers),
        stderr=plan_output(job, "Err", "StreamErr", error_name, files, transfers=transfers),
        umask=_umask(job),
        nice=around.renice,
        cores=around.cores,
        core_bytes=_core_bytes(job),
        soft_kill_signal=kill_signal(job, *SOFT_KILL_ATTRIBUTES),
        program=program,
    )


def java_command(
    job: ClassAd, java: JavaMachine, files: str, arguments: list[str], *, transfers: bool
) -> tuple[str, ...]:
    """Return the command line of a java universe job: its class is its first argument.

    The folder of the job's files and its JarFiles, which are in its sandbox if files are
    transferred, are on the class path. Raises CannotLaunch if there is no Java, or the machine's
    arguments of the job cannot be read.

    Compat: HTCondor puts a class of its own before the job's, to tell an exception from an exit
    code; here the job ends as its Java machine does, with 1 after an exception. Shown by
    test_a_java_job_is_started_by_the_configured_java.
    """
    if not java.program:
        raise CannotLaunch("no Java is configured", HoldReasonCode.FailedToCreateProcess, 2)
    try:
        options = parse_arguments(job.string("JavaVMArguments"), job.string("JavaVMArgs"))
    except LanguageError as error:
        raise CannotLaunch(str(error), HoldReasonCode.FailedToCreateProcess, 22) from error
    jars = [name.strip() for name in (job.string("JarFiles") or "").split(",") if name.strip()]
    if transfers:
        jars = [posixpath.join(files, posixpath.basename(name)) for name in jars]
    return (*java.command([files, *jars]), *options, *arguments)


def plan_environment(
    slot: ClassAd,
    sandbox: Sandbox,
    around: Surroundings,
    wanted: Mapping[str, str],
    cwd: str,
) -> dict[str, str]:
    """Return the job's environment; what the job itself sets wins, but for `_CONDOR_` names."""
    share = around.share or share_of(slot)
    gpus = share.gpus
    tmp = around.slot_tmp or sandbox.scratch
    made = {
        "APPTAINER_CACHEDIR": sandbox.scratch,
        "BATCH_SYSTEM": "HTCondor",
        "CONDOR_STARTER_PID": str(around.starter_pid),
        "HOME": around.home or sandbox.scratch,
        "SINGULARITY_CACHEDIR": sandbox.scratch,
        "TEMP": tmp,
        "TMP": tmp,
        "TMPDIR": tmp,
        "_CHIRP_DELAYED_UPDATE_PREFIX": around.delayed_prefix,
    }
    fixed: dict[str, str] = {}
    if share.cores:
        made.update(dict.fromkeys(THREAD_LIMITS, share.cores))
        made |= {
            "CUDA_VISIBLE_DEVICES": gpus or NO_GPU,
            "GPU_DEVICE_ORDINAL": gpus or NO_GPU,
            "NVIDIA_VISIBLE_DEVICES": gpus or "none",
        }
        fixed["_CONDOR_AssignedGPUs"] = gpus or NO_GPU
    fixed |= {
        "_CONDOR_BIN": around.bin_directory,
        "_CONDOR_CHIRP_CONFIG": sandbox.chirp_config,
        "_CONDOR_JOB_AD": sandbox.job_ad,
        "_CONDOR_JOB_IWD": cwd,
        "_CONDOR_JOB_PIDS": "",
        "_CONDOR_MACHINE_AD": sandbox.machine_ad,
        "_CONDOR_SCRATCH_DIR": sandbox.scratch,
        "_CONDOR_SLOT": around.slot_name,
        **around.ancestors,
    }
    if around.wrapper:
        fixed["_CONDOR_WRAPPER_ERROR_FILE"] = posixpath.join(sandbox.scratch, WRAPPER_ERROR_NAME)
    fixed.update((f"_CONDOR_{name}", ids) for name, ids in share.assigned.items())
    # What stood for the folder when the job was matched, and nobody could know it.
    wanted = {
        name: text.replace(SCRATCH_DIRECTORY_MARK, sandbox.scratch) for name, text in wanted.items()
    }
    return {**made, **around.starter_environment, **wanted, **fixed}


def plan_stdin(job: ClassAd, sandbox: Sandbox, cwd: str, *, transfers: bool) -> StandardFile:
    """Return where the job reads from."""
    name = job.string("In") or "/dev/null"
    if job.boolean("StreamIn"):
        return StandardFile(name, stream=name != "/dev/null")
    if name == "/dev/null":
        return StandardFile(name)
    if transfers:
        return StandardFile(posixpath.join(sandbox.scratch, posixpath.basename(name)))
    return StandardFile(posixpath.join(cwd, name))


def plan_output(
    job: ClassAd, attribute: str, stream_attribute: str, special: str, cwd: str, *, transfers: bool
) -> StandardFile:
    """Return where the job writes to.

    With file transfer the special name is used only if the stream attribute is there and false
    (wire notes, Names and lists).
    """
    name = job.string(attribute) or "/dev/null"
    stream = job.boolean(stream_attribute)
    if name == "/dev/null":
        return StandardFile(name)
    if stream:
        return StandardFile(name, stream=True)
    if transfers:
        local = special if stream is False else posixpath.basename(name)
        return StandardFile(posixpath.join(cwd, local))
    return StandardFile(posixpath.join(cwd, name))


def _umask(job: ClassAd) -> int:
    text = job.string("JobUmask")
    if text:
        try:
            return int(text, 8) & 0o777
        except ValueError:
            return 0o22
    return 0o22


def _core_bytes(job: ClassAd) -> int | None:
    """Return the limit of core files: none unless asked for, None for no limit."""
    size = job.integer("CoreSize")
    if size is None:
        return 0
    return None if size < 0 else size
