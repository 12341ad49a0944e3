"""What the ads of all slots of an execution point share: the machine, its system, its readings.

Attribute for attribute as observed at a 25.14.1 startd; the slots' own part is `ads.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from kettle.attributes.abilities import (
    SCRATCH_DIRECTORY_MARK,
    STARTER_ABILITIES,
    offered_methods,
)
from kettle.classad import ClassAd
from kettle.config import Config
from kettle.digits import MAX_32
from kettle.startd.facts import PUBLISHED_FLAGS, MachineFacts
from kettle.startd.machine import Drain, Machine
from kettle.startd.programs import ability_list
from kettle.startd.slots import Bundle

NEVER = MAX_32


@dataclass(frozen=True)
class Surroundings:
    """What the ads say of the daemon itself."""

    address: str
    address_v1: str
    version: str
    platform: str
    started_at: float
    reconfigured_at: float


def base_ad(config: Config, facts: MachineFacts, around: Surroundings, total: Bundle) -> ClassAd:
    """Return what all ads of the startd share; changes only with the configuration."""
    ad = ClassAd()
    ad.update(ClassAd(_identity(config, facts, around)))
    for flag, name in PUBLISHED_FLAGS.items():
        if flag in facts.cpu_flags:
            ad[name] = True
    abilities = {**STARTER_ABILITIES, "HasSshd": facts.has_sshd}
    abilities["HasFileTransferPluginMethods"] = offered_methods(
        facts.url_methods, facts.broken_url_methods
    )
    abilities.update(facts.programs)
    for name, value in abilities.items():
        ad[name] = value
    ad["StarterAbilityList"] = ability_list(abilities)
    if facts.scratch_turns is not None:
        ad["HasRotationalScratch"] = facts.scratch_turns
    if facts.has_docker:
        ad["HasDocker"] = True
    if facts.has_singularity:
        ad["HasSingularity"] = True
    for name, amount in total.amounts.items():
        if name in {"Disk", "Swap"}:
            continue
        ad[f"Total{name}"] = float(amount) if name == "Cpus" else amount
        if name == "Cpus":
            ad["DetectedCpus"] = facts.cores
        elif name == "Memory":
            ad["DetectedMemory"] = facts.memory_mib
        else:
            ad[f"Detected{name}"] = amount
    ad["MachineResources"] = " ".join(total.amounts)
    ad["CondorScratchDir"] = SCRATCH_DIRECTORY_MARK
    publish_configured(ad, config, "")
    return ad


def _identity(config: Config, facts: MachineFacts, around: Surroundings) -> dict[str, object]:
    return {
        "Arch": facts.arch,
        "OpSys": facts.operating_system,
        "OpSysAndVer": f"{facts.os_name}{facts.os_major_version or ''}",
        "OpSysLegacy": facts.operating_system,
        "OpSysLongName": facts.os_long_name,
        "OpSysMajorVer": facts.os_major_version,
        "OpSysName": facts.os_name,
        "OpSysShortName": facts.os_short_name,
        "OpSysVer": facts.os_version,
        "AddressV1": around.address_v1,
        "MyAddress": around.address,
        "StartdIpAddr": around.address,
        "CondorPlatform": around.platform,
        "CondorVersion": around.version,
        "Machine": facts.host,
        "UidDomain": config.get("UID_DOMAIN") or facts.host,
        "FileSystemDomain": config.get("FILESYSTEM_DOMAIN") or facts.host,
        "COLLECTOR_HOST_STRING": config.get("COLLECTOR_HOST") or "",
        "CpuCacheSize": facts.cpu_cache_kib,
        "CpuFamily": facts.cpu_family,
        "CpuModelNumber": facts.cpu_model,
        "Microarch": facts.microarchitecture,
        "HardwareAddress": facts.hardware_address,
        "SubnetMask": facts.subnet_mask,
        "UtsnameMachine": facts.uname.get("machine", ""),
        "UtsnameNodename": facts.uname.get("node", ""),
        "UtsnameRelease": facts.uname.get("release", ""),
        "UtsnameSysname": facts.uname.get("system", ""),
        "UtsnameVersion": facts.uname.get("version", ""),
        "CanHibernate": False,
        "HibernationLevel": 0,
        "HibernationState": "NONE",
        "HibernationSupportedStates": "",
        "IsLocalStartd": False,
        "IsWakeAble": False,
        "IsWakeOnLanEnabled": False,
        "IsWakeOnLanSupported": False,
        "WakeOnLanEnabledFlags": "NONE",
        "WakeOnLanSupportedFlags": "NONE",
        "PrivateNetworkName": config.get("PRIVATE_NETWORK_NAME") or facts.host,
        "DaemonStartTime": int(around.started_at),
        "DaemonLastReconfigTime": int(around.reconfigured_at or around.started_at),
        "TimeToLive": NEVER,
    }


def publish_configured(ad: ClassAd, config: Config, prefix: str) -> None:
    """Put the attributes that STARTD_ATTRS names into the ad, `prefix` for a slot's own."""
    names = [*config.words("STARTD_ATTRS"), *config.words("STARTD_EXPRS")]
    names += ["DedicatedScheduler"] if not prefix else []
    for name in names:
        text = config.get(prefix + name)
        if text is not None:
            ad.insert_text(name, text)


def fill_readings(ad: ClassAd, machine: Machine, drain: Drain | None, now: float) -> None:
    """Put in what changes from poll to poll and is the same for all slots."""
    readings, counters = machine.readings, machine.counters
    ad["ClockDay"] = readings.clock_day
    ad["ClockMin"] = readings.clock_minutes
    ad["DetectedDisk"] = readings.disk_total_kib
    ad["ExecuteVolume"] = readings.volume
    ad["TotalDisk"] = machine.whole.amount("Disk")
    ad["TotalVirtualMemory"] = readings.virtual_memory_kib
    ad["TotalLoadAvg"] = round(readings.load, 2)
    ad["TotalCondorLoadAvg"] = round(readings.jobs_load, 2)
    ad["TotalSlots"] = len(machine.slots)
    ad["LastBenchmark"] = machine.date(machine.last_benchmark_at)
    totals = counters.totals()
    recent = counters.recent.observe(totals, int(now))
    for name, value in totals.items():
        ad[name] = int(value)
        ad[f"Recent{name}"] = recent[name]
    cost = machine.expected
    for name, badput, done_at in (
        ("Graceful", cost.graceful_badput, cost.graceful_at),
        ("Quick", cost.quick_badput, cost.quick_at),
    ):
        ad[f"ExpectedMachine{name}DrainingBadput"] = int(badput)
        ad[f"ExpectedMachine{name}DrainingCompletion"] = machine.date(done_at or now)
    if drain is not None:
        ad["Draining"] = True
        ad["DrainingRequestId"] = drain.request_id
        ad["DrainReason"] = drain.reason
    else:
        for name in ("Draining", "DrainingRequestId", "DrainReason"):
            ad.discard(name)
    if machine.last_drain_started_at:
        ad["LastDrainStartTime"] = machine.date(machine.last_drain_started_at)
    if machine.last_drain_stopped_at:
        ad["LastDrainStopTime"] = machine.date(machine.last_drain_stopped_at)
