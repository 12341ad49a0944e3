"""The choices of ads that condor_status can show: what is asked for, which table and sums show it.

How a command line makes a choice is in `wish.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kettle.structs import Struct
from kettle.tools.printing.tables import Cell
from kettle.tools.status import tables, totals
from kettle.tools.status.totals import Totals


class Mode(Struct):
    """What one choice of ads asks for and how it is shown."""

    # Name of the query (`Command`), type of ads it names, and a condition of its own.
    command: str
    ad_type: str
    # The name stands for a table of `rare_tables`, which is loaded when it is shown.
    cells: Sequence[Cell] | str
    totals: Totals | None = None
    condition: str = ""
    # What the table and its sums look at; all of an ad if there is no table.
    names: str = ""
    # What is counted for the columns that do not shrink on a terminal; 0: none shrinks there.
    rest: int = 0
    # Where its condition counts: everywhere, or in the tables of "columns" (its own and those that
    # are named), or in its own "table" alone. Compat: shown by
    # test_tables_recordings.
    limits: str = "all"

    @property
    def table(self) -> Sequence[Cell]:
        """The cells of its table."""
        if not isinstance(self.cells, str):
            return self.cells
        from kettle.tools.status import rare_tables

        table: Sequence[Cell] = getattr(rare_tables, self.cells)
        return table


_SLOT_NAMES = (
    "Activity Arch CondorLoadAvg EnteredCurrentActivity LastHeardFrom Memory MyCurrentTime "
    "OpSys State"
)
_STARTD_NAMES = (
    "Arch CondorVersion DaemonStartTime DetectedCpus DetectedGPUs DetectedMemory LastHeardFrom "
    "NumDynamicSlots OpSys OpSysAndVer OpSysShortName TotalBackfillInUseCpus "
    "TotalBackfillInUseDisk TotalBackfillInUseGPUs TotalBackfillInUseMemory TotalCpus TotalGPUs "
    "TotalInUseCpus TotalInUseDisk TotalInUseGPUs TotalInUseMemory TotalMemory TotalSlots"
)
_JOB_COUNTS = "RunningJobs IdleJobs HeldJobs"

_CLAIMED_NAMES = "Arch ClientMachine CondorLoadAvg KFlops LoadAvg Mips OpSys RemoteUser State"
_AVAILABLE = 'State == "Unclaimed" && Cpus > 0 && Memory > 0'
_JAVA = " JavaVendor JavaVersion"

# fmt: off
MODES = {
    "slot": Mode("QUERY_STARTD_ADS", "Machine", tables.SLOTS, totals.SLOT_STATES,
                 names=_SLOT_NAMES, rest=65),
    "avail": Mode("QUERY_STARTD_ADS", "Machine", tables.SLOTS, totals.SLOT_STATES, _AVAILABLE,
                  _SLOT_NAMES + " Cpus", 65),
    "java": Mode("QUERY_STARTD_ADS", "Machine", tables.JAVA, totals.SLOT_STATES, "HasJava",
                 _SLOT_NAMES + _JAVA, 65),
    "java avail": Mode("QUERY_STARTD_ADS", "Machine", tables.JAVA, totals.SLOT_STATES, _AVAILABLE,
                       _SLOT_NAMES + _JAVA + " Cpus", 65),
    "java claimed": Mode("QUERY_STARTD_ADS", "Machine", tables.JAVA_CLAIMED, totals.CLAIMED,
                         'State == "Claimed"',
                         _CLAIMED_NAMES + _JAVA, 63),
    "vm": Mode("QUERY_STARTD_ADS", "Machine", tables.VM, totals.SLOT_STATES, "HasVM",
               _SLOT_NAMES + " VM_Memory VM_Networking_Types VM_Type", 65),
    "gpus": Mode("QUERY_STARTD_ADS", "Machine", tables.GPUS, totals.ACTIVITIES,
                 "(PartitionableSlot && AssignedGPUs =!= undefined) ?: Gpus",
                 names="Activity AvailableGPUs CUDADeviceName DeviceName GPUs GPUs_DeviceName "
                       "GPUs_GlobalMemoryMB RemoteUser State", limits="columns"),
    # What runs no jobs of some universes.
    "offline": Mode("QUERY_STARTD_ADS", "Machine", "OFFLINE", totals.SLOT_STATES,
                    "size(OfflineUniverses) != 0", _SLOT_NAMES + " OfflineUniverses"),
    "broken": Mode("QUERY_STARTD_ADS", "Machine", "BROKEN", None, "size(SlotBrokenReason) > 0",
                   names="SlotBrokenCode SlotBrokenReason", limits="columns"),
    "healthy": Mode("QUERY_MULTIPLE_ADS", "StartD", "HEALTH", totals.HEALTH,
                    names="Arch BrokenReasons CondorVersion HealthExprs HealthFactor Healthy OpSys "
                          "OpSysAndVer OpSysShortName SlotBrokenReason"),
    "slot_health": Mode("QUERY_STARTD_ADS", "Machine", "SLOT_HEALTH",
                        totals.HEALTH.changed(key=totals.platform),
                        names="Arch BrokenReasons HealthExprs HealthFactor Healthy OpSys "
                              "SlotBrokenReason"),
    "lvm": Mode("QUERY_STARTD_ADS", "Machine", "LVM", None,
                "IsEnforcingDiskUsage && PartitionableSlot =!= true",
                names="Disk DiskUsage LvmIsThinProvisioning", limits="table"),
    # Computing on demand is gone: a slot with such claims has nothing to show.
    "cod": Mode("QUERY_STARTD_ADS", "Machine", (), None, "NumCODClaims",
                "Arch ClaimState CODClaims OpSys State"),
    "absent": Mode("QUERY_STARTD_ADS", "Machine", "ABSENT", totals.SLOT_STATES, "Absent",
                   _SLOT_NAMES + " ClassAdLifetime"),
    "claimed": Mode("QUERY_STARTD_ADS", "Machine", tables.CLAIMED, totals.CLAIMED,
                    'State == "Claimed"',
                    _CLAIMED_NAMES, 63),
    "server": Mode("QUERY_STARTD_ADS", "Machine", tables.SERVER, totals.SERVER,
                   names="Arch CondorLoadAvg Disk KFlops Memory Mips OpSys State", rest=65),
    "state": Mode("QUERY_STARTD_ADS", "Machine", tables.STATE, totals.ACTIVITIES,
                  names=_SLOT_NAMES + " Cpus EnteredCurrentState KeyboardIdle", rest=70),
    "startd": Mode("QUERY_MULTIPLE_ADS", "StartD", tables.STARTDS, totals.STARTDS,
                   names=_STARTD_NAMES),
    "startd_gpus": Mode("QUERY_MULTIPLE_ADS", "StartD", "STARTD_GPUS", totals.STARTDS,
                        "TotalGPUs > 0 || size(DetectedGPUs) > 0",
                        names=_STARTD_NAMES + " AvailableGPUs OfflineGPUs", limits="columns"),
    # The attributes that tell what broke have the names of what broke: whole ads are asked for.
    "startd_broken": Mode("QUERY_MULTIPLE_ADS", "StartD", "STARTD_BROKEN", None,
                          "size(BrokenReasons ?: BrokenSlots) > 0", limits="columns"),
    "startd_lvm": Mode("QUERY_MULTIPLE_ADS", "StartD", "STARTD_LVM", None, "IsEnforcingDiskUsage",
                       names="LvmBackingStore LvmDetectedDisk LvmIsThinProvisioning "
                             "LvmNonCondorDiskUsage LvmUsingLoopback", limits="table"),
    "schedd": Mode("QUERY_SCHEDD_ADS", "Scheduler", tables.SCHEDDS, totals.SCHEDDS,
                   names="TotalRunningJobs TotalIdleJobs TotalHeldJobs", rest=35),
    "run": Mode("QUERY_SCHEDD_ADS", "Scheduler", tables.RUNNING_SCHEDDS, None,
                "(ShadowsRunning + TotalSchedulerJobsRunning) > 0",
                "RecentJobsCompleted RecentJobsStarted ShadowsRunning TotalJobAds "
                "TotalSchedulerJobsIdle TotalSchedulerJobsRunning", 35, limits="table"),
    "data": Mode("QUERY_SCHEDD_ADS", "Scheduler", tables.DATA, None,
                 "TransferQueueMaxUploading =!= undefined",
                 names="FileTransferDownloadBytesPerSecond_5m FileTransferMBWaitingToDownload "
                       "FileTransferMBWaitingToUpload FileTransferUploadBytesPerSecond_5m "
                       "TransferQueueNumDownloading TransferQueueNumUploading "
                       "TransferQueueNumWaitingToDownload TransferQueueNumWaitingToUpload",
                 rest=70, limits="table"),
    "submitters": Mode("QUERY_SUBMITTOR_ADS", "Submitter", tables.SUBMITTERS, totals.SUBMITTERS,
                       names=_JOB_COUNTS,
                       rest=35),
    "master": Mode("QUERY_MASTER_ADS", "DaemonMaster", tables.MASTERS,
                   names="CondorVersion DaemonStartTime DetectedCpus DetectedMemory LastHeardFrom"),
    "collector": Mode("QUERY_COLLECTOR_ADS", "Collector", tables.COLLECTORS,
                      names="RunningJobs IdleJobs HostsTotal"),
    "negotiator": Mode("QUERY_NEGOTIATOR_ADS", "Negotiator", tables.NEGOTIATORS,
                       names=" ".join(f"LastNegotiationCycle{part}0" for part in (
                           "End", "Duration", "CandidateSlots", "ActiveSubmitterCount",
                           "NumSchedulers", "NumIdleJobs", "Matches", "Rejections")), rest=63),
    "defrag": Mode("QUERY_GENERIC_ADS", "Defrag", tables.DEFRAG,
                   names="MachinesDraining MachinesDrainingPeak DrainedMachines"),
    "accounting": Mode("QUERY_ACCOUNTING_ADS", "Accounting", "ACCOUNTING",
                       names="Priority PriorityFactor ResourcesUsed WeightedAccumulatedUsage "
                             "LastHeardFrom LastUsageTime"),
    "had": Mode("QUERY_HAD_ADS", "HAD", tables.ANY, names="MyType TargetType"),
    "storage": Mode("QUERY_STORAGE_ADS", "Storage", "STORAGE", names="Disk Subnet"),
    "ckptsrvr": Mode("QUERY_CKPT_SRVR_ADS", "CkptServer", "STORAGE", totals.CHECKPOINT_SERVERS,
                     names="Disk Subnet"),
    # Shown as whole ads.
    "license": Mode("QUERY_LICENSE_ADS", "License", ()),
    "grid": Mode("QUERY_GRID_ADS", "Grid", tables.GRID,
                 names="NumJobs SubmitsAllowed SubmitsWanted RunningJobs IdleJobs"),
    "generic": Mode("QUERY_GENERIC_ADS", "Generic", tables.ANY, names="MyType TargetType"),
    "any": Mode("QUERY_ANY_ADS", "Any", tables.ANY, names="MyType TargetType"),
}
# fmt: on
