"""The slots of one startd with everything that belongs to each: resources, claim, counters.

The containers of `service.py` and the choices about them that need no I/O: how the configuration
divides the machine, which slot a claim id means, which slots a drain waits for. Invariants are
restated by `Machine.check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from types import MappingProxyType

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.config.knobs.startd import StartdKnobs
from kettle.errors import ConfigError
from kettle.named_tuples import NamedTuple
from kettle.startd import slot_machine
from kettle.startd.claim_machine import Claim, ClaimPhase
from kettle.startd.cores import choose_cores
from kettle.startd.draining_cost import Expected
from kettle.startd.facts import MachineFacts, Readings
from kettle.startd.latches import Latch
from kettle.startd.load import SlotLoad
from kettle.startd.run_times import RunTimes
from kettle.startd.slot_machine import Phase, Slot
from kettle.startd.slots import (
    Bundle,
    Flaw,
    Layout,
    Pool,
    SlotDisk,
    SlotFailure,
    SlotType,
    plan_slots,
    whole,
)
from kettle.statistics.windows import RecentTotals


@dataclass
class SlotRecord:
    """One slot and what is known of it. Times are those of the steady clock."""

    slot: Slot
    slot_id: int
    type_id: int
    total: Bundle
    pool: Pool | None = None
    parent: SlotRecord | None = None
    dynamic_id: int = 0
    flaw: Flaw | None = None
    claim: Claim | None = None
    waiting_claim: Claim | None = None
    waiting_job: ClassAd | None = None
    job: ClassAd | None = None
    times: RunTimes = field(default_factory=RunTimes)
    usage: ClassAd | None = None
    phase_seconds: dict[Phase, float] = field(default_factory=dict)
    sequence: int = 0
    sent_at: float = 0.0
    # Those that its jobs are bound to, where jobs are; None until they are asked for.
    cores: tuple[int, ...] | None = None
    accepted_while_draining: bool = False
    load: SlotLoad = field(default_factory=SlotLoad)
    # When a slot was last cut out of this one, or went back to it.
    divided_at: float = 0.0
    latches: dict[str, Latch] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The full name, slot1_1@host."""
        return self.slot.name

    @property
    def short_name(self) -> str:
        """The part before the @."""
        return self.slot.name.partition("@")[0]

    @property
    def kind(self) -> str:
        """The value of SlotType."""
        if self.pool is not None:
            return "Partitionable"
        return "Dynamic" if self.parent is not None else "Static"

    @property
    def available(self) -> Bundle:
        """What the slot advertises: of a partitionable one, what is left (A008)."""
        if self.flaw is not None:
            return Bundle(dict.fromkeys(self.total.amounts, 0))
        return self.pool.free if self.pool is not None else self.total

    def ran_seconds(self, now: float) -> float:
        """Return how long the present job has run, without suspended time (B122)."""
        return self.times.job_ran(now)


@dataclass
class Counters:
    """What the startd counts over its life, as its ads publish it."""

    claim_requests: int = 0
    activation_requests: int = 0
    job_starts: int = 0
    rank_preemptions: int = 0
    priority_preemptions: int = 0
    slots_not_matching: int = 0
    # Jobs whose files were moved, and the bytes: to jobs and from them.
    jobs_moved: int = 0
    input_bytes: float = 0.0
    output_bytes: float = 0.0
    recent: RecentTotals = field(default_factory=RecentTotals)

    def totals(self) -> dict[str, float]:
        """Return what has a recent value too, under the names that ads give it."""
        return {
            "ActivationRequests": self.activation_requests,
            "ClaimRequests": self.claim_requests,
            # Compat: as in the reference, those that make room for a better claim alone
            # (test_a_job_that_leaves_for_no_other_is_not_preempted).
            "JobPreemptions": self.rank_preemptions + self.priority_preemptions,
            "JobRankPreemptions": self.rank_preemptions,
            "JobStarts": self.job_starts,
            "JobUserPrioPreemptions": self.priority_preemptions,
            "NewDSlotNotMatch": self.slots_not_matching,
        }

    def on_moved(self, input_bytes: float, output_bytes: float) -> None:
        """Count the files of a job that has ended."""
        self.jobs_moved += 1
        self.input_bytes += max(0.0, input_bytes)
        self.output_bytes += max(0.0, output_bytes)

    def transfers(self) -> dict[str, float]:
        """Return how much was moved, in MB, altogether and for a job."""
        figures = {}
        for word, moved in (("Input", self.input_bytes), ("Output", self.output_bytes)):
            total = moved / 2**20
            figures[f"TotalTransfer{word}MB"] = total
            figures[f"AvgTransfer{word}MB"] = total / self.jobs_moved if self.jobs_moved else 0.0
        return figures


@dataclass
class Drain:
    """A drain in progress (wire notes, Draining)."""

    request_id: str
    how_fast: int
    on_completion: int
    reason: str
    started_at: float
    start_expression: str = ""


class Machine:
    """All slots of a startd, by name."""

    def __init__(self, facts: MachineFacts, name: str) -> None:
        self.facts = facts
        self.name = name
        self.readings = Readings()
        self.whole = Bundle()
        self.began_at = 0.0
        self.slots: dict[str, SlotRecord] = {}
        # Where slots have their sandboxes that have them not in EXECUTE, by the slots' numbers.
        self.disks: Mapping[int, SlotDisk] = {}
        # Types of which there are fewer slots than configured.
        self.short_types: tuple[int, ...] = ()
        self.counters = Counters()
        self.drain: Drain | None = None
        self.last_drain_started_at = 0.0
        self.last_drain_stopped_at = 0.0
        self.last_benchmark_at = 0.0
        # What draining would cost, as of the last look at everything.
        self.expected = Expected()
        # All times here pass steadily; the wall clock is so much ahead, which dates in ads follow.
        self.set_ahead = 0
        self._by_claim: dict[str, SlotRecord] = {}

    def __iter__(self) -> Iterator[SlotRecord]:
        return iter(list(self.slots.values()))

    def date(self, at: float) -> int:
        """Return a time of ours as the wall clock has it."""
        return int(at) + self.set_ahead

    @property
    def lacks_room(self) -> bool:
        """Whether an undivided machine offers no disk at all, so that no job can be matched."""
        pools = [one.pool for one in self if one.pool is not None and one.slot_id not in self.disks]
        return len(self.slots) == 1 == len(pools) and pools[0].total.amount("Disk") <= 0

    def follow_disk(self, *, always: bool) -> bool:
        """Let an undivided machine offer the disk that is free now; return if it had none before.

        Without `always` (STARTD_RECOMPUTE_DISK_FREE) that is done only where there was none.
        Compat: the reference's startd that started on a full disk takes no job until it is started
        again (test_a_startd_that_began_on_a_full_disk_offers_what_is_freed).
        """
        began = False
        for record in self:
            pool = record.pool
            if pool is None or len(self.slots) > 1 or record.slot_id in self.disks:
                continue
            had_none = pool.total.amount("Disk") <= 0
            if always or (had_none and self.readings.disk_kib > 0):
                record.pool = pool.resize("Disk", self.readings.disk_kib)
                began = began or (had_none and self.readings.disk_kib > 0)
        return began

    def divide(self, layout: Layout, whole_machine: Bundle, now: float) -> None:
        """Make the configured slots, in Owner, as a machine starts."""
        self.whole, self.began_at, self.short_types = whole_machine, now, layout.short_types
        for spec in layout.slots:
            name = f"slot{spec.slot_id}@{self.name}"
            slot = Slot(name, entered_state_at=now, entered_activity_at=now)
            pool = Pool.of(spec.total) if spec.partitionable else None
            record = SlotRecord(slot, spec.slot_id, spec.type_id, spec.total, pool)
            record.divided_at, record.flaw = now, spec.flaw
            self._add(record)

    def flaws(self) -> dict[str, str]:
        """Return why slots, and slots of a type, are not as configured, by what ads call them."""
        slots = {record.short_name: record.flaw.reason for record in self if record.flaw}
        types = {
            f"slot_type{number}": f"fewer slots of type {number} fit than are configured"
            for number in self.short_types
        }
        return slots | types

    def _add(self, record: SlotRecord) -> None:
        self.slots[record.name] = record

    def cores_of(self, record: SlotRecord) -> tuple[int, ...]:
        """Return the cores that a slot's jobs are bound to, where they are (ASSIGN_CPU_AFFINITY).

        Chosen when first asked for, of all slots that have none yet in the order they were made.
        """
        chosen = [each.cores for each in self.slots.values() if each.cores is not None]
        for each in self.slots.values():
            if each.cores is None:
                each.cores = choose_cores(chosen, each.total.amount("Cpus"), self.facts.cores)
                chosen.append(each.cores)
        return record.cores or ()

    def carve(self, parent: SlotRecord, wanted: Bundle, now: float) -> SlotRecord:
        """Make a dynamic slot of a partitionable one; it is Unclaimed until claimed."""
        assert parent.pool is not None
        parent.pool, number = parent.pool.carve(wanted)
        name = f"slot{parent.slot_id}_{number}@{self.name}"
        slot = Slot(name, Phase.UNCLAIMED_IDLE, entered_state_at=now, entered_activity_at=now)
        record = SlotRecord(
            slot,
            parent.slot_id,
            parent.type_id,
            parent.pool.children[number],
            parent=parent,
            dynamic_id=number,
        )
        parent.divided_at = now
        # As its parent's, until it is looked at itself: what matched goes on to match.
        record.load.of_owner, record.load.of_job = parent.load.of_owner, parent.load.of_job
        self._add(record)
        return record

    def destroy(self, record: SlotRecord) -> None:
        """Remove a dynamic slot; its resources return to its parent (A012)."""
        assert record.parent is not None
        assert record.parent.pool is not None
        record.parent.pool = record.parent.pool.join(record.dynamic_id)
        del self.slots[record.name]
        self.set_claim(record, None)

    def set_claim(self, record: SlotRecord, claim: Claim | None) -> None:
        """Make `claim` the one of the slot, and findable by its id."""
        if record.claim is not None and (claim is None or claim.claim_id != record.claim.claim_id):
            self._by_claim.pop(record.claim.claim_id, None)
        record.claim = claim
        if claim is not None:
            self._by_claim[claim.claim_id] = record

    def find_claim(self, claim_id: str) -> SlotRecord | None:
        """Return the slot whose present claim this is."""
        return self._by_claim.get(claim_id)

    def children(self, parent: SlotRecord) -> list[SlotRecord]:
        """Return the dynamic slots of a partitionable one, by number."""
        found = [record for record in self.slots.values() if record.parent is parent]
        return sorted(found, key=lambda record: record.dynamic_id)

    def find(self, name: str) -> SlotRecord | None:
        """Return a slot by its full or short name, in any case."""
        wanted = name.lower()
        for record in self.slots.values():
            if wanted in {record.name.lower(), record.short_name.lower()}:
                return record
        return None

    def has_claims_to_retire(self) -> bool:
        """Whether a claim of before the drain is still there."""
        return any(
            record.slot.phase.state in {"Claimed", "Preempting"}
            for record in self.slots.values()
            if not record.accepted_while_draining
        )

    def is_drained(self) -> bool:
        """Whether no slot is on its way to Drained any more."""
        return all(
            r.slot.phase in {Phase.DRAINED_RETIRING, Phase.DRAINED_IDLE}
            for r in self.slots.values()
        )

    def note_phase(self, record: SlotRecord, before: Slot, now: float) -> None:
        """Add the time spent in the phase that just ended."""
        spent = now - before.entered_activity_at
        record.phase_seconds[before.phase] = record.phase_seconds.get(before.phase, 0.0) + spent

    def check(self) -> None:
        """Restate what has to hold between slots, claims and resources."""
        slot_machine.check([record.slot for record in self.slots.values()])
        for record in self.slots.values():
            if record.pool is not None:
                record.pool.check()
                numbers = {child.dynamic_id for child in self.children(record)}
                assert numbers == set(record.pool.children), f"{record.name}: {numbers}"
                assert record.slot.phase.state not in {"Claimed", "Preempting"}, record.name
            if record.slot.phase.state == "Claimed":
                assert record.claim is not None, record.name
                assert record.claim.phase is not ClaimPhase.OFFERED, record.name
        for claim_id, record in self._by_claim.items():
            assert record.claim is not None, claim_id
            assert record.claim.claim_id == claim_id, claim_id


# ---- from the configuration -------------------------------------------------------------------


def machine_resources(
    config: Config,
    facts: MachineFacts,
    readings: Readings,
    inventory: Mapping[str, Found] = MappingProxyType({}),
) -> Bundle:
    """Return everything the machine gives to jobs: NUM_CPUS, MEMORY, disk, custom resources."""
    cpus = config.real("NUM_CPUS")
    memory = config.real("MEMORY")
    reserved = config[StartdKnobs.RESERVED_MEMORY]
    amounts: dict[str, float] = {
        "Cpus": whole(cpus if cpus and cpus > 0 else facts.cores),
        "Memory": int(memory) if memory else max(0, int(facts.memory_mib - reserved)),
        "Disk": readings.disk_kib,
        "Swap": readings.virtual_memory_kib,
    }
    assigned: dict[str, tuple[str, ...]] = {}
    for name, amount, ids in custom_resources(config, inventory):
        amounts[name] = amount
        if ids:
            assigned[name] = ids
    # Peers ask for GPUs by this name on every machine; none is a number too.
    if not any(name.lower() == "gpus" for name in amounts):
        amounts["GPUs"] = 0
    return Bundle(amounts, assigned)


_PREFIX = "MACHINE_RESOURCE_"
_INVENTORY = "MACHINE_RESOURCE_INVENTORY_"
_NOT_RESOURCES = ("NAMES", "INVENTORY_")


class Found(NamedTuple):
    """What a program found of a resource: how much, and what its pieces are called."""

    amount: float
    ids: tuple[str, ...]


def inventories(config: Config) -> list[tuple[str, str]]:
    """Return the tag and the command of every MACHINE_RESOURCE_INVENTORY_<tag>."""
    names = [macro.name for macro in config.entries()]
    tags = [name[len(_INVENTORY) :] for name in names if name.upper().startswith(_INVENTORY)]
    return [(tag, command) for tag in tags if (command := config.get(f"{_INVENTORY}{tag}"))]


def parse_inventory(tag: str, answer: str) -> Found:
    """Read a program's answer: `Detected<tag>` is a number, or a list of names as a string."""
    ad = ClassAd()
    for line in answer.splitlines():
        name, equals, text = line.partition("=")
        if equals and name.strip().lower() == f"detected{tag.lower()}":
            ad.insert_text("Detected", text.strip())
    listed = ad.string("Detected")
    if listed is not None:
        ids = tuple(listed.replace(",", " ").split())
        return Found(len(ids), ids)
    return Found(whole(max(0.0, ad.real("Detected") or 0.0)), ())


def _number(text: str) -> float | None:
    """Read a finite number; None for anything else, which names pieces."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def custom_resources(
    config: Config, found_here: Mapping[str, Found] = MappingProxyType({})
) -> list[tuple[str, float, tuple[str, ...]]]:
    """Return name, quantity and identifiers of every MACHINE_RESOURCE_<name> (A038-A040).

    `found_here` is what programs found, by name.
    """
    only = {name.lower() for name in config.words("MACHINE_RESOURCE_NAMES")}
    found: list[tuple[str, float, tuple[str, ...]]] = [
        (tag, *one) for tag, one in found_here.items() if not only or tag.lower() in only
    ]
    for macro in config.entries():
        tag = macro.name[len(_PREFIX) :]
        if not macro.name.upper().startswith(_PREFIX) or tag.upper().startswith(_NOT_RESOURCES):
            continue
        if only and tag.lower() not in only:
            continue
        text = (config.get(macro.name) or "").strip()
        amount = _number(text)
        if amount is not None:
            found.append((tag, whole(amount), ()))
        else:
            ids = tuple(text.replace(",", " ").split())
            found.append((tag, len(ids), ids))
    return found


# What the reference divides without any configuration of slots (A006).
_DEFAULT_TYPE = SlotType(0, "100%", 1, partitionable=True)


def slot_types(config: Config) -> list[SlotType]:
    """Return the configured slot types; without any, one slot for everything (A006, A020)."""
    limit = config[StartdKnobs.MAX_SLOT_TYPES]
    types = []
    for number in range(1, limit + 1):
        count = config[StartdKnobs.NUM_SLOTS_TYPE[str(number)]]
        if not count:
            continue
        text = config.get(f"SLOT_TYPE_{number}")
        # FEATURE:StaticSlots without arguments leaves its type empty: all shares are auto (A018).
        if text is None and config.find_set(f"SLOT_TYPE_{number}") is None:
            raise ConfigError(
                f"NUM_SLOTS_TYPE_{number} is {count}, but SLOT_TYPE_{number} is not defined"
            )
        divides = config.boolean(f"SLOT_TYPE_{number}_PARTITIONABLE") is True
        types.append(SlotType(number, text or "auto", count, partitionable=divides))
    if types:
        return types
    count = config[StartdKnobs.NUM_SLOTS]
    if count <= 0:
        return [_DEFAULT_TYPE]
    return [SlotType(0, "auto", count, partitionable=False)]


def plan_layout(
    config: Config, resources: Bundle, disks: Mapping[int, SlotDisk] = MappingProxyType({})
) -> Layout:
    """Divide the machine as configured; ConfigError where that is impossible.

    What counts as that is SLOT_CONFIG_FAILURE_MODE's to say.
    Compat: without it A037 ends the startd; HTCondor since 24.2 goes on with the slots that fit,
    and so does this one (test_a_startd_goes_on_with_the_slots_that_fit).
    """
    types = slot_types(config)
    if types[0].number == 0 and not types[0].partitionable:
        # NUM_SLOTS cannot make more slots than there are cores (A020).
        cores = max(1, int(resources.amount("Cpus")))
        types = [replace(types[0], count=min(types[0].count, cores))]
    failure = SlotFailure(config.value(StartdKnobs.SLOT_CONFIG_FAILURE_MODE))
    return plan_slots(resources, types, failure, disks)
