"""Attributes of ads of daemons: a pure table."""

from kettle.attributes.attribute import boolean, expression, integer, real, string, time


class Daemon:
    """Attributes of ads of daemons."""

    AddressV1 = string(
        written_by="every daemon", doc="All addresses of the daemon, with their networks."
    )
    AuthenticatedIdentity = string(
        written_by="collector", doc="Who the daemon proved to be when it sent this ad."
    )
    AuthenticationMethod = string(written_by="collector", doc="How it proved that.")
    CollectorHost = string(written_by="collector", doc="Name of the collector's host.")
    CondorAdmin = string(written_by="collector", doc="Who looks after the pool.")
    DaemonLastReconfigTime = time(
        written_by="every daemon", doc="When the daemon last read its configuration."
    )
    DaemonShutdown = expression(
        written_by="every daemon", doc="When the daemon ends by itself (`DAEMON_SHUTDOWN`)."
    )
    DaemonShutdownFast = expression(
        written_by="every daemon", doc="When it ends so at once (`DAEMON_SHUTDOWN_FAST`)."
    )
    DaemonStartTime = time(written_by="every daemon", doc="When the daemon began.")
    DetectedCpus = integer(written_by="every daemon", doc="Cores of the machine.")
    DetectedMemory = integer(written_by="every daemon", unit="MiB", doc="Memory of the machine.")
    Enabled = boolean(written_by="schedd", doc="Whether a user may submit.")
    ForwardOnly = boolean(written_by="collector", doc="Whether the ad came from another collector.")
    HostsClaimed = integer(written_by="collector", doc="How many slots are claimed.")
    HostsOwner = integer(written_by="collector", doc="How many slots are kept for their owners.")
    HostsTotal = integer(written_by="collector", doc="How many slots there are.")
    HostsUnclaimed = integer(written_by="collector", doc="How many slots are free.")
    IdleJobs = integer(written_by="schedd", doc="How many jobs wait.")
    JobQueueBirthdate = time(written_by="schedd", doc="When the job queue was made.")
    JobsCompleted = integer(written_by="schedd", doc="How many jobs have ended.")
    JobsExited = integer(written_by="schedd", doc="How many runs have ended.")
    JobsStarted = integer(written_by="schedd", doc="How many jobs have begun their first run.")
    JobsSubmitted = integer(written_by="schedd", doc="How many jobs were submitted.")
    LastHeardFrom = time(written_by="collector", doc="When this ad arrived.")
    LastNegotiationCycleActiveSubmitterCount0 = integer(
        written_by="negotiator", doc="How many submitters took part in the last cycle."
    )
    LastNegotiationCycleCandidateSlots0 = integer(
        written_by="negotiator", doc="How many slots the last cycle looked at."
    )
    LastNegotiationCycleDuration0 = integer(
        written_by="negotiator", unit="seconds", doc="How long the last cycle took."
    )
    LastNegotiationCycleEnd0 = time(written_by="negotiator", doc="When the last cycle ended.")
    LastNegotiationCycleMatches0 = integer(
        written_by="negotiator", doc="How many matches the last cycle made."
    )
    LastNegotiationCycleMatchRate0 = real(
        written_by="negotiator", doc="Matches a second of the last cycle."
    )
    LastNegotiationCycleNumIdleJobs0 = integer(
        written_by="negotiator", doc="How many jobs waited in the last cycle."
    )
    LastNegotiationCycleRejections0 = integer(
        written_by="negotiator", doc="How many requests the last cycle refused."
    )
    LastNegotiationCycleTotalSlots0 = integer(
        written_by="negotiator", doc="How many slots there were in the last cycle."
    )
    Machine = string(written_by="every daemon", doc="Full name of the host.")
    MasterIpAddr = string(written_by="master", doc="Address of the master.")
    MaxJobsRunning = integer(written_by="schedd", doc="How many jobs may run at a time.")
    MonitorSelfAge = integer(
        written_by="every daemon", unit="seconds", doc="How long the daemon has been running."
    )
    MonitorSelfCPUUsage = real(
        written_by="every daemon", doc="What the daemon itself uses of a core."
    )
    MonitorSelfImageSize = real(
        written_by="every daemon", unit="KiB", doc="Virtual memory of the daemon itself."
    )
    MonitorSelfRegisteredSocketCount = integer(
        written_by="every daemon", doc="How many connections the daemon has."
    )
    MonitorSelfResidentSetSize = integer(
        written_by="every daemon", unit="KiB", doc="Memory of the daemon that is not swapped out."
    )
    MonitorSelfSecuritySessions = integer(
        written_by="every daemon", doc="How many security sessions the daemon knows."
    )
    MonitorSelfTime = time(written_by="every daemon", doc="When these figures were taken.")
    MyAddress = string(written_by="every daemon", doc="Address of the daemon.")
    MyCurrentTime = time(written_by="every daemon", doc="The daemon's clock when it made the ad.")
    MyType = string(written_by="every daemon", doc="Kind of the ad.")
    Name = string(written_by="every daemon", doc="Name of the daemon.")
    NegotiatorIpAddr = string(written_by="negotiator", doc="Address of the negotiator.")
    NumUsers = integer(written_by="schedd", doc="How many users have jobs.")
    RealUid = integer(written_by="master", doc="Account under which the master runs.")
    RecentDaemonCoreDutyCycle = real(
        written_by="every daemon", doc="Share of the time lately in which the daemon was busy."
    )
    RunningJobs = integer(written_by="collector", doc="How many jobs run.")
    ScheddIpAddr = string(written_by="schedd", doc="Address of the schedd.")
    ScheddName = string(written_by="schedd", doc="Name of the schedd.")
    ServerTime = time(written_by="schedd", doc="The schedd's clock when it answered.")
    TargetType = string(written_by="every daemon", doc="What the ad is matched with.")
    TotalFlockedJobs = integer(written_by="schedd", doc="How many jobs run in other pools.")
    TotalHeldJobs = integer(written_by="schedd", doc="How many jobs are held.")
    TotalIdleJobs = integer(written_by="schedd", doc="How many jobs wait.")
    TotalJobAds = integer(written_by="schedd", doc="How many jobs there are.")
    TotalLocalJobsIdle = integer(written_by="schedd", doc="How many local jobs wait.")
    TotalLocalJobsRunning = integer(written_by="schedd", doc="How many local jobs run.")
    TotalRemovedJobs = integer(written_by="schedd", doc="How many jobs are being removed.")
    TotalRunningJobs = integer(written_by="schedd", doc="How many jobs run.")
    TotalSchedulerJobsIdle = integer(written_by="schedd", doc="How many scheduler jobs wait.")
    TotalSchedulerJobsRunning = integer(written_by="schedd", doc="How many scheduler jobs run.")
    TransferQueueNumDownloading = integer(
        written_by="schedd", doc="How many jobs receive files now."
    )
    TransferQueueNumUploading = integer(written_by="schedd", doc="How many jobs send files now.")
    TransferQueueNumWaitingToDownload = integer(
        written_by="schedd", doc="How many jobs wait to receive files."
    )
    TransferQueueNumWaitingToUpload = integer(
        written_by="schedd", doc="How many jobs wait to send files."
    )
    UpdateSequenceNumber = integer(
        written_by="every daemon", doc="How many ads the daemon has sent."
    )
    UpdatesHistory = string(written_by="collector", doc="Which of the last ads were lost, as bits.")
    UpdatesLost = integer(written_by="collector", doc="How many ads were lost.")
    UpdatesSequenced = integer(written_by="collector", doc="How many ads came in order.")
    UpdatesTotal = integer(written_by="collector", doc="How many ads came.")
