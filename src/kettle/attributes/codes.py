"""The numbers that users, peers and files see, each with a sentence.

Tables only: which code applies is decided where it happens (`policy/`, the daemons). The numbers
are the wire's (wire notes, Numbers and names) and never change.
"""

from __future__ import annotations

from kettle.named_numbers import NamedNumber

# What stands between the lines of a TransformBody_NAME.
LINE_END = "\x1e"


class Code(NamedNumber):
    """A number with a sentence: `member.doc`; `member.label` is its name in words."""

    doc: str

    def __new__(cls, value: int, doc: str = "") -> Code:
        """Make a member out of its number and its sentence."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.doc = doc
        return member

    @property
    def label(self) -> str:
        """The name as people write it: `TRANSFERRING_OUTPUT` is "Transferring output"."""
        return self.name.replace("_", " ").capitalize() if self.name.isupper() else self.name


class JobStatus(Code):
    """Where a job is in its life (attribute JobStatus)."""

    IDLE = 1, "Waits in the queue for a machine."
    RUNNING = 2, "Runs on a machine, or its files are on the way there."
    REMOVED = 3, "Was removed and leaves the queue once its remote side is gone."
    COMPLETED = 4, "Has ended by itself and its output is back."
    HELD = 5, "Stays in the queue and does not run until it is released."
    TRANSFERRING_OUTPUT = 6, "Has ended; its output is on the way back."
    SUSPENDED = 7, "Its processes are stopped and keep their place on the machine."
    FAILED = 8, "Reserved: a job that ended without success."
    BLOCKED = 9, "Reserved: a job that waits for something other than a machine."
    PREPARING = 10, "Is new, and tasks that must come before it are still under way."

    @property
    def letter(self) -> str:
        """The letter in the ST column of condor_q."""
        return " IRXCH>SFBP"[self.value]


class JobUniverse(Code):
    """What kind of job it is (attribute JobUniverse)."""

    STANDARD = 1, "Relinked with a checkpointing library; no longer supported."
    PIPE = 2, "Never came into use."
    LINDA = 3, "Never came into use."
    PVM = 4, "Parallel virtual machine; no longer supported."
    VANILLA = 5, "An ordinary program on one machine; containers are vanilla jobs."
    PVMD = 6, "Parallel virtual machine daemon; no longer supported."
    SCHEDULER = 7, "Runs at once beside the schedd, without a sandbox."
    MPI = 8, "Message passing; became the parallel universe."
    GRID = 9, "Handed on to another batch system or to a cloud."
    JAVA = 10, "A Java program, started through the machine's Java."
    PARALLEL = 11, "Several nodes that start together."
    LOCAL = 12, "Runs at once beside the schedd, under a starter."
    VM = 13, "A virtual machine."

    @property
    def title(self) -> str:
        """The name as tools print it: Vanilla, but MPI."""
        return self.name if self.name in {"PVM", "PVMD", "MPI", "VM"} else self.name.capitalize()


# Universes whose jobs run on the schedd's host.
BESIDE_THE_SCHEDD = (int(JobUniverse.LOCAL), int(JobUniverse.SCHEDULER))


class HoldReasonCode(Code):
    """Why a job is held (attribute HoldReasonCode)."""

    Unspecified = 0, "Nobody said why."
    UserRequest = 1, "A user put the job on hold with condor_hold."
    JobPolicy = 3, "An expression of the job, such as PeriodicHold or OnExitHold, became true."
    CorruptedCredential = 4, "The job's credential cannot be used."
    JobPolicyUndefined = 5, "An expression of the job's policy came to UNDEFINED."
    FailedToCreateProcess = 6, "The machine could not start the job's program."
    UnableToOpenOutput = 7, "The job's standard output file cannot be opened."
    UnableToOpenInput = 8, "The job's standard input file cannot be opened."
    UnableToOpenOutputStream = 9, "The streamed standard output cannot be opened."
    UnableToOpenInputStream = 10, "The streamed standard input cannot be opened."
    InvalidTransferAck = 11, "The other side of a file transfer answered what makes no sense."
    TransferOutputError = 12, "Output files could not be brought back."
    TransferInputError = 13, "Input files could not be brought to the machine."
    IwdError = 14, "The job's initial working directory cannot be used."
    SubmittedOnHold = 15, "The job was submitted on hold."
    SpoolingInput = 16, "The job's input files are still on the way to the schedd."
    JobShadowMismatch = 17, "This version of the shadow cannot run the job."
    InvalidTransferGoAhead = 18, "File transfer got an answer about its turn that makes no sense."
    HookPrepareJobFailure = 19, "The machine's hook that prepares jobs failed."
    MissedDeferredExecutionTime = 20, "The job's deferral time passed before it could start."
    StartdHeldJob = 21, "The machine's WANT_HOLD became true."
    UnableToInitUserLog = 22, "The job's event log cannot be written."
    FailedToAccessUserAccount = 23, "The account of the job's owner cannot be used."
    NoCompatibleShadow = 24, "There is no shadow that can run the job."
    InvalidCronSettings = 25, "The job's cron attributes make no sense."
    SystemPolicy = 26, "SYSTEM_PERIODIC_HOLD of the schedd became true."
    SystemPolicyUndefined = 27, "An expression of the schedd's policy came to UNDEFINED."
    GlexecChownSandboxFailure = 28, "Reserved: a sandbox could not change its owner."
    PrivsepChownSandboxFailure = 29, "Reserved: a sandbox could not change its owner."
    PrivsepFailedToGetSandbox = 30, "Reserved: a sandbox could not be had back."
    FailedToCreateSandbox = 31, "Reserved: a sandbox could not be made."
    MaxTransferInputSizeExceeded = 32, "The input files are larger than allowed."
    MaxTransferOutputSizeExceeded = 33, "The output files are larger than allowed."
    JobOutOfResources = 34, "The job used more of a resource than its slot has."
    InvalidDockerImage = 35, "The job's container image cannot be used."
    FailedToCheckpoint = 36, "The job's own checkpoint failed."
    EC2UserError = 37, "The cloud refused the job because of what the user asked for."
    EC2InternalError = 38, "The cloud failed."
    EC2AdminError = 39, "The cloud is not set up well."
    EC2ConnectionProblem = 40, "The cloud cannot be reached."
    EC2ServerError = 41, "The cloud's service answered with an error."
    EC2InstancePotentiallyLostError = 42, "The cloud instance may be lost."
    PreScriptFailed = 43, "The job's script before it failed."
    PostScriptFailed = 44, "The job's script after it failed."
    SingularityTestFailed = 45, "The container program failed its test before the job."
    JobDurationExceeded = 46, "The job ran longer than allowed_job_duration."
    JobExecuteExceeded = 47, "The job executed longer than allowed_execute_duration."
    HookShadowPrepareJobFailure = 48, "The shadow's hook that prepares jobs failed."
    CannotSwitchPrimaryGroup = 49, "The job's process could not take its primary group."


class VacateReasonCode(Code):
    """Why a job left its machine before its end (attribute VacateReasonCode)."""

    JobPolicyVacate = 1000, "An expression of the job's policy asked for it."
    SystemPolicyVacate = 1001, "An expression of the schedd's policy asked for it."
    ShadowException = 1002, "The shadow failed."
    JobNotStarted = 1003, "The job could not be started."
    UserVacateJob = 1004, "A user asked for it with condor_vacate_job."
    JobShouldRequeue = 1005, "The job was interrupted, and nobody said why."
    FailedToActivateClaim = 1006, "The machine did not accept the job."
    StarterError = 1007, "The starter failed."
    ReconnectFailed = 1008, "The shadow lost the starter and could not find it again."
    ClaimDeactivated = 1009, "The claim was deactivated."
    StartdVacateCommand = 1010, "The machine was told to vacate its jobs."
    StartdPreemptExpression = 1011, "The machine's PREEMPT became true."
    StartdException = 1012, "The startd failed."
    StartdShutdown = 1013, "The startd shuts down."
    StartdDraining = 1014, "The machine is being drained."
    StartdCoalesce = 1015, "The slot is merged with others."
    StartdHibernate = 1016, "The machine goes to sleep."
    StartdReleaseCommand = 1017, "The claim was released."
    StartdPreemptingClaimRank = 1018, "A job that the machine prefers takes the slot."
    StartdPreemptingClaimUserPrio = 1019, "A user with a better priority takes the slot."
    VMError = 1020, "The virtual machine failed."
    ContainerError = 1021, "The container program failed."
    ScheddVacate = 1022, "The schedd vacated the job."
    JobRemoved = 1023, "The job was removed while it ran."
    ScratchDirError = 1024, "The job's scratch directory cannot be used."
    SuccessfulCheckpoint = 1025, "The job exited to write a checkpoint."
    ActivationRefusedBadRequest = 1026, "The request to start the job could not be understood."
    ActivationRefusedNoMatch = 1027, "Job and slot no longer match."
    ActivationRefusedStillCleaning = 1028, "The slot is still cleaning up after its last job."
    ActivationRefusedWorklifeExpired = 1029, "The claim is too old to take another job."
    ActivationRefusedPreempted = 1030, "The claim is being preempted."
    ActivationRefusedBroken = 1031, "The slot is broken."
    ActivationRefusedNotIdle = 1032, "The slot is not idle."
    ActivationRefusedUnclaimed = 1033, "The slot is not claimed."
    ActivationRefusedClaimNotFound = 1034, "The claim is not known."
    ActivationRefusedOldClaim = 1035, "The claim is one of an earlier time."
    ActivationRefusedUnhealthy = 1036, "The machine is not healthy."
    StartdRehoming = 1037, "The machine moves to another pool."


class TransferSubCode(Code):
    """Subcodes of codes 12 and 13 that say that a URL plug-in, not the job, is to blame.

    Others of these codes are an errno, or how a plug-in ended in the form of a wait status.
    """

    PluginNotFound = -1001, "The machine has no plug-in for the kind of URL."
    PluginNotOperational = -1002, "The machine's plug-in does not work."
    PluginNotExecuted = -1003, "The plug-in could not be started."
    PluginSilent = -1004, "The plug-in did not say how its files fared."


# Codes from here on, and subcodes from its negative on down, send a job back into the queue.
VACATE_BASE = 1000


def sends_back(code: int, subcode: int) -> bool:
    """Tell whether an error with these codes sends its job back into the queue: no hold.

    An error without a code does, too.
    """
    return code <= 0 or code >= VACATE_BASE or subcode <= -VACATE_BASE


class ShadowExit(Code):
    """How an activation ended: the starter's job_exit reason and the shadow's exit status."""

    EXCEPTION = 4, "The shadow failed."
    LOG_ERROR = 44, "The shadow could not write its log."
    EXITED = 100, "The job ended by itself; the claim can take another."
    CHECKPOINTED = 101, "The job wrote a checkpoint and left."
    KILLED = 102, "The job was killed on request: it is being removed."
    CORED = 103, "The job was ended by a signal and left a core file."
    NO_MEMORY = 105, "There was no memory to run the job."
    USAGE = 106, "The shadow was started wrongly."
    SHOULD_REQUEUE = 107, "The job goes back into the queue."
    NOT_STARTED = 108, "The job could not be started."
    BAD_STATUS = 109, "The job's status did not fit."
    EXEC_FAILED = 110, "The job's program could not be executed."
    NO_CHECKPOINT = 111, "There is no checkpoint to start from."
    SHOULD_HOLD = 112, "The job goes on hold."
    SHOULD_REMOVE = 113, "The job is to be removed."
    MISSED_DEFERRAL = 114, "The job's deferral time has passed."
    EXITED_CLAIM_CLOSING = 115, "The job ended by itself; the claim is closing."
    RECONNECT_FAILED = 116, "The starter could not be found again."
    COMMON_TRANSFER_REQUEUE = 117, "Files common to several jobs failed to arrive; requeue."
    COMMON_TRANSFER_HOLD = 118, "Files common to several jobs failed to arrive; hold."
    MAPPING_FAILED = 119, "Files common to several jobs could not be put in place."


class JobAction(Code):
    """What ACT_ON_JOBS does (attribute JobAction)."""

    HOLD = 1, "Put on hold."
    RELEASE = 2, "Release from hold."
    REMOVE = 3, "Remove."
    REMOVE_X = 4, "Forget a removed job at once, whatever its remote side does."
    VACATE = 5, "Take off its machine, gently."
    VACATE_FAST = 6, "Take off its machine at once."
    CLEAR_DIRTY = 7, "Forget which attributes changed."
    SUSPEND = 8, "Stop its processes."
    CONTINUE = 9, "Let stopped processes go on."
    TRANSFER_AND_REMOVE = 10, "Bring its output back, then remove."


class ActionResult(Code):
    """What an action came to for one job."""

    ERROR = 0, "It failed."
    SUCCESS = 1, "It was done."
    NOT_FOUND = 2, "There is no such job."
    BAD_STATUS = 3, "The job is in a state in which it makes no sense."
    ALREADY_DONE = 4, "It had been done before."
    PERMISSION_DENIED = 5, "The user may not do it to this job."
    LIMIT_EXCEEDED = 6, "A limit stands against it."


class ActionResultType(Code):
    """How detailed the answer to ACT_ON_JOBS is."""

    LONG = 1, "One result for each job."
    TOTALS = 2, "A count for each kind of result."


class Notification(Code):
    """When mail about a job is sent (attribute JobNotification)."""

    NEVER = 0, "Never."
    ALWAYS = 1, "At every change."
    COMPLETE = 2, "When the job has ended."
    ERROR = 3, "When the job has failed."
    START = 4, "When the job starts; no mail is sent for it."


class ShouldTransferFiles(Code):
    """Whether files travel with a job; the ad holds the word."""

    YES = 1, "Always."
    NO = 2, "Never: submit and execute side share a file system."
    IF_NEEDED = 3, "When submit and execute side have no common file system."


class ULogEvent(Code):
    """The events of a job's log by number."""

    # The names are those of logs, tools and bindings too, most of them with ULOG_ before.

    SUBMIT = 0, "The job came into the queue."
    EXECUTE = 1, "The job began to execute."
    EXECUTABLE_ERROR = 2, "The job's program cannot be executed."
    CHECKPOINTED = 3, "The job was checkpointed."
    JOB_EVICTED = 4, "The job left its machine before its end."
    JOB_TERMINATED = 5, "The job ended."
    IMAGE_SIZE = 6, "The job's memory use changed."
    SHADOW_EXCEPTION = 7, "The shadow failed."
    GENERIC = 8, "Free text."
    JOB_ABORTED = 9, "The job was removed."
    JOB_SUSPENDED = 10, "The job's processes were stopped."
    JOB_UNSUSPENDED = 11, "The job's processes go on."
    JOB_HELD = 12, "The job went on hold."
    JOB_RELEASED = 13, "The job was released from hold."
    NODE_EXECUTE = 14, "A node of a parallel job began to execute."
    NODE_TERMINATED = 15, "A node of a parallel job ended."
    POST_SCRIPT_TERMINATED = 16, "The script after a workflow's node ended."
    GLOBUS_SUBMIT = 17, "Submitted to Globus; no longer written."
    GLOBUS_SUBMIT_FAILED = 18, "Submission to Globus failed; no longer written."
    GLOBUS_RESOURCE_UP = 19, "A Globus resource is back; no longer written."
    GLOBUS_RESOURCE_DOWN = 20, "A Globus resource is down; no longer written."
    REMOTE_ERROR = 21, "A daemon on the execute side reports an error."
    JOB_DISCONNECTED = 22, "Shadow and starter lost each other."
    JOB_RECONNECTED = 23, "Shadow and starter found each other again."
    JOB_RECONNECT_FAILED = 24, "Shadow and starter did not find each other again."
    GRID_RESOURCE_UP = 25, "A grid resource is back."
    GRID_RESOURCE_DOWN = 26, "A grid resource is down."
    GRID_SUBMIT = 27, "The job was handed to a grid resource."
    JOB_AD_INFORMATION = 28, "Attributes of the job, on request."
    JOB_STATUS_UNKNOWN = 29, "The remote system no longer says how the job is."
    JOB_STATUS_KNOWN = 30, "The remote system says again how the job is."
    JOB_STAGE_IN = 31, "A grid job's input is being staged."
    JOB_STAGE_OUT = 32, "A grid job's output is being staged."
    ATTRIBUTE_UPDATE = 33, "An attribute of the job was changed."
    PRESKIP = 34, "A workflow's script asked to skip the node."
    CLUSTER_SUBMIT = 35, "A cluster that makes its jobs later came into the queue."
    CLUSTER_REMOVE = 36, "A cluster that makes its jobs later left the queue."
    FACTORY_PAUSED = 37, "A cluster stopped making jobs."
    FACTORY_RESUMED = 38, "A cluster makes jobs again."
    NONE = 39, "No event."
    FILE_TRANSFER = 40, "A file transfer waits, begins or has ended."
    RESERVE_SPACE = 41, "Disk space was reserved."
    RELEASE_SPACE = 42, "Reserved disk space was given back."
    FILE_COMPLETE = 43, "A reusable file is complete."
    FILE_USED = 44, "A reusable file was used."
    FILE_REMOVED = 45, "A reusable file was removed."
    DATAFLOW_JOB_SKIPPED = 46, "The job's outputs are newer than its inputs; it did not run."
    COMMON_FILES = 47, "Files common to several jobs moved."


class DaemonAdType(Code):
    """Kinds of ads in the collector, by the number the query tools use."""

    STARTD = 0, "A slot."
    SCHEDD = 1, "A schedd."
    MASTER = 2, "A master."
    SUBMITTER = 6, "A user with jobs at one schedd."
    COLLECTOR = 7, "A collector."
    NEGOTIATOR = 11, "A negotiator."
    GENERIC = 22, "Whatever its MyType says."
