"""Attributes of a slot ad: a pure table."""

from kettle.attributes.attribute import boolean, expression, integer, listing, real, string, time


class Machine:
    """Attributes of a slot ad."""

    AcceptedWhileDraining = boolean(
        written_by="startd", doc="Whether the job was accepted while the machine was drained."
    )
    Activity = string(
        written_by="startd",
        doc="Idle, Busy, Retiring, Vacating, Suspended, Killing, Benchmarking or Cleaning.",
    )
    Arch = string(written_by="startd", doc="Processor architecture.")
    AvailableGPUs = listing(written_by="startd", doc="GPUs that no slot has.")
    AvailSince = time(written_by="startd", doc="When the slot became free.")
    CanHibernate = boolean(written_by="startd", doc="Whether the machine can sleep.")
    Capability = string(written_by="startd", secret=True, doc="The claim id; a secret.")
    ClientMachine = string(written_by="startd", doc="Machine of the schedd that claims the slot.")
    ClockDay = integer(written_by="startd", doc="Day of the week, Sunday is 0.")
    ClockMin = integer(written_by="startd", unit="minutes", doc="Minutes since midnight.")
    CondorLoadAvg = real(written_by="startd", doc="Load that jobs make.")
    CondorPlatform = string(written_by="startd", doc="Platform of the startd.")
    CondorVersion = string(written_by="startd", doc="Version of the startd.")
    ConsoleIdle = integer(
        written_by="startd", unit="seconds", doc="How long the console has not been touched."
    )
    CpuBusyTime = time(written_by="startd", doc="When the machine's own load rose above its limit.")
    Cpus = integer(written_by="startd", doc="Cores of the slot.")
    CurrentRank = real(written_by="startd", doc="The slot's rank of the job it runs.")
    DaemonStartTime = time(written_by="startd", doc="When the startd began.")
    DetectedCpus = integer(written_by="startd", doc="Cores of the machine.")
    DetectedMemory = integer(written_by="startd", unit="MiB", doc="Memory of the machine.")
    Disk = integer(written_by="startd", unit="KiB", doc="Disk of the slot.")
    Draining = boolean(written_by="startd", doc="Whether the machine is being drained.")
    DrainingRequestId = string(written_by="startd", doc="Identity of the request to drain.")
    DynamicSlot = boolean(written_by="startd", doc="Whether the slot was made for a job.")
    EnteredCurrentActivity = time(written_by="startd", doc="When Activity last changed.")
    EnteredCurrentState = time(written_by="startd", doc="When State last changed.")
    ExpectedMachineGracefulDrainingBadput = integer(
        written_by="startd",
        unit="seconds",
        doc="Core seconds lost if the machine is drained gracefully now.",
    )
    ExpectedMachineGracefulDrainingCompletion = time(
        written_by="startd", doc="When draining would be done."
    )
    ExpectedMachineQuickDrainingBadput = integer(
        written_by="startd",
        unit="seconds",
        doc="Core seconds lost if the machine is drained quickly now.",
    )
    FileSystemDomain = string(written_by="startd", doc="Machines with the same word share files.")
    GPUs = integer(written_by="startd", doc="GPUs of the slot.")
    HardwareAddress = string(written_by="startd", doc="Network address that wakes the machine.")
    HasContainer = boolean(written_by="startd", doc="Whether container jobs can run.")
    HasDocker = boolean(written_by="startd", doc="Whether docker jobs can run.")
    HasFileTransfer = boolean(written_by="startd", doc="Whether files can travel to the machine.")
    HasFileTransferPluginMethods = string(
        written_by="startd", doc="Kinds of URL that the machine can fetch."
    )
    HasIOProxy = boolean(written_by="startd", doc="Whether jobs can have a chirp connection.")
    HasJava = boolean(written_by="startd", doc="Whether Java jobs can run.")
    HasJobDeferral = boolean(written_by="startd", doc="Whether jobs can start at a given time.")
    HasJobNetworking = boolean(written_by="startd", doc="Whether jobs reach the network.")
    HasJobTransferPlugins = boolean(
        written_by="startd", doc="Whether jobs may bring their own transfer programs."
    )
    HasPerFileEncryption = boolean(
        written_by="startd", doc="Whether single files can be encrypted on their way."
    )
    HasReconnect = boolean(
        written_by="startd", doc="Whether shadow and starter can find each other again."
    )
    HasRotationalScratch = boolean(
        written_by="startd", doc="Whether the disk that jobs work on turns; undefined if unknown."
    )
    HasSelfCheckpointTransfers = boolean(
        written_by="startd", doc="Whether jobs can store checkpoints while they run."
    )
    HasTDP = boolean(written_by="startd", doc="Whether tools can be attached to jobs.")
    HasTransferInputRemaps = boolean(
        written_by="startd", doc="Whether input files can have other names."
    )
    HasVM = boolean(written_by="startd", doc="Whether virtual machine jobs can run.")
    HibernationLevel = integer(written_by="startd", doc="How deeply the machine sleeps.")
    HibernationState = string(written_by="startd", doc="How deeply the machine sleeps, in words.")
    ImmediateJobPid = integer(written_by="startd", doc="Process of the job.")
    IsLocalStartd = boolean(written_by="startd", doc="Whether the startd serves one schedd only.")
    IsOwner = boolean(written_by="startd", doc="Whether the machine is kept for its owner.")
    IsWakeAble = boolean(written_by="startd", doc="Whether the machine can be woken.")
    JavaSpecificationVersion = string(
        written_by="startd", doc="Which version of the language the machine's Java runs."
    )
    JavaVendor = string(written_by="startd", doc="Who made the machine's Java.")
    JavaVersion = string(written_by="startd", doc="Which version the machine's Java is.")
    JobId = string(written_by="startd", doc="Cluster and proc of the job.")
    JobPreemptions = integer(written_by="startd", doc="How many jobs had to leave for others.")
    JobRankPreemptions = integer(
        written_by="startd", doc="How many jobs had to leave for ones the machine prefers."
    )
    JobStart = time(written_by="startd", doc="When the job began.")
    JobStarts = integer(written_by="startd", doc="How many jobs began.")
    JobUniverse = integer(written_by="startd", doc="Universe of the job.")
    JobUserPrioPreemptions = integer(
        written_by="startd", doc="How many jobs had to leave for users with a better priority."
    )
    KettleTrouble = string(
        written_by="startd",
        doc="Why the slot takes no job although its owner's expressions would; Kettle's own.",
    )
    KeyboardIdle = integer(
        written_by="startd",
        unit="seconds",
        doc="How long keyboard and mouse have not been touched.",
    )
    KFlops = integer(written_by="startd", doc="Floating-point speed, by benchmark.")
    LastBenchmark = time(written_by="startd", doc="When the benchmarks last ran.")
    LastDrainStartTime = time(written_by="startd", doc="When the machine last began to be drained.")
    LastDrainStopTime = time(written_by="startd", doc="When it was last drained.")
    LoadAvg = real(written_by="startd", doc="Load of the cores of the slot.")
    Machine = string(written_by="startd", doc="Full name of the host.")
    MachineMaxVacateTime = expression(
        written_by="startd", unit="seconds", doc="How long a job may take to leave."
    )
    MachineResources = string(written_by="startd", doc="Names of the resources that slots have.")
    MaxJobRetirementTime = expression(
        written_by="startd",
        unit="seconds",
        doc="How long a job may run on when its slot is wanted.",
    )
    Memory = integer(written_by="startd", unit="MiB", doc="Memory of the slot.")
    Mips = integer(written_by="startd", doc="Integer speed, by benchmark.")
    MonitorSelfAge = integer(
        written_by="startd", unit="seconds", doc="How long the startd has been running."
    )
    MonitorSelfCPUUsage = real(written_by="startd", doc="What the startd itself uses of a core.")
    MonitorSelfImageSize = real(
        written_by="startd", unit="KiB", doc="Virtual memory of the startd itself."
    )
    MyAddress = string(written_by="startd", doc="Address of the startd.")
    Name = string(written_by="startd", doc="Name of the slot.")
    NextFetchWorkDelay = integer(
        written_by="startd", unit="seconds", doc="How long until work is fetched again."
    )
    NumDynamicSlots = integer(written_by="startd", doc="How many slots were made out of this one.")
    NumPids = integer(written_by="startd", doc="How many processes the job has.")
    Offline = boolean(written_by="collector", doc="Whether the machine sleeps or is gone.")
    OpSys = string(written_by="startd", doc="Operating system.")
    OpSysAndVer = string(written_by="startd", doc="Distribution and major version.")
    OpSysLegacy = string(written_by="startd", doc="Operating system, as old versions named it.")
    OpSysLongName = string(written_by="startd", doc="Distribution and version in words.")
    OpSysMajorVer = integer(written_by="startd", doc="Major version of the distribution.")
    OpSysName = string(written_by="startd", doc="Name of the distribution.")
    OpSysShortName = string(written_by="startd", doc="Short name of the distribution.")
    OpSysVer = integer(written_by="startd", doc="Version of the distribution as a number.")
    PartitionableSlot = boolean(
        written_by="startd", doc="Whether slots for jobs are made out of this one."
    )
    PreemptingConcurrencyLimits = string(
        written_by="startd", doc="Limits of the job that waits for the slot."
    )
    PreemptingOwner = string(written_by="startd", doc="Owner of the job that waits for the slot.")
    PreemptingRank = real(written_by="startd", doc="The slot's rank of the job that waits for it.")
    PreemptingUser = string(written_by="startd", doc="User whose job waits for the slot.")
    PublicClaimId = string(written_by="startd", doc="The claim, without its secret.")
    Rank = expression(written_by="startd", doc="Which jobs the machine prefers; higher is better.")
    RecentJobStarts = integer(written_by="startd", doc="How many jobs began lately.")
    RemoteGroup = string(written_by="startd", doc="Accounting group of the job.")
    RemoteNegotiatingGroup = string(written_by="startd", doc="Group that negotiated for the job.")
    RemoteOwner = string(written_by="startd", doc="Who claims the slot.")
    RemoteScheddName = string(written_by="startd", doc="Name of the schedd that claims the slot.")
    RemoteUser = string(written_by="startd", doc="User whose job runs.")
    Requirements = expression(
        written_by="startd", doc="Which jobs may start: START and what follows from the slot."
    )
    RetirementTimeRemaining = integer(
        written_by="startd", unit="seconds", doc="How long the job may still run."
    )
    SlotID = integer(written_by="startd", doc="Number of the slot.")
    SlotMergeFailedReason = string(written_by="startd", doc="Why slots could not be merged.")
    SlotType = string(written_by="startd", doc="Partitionable, Dynamic or Static.")
    SlotTypeID = integer(written_by="startd", doc="Number of the slot's type.")
    SlotWeight = expression(written_by="startd", doc="What the slot counts in accounting.")
    Start = expression(written_by="startd", doc="Which jobs may start.")
    StartdIpAddr = string(written_by="startd", doc="Address of the startd.")
    StarterAbilityList = string(written_by="startd", doc="What the starter can do.")
    State = string(
        written_by="startd",
        doc="Owner, Unclaimed, Matched, Claimed, Preempting, Backfill or Drained.",
    )
    SubnetMask = string(written_by="startd", doc="Mask of the network, for waking.")
    TargetType = string(written_by="startd", doc="What the slot is matched with.")
    TimeToLive = integer(
        written_by="startd", unit="seconds", doc="How long the slot will be there."
    )
    TotalClaimRunTime = integer(
        written_by="startd", unit="seconds", doc="How long jobs ran under this claim."
    )
    TotalClaimSuspendTime = integer(
        written_by="startd", unit="seconds", doc="How long jobs were suspended under this claim."
    )
    TotalCondorLoadAvg = real(written_by="startd", doc="Load that jobs make on the whole machine.")
    TotalCpus = real(written_by="startd", doc="Cores of the machine that slots have.")
    TotalDisk = integer(written_by="startd", unit="KiB", doc="Disk of the machine.")
    TotalJobRunTime = integer(
        written_by="startd", unit="seconds", doc="How long this job has run here."
    )
    TotalJobSuspendTime = integer(
        written_by="startd", unit="seconds", doc="How long this job has been suspended here."
    )
    TotalLoadAvg = real(written_by="startd", doc="Load of the whole machine.")
    TotalMemory = integer(
        written_by="startd", unit="MiB", doc="Memory of the machine that slots have."
    )
    TotalSlotCpus = real(written_by="startd", doc="Cores of the slot with all made out of it.")
    TotalSlotDisk = real(
        written_by="startd", unit="KiB", doc="Disk of the slot with all made out of it."
    )
    TotalSlotMemory = integer(
        written_by="startd", unit="MiB", doc="Memory of the slot with all made out of it."
    )
    TotalSlots = integer(written_by="startd", doc="How many slots the machine has.")
    TotalVirtualMemory = integer(
        written_by="startd", unit="KiB", doc="Virtual memory of the machine."
    )
    UidDomain = string(written_by="startd", doc="Machines with the same word share accounts.")
    UtsnameMachine = string(written_by="startd", doc="What uname says of the hardware.")
    UtsnameNodename = string(written_by="startd", doc="What uname says of the name.")
    UtsnameRelease = string(written_by="startd", doc="What uname says of the kernel's release.")
    UtsnameSysname = string(written_by="startd", doc="What uname says of the system.")
    UtsnameVersion = string(written_by="startd", doc="What uname says of the kernel's version.")
    VirtualMemory = integer(written_by="startd", unit="KiB", doc="Virtual memory of the slot.")
    VM_AvailNum = integer(written_by="startd", doc="How many more virtual machines can run.")
    VM_Memory = integer(written_by="startd", unit="MiB", doc="Memory for virtual machines.")
    VM_Networking = boolean(written_by="startd", doc="Whether virtual machines can have a network.")
    VM_Type = string(written_by="startd", doc="Kind of virtual machines.")
