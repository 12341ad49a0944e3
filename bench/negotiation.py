"""One negotiation cycle: 10,000 slots and 1,000 autoclusters (design, matchmaking at scale).

Run as `PYTHONPATH=src python bench/negotiation.py`. What is timed, in CPU and by the clock, is the
cycle from ads and requests as they were received to the plan; fetching and telling are not in it.
The first cycle of a negotiator reads all slots (numpy is loaded by then, in the daemon's first
quiet second); in the next one, which is what every further one takes, some slots have changed, and
no request is known from before. Beside it stands what the evaluator alone would take for every
pair of slot and autocluster, estimated from a sample, and the wheel's if it is installed; only
ratios within one run mean anything.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

from peer import machine

from kettle.classad import ClassAd, parse_old_ad, symmetric_match
from kettle.config import Config
from kettle.config.knobs.negotiator import NegotiatorKnobs as Knobs
from kettle.matchmaking.cycle import Cycle
from kettle.matchmaking.cycle_settings import CycleSettings
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.plan import Plan
from kettle.matchmaking.rank import RankSettings
from kettle.matchmaking.requests import Request, parse_request
from kettle.matchmaking.submitters import Submitter
from kettle.runtime.life import RELAXED_COLLECTION
from kettle.runtime.process import late

# As startds and condor_submit write them.
LIMITS = (
    "MY.Cpus > 0 && TARGET.RequestCpus <= MY.Cpus && MY.Memory > 0 && TARGET.RequestMemory <= "
    "MY.Memory && MY.Disk > 0 && TARGET.RequestDisk <= MY.Disk && (TARGET.RequestGPUs =?= undefined"
    " || MY.GPUs >= TARGET.RequestGPUs)"
)
REQUIREMENTS = (
    '(TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (versionGE(split('
    'TARGET.CondorVersion)[1],"25.12.0") || (TARGET.Disk >= RequestDisk)) && (TARGET.Memory >= '
    "RequestMemory) && (TARGET.Cpus >= RequestCpus) && ((TARGET.FileSystemDomain == "
    "MY.FileSystemDomain) || (TARGET.HasFileTransfer))"
)
VERSION = "$CondorVersion: 25.14.1 2026-10-16 BuildID: Kettle-0.1 $"
RANKS = ("0.0", "0.0", "0.0", "TARGET.Memory", "TARGET.KFlops + 100 * (TARGET.Cpus == 8)")


def slot_text(number: int, chance: random.Random) -> str:
    """Return an unclaimed slot's ad; most differ from each other in memory and disk."""
    partitionable = chance.random() < 0.5
    cpus = chance.choice((8, 16, 32, 64)) if partitionable else 1
    memory = cpus * chance.choice((1024, 2048, 4096)) + chance.randrange(0, 512)
    return f"""\
MyType = "Machine"
Name = "slot1@node{number:05}"
MyAddress = "<10.0.{number // 250}.{number % 250}:9618>"
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "{chance.choice(("LINUX", "LINUX", "LINUX", "WINDOWS"))}"
CondorVersion = "{VERSION}"
FileSystemDomain = "node{number:05}"
HasFileTransfer = true
PartitionableSlot = {str(partitionable).lower()}
Cpus = {cpus}
Memory = {memory}
Disk = {chance.randrange(10_000_000, 900_000_000)}
GPUs = {chance.choice((0, 0, 0, 0, 2))}
KFlops = {chance.randrange(900_000, 1_100_000)}
SlotID = 1
SlotWeight = Cpus
CurrentRank = 0.0
Rank = 0.0
Start = true
WithinResourceLimits = {LIMITS}
Requirements = Start && WithinResourceLimits
ClaimId = "<10.0.0.1:9618>#1#{number}#secret"
"""


def request(number: int, chance: random.Random, jobs: int) -> Request:
    """Return what one autocluster asks for."""
    ad = ClassAd(
        {
            "_condor_RESOURCE_COUNT": jobs,
            "AutoClusterId": number,
            "ClusterId": number,
            "ProcId": 0,
            "RequestCpus": chance.choice((1, 1, 1, 2, 4, 8)),
            "RequestMemory": 128 * (1 + number % 150),
            "RequestDisk": 1024 * (1 + number % 7),
            "FileSystemDomain": "submit",
        }
    )
    ad.insert_text("Requirements", REQUIREMENTS)
    ad.insert_text("Rank", chance.choice(RANKS))
    # As it comes from a schedd: texts.
    ad = parse_old_ad("\n".join(ad.lines()), check=False)
    found = parse_request(ad, submitter=f"user{number % 20}@here", schedd="<10.1.1.1:9618>")
    found.divides_slots = True
    return found


def settings() -> CycleSettings:
    """Return the default expressions."""
    config = Config.from_text("")
    return CycleSettings(
        ranks=RankSettings(
            pre_job_rank=config[Knobs.NEGOTIATOR_PRE_JOB_RANK],
            post_job_rank=config[Knobs.NEGOTIATOR_POST_JOB_RANK],
            preemption_requirements=config[Knobs.PREEMPTION_REQUIREMENTS],
            preemption_rank=config[Knobs.PREEMPTION_RANK],
        )
    )


def run_cycle(
    kept: KeptSlots, ads: list[ClassAd], requests: list[Request]
) -> tuple[Plan, float, float]:
    """Return a plan and the seconds it took, of the clock and of CPU."""
    users: dict[str, Submitter] = {}
    for each in requests:
        user = users.setdefault(each.submitter, Submitter(each.submitter, 500.0))
        user.requests.append(each)
    rules = settings()
    # As a daemon does in the first quiet second after its start.
    late.import_all()
    gc.freeze()
    gc.set_threshold(*RELAXED_COLLECTION)
    began, cpu = time.perf_counter(), time.process_time()
    plan = Cycle(kept.table(ads), users.values(), rules, kept=kept).run()
    return plan, time.perf_counter() - began, time.process_time() - cpu


def evaluations(ads: list[ClassAd], requests: list[Request]) -> float:
    """Return how many symmetric matches a second the evaluator alone makes."""
    sample = [(each.ad, ad) for each in requests[:20] for ad in ads[:200]]
    began = time.process_time()
    for job, slot in sample:
        symmetric_match(job, slot)
    return len(sample) / (time.process_time() - began)


def wheel_evaluations(texts: list[str], requests: list[Request]) -> float | None:
    """Return the rate of the wheel's matches, None where it is not installed."""
    try:
        import classad2
    except ImportError:
        return None
    slots = [classad2.parseOne(text) for text in texts[:200]]
    jobs = [classad2.parseOne("\n".join(each.ad.lines())) for each in requests[:20]]
    began = time.process_time()
    for job in jobs:
        for slot in slots:
            job.symmetricMatch(slot)
    return len(slots) * len(jobs) / (time.process_time() - began)


def main() -> None:
    """Measure, print, and write a JSON line if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=10_000)
    parser.add_argument("--autoclusters", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=1, help="jobs of each autocluster")
    parser.add_argument(
        "--changed",
        type=float,
        default=0.02,
        help="part of the slots that differ in the next cycle",
    )
    parser.add_argument("--json", help="file for the figures")
    given = parser.parse_args()
    chance = random.Random(1)
    texts = [slot_text(number, chance) for number in range(given.slots)]
    ads = [parse_old_ad(text, check=False) for text in texts]
    requests = [request(number, chance, given.jobs) for number in range(given.autoclusters)]
    rate = evaluations(ads, requests)
    wheel = wheel_evaluations(texts, requests)
    pairs = given.slots * given.autoclusters
    figures: dict[str, object] = {
        "slots": given.slots,
        "autoclusters": given.autoclusters,
        "changed slots": int(given.changed * given.slots),
    }
    kept = KeptSlots()
    for cycle in ("first cycle", "next cycle"):
        requests = [request(number, chance, given.jobs) for number in range(given.autoclusters)]
        plan, seconds, cpu = run_cycle(kept, ads, requests)
        figures |= {
            f"{cycle}, matches": len(plan.matches),
            f"{cycle}, rejections": len(plan.rejections),
            f"{cycle}, seconds": round(seconds, 3),
            f"{cycle}, CPU seconds": round(cpu, 3),
        }
        # As they come from the collector: what has not changed is the same object.
        for number in chance.sample(range(given.slots), int(given.changed * given.slots)):
            ads[number] = parse_old_ad(slot_text(number, chance), check=False)
    figures |= {
        "evaluator alone, CPU seconds": round(pairs / rate, 1),
        "wheel alone, CPU seconds": round(pairs / wheel, 1) if wheel else None,
    }
    for name, value in figures.items():
        print(f"{name:30} {value}")
    if given.json:
        with open(given.json, "w") as file:
            json.dump({**machine(), **figures}, file, indent=1)


if __name__ == "__main__":
    main()
