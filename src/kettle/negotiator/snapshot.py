"""Making one cycle's input out of ads and books: slots, submitters, groups, limits in use.

Pure: ads and the accountant in, what `matchmaking/cycle.py` wants out. Where the ads come from and
where the requests do is `service.py`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kettle.attributes.version import is_ours
from kettle.classad import ClassAd, Expr
from kettle.matchmaking.autoclusters import significant_for_slots
from kettle.matchmaking.groups import (
    ROOT,
    Group,
    build_tree,
    group_of,
    plan_quotas,
    sort_groups,
)
from kettle.matchmaking.slots import SlotTable
from kettle.matchmaking.submitters import Submitter
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.settings import NegotiatorSettings
from kettle.records.accounting_log import is_name

# The expressions of a slot whose references into the job are significant.
_SLOT_EXPRESSIONS = ("Requirements", "Rank", "SlotWeight")


@dataclass(frozen=True, slots=True)
class SubmitterAd:
    """One submitter of one schedd, as its ad describes it."""

    name: str
    schedd_name: str
    schedd_address: str
    idle_jobs: int
    weighted_idle: float
    tag: str
    # The schedd knows that several matches may carry the claim id of one partitionable slot.
    divides_slots: bool
    # The session that the schedd made for us, empty if it made none.
    capability: str = ""
    # When the collector heard of it last (epoch seconds).
    heard_at: int = 0


@dataclass(slots=True)
class Pool:
    """What the collector said, sorted into what a cycle needs."""

    slots: list[ClassAd] = field(default_factory=list)
    private: list[ClassAd] = field(default_factory=list)
    submitters: list[SubmitterAd] = field(default_factory=list)
    running: int = 0
    # Names of submitters that the books cannot have; nothing is matched for them.
    unnameable: list[str] = field(default_factory=list)
    # What was wrong with ads that are left out because of that.
    faults: list[Exception] = field(default_factory=list)


def sort_ads(ads: Iterable[ClassAd], settings: NegotiatorSettings) -> Pool:
    """Sort what was fetched into slots and submitters that have something to ask for."""
    pool = Pool()
    for ad in ads:
        try:
            _sort_in(pool, ad, settings)
        except Exception as error:  # noqa: BLE001 - one daemon's ad costs no other its place
            pool.faults.append(error)
    pool.submitters.sort(key=lambda each: (each.name, each.schedd_name, each.schedd_address))
    return pool


def _sort_in(pool: Pool, ad: ClassAd, settings: NegotiatorSettings) -> None:
    kind = ad.string("MyType")
    if kind == "Machine":
        if _allowed(settings.slot_constraint, ad):
            pool.slots.append(ad)
    elif kind == "Submitter" and _allowed(settings.submitter_constraint, ad):
        found = read_submitter(ad)
        if found is not None and not is_name(found.name):
            pool.unnameable.append(found.name)
        elif found is not None:
            pool.running += ad.integer("RunningJobs") or 0
            if found.idle_jobs > 0:
                pool.submitters.append(found)


def insert_match_expressions(slots: Iterable[ClassAd], wanted: Mapping[str, str | None]) -> None:
    """Put what NEGOTIATOR_MATCH_EXPRS names into slots that have just come.

    Those that are known have it already.
    """
    said = {name: text for name, text in wanted.items() if text is not None}
    for ad in slots if said else ():
        for name, text in said.items():
            if ad.text(name) != text:
                ad.insert_text(name, text)


def read_submitter(ad: ClassAd) -> SubmitterAd | None:
    """Read a submitter ad; None if it does not say who or where."""
    name = ad.string("Name")
    address = ad.string("ScheddIpAddr") or ad.string("MyAddress")
    if not name or not address:
        return None
    idle = max(0, ad.integer("IdleJobs") or 0)
    weighted = ad.real("WeightedIdleJobs")
    return SubmitterAd(
        name=name,
        schedd_name=ad.string("ScheddName") or "",
        schedd_address=address,
        idle_jobs=idle,
        weighted_idle=float(idle) if weighted is None else max(0.0, weighted),
        tag=ad.string("SubmitterTag") or "",
        divides_slots=is_ours(ad.string("CondorVersion")),
        capability=ad.string("Capability") or "",
        heard_at=ad.integer("LastHeardFrom") or 0,
    )


def _allowed(constraint: Expr | None, ad: ClassAd) -> bool:
    return constraint is None or ad.satisfies(constraint)


def weigh_pool(table: SlotTable, settings: NegotiatorSettings) -> float:
    """Return what there is to be shared: the weight of all slots, or of those that count."""
    if settings.poolsize_constraint is None:
        return table.total_weight
    return sum(slot.weight for slot in table if _allowed(settings.poolsize_constraint, slot.ad))


def significant_attributes(slots: Iterable[ClassAd]) -> str:
    """Return what the header of NEGOTIATE says in AutoClusterAttrs."""
    return ",".join(significant_for_slots(slots, _SLOT_EXPRESSIONS))


def make_submitters(
    names: Iterable[str],
    accountant: Accountant,
    settings: NegotiatorSettings,
    matched: dict[str, float],
) -> dict[str, Submitter]:
    """Return submitters by name, without requests yet.

    `matched` is weight given in earlier cycles that no slot ad shows as claimed so far.
    """
    return {
        name: Submitter(
            name=name,
            priority=accountant.effective_priority(name),
            usage=accountant.weight_in_use(name) + matched.get(name, 0.0),
            bounds=accountant.bounds(name),
            group=group_of(name, settings.group_names),
        )
        for name in dict.fromkeys(names)
    }


def make_groups(
    submitters: Iterable[SubmitterAd],
    accountant: Accountant,
    settings: NegotiatorSettings,
    pool_weight: float,
) -> tuple[dict[str, Group], list[str]] | None:
    """Return the groups with their allocations and the order of serving; None if there are none."""
    if not settings.groups:
        return None
    tree = build_tree(settings.groups)
    for submitter in submitters:
        group = tree.get(group_of(submitter.name, settings.group_names)) or tree[ROOT]
        group.demand += submitter.weighted_idle if settings.weighted_demand else submitter.idle_jobs
    for name, group in tree.items():
        group.usage = accountant.weight_in_use(name)
        if not settings.weighted_demand:
            # What is wanted is that and the demand: jobs, then, each of which has one slot.
            group.demand += accountant.slots_in_use(name) - group.usage
    plan_quotas(tree, pool_weight, oversubscribe=settings.oversubscribe)
    return tree, sort_groups(tree, settings.group_sort)
