"""Attributes of a job ad: a pure table."""

from kettle.attributes import codes
from kettle.attributes.attribute import (
    boolean,
    enum,
    expression,
    integer,
    nested,
    real,
    string,
    time,
)

STARTER_ADDRESS = "_condor_privStarterIpAddr"
"""Where the starter of a running job is, as a later shadow needs it.

A secret, so that nobody is shown more of a job than HTCondor's queue has.
"""


class Job:
    """Attributes of a job ad."""

    AccountingGroup = string(
        written_by="submit",
        doc="Name that the job's use is charged to, group and user joined by a dot.",
    )
    AcctGroup = string(written_by="submit", doc="Group part of AccountingGroup.")
    AcctGroupUser = string(written_by="submit", doc="User part of AccountingGroup.")
    ActivationDuration = integer(
        written_by="shadow",
        unit="seconds",
        doc="How long the last activation took, transfers included.",
    )
    ActivationExecutionDuration = integer(
        written_by="shadow",
        unit="seconds",
        doc="How long the program of the last activation executed.",
    )
    ActivationSetUpDuration = integer(
        written_by="shadow",
        unit="seconds",
        doc="How long the last activation prepared before the program began.",
    )
    ActivationTeardownDuration = integer(
        written_by="shadow",
        unit="seconds",
        doc="How long the last activation took after the program had ended.",
    )
    AllowedExecuteDuration = expression(
        written_by="submit",
        by_job=True,
        unit="seconds",
        doc="How long the program may execute before the job goes on hold.",
    )
    AllowedJobDuration = expression(
        written_by="submit",
        by_job=True,
        unit="seconds",
        doc="How long the job may run, transfers included, before it goes on hold.",
    )
    Args = string(written_by="submit", doc="Arguments in the old syntax.")
    Arguments = string(written_by="submit", doc="Arguments in the new syntax.")
    AutoClusterAttrs = string(
        written_by="schedd", doc="Attributes that put jobs into the same autocluster."
    )
    AutoClusterId = integer(written_by="schedd", doc="Number of the job's autocluster.")
    BlockReadKbytes = real(
        written_by="starter", unit="KiB", doc="What the job read from block devices."
    )
    BlockReads = integer(written_by="starter", doc="How often the job read from block devices.")
    BlockWriteKbytes = real(
        written_by="starter", unit="KiB", doc="What the job wrote to block devices."
    )
    BlockWrites = integer(written_by="starter", doc="How often the job wrote to block devices.")
    BytesRecvd = real(
        written_by="shadow",
        unit="bytes",
        doc="What the job's machine received during all its runs.",
    )
    BytesSent = real(
        written_by="shadow",
        unit="bytes",
        doc="What the job's machine sent back during all its runs.",
    )
    CheckpointDestination = string(written_by="submit", doc="URL that checkpoints are sent to.")
    CheckpointNumber = integer(
        written_by="shadow", doc="Number of the last checkpoint that was stored."
    )
    ClusterId = integer(
        written_by="schedd", immutable=True, doc="Number of the cluster that the job belongs to."
    )
    Cmd = string(written_by="submit", doc="The program.")
    CommittedSlotTime = real(
        written_by="shadow", unit="seconds", doc="Slot time, weighted, of runs that were not lost."
    )
    CommittedSuspensionTime = integer(
        written_by="shadow", unit="seconds", doc="Suspended time of runs that were not lost."
    )
    CommittedTime = integer(written_by="shadow", unit="seconds", doc="Run time that was not lost.")
    CompletionDate = time(written_by="schedd", doc="When the job ended.")
    ConcurrencyLimits = string(written_by="submit", by_job=True, doc="Limits that count this job.")
    CondorPlatform = string(written_by="submit", doc="Platform of the tool that made the job.")
    CondorVersion = string(written_by="submit", doc="Version of the tool that made the job.")
    ContainerDuration = integer(
        written_by="starter", unit="seconds", doc="How long the job's container ran."
    )
    ContainerImage = string(written_by="submit", doc="Image of a container job.")
    ContainerImageSource = string(
        written_by="starter", doc="Where the container's image came from."
    )
    CoreSize = integer(written_by="submit", by_job=True, unit="bytes", doc="Largest core file.")
    CpusProvisioned = integer(written_by="shadow", doc="Cores of the slot the job runs on.")
    CpusUsage = real(written_by="starter", by_job=True, doc="Cores that the job used on average.")
    CronDayOfMonth = string(
        written_by="submit", by_job=True, doc="Days of the month on which the job starts."
    )
    CronDayOfWeek = string(
        written_by="submit", by_job=True, doc="Days of the week on which the job starts."
    )
    CronHour = string(written_by="submit", by_job=True, doc="Hours at which the job starts.")
    CronMinute = string(written_by="submit", by_job=True, doc="Minutes at which the job starts.")
    CronMonth = string(written_by="submit", by_job=True, doc="Months in which the job starts.")
    CumulativeRemoteSysCpu = real(
        written_by="shadow", unit="seconds", doc="System time of all runs."
    )
    CumulativeRemoteUserCpu = real(
        written_by="shadow", unit="seconds", doc="User time of all runs."
    )
    CumulativeSlotTime = real(
        written_by="shadow", unit="seconds", doc="Slot time, weighted, of all runs."
    )
    CumulativeSuspensionTime = integer(
        written_by="shadow", unit="seconds", doc="Suspended time of all runs."
    )
    CumulativeTransferTime = integer(
        written_by="shadow", unit="seconds", doc="Time that file transfer took."
    )
    CurrentHosts = integer(written_by="schedd", doc="How many machines run the job now.")
    DAGManJobId = integer(
        written_by="dagman", doc="Cluster of the workflow that the job belongs to."
    )
    DAGNodeName = string(written_by="dagman", doc="Name of the job's node in its workflow.")
    DataflowJobSkipped = boolean(
        written_by="shadow", doc="Whether the job was not run as its output was there already."
    )
    DeferralPrepTime = integer(
        written_by="submit",
        by_job=True,
        unit="seconds",
        doc="How long before DeferralTime the job may be sent to a machine.",
    )
    DeferralTime = expression(
        written_by="submit",
        by_job=True,
        doc="When the program starts; a CronTab job's is set by the schedd.",
    )
    DeferralWindow = expression(
        written_by="submit",
        by_job=True,
        unit="seconds",
        doc="How much later than DeferralTime it may start.",
    )
    DiskProvisioned = integer(
        written_by="shadow", unit="KiB", doc="Disk of the slot the job runs on."
    )
    DiskUsage = integer(
        written_by="submit, starter",
        by_job=True,
        unit="KiB",
        doc="Disk that the job needs, as known so far.",
    )
    DockerContainerId = string(written_by="starter", doc="The container's identity at docker.")
    DockerImage = string(written_by="submit", doc="Image of a docker job.")
    EnteredCurrentStatus = time(written_by="schedd", doc="When JobStatus last changed.")
    Environment = string(written_by="submit", doc="Environment in the new syntax.")
    Err = string(written_by="submit", doc="File for the standard error.")
    ExecutableSize = integer(
        written_by="submit", by_job=True, unit="KiB", doc="Size of the program."
    )
    ExecuteDirWasEncrypted = boolean(
        written_by="starter", doc="Whether the job's scratch folder was encrypted."
    )
    ExitBySignal = boolean(written_by="shadow", doc="Whether a signal ended the program.")
    ExitCode = integer(written_by="shadow", doc="Exit code of the program.")
    ExitReason = string(written_by="starter", by_job=True, doc="How the program ended, in words.")
    ExitSignal = integer(written_by="shadow", doc="Signal that ended the program.")
    ExitStatus = integer(
        written_by="shadow", doc="Wait status of the program, as old tools show it."
    )
    FileSystemDomain = string(
        written_by="submit", doc="Machines with the same word share files with the submit host."
    )
    GlobalJobId = string(written_by="schedd", doc="The job's identity over all schedds and times.")
    GPUsProvisioned = integer(written_by="shadow", doc="GPUs of the slot the job runs on.")
    GridJobId = string(written_by="gridmanager", doc="The job's identity on the remote system.")
    GridResource = string(written_by="submit", doc="Where a grid job goes.")
    HoldKillSig = string(
        written_by="submit",
        doc="Signal that asks a scheduler-universe job to leave when it goes on hold.",
    )
    HoldReason = string(written_by="schedd, shadow", doc="Why the job is held, in words.")
    HoldReasonCode = enum(
        codes.HoldReasonCode, written_by="schedd, shadow", doc="Why the job is held, as a number."
    )
    HoldReasonSubCode = integer(
        written_by="schedd, shadow", doc="More about HoldReasonCode, mostly an errno."
    )
    ImageSize = integer(
        written_by="submit, starter", by_job=True, unit="KiB", doc="Virtual memory of the job."
    )
    In = string(written_by="submit", doc="File for the standard input.")
    InitialWaitDuration = integer(
        written_by="schedd", doc="Seconds from the submission to the start of the first run."
    )
    InteractiveJob = boolean(written_by="submit", doc="Whether a person waits for a shell.")
    IOWait = real(written_by="starter", unit="seconds", doc="How long the job waited for its disk.")
    Iwd = string(written_by="submit", doc="Folder that relative names start from.")
    JobAdInformationAttrs = string(
        written_by="submit", by_job=True, doc="Attributes that event 028 shows."
    )
    JobBatchName = string(
        written_by="submit", by_job=True, doc="Name under which jobs are grouped."
    )
    JobCoreDumped = boolean(written_by="starter", doc="Whether the program left a core file.")
    JobCoreFileName = string(written_by="shadow", doc="Where that file is at the access point.")
    JobCurrentFinishTransferInputDate = time(
        written_by="shadow", doc="When the input had arrived in this run."
    )
    JobCurrentFinishTransferOutputDate = time(
        written_by="shadow", doc="When the output was back in this run."
    )
    JobCurrentReconnectAttempt = integer(
        written_by="shadow", doc="Number of the present attempt to find the job's starter again."
    )
    JobCurrentStartDate = time(written_by="shadow", doc="When this run began.")
    JobCurrentStartExecutingDate = time(
        written_by="shadow", doc="When the program of this run began."
    )
    JobCurrentStartTransferInputDate = time(
        written_by="shadow", doc="When the input of this run set out."
    )
    JobCurrentStartTransferOutputDate = time(
        written_by="shadow", doc="When the output of this run set out."
    )
    JobDescription = string(
        written_by="submit", by_job=True, doc="A description that condor_q shows."
    )
    JobDisconnectedDate = time(written_by="shadow", doc="When shadow and starter lost each other.")
    JobDuration = real(
        written_by="starter",
        unit="seconds",
        doc="How long the program ran, by the starter's clock.",
    )
    JobFinishedHookDone = time(written_by="schedd", doc="When the job was seen out of the queue.")
    JobLastStartDate = time(written_by="schedd", doc="When the run before this one began.")
    JobLeaseDuration = integer(
        written_by="submit",
        unit="seconds",
        doc="How long the job may run on without hearing from its schedd.",
    )
    JobMachineAttrs = string(
        written_by="submit", by_job=True, doc="Attributes of the machine that the job's ad keeps."
    )
    JobMaterializeDate = time(written_by="schedd", doc="When a late job was made.")
    JobMaterializeDigestFile = string(
        written_by="schedd", doc="Where the submit digest of the cluster is."
    )
    JobMaterializeItemsFile = string(written_by="schedd", doc="Where the items of the cluster are.")
    JobMaterializeLimit = integer(
        written_by="submit", doc="How many jobs of the cluster may be there at a time."
    )
    JobMaterializeMaxIdle = integer(
        written_by="submit", doc="How many idle jobs of the cluster may be there at a time."
    )
    JobMaterializeNextProcId = integer(
        written_by="schedd", doc="Number of the next job that the cluster makes."
    )
    JobMaterializeNextRow = integer(written_by="schedd", doc="Row of items for the next job.")
    JobMaterializePaused = integer(
        written_by="schedd",
        doc="Whether the cluster makes jobs: 0 yes, 1 held, 2 no more, 3 removed.",
    )
    JobMaterializePauseReason = string(
        written_by="schedd", doc="Why a cluster makes no jobs for the time being."
    )
    JobMaxRetries = integer(
        written_by="submit", by_job=True, doc="How often the job is tried again."
    )
    JobMaxVacateTime = expression(
        written_by="submit", by_job=True, unit="seconds", doc="How long the job may take to leave."
    )
    JobNotification = enum(codes.Notification, written_by="submit", doc="When mail is sent.")
    JobPrio = integer(
        written_by="submit",
        by_job=True,
        doc="The job's place among its owner's jobs; higher goes first.",
    )
    JobRunCount = integer(written_by="schedd", doc="How many runs the job has had.")
    JobStartDate = time(written_by="schedd", doc="When the first run began.")
    JobState = string(
        written_by="starter", doc="What the job's processes do: Running, Suspended, Exited."
    )
    JobStatus = enum(codes.JobStatus, written_by="schedd", doc="Where the job is in its life.")
    JobStatusOnRelease = integer(
        written_by="schedd", doc="The status a held job gets when it is released."
    )
    JobSubmitFile = string(written_by="submit", doc="Name of the submit description.")
    JobSubmitMethod = integer(
        written_by="submit", doc="What submitted the job: 0 condor_submit, 1 DAGMan, 2 Python."
    )
    JobSuccessExitCode = integer(
        written_by="submit", by_job=True, doc="Exit code that means success."
    )
    JobUniverse = enum(
        codes.JobUniverse, written_by="submit", immutable=True, doc="What kind of job it is."
    )
    JobVMCpuUtilization = real(
        written_by="starter", doc="How busy a virtual machine's processor was."
    )
    KeepClaimIdle = expression(
        written_by="submit", unit="seconds", doc="How long the slot is kept for the next job."
    )
    KillSig = string(written_by="submit", by_job=True, doc="Signal that asks the job to leave.")
    LastCkptTime = integer(written_by="shadow", doc="When the job's last checkpoint had arrived.")
    LastHoldReason = string(written_by="schedd", doc="Why the job was held before.")
    LastHoldReasonCode = integer(
        written_by="schedd", doc="Why the job was held before, as a number."
    )
    LastHoldReasonSubCode = integer(written_by="schedd", doc="More about LastHoldReasonCode.")
    LastJobLeaseRenewal = time(
        written_by="schedd, shadow", doc="When the job's lease was last renewed."
    )
    LastJobStatus = integer(written_by="schedd", doc="The status before this one.")
    LastMatchTime = time(written_by="schedd", doc="When the job last got a machine.")
    LastPublicClaimId = string(
        written_by="schedd", doc="The claim of the last run, without its secret."
    )
    LastRejMatchReason = string(written_by="schedd", doc="Why the negotiator found no machine.")
    LastRejMatchTime = time(written_by="schedd", doc="When the negotiator found no machine.")
    LastRemoteHost = string(written_by="schedd", doc="The slot of the last run.")
    LastSuspensionTime = time(written_by="shadow", doc="When the job was last suspended.")
    LastVacateTime = time(written_by="schedd", doc="When the job last left a machine early.")
    LeaveJobInQueue = expression(
        written_by="submit", doc="Whether the job stays in the queue after its end."
    )
    MachineAttrCpus0 = integer(written_by="schedd", doc="Cores of the slot of the last run.")
    MachineAttrSlotWeight0 = real(written_by="schedd", doc="Weight of the slot of the last run.")
    MaxHosts = integer(written_by="submit", doc="Most machines of a parallel job.")
    MaxJobRetirementTime = expression(
        written_by="submit",
        by_job=True,
        unit="seconds",
        doc="How long the job may run on when its slot is wanted.",
    )
    MemoryProvisioned = integer(
        written_by="shadow", unit="MiB", doc="Memory of the slot the job runs on."
    )
    MemoryUsage = expression(
        written_by="starter", by_job=True, unit="MiB", doc="Memory that the job uses."
    )
    MinHosts = integer(written_by="submit", doc="Fewest machines of a parallel job.")
    NetworkInputMb = real(
        written_by="starter", unit="MB", doc="What a job in a container received."
    )
    NetworkOutputMb = real(written_by="starter", unit="MB", doc="What a job in a container sent.")
    NewestCheckpoint = string(
        written_by="starter", doc="Folder of the newest checkpoint that the machine has."
    )
    NiceUser = boolean(written_by="submit", doc="Whether the job yields to all others.")
    NTDomain = string(written_by="submit", doc="The Windows domain of the submitter.")
    NumCheckpoints = integer(written_by="starter", doc="How many checkpoints the run has made.")
    NumCkpts = integer(written_by="shadow", doc="How many checkpoints were stored.")
    NumHolds = integer(written_by="schedd", doc="How often the job was held.")
    NumHoldsByReason = nested(
        written_by="schedd", doc="How often the job was held, by the name of the reason."
    )
    NumInputTransferStarts = integer(
        written_by="shadow", doc="How often the input's transfer began."
    )
    NumJobCompletions = integer(written_by="shadow", doc="How often the program ended by itself.")
    NumJobMatches = integer(written_by="schedd", doc="How often the job got a machine.")
    NumJobReconnects = integer(
        written_by="shadow", doc="How often shadow and starter found each other again."
    )
    NumJobStarts = integer(written_by="shadow", doc="How often the program began.")
    NumOutputTransferStarts = integer(
        written_by="shadow", doc="How often the output's transfer began."
    )
    NumPids = integer(written_by="starter", doc="How many processes the job has.")
    NumRestarts = integer(written_by="shadow", doc="How often the job began from a checkpoint.")
    NumShadowExceptions = integer(written_by="schedd", doc="How often the job's shadow failed.")
    NumShadowStarts = integer(
        written_by="schedd", doc="How often a shadow began to work for the job."
    )
    NumSystemHolds = integer(
        written_by="schedd", doc="How often the schedd held the job for a fault it found itself."
    )
    NumVacates = integer(written_by="schedd", doc="How often the job left a machine early.")
    NumVacatesByReason = nested(
        written_by="schedd",
        doc="How often the job left a machine early, by the name of the reason.",
    )
    NumVacatesByReasonPreExecution = nested(
        written_by="schedd",
        doc="How often it did so before its program had begun, by the name of the reason.",
    )
    NumVacatesPreExecution = integer(
        written_by="schedd",
        doc="How often the job left a machine early and its program had not begun.",
    )
    OnExitHold = expression(
        written_by="submit", by_job=True, doc="Whether the job goes on hold when it has ended."
    )
    OnExitHoldReason = expression(
        written_by="submit", by_job=True, doc="Why it goes on hold then, in words."
    )
    OnExitHoldSubCode = expression(written_by="submit", by_job=True, doc="Subcode of that hold.")
    OnExitRemove = expression(
        written_by="submit", by_job=True, doc="Whether the job leaves the queue when it has ended."
    )
    OrigMaxHosts = integer(written_by="schedd", doc="MaxHosts as submitted.")
    OsUser = string(
        written_by="schedd", immutable=True, doc="Account under which the job's files are touched."
    )
    Out = string(written_by="submit", doc="File for the standard output.")
    Owner = string(
        written_by="schedd", immutable=True, doc="Who submitted the job, without domain."
    )
    PeriodicHold = expression(written_by="submit", by_job=True, doc="When the job goes on hold.")
    PeriodicHoldReason = expression(
        written_by="submit", by_job=True, doc="Why it goes on hold then, in words."
    )
    PeriodicHoldSubCode = expression(written_by="submit", by_job=True, doc="Subcode of that hold.")
    PeriodicRelease = expression(written_by="submit", by_job=True, doc="When the job is released.")
    PeriodicRemove = expression(written_by="submit", by_job=True, doc="When the job is removed.")
    PeriodicVacate = expression(
        written_by="submit", by_job=True, doc="When the job leaves its machine."
    )
    PostExitCode = integer(
        written_by="starter", doc="Exit code of the program that ran after the job's."
    )
    PreExitCode = integer(
        written_by="starter", doc="Exit code of the program that ran before the job's."
    )
    PreserveRelativePaths = boolean(
        written_by="submit", doc="Whether files keep their folders in the sandbox."
    )
    ProcId = integer(written_by="schedd", immutable=True, doc="Number of the job in its cluster.")
    ProjectName = string(written_by="submit", doc="A project, for accounting by others.")
    ProportionalSetSize = integer(
        written_by="starter", unit="KiB", doc="Memory of the job, shared pages by share."
    )
    ProportionalSetSizeKb = integer(
        written_by="starter",
        by_job=True,
        unit="KiB",
        doc="Memory of the job, shared pages counted in part.",
    )
    ProvisionedResources = string(
        written_by="starter", doc="Names of the resources that the slot has for the job."
    )
    PublicClaimId = string(
        written_by="schedd", doc="The claim the job runs under, without its secret."
    )
    QDate = time(written_by="submit", doc="When the job was submitted.")
    Rank = expression(
        written_by="submit", by_job=True, doc="Which machines the job prefers; higher is better."
    )
    RecentBlockReadKbytes = real(written_by="starter", unit="KiB", doc="What the job read lately.")
    RecentBlockReads = integer(written_by="starter", doc="How often the job read lately.")
    RecentBlockWriteKbytes = real(
        written_by="starter", unit="KiB", doc="What the job wrote lately."
    )
    RecentBlockWrites = integer(written_by="starter", doc="How often the job wrote lately.")
    RecentStatsLifetimeStarter = integer(
        written_by="starter", unit="seconds", doc="How long a time the recent measures are of."
    )
    ReleaseReason = string(written_by="schedd", doc="Why the job was released.")
    RemoteHost = string(written_by="schedd", doc="The slot the job runs on.")
    RemotePool = string(written_by="schedd", doc="The pool of that slot, if it is another one.")
    RemoteSlotID = integer(written_by="schedd", doc="SlotID of that slot.")
    RemoteSysCpu = real(
        written_by="starter", by_job=True, unit="seconds", doc="System time of this run."
    )
    RemoteUserCpu = real(
        written_by="starter", by_job=True, unit="seconds", doc="User time of this run."
    )
    RemoteWallClockTime = real(written_by="shadow", unit="seconds", doc="How long all runs took.")
    RemoveKillSig = string(
        written_by="submit",
        doc="Signal that asks the job to leave when it is removed, held or vacated.",
    )
    RemoveReason = string(written_by="schedd, shadow", doc="Why the job was removed.")
    RequestCpus = expression(written_by="submit", by_job=True, doc="Cores the job asks for.")
    RequestDisk = expression(
        written_by="submit", by_job=True, unit="KiB", doc="Disk the job asks for."
    )
    RequestGPUs = expression(written_by="submit", by_job=True, doc="GPUs the job asks for.")
    RequestMemory = expression(
        written_by="submit", by_job=True, unit="MiB", doc="Memory the job asks for."
    )
    RequeueReason = string(
        written_by="shadow", doc="Why its own OnExitRemove last sent the job back."
    )
    RequireGPUs = expression(written_by="submit", by_job=True, doc="What each GPU must satisfy.")
    Requirements = expression(written_by="submit", by_job=True, doc="What a machine must satisfy.")
    ResidentSetSize = integer(
        written_by="starter",
        by_job=True,
        unit="KiB",
        doc="Memory of the job that is not swapped out.",
    )
    ScheddInterval = integer(
        written_by="submit",
        unit="seconds",
        doc="SCHEDD_INTERVAL of the submit host, for deferred jobs.",
    )
    ScratchDirFileCount = integer(
        written_by="starter", doc="How many files the job's scratch folder has."
    )
    ServerTime = time(written_by="schedd", doc="The schedd's clock when it answered a query.")
    ShadowBday = time(written_by="schedd", doc="When the shadow of this run began.")
    ShouldTransferFiles = string(
        written_by="submit", doc="Whether files travel: YES, NO or IF_NEEDED."
    )
    SkipIfDataflow = boolean(
        written_by="submit",
        doc="Whether the job is skipped when its output is newer than its input.",
    )
    SpooledOutputFiles = string(
        written_by="shadow", doc="Files in the spool folder that came back."
    )
    StageInFinish = time(written_by="schedd", doc="When the spooled input had arrived.")
    StageInStart = time(written_by="schedd", doc="When the spooled input set out.")
    StageOutFinish = time(written_by="schedd", doc="When the spooled output had been fetched.")
    StageOutStart = time(written_by="schedd", doc="When fetching the spooled output began.")
    StartdAddr = string(written_by="schedd", doc="Address of the startd the job runs under.")
    StartdName = string(written_by="schedd", doc="Name of the startd the job runs under.")
    StarterIpAddr = string(
        written_by="shadow", doc="Address of the starter that the job runs under."
    )
    StatsLifetimeStarter = integer(
        written_by="starter", unit="seconds", doc="How long a time the measures are of."
    )
    StderrMtime = time(written_by="starter", doc="When the standard error was last written.")
    StdoutMtime = time(written_by="starter", doc="When the standard output was last written.")
    StreamErr = boolean(
        written_by="submit",
        doc="Whether the standard error is written over the network as it comes.",
    )
    StreamIn = boolean(
        written_by="submit", doc="Whether the standard input is read over the network."
    )
    StreamOut = boolean(
        written_by="submit",
        doc="Whether the standard output is written over the network as it comes.",
    )
    SubmitEventNotes = string(written_by="submit", doc="Notes in the submit event.")
    SubmitEventUserNotes = string(written_by="submit", doc="The user's notes in the submit event.")
    SubmitVersion = string(written_by="submit", doc="Version of the tool that made the job.")
    SuccessCheckpointExitBySignal = boolean(
        written_by="submit", by_job=True, doc='Whether a signal means "a checkpoint is ready".'
    )
    SuccessCheckpointExitCode = integer(
        written_by="submit", by_job=True, doc='Exit code that means "a checkpoint is ready".'
    )
    SuccessCheckpointExitSignal = integer(
        written_by="submit", by_job=True, doc='Signal that means "a checkpoint is ready".'
    )
    SuspendReason = string(written_by="schedd", doc="Why the job was suspended.")
    TargetType = string(written_by="submit", immutable=True, doc="What the job is matched with.")
    TerminationPending = boolean(
        written_by="shadow", doc="Whether the job has ended, and only its leaving is left."
    )
    TotalSubmitProcs = integer(
        written_by="schedd", doc="How many jobs the cluster had when it was submitted."
    )
    TotalSuspensions = integer(written_by="shadow", doc="How often the job was suspended.")
    TransferCheckpoint = string(written_by="submit", doc="Files that make up a checkpoint.")
    TransferErr = boolean(written_by="submit", doc="Whether the standard error travels.")
    TransferExecutable = boolean(written_by="submit", doc="Whether the program travels.")
    TransferIn = boolean(
        written_by="submit", doc="What `transfer_input` says; the input travels all the same."
    )
    TransferInFinished = time(written_by="shadow", doc="When the input had arrived.")
    TransferInput = string(written_by="submit", doc="Files and URLs to send along.")
    TransferInputFileCounts = nested(
        written_by="shadow", doc="How many inputs the job names, by protocol."
    )
    TransferInputSizeMB = integer(
        written_by="submit", unit="MB", doc="How large the input is, and the executable."
    )
    TransferInputStats = nested(written_by="shadow", doc="How the input travelled.")
    TransferInQueued = time(written_by="shadow", doc="When the input began to wait for its turn.")
    TransferInStarted = time(written_by="shadow", doc="When the input's transfer began.")
    TransferKey = string(
        written_by="shadow", secret=True, doc="Secret with which the starter asks for the files."
    )
    TransferOut = boolean(written_by="submit", doc="Whether the standard output travels.")
    TransferOutFinished = time(written_by="shadow", doc="When the output had arrived.")
    TransferOutput = string(written_by="submit", doc="Files to bring back.")
    TransferOutputRemaps = string(written_by="submit", doc="Other names for files that come back.")
    TransferOutputStats = nested(written_by="shadow", doc="How the output travelled.")
    TransferOutQueued = time(written_by="shadow", doc="When the output began to wait for its turn.")
    TransferOutStarted = time(written_by="shadow", doc="When the output's transfer began.")
    TransferQueued = boolean(written_by="shadow", doc="Whether a transfer waits for its turn.")
    TransferringInput = boolean(written_by="shadow", doc="Whether input is on the way.")
    TransferringOutput = boolean(written_by="shadow", doc="Whether output is on the way.")
    TransferSocket = string(
        written_by="shadow", doc="Address at which the starter asks for the files."
    )
    User = string(written_by="schedd", immutable=True, doc="Who submitted the job, with domain.")
    UserLog = string(written_by="submit", doc="The job's event log.")
    UserLogUseXML = boolean(written_by="submit", doc="Whether the event log is written in XML.")
    VacateReason = string(
        written_by="shadow", doc="Why the job last left a machine early, in words."
    )
    VacateReasonCode = enum(
        codes.VacateReasonCode,
        written_by="shadow",
        doc="Why the job last left a machine early, as a number.",
    )
    VacateReasonSubCode = integer(written_by="shadow", doc="More about VacateReasonCode.")
    WantContainer = boolean(written_by="submit", doc="Whether the job runs in a container.")
    WantDocker = boolean(written_by="submit", doc="Whether the job runs in a docker container.")
    WantFTOnCheckpoint = boolean(
        written_by="submit", doc="Whether files are stored when the job writes a checkpoint."
    )
    WantGracefulRemoval = expression(
        written_by="submit",
        by_job=True,
        doc="Whether a removed or held job is asked to leave before it is killed.",
    )
    WantIOProxy = boolean(written_by="submit", doc="Whether the job gets a chirp connection.")
    WantRemoteIO = boolean(
        written_by="submit", doc="Whether the job's system calls may be done by its shadow."
    )
    WhenToTransferOutput = string(written_by="submit", doc="When output comes back.")
