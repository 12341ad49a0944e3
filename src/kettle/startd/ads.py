"""The ads of an execution point: one per slot, one for the startd, and the private ones.

Built from `Machine` and the configuration, attribute for attribute as observed at a 25.14.1
startd; what all slots share is `machine_ad.py`'s. Sending them is `service.py`; the expressions in
them are evaluated by `slot_policy.py` in the ad that `build_slot_ad` makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.config.knobs.policy import PolicyMacros
from kettle.config.knobs.startd import StartdKnobs
from kettle.startd import latches
from kettle.startd.claim_machine import ClaimPhase
from kettle.startd.idle import idle_times
from kettle.startd.machine import Machine, SlotRecord
from kettle.startd.machine_ad import publish_configured
from kettle.startd.retirement import Grants, retirement_left
from kettle.startd.slot_policy import Verdict, read_verdict
from kettle.startd.slots import whole
from kettle.wire.codec import is_private_attribute
from kettle.wire.messages.starter_control import OF_THE_JOB
from kettle.wire.security.claim_id import public_claim_id

POLICY_DEFAULTS = {
    "START": "true",
    "IS_OWNER": "false",
    "SUSPEND": "false",
    "CONTINUE": "true",
    "PREEMPT": "false",
    "KILL": "false",
    "WANT_SUSPEND": "false",
    "WANT_VACATE": "true",
    "WANT_HOLD": "false",
    "RUNBENCHMARKS": "false",
    "START_BACKFILL": "false",
    "EVICT_BACKFILL": "false",
}
"""The owner's expressions, and what each is where nobody set it."""


def within_limits(names: Iterable[str]) -> str:
    """Return the expression that says whether a job's requests fit the slot."""
    terms = []
    for name in names:
        if name in {"Cpus", "Memory", "Disk"}:
            terms.append(f"MY.{name} > 0 && TARGET.Request{name} <= MY.{name}")
        elif name != "Swap":
            request = f"TARGET.Request{name}"
            terms.append(f"({request} =?= undefined || MY.{name} >= {request})")
    return " && ".join(terms)


def build_slot_ad(
    record: SlotRecord, machine: Machine, config: Config, base: ClassAd, now: float
) -> ClassAd:
    """Return a slot's ad, chained to what all slots share; policy is evaluated in it."""
    ad = ClassAd(parent=base)
    ad["MyType"] = "Machine"
    ad["TargetType"] = "Job"
    ad["Name"] = record.name
    ad["SlotID"] = record.slot_id
    ad["SlotType"] = record.kind
    ad["SlotTypeID"] = -record.type_id if record.parent is not None else record.type_id
    _fill_resources(ad, record, machine)
    _fill_policy(ad, record, machine, config)
    _fill_state(ad, record, machine, now)
    ad["KeyboardIdle"], ad["ConsoleIdle"] = idle_times(record, machine, config, now)
    if record.parent is not None:
        ad["DynamicSlot"] = True
        ad["DSlotId"] = record.dynamic_id
        ad["ParentSlotId"] = record.slot_id
    if record.pool is not None:
        ad["PartitionableSlot"] = True
        ad["NumDynamicSlots"] = len(record.pool.children)
        ad["NumDynamicSlotsTime"] = machine.date(record.divided_at)
        if config.value(StartdKnobs.ADVERTISE_PSLOT_ROLLUP_INFORMATION):
            _fill_rollup(ad, record, machine, config, now)
    _fill_claim(ad, record, now)
    _fill_job(ad, record, machine, config)
    publish_configured(ad, config, f"SLOT_TYPE_{record.type_id}_")
    publish_configured(ad, config, f"{record.short_name.partition('_')[0].upper()}_")
    for other in config.words("STARTD_SLOT_ATTRS"):
        for sibling in machine.slots.values():
            value = _slot_attribute(machine, sibling, other)
            if value is not None:
                ad[f"{sibling.short_name}_{other}"] = value
    return ad


def _slot_attribute(machine: Machine, record: SlotRecord, name: str) -> object:
    """Return one of the attributes that slots see of each other (STARTD_SLOT_ATTRS)."""
    known: dict[str, object] = {
        "state": record.slot.phase.state,
        "activity": record.slot.phase.activity,
        "enteredcurrentstate": machine.date(record.slot.entered_state_at),
        "enteredcurrentactivity": machine.date(record.slot.entered_activity_at),
        "name": record.name,
        "cpus": record.available.amount("Cpus"),
        "memory": record.available.amount("Memory"),
    }
    if name.lower() in known:
        return known[name.lower()]
    return record.job.lookup(name) if record.job is not None else None


def _fill_resources(ad: ClassAd, record: SlotRecord, machine: Machine) -> None:
    for name, amount in record.available.amounts.items():
        total = record.pool.total if record.pool is not None else record.total
        if name == "Swap":
            ad["VirtualMemory"] = amount
            continue
        ad[name] = amount
        ad[f"TotalSlot{name}"] = (
            float(total.amount(name)) if name == "Disk" else whole(total.amount(name))
        )
    disk = machine.disks.get(record.slot_id)
    if disk is not None and disk.volume:
        ad["TotalDisk"], ad["ExecuteVolume"] = disk.kib, disk.volume
    for name, ids in record.available.assigned.items():
        ad[f"Assigned{name}"] = ",".join(ids)
    ad.insert_text("WithinResourceLimits", within_limits(record.available.amounts))


def expression_text(config: Config, record: SlotRecord, name: str, default: str) -> str:
    """Return a policy expression of this slot: vanilla's, the slot type's, or everybody's."""
    vanilla = record.job is not None and record.job.integer("JobUniverse") == 5
    return _expression_text(config, record.type_id, vanilla, name) or default


@lru_cache(maxsize=1024)
def _expression_text(config: Config, type_id: int, vanilla: bool, name: str) -> str:
    # It is asked the same for every slot at every poll. A daemon's configuration never changes once
    # it is in force: what is set from afar is assigned before, and each reading makes a new one.
    for candidate in (f"{name}_VANILLA" if vanilla else "", f"SLOT_TYPE_{type_id}_{name}"):
        text = config.get(candidate) if candidate else None
        if text is not None:
            return text
    return config.get(name) or ""


_CONSTANTS = {"true": True, "1": True, "false": False, "0": False}


def constant_verdict(config: Config, record: SlotRecord) -> Verdict | None:
    """Return what the policy says of a slot, if all its expressions are plain true or false."""
    vanilla = record.job is not None and record.job.integer("JobUniverse") == 5
    unclaimed = record.slot.phase.state == "Unclaimed"
    return _constant_verdict(config, record.type_id, vanilla, unclaimed)


@lru_cache(maxsize=1024)
def _constant_verdict(
    config: Config, type_id: int, vanilla: bool, unclaimed: bool
) -> Verdict | None:
    found = {}
    for name, default in POLICY_DEFAULTS.items():
        if name == "RUNBENCHMARKS" and not unclaimed:
            continue
        text = _expression_text(config, type_id, vanilla, name) or default
        value = _CONSTANTS.get(text.strip().lower())
        if value is None:
            return None
        found[name] = value
    return read_verdict(found.get)


# Why a slot takes no job although its owner's expressions would have it, as its ad says.
# Compat: the reference takes jobs whose sandbox cannot be made, one after the other
# (test_a_slot_takes_no_job_while_no_sandbox_can_be_made).
TROUBLE = "KettleTrouble"
# Requirements of a slot that can take a job.
OFFERS = "Start && WithinResourceLimits"


def _fill_policy(ad: ClassAd, record: SlotRecord, machine: Machine, config: Config) -> None:
    phase = record.slot.phase
    offered = phase.state in {"Unclaimed", "Claimed", "Backfill"}
    if machine.drain is not None:
        start = machine.drain.start_expression or "false"
        # A claim of before the drain takes no further job; one that was let in meanwhile begins.
        takes = offered and (phase.state != "Claimed" or record.accepted_while_draining)
        ad.insert_text("Start", start if takes else "false")
    else:
        ad.insert_text("Start", expression_text(config, record, "START", "true"))
    if machine.readings.trouble:
        ad.insert_text("Start", "false")
        ad[TROUBLE] = machine.readings.trouble
    # A slot that cannot take a job pretends that its Requirements are false.
    ad.insert_text("Requirements", OFFERS if offered else "false")
    if record.flaw is not None:
        ad.insert_text("Start", "false")
        ad["SlotBrokenCode"] = record.flaw.code
        # A text is no condition that anything meets.
        ad["SlotBrokenReason"] = ad["Requirements"] = record.flaw.reason
    ad.insert_text("Rank", expression_text(config, record, "RANK", "0.0"))
    ad.insert_text("SlotWeight", expression_text(config, record, "SLOT_WEIGHT", "Cpus"))
    retirement = expression_text(config, record, "MAXJOBRETIREMENTTIME", "0")
    ad.insert_text("MaxJobRetirementTime", retirement)
    vacate = expression_text(config, record, "MachineMaxVacateTime", "10 * 60")
    ad.insert_text("MachineMaxVacateTime", vacate)
    ad.insert_text("IsOwner", expression_text(config, record, "IS_OWNER", "false"))
    busy = config.get("CpuBusy") or config.get("CPU_BUSY") or PolicyMacros.CpuBusy.unset
    ad.insert_text("CpuBusy", busy)
    latches.publish(record.latches, ad)
    ad["CurrentRank"] = record.claim.rank if record.claim is not None else 0.0
    ad["AcceptedWhileDraining"] = record.accepted_while_draining
    ad["PslotRollupInformation"] = True
    ad["HasStartDaemonAd"] = True
    ad["NextFetchWorkDelay"] = -1


def add_policy(ad: ClassAd, record: SlotRecord, machine: Machine, config: Config) -> None:
    """Add the owner's expressions that only the startd itself and its claimers see, and the time.

    What the slots share is made anew less often than their owner's expressions are looked at.
    """
    ad["ClockDay"] = machine.readings.clock_day
    ad["ClockMin"] = machine.readings.clock_minutes
    for name, default in POLICY_DEFAULTS.items():
        if name not in {"START", "IS_OWNER"}:
            ad.insert_text(name, expression_text(config, record, name, default))
    for name in ("WANT_HOLD_REASON", "WANT_HOLD_SUBCODE"):
        ad.insert_text(name, expression_text(config, record, name, "undefined"))
    ad.insert_text("CLAIM_WORKLIFE", str(config.value(StartdKnobs.CLAIM_WORKLIFE)))


def _fill_state(ad: ClassAd, record: SlotRecord, machine: Machine, now: float) -> None:
    slot = record.slot
    ad["State"] = slot.phase.state
    ad["Activity"] = slot.phase.activity
    ad["EnteredCurrentState"] = machine.date(slot.entered_state_at)
    ad["EnteredCurrentActivity"] = machine.date(slot.entered_activity_at)
    ad["MyCurrentTime"] = machine.date(now)
    ad["LoadAvg"] = round(record.load.of_owner + record.load.of_job, 2)
    ad["CondorLoadAvg"] = round(record.load.of_job, 2)
    ad["TotalLoadAvg"] = round(machine.readings.load, 2)
    ad["TotalCondorLoadAvg"] = round(machine.readings.jobs_load, 2)
    running = slot.activation != 0
    usage_pids = record.usage.integer("NumPids") if record.usage is not None else None
    ad["NumPids"] = (usage_pids or 0) if running else 0
    ad["RetirementTimeRemaining"] = _retirement_remaining(ad, record, now)
    _fill_phase_times(ad, record, now)


def _fill_phase_times(ad: ClassAd, record: SlotRecord, now: float) -> None:
    slot = record.slot
    for phase, spent in record.phase_seconds.items():
        extra = now - slot.entered_activity_at if phase is slot.phase else 0
        ad[f"TotalTime{phase.state}{phase.activity}"] = int(spent + extra)
    if slot.phase not in record.phase_seconds:
        spent = now - slot.entered_activity_at
        ad[f"TotalTime{slot.phase.state}{slot.phase.activity}"] = int(spent)


def passing_ad(record: SlotRecord, machine: Machine, now: float) -> ClassAd:
    """Return what of a claimed slot's ad is another for each job, without what is of the job."""
    ad = ClassAd()
    ad["MyCurrentTime"] = machine.date(now)
    ad["EnteredCurrentActivity"] = machine.date(record.slot.entered_activity_at)
    _fill_phase_times(ad, record, now)
    if record.claim is not None:
        _fill_run_times(ad, record, now)
    return ad


def is_lasting(record: SlotRecord, config: Config) -> bool:
    """Whether nothing but `passing_ad` and the job is new in a claimed slot's ad for the next one.

    That is so where nobody waits for the slot, and no ad has what others or jobs put there.
    """
    return record.waiting_job is None and not _repeats_attributes(config)


@lru_cache(maxsize=16)
def _repeats_attributes(config: Config) -> bool:
    return bool(config.words("STARTD_JOB_ATTRS") or config.words("STARTD_SLOT_ATTRS"))


def _retirement_remaining(ad: ClassAd, record: SlotRecord, now: float) -> int:
    if not record.slot.activation or record.job is None:
        return 0
    machine_grant = ad.evaluate("MaxJobRetirementTime", record.job)
    grants = Grants(
        machine_grant if isinstance(machine_grant, (int, float)) else 0,
        record.job.real("MaxJobRetirementTime"),
    )
    return max(0, int(retirement_left(grants, record.ran_seconds(now))))


def _fill_rollup(
    ad: ClassAd, record: SlotRecord, machine: Machine, config: Config, now: float
) -> None:
    """Say of every child what pslot preemption and tools want to know."""
    children = machine.children(record)
    grants = [_child_retirement(child, config, now) for child in children]
    holders = [child.claim.holder.user if child.claim else "" for child in children]
    groups = ", ".join(_group_text(child) for child in children)
    ad["ChildName"] = [c.name for c in children]
    ad["ChildState"] = [c.slot.phase.state for c in children]
    ad["ChildActivity"] = [c.slot.phase.activity for c in children]
    ad["ChildEnteredCurrentState"] = [machine.date(c.slot.entered_state_at) for c in children]
    ad["ChildDSlotId"] = [c.dynamic_id for c in children]
    ad["ChildCurrentRank"] = [c.claim.rank if c.claim else 0.0 for c in children]
    ad["ChildRetirementTimeRemaining"] = grants
    ad["ChildRemoteUser"] = ad["ChildRemoteOwner"] = holders
    ad.insert_text("ChildAccountingGroup", "{ " + groups + " }")
    _fill_child_resources(ad, record, children)


def _fill_child_resources(ad: ClassAd, record: SlotRecord, children: list[SlotRecord]) -> None:
    for name in record.total.amounts:
        if name != "Swap":
            ad[f"Child{name}"] = [c.total.amount(name) for c in children]


def _group_text(child: SlotRecord) -> str:
    text = child.job.text("AcctGroup") if child.job is not None else None
    return text or "undefined"


def _child_retirement(child: SlotRecord, config: Config, now: float) -> int:
    expression = expression_text(config, child, "MAXJOBRETIREMENTTIME", "0")
    if not child.slot.activation or expression.strip() == "0":
        return 0
    ad = ClassAd()
    ad.insert_text("MaxJobRetirementTime", expression)
    return _retirement_remaining(ad, child, now)


def _fill_claim(ad: ClassAd, record: SlotRecord, now: float) -> None:
    claim = record.claim
    if claim is None or claim.phase is ClaimPhase.OFFERED:
        return
    holder = claim.holder
    ad["ClientMachine"] = holder.client_machine
    ad["RemoteOwner"] = holder.user
    ad["RemoteUser"] = holder.user
    ad["RemoteScheddName"] = holder.schedd_name
    ad["RemoteAutoregroup"] = holder.autoregroup
    ad["RemoteNegotiatingGroup"] = holder.negotiating_group or "<none>"
    for name, text in (
        ("AccountingGroup", holder.accounting_group),
        ("RemoteGroup", holder.group),
        ("ConcurrencyLimits", holder.limits),
    ):
        if text:
            ad[name] = text
    ad["PublicClaimId"] = public_claim_id(claim.claim_id)
    ad["ClaimEndTime"] = 0
    ad["IsSplittable"] = record.parent is not None
    _fill_run_times(ad, record, now)
    if record.waiting_job is not None and record.waiting_claim is not None:
        ad["PreemptingRank"] = record.waiting_claim.rank
        ad["PreemptingOwner"] = record.waiting_claim.holder.user
        ad["PreemptingUser"] = record.waiting_claim.holder.user
        if record.waiting_claim.holder.accounting_group:
            ad["PreemptingAccountingGroup"] = record.waiting_claim.holder.accounting_group


def _fill_run_times(ad: ClassAd, record: SlotRecord, now: float) -> None:
    """Say how long jobs ran and were suspended under this claim, where they were at all."""
    times = record.times
    for name, seconds in (
        ("TotalClaimRunTime", times.claim_ran(now)),
        ("TotalClaimSuspendTime", times.claim_frozen(now)),
        ("TotalJobRunTime", times.job_ran(now)),
        ("TotalJobSuspendTime", times.job_frozen(now)),
    ):
        if seconds >= 1.0:
            ad[name] = int(seconds)


_USAGE_ATTRIBUTES = ("ImageSize", "ResidentSetSize", "MemoryUsage", "DiskUsage")


def _fill_job(ad: ClassAd, record: SlotRecord, machine: Machine, config: Config) -> None:
    job = record.job
    if job is None or record.claim is None or record.claim.phase is ClaimPhase.OFFERED:
        return
    for name in (*OF_THE_JOB, *config.words("STARTD_JOB_ATTRS")):
        expression = job.lookup(name)
        if expression is not None:
            ad.insert_text(name, job.text(name) or "undefined")
    if not record.slot.activation:
        return
    ad["JobId"] = f"{job.integer('ClusterId') or 0}.{job.integer('ProcId') or 0}"
    ad["JobStart"] = machine.date(record.times.job_began_at)
    if record.usage is not None:
        _fill_usage(ad, record.usage)


def _fill_usage(ad: ClassAd, usage: ClassAd) -> None:
    """Put in what the starter has told of its job."""
    for name in (*_USAGE_ATTRIBUTES, "JobPid", "StarterPid", "StarterIpAddr"):
        text = usage.text(name)
        if text is not None:
            ad.insert_text(name, text)
    ran_seconds = usage.integer("StatsLifetime")
    if ran_seconds:
        spent = (usage.real("RemoteUserCpu") or 0.0) + (usage.real("RemoteSysCpu") or 0.0)
        ad["CPUsUsage"] = spent / ran_seconds


def claim_ad(record: SlotRecord, shown: ClassAd) -> ClassAd | None:
    """Return the job that a slot runs as the startd knows it, without secrets; None without one.

    `shown` is the slot's own ad. Only who asks for Slot.Claim is shown it, as condor_who -jobs
    does (R073); the job's attributes are those of its ad, of its claim and what its starter told.
    """
    job = record.job
    if job is None or record.claim is None or not record.slot.activation:
        return None
    ad = ClassAd({"MyType": "Slot.Claim", "RemoteHost": record.name})
    for name in job.names():
        if name not in ad and not is_private_attribute(name):
            ad.insert_text(name, job.text(name) or "undefined")
    for name in ("PublicClaimId", "StartdIpAddr", "RemoteSlotID"):
        text = shown.text(name)
        if text is not None:
            ad.insert_text(name, text)
    if record.usage is not None:
        for name in record.usage.names():
            if name not in {"MyType", "TargetType"} and not is_private_attribute(name):
                ad.insert_text(name, record.usage.text(name) or "undefined")
    return ad


def private_ad(record: SlotRecord) -> ClassAd | None:
    """Return the second ad of an update: the claim id a schedd needs to claim the slot."""
    claim = record.claim
    if claim is None or claim.phase is not ClaimPhase.OFFERED:
        claim = record.waiting_claim
    if claim is None or claim.phase is not ClaimPhase.OFFERED:
        return None
    return ClassAd({"ClaimId": claim.claim_id, "Capability": claim.claim_id})


def _fill_layout(ad: ClassAd, machine: Machine) -> None:
    """Add which disks slots are on, and what of the slots is not as configured."""
    own = [disk.volume for disk in machine.disks.values() if disk.volume]
    ad["ExecuteVolumes"] = list(dict.fromkeys((machine.readings.volume, *own)))
    flaws = machine.flaws()
    for name, reason in flaws.items():
        ad[f"{name}BrokenReason"] = reason
    if flaws:
        names = ",".join(f"{name}BrokenReason" for name in flaws)
        ad.insert_text("BrokenReasons", f"{{ {names} }}")


def startd_ad(
    machine: Machine, base: ClassAd, now: float, self_figures: Mapping[str, object]
) -> ClassAd:
    """Return the daemon's own ad, MyType StartD, with what its process says of itself."""
    ad = ClassAd(parent=base)
    ad["MyType"] = "StartD"
    ad["Name"] = machine.name
    ad["MyCurrentTime"] = machine.date(now)
    _fill_layout(ad, machine)
    for figures in (machine.counters.transfers(), self_figures):
        for name, value in figures.items():
            ad[name] = value
    used: dict[str, float] = {}
    for record in machine.slots.values():
        if record.pool is None and record.slot.activation:
            for name, amount in record.total.amounts.items():
                used[name] = used.get(name, 0) + amount
    for name in ("Cpus", "Memory", "Disk"):
        amount = used.get(name, 0)
        ad[f"TotalInUse{name}"] = float(amount) if name == "Cpus" else amount
        ad[f"TotalBackfillInUse{name}"] = 0.0 if name == "Cpus" else 0
        ad[f"ExcessBackfill{name}"] = 0.0 if name == "Cpus" else 0
    # The reference leaves backfill out of what it says of GPUs in use.
    ad["TotalInUseGPUs"] = float(used.get("GPUs", 0))
    ad["ExcessBackfillGPUs"] = 0.0
    return ad
