"""Small pools and requests for the tests of matchmaking."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.config.knobs.negotiator import NegotiatorKnobs
from kettle.matchmaking.cycle import Cycle
from kettle.matchmaking.cycle_settings import CycleSettings
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.plan import Plan
from kettle.matchmaking.rank import RankSettings
from kettle.matchmaking.requests import Request, parse_request
from kettle.matchmaking.slots import SlotTable
from kettle.matchmaking.submitters import Submitter

LIMITS = (
    "TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory"
    " && TARGET.RequestDisk <= MY.Disk"
)

_CONFIG = Config.from_text("")

# The defaults.
RANKS = RankSettings(
    pre_job_rank=_CONFIG[NegotiatorKnobs.NEGOTIATOR_PRE_JOB_RANK],
    post_job_rank=_CONFIG[NegotiatorKnobs.NEGOTIATOR_POST_JOB_RANK],
    preemption_requirements=_CONFIG[NegotiatorKnobs.PREEMPTION_REQUIREMENTS],
    preemption_rank=_CONFIG[NegotiatorKnobs.PREEMPTION_RANK],
)
SETTINGS = CycleSettings(ranks=RANKS)


def slot(name: str, *, cpus: int = 1, memory: int = 1000, **more: object) -> ClassAd:
    """Return an unclaimed static slot that takes any job that fits."""
    ad = ClassAd(
        {
            "MyType": "Machine",
            "Name": name,
            "MyAddress": f"<{name}>",
            "State": "Unclaimed",
            "Activity": "Idle",
            "Cpus": cpus,
            "Memory": memory,
            "Disk": 1_000_000,
            "SlotID": 1,
            "Rank": 0.0,
            "CurrentRank": 0.0,
            "ClaimId": f"<{name}>#1#1#secret",
        }
    )
    ad.insert_text("SlotWeight", "Cpus")
    ad.insert_text("Requirements", LIMITS)
    for attribute, value in more.items():
        if isinstance(value, str) and value.startswith("="):
            ad.insert_text(attribute, value[1:])
        else:
            ad[attribute] = value
    return ad


def pslot(name: str, *, cpus: int = 8, memory: int = 16000, **more: object) -> ClassAd:
    """Return an untouched partitionable slot."""
    return slot(name, cpus=cpus, memory=memory, PartitionableSlot=True, **more)


def request(
    submitter: str = "u@d",
    *,
    count: int = 1,
    cluster: int = 1,
    schedd: str = "<schedd>",
    cpus: int = 1,
    memory: int = 10,
    requirements: str = "true",
    rank: str = "0.0",
    divides: bool = False,
    **more: object,
) -> Request:
    """Return what a schedd asks for."""
    ad = ClassAd(
        {
            "_condor_RESOURCE_COUNT": count,
            "ClusterId": cluster,
            "ProcId": 0,
            "AutoClusterId": cluster,
            "RequestCpus": cpus,
            "RequestMemory": memory,
            "RequestDisk": 1,
            **more,
        }
    )
    ad.insert_text("Requirements", requirements)
    ad.insert_text("Rank", rank)
    parsed = parse_request(ad, submitter=submitter, schedd=schedd)
    parsed.divides_slots = divides
    return parsed


def submitter(name: str, *requests: Request, priority: float = 500.0, **more: object) -> Submitter:
    """Return a submitter with its requests."""
    return Submitter(name, priority, requests=list(requests), **more)  # type: ignore[arg-type]


def plan(
    ads: list[ClassAd] | SlotTable,
    *submitters: Submitter,
    settings: CycleSettings = SETTINGS,
    **more: object,
) -> Plan:
    """Run one cycle."""
    table = ads if isinstance(ads, SlotTable) else KeptSlots().table(ads)
    return Cycle(table, submitters, settings, **more).run()  # type: ignore[arg-type]


def given(found: Plan) -> list[tuple[str, str]]:
    """Return who got which slot, in order."""
    return [(match.request.submitter, match.slot_name) for match in found.matches]
