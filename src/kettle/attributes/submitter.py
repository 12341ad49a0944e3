"""Attributes of ads of submitters and accounting: a pure table."""

from kettle.attributes.attribute import boolean, integer, real, string, time


class Submitter:
    """Attributes of ads of submitters and accounting."""

    AccountingGroup = string(written_by="negotiator", doc="Group that the submitter belongs to.")
    AccumulatedUsage = real(written_by="negotiator", unit="seconds", doc="Slot time of all jobs.")
    BeginUsageTime = time(written_by="negotiator", doc="When the submitter first used a slot.")
    Ceiling = integer(
        written_by="negotiator",
        doc="Most slots, by weight, that the submitter may have; -1 for no limit.",
    )
    ConfigQuota = real(written_by="negotiator", doc="Quota of a group as configured.")
    EffectivePriority = real(
        written_by="negotiator", doc="Priority with its factor; lower goes first."
    )
    EffectiveQuota = real(written_by="negotiator", doc="Quota of a group in this cycle.")
    FlockedJobs = integer(
        written_by="schedd", doc="How many jobs of the submitter run in other pools."
    )
    Floor = integer(
        written_by="negotiator", doc="Slots, by weight, that the submitter gets before others."
    )
    GroupAutoRegroup = boolean(
        written_by="negotiator", doc="Whether members may use what other groups leave."
    )
    GroupSortKey = real(
        written_by="negotiator", doc="Where the group stands in the order of groups."
    )
    HeldJobs = integer(written_by="schedd", doc="How many jobs of the submitter are held.")
    IdleJobs = integer(written_by="schedd", doc="How many jobs of the submitter wait.")
    IsAccountingGroup = boolean(written_by="negotiator", doc="Whether the row is a group.")
    JobPrioArray = string(
        written_by="schedd", doc="Priorities that the submitter's waiting jobs have."
    )
    LastUsageTime = time(written_by="negotiator", doc="When the submitter last used a slot.")
    LocalJobsIdle = integer(written_by="schedd", doc="How many local jobs of the submitter wait.")
    LocalJobsRunning = integer(written_by="schedd", doc="How many local jobs of the submitter run.")
    Machine = string(written_by="schedd", doc="Full name of the schedd's host.")
    Name = string(written_by="schedd", doc="The submitter, with domain.")
    Priority = real(written_by="negotiator", doc="Priority that use has led to; lower goes first.")
    PriorityFactor = real(written_by="negotiator", doc="What that priority is multiplied by.")
    Requested = real(written_by="negotiator", doc="Slots, by weight, that the submitter asks for.")
    ResourcesUsed = integer(written_by="negotiator", doc="Slots that the submitter has.")
    RunningJobs = integer(written_by="schedd", doc="How many jobs of the submitter run.")
    ScheddIpAddr = string(written_by="schedd", doc="Address of the schedd.")
    ScheddName = string(written_by="schedd", doc="Name of the schedd.")
    SchedulerJobsIdle = integer(
        written_by="schedd", doc="How many scheduler jobs of the submitter wait."
    )
    SchedulerJobsRunning = integer(
        written_by="schedd", doc="How many scheduler jobs of the submitter run."
    )
    SubmitterLimit = real(
        written_by="negotiator",
        doc="Slots, by weight, that are the submitter's share in this cycle.",
    )
    SubmitterShare = real(written_by="negotiator", doc="Share of the pool that is the submitter's.")
    SubmitterTag = string(written_by="schedd", doc="Pool that the ad is meant for.")
    SurplusPolicy = string(written_by="negotiator", doc="Whether a group takes what others leave.")
    WeightedAccumulatedUsage = real(
        written_by="negotiator", unit="seconds", doc="Slot time of all jobs, by weight."
    )
    WeightedIdleJobs = real(written_by="schedd", doc="Waiting jobs of the submitter, by weight.")
    WeightedResourcesUsed = real(
        written_by="negotiator", doc="Slots that the submitter has, by weight."
    )
    WeightedRunningJobs = real(written_by="schedd", doc="Running jobs of the submitter, by weight.")
