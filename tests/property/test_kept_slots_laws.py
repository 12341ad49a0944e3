"""Slots that are kept from cycle to cycle give the matches that reading all of them anew gives."""

from __future__ import annotations

import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.matchmaking import candidates
from kettle.matchmaking.cycle import Cycle
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.plan import Plan
from unit.matchmaking.pools import SETTINGS, pslot, request, slot, submitter

# One slot: whether it is divided, cores, memory, system, who has it, what it wants of requests.
MACHINES = st.tuples(
    st.booleans(),
    st.integers(1, 4),
    st.one_of(st.integers(1, 40), st.just("=Cpus * 5"), st.just("=time() * 0 + 7")),
    st.sampled_from(("x", "y", "=undefined", "=Arch")),
    st.sampled_from(("", "", "cid@d", "dan@d")),
    st.sampled_from(("true", "TARGET.Wanted < 4", "MY.Memory > 9", 'TARGET.Os =!= "x"')),
)
# By the number of the slot: another machine of that name, or None where it vanishes.
CHANGES = st.dictionaries(st.integers(0, 8), st.one_of(MACHINES, st.none()), max_size=3)
WISHES = st.tuples(
    st.sampled_from(("ann@d", "bob@d")),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 20),
    st.sampled_from(("0.0", "TARGET.Memory", "TARGET.Os =?= MY.Os", "10 - TARGET.Cpus")),
    st.sampled_from(("true", "TARGET.Memory > 5", 'TARGET.Os == "x"', "TARGET.RemoteUserPrio > 1")),
)
CYCLES = st.lists(st.tuples(CHANGES, st.lists(WISHES, max_size=4)), min_size=1, max_size=5)

Machine = tuple[bool, int, int | str, str, str, str]
Wish = tuple[str, int, int, int, str, str]


def ad_of(number: int, machine: Machine) -> ClassAd:
    divided, cpus, memory, system, user, requirements = machine
    make = pslot if divided else slot
    ad = make(f"s{number}", cpus=cpus, memory=memory, Os=system, Rank="=TARGET.Wanted")
    ad.insert_text("Requirements", requirements)
    if user and not divided:
        ad.update({"RemoteUser": user, "State": "Claimed", "CurrentRank": 1.0})
    return ad


def run(ads: list[ClassAd], wishes: list[Wish], kept: KeptSlots | None) -> Plan:
    users = {name: submitter(name) for name in ("ann@d", "bob@d")}
    for cluster, (name, count, cpus, memory, rank, requirements) in enumerate(wishes):
        users[name].requests.append(
            request(
                name, count=count, cluster=cluster, cpus=cpus, memory=memory, rank=rank,
                requirements=requirements, divides=True, Wanted=cluster,
            )
        )  # fmt: skip
    everybody = (*users.values(), submitter("cid@d", usage=1.0, priority=900.0))
    table = KeptSlots().table(ads) if kept is None else kept.table(ads)
    return Cycle(table, everybody, SETTINGS, kept=kept).run()


def outcome(found: Plan) -> list[object]:
    return [
        [
            (each.request.cluster, each.slot_name, each.claim_id, each.cost)
            for each in found.matches
        ],
        [(each.request.cluster, each.reason) for each in found.rejections],
        ["\n".join(each.slot_ad.lines()) for each in found.matches],
        found.candidate_slots,
    ]


@pytest.mark.parametrize("wide_from", [1, 10**9])
@settings(deadline=None, max_examples=100)
@over(
    first=st.dictionaries(st.integers(0, 8), MACHINES, min_size=2, max_size=9),
    cycles=CYCLES,
    chance=st.randoms(use_true_random=False),
)
def test_cycle_after_cycle_kept_slots_give_what_a_fresh_table_gives(
    wide_from: int,
    first: dict[int, Machine],
    cycles: list[tuple[dict[int, Machine | None], list[Wish]]],
    chance: object,
) -> None:
    ads = {number: ad_of(number, machine) for number, machine in first.items()}
    kept = KeptSlots()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "WIDE_FROM", wide_from)
        patch.setattr("kettle.matchmaking.kept_slots._MOST_CHANGED", 2.0)
        for changes, wishes in cycles:
            for number, machine in changes.items():
                if machine is not None:
                    ads[number] = ad_of(number, machine)
                else:
                    ads.pop(number, None)
            given = list(ads.values())
            chance.shuffle(given)  # type: ignore[attr-defined]
            expected = run([ad.copy() for ad in given], wishes, None)
            assert outcome(run(given, wishes, kept)) == outcome(expected)
