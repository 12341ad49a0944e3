"""What one cycle works on, made of ads and books."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.settings import read_settings
from kettle.negotiator.snapshot import make_groups, read_submitter, weigh_pool


def slot(name: str, cpus: int, **more: object) -> ClassAd:
    return ClassAd({"MyType": "Machine", "Name": name, "Cpus": cpus, "MyAddress": "<1>", **more})


def test_the_pool_is_as_large_as_the_slots_that_count() -> None:
    table = KeptSlots().table([slot("a", 4), slot("b", 2), slot("c", 1, Transfers=True)])
    for text, weight in (
        ("", 7.0),
        ("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = Transfers =!= true\n", 6.0),
        ("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = Cpus > 9\n", 0.0),
        ("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = Nothing\n", 0.0),
    ):
        settings = read_settings(Config.from_text(text, subsystem="NEGOTIATOR"))
        assert weigh_pool(table, settings) == weight


def test_what_a_group_wants_is_counted_in_weights_or_in_jobs() -> None:
    accountant = Accountant(group_names=("g",))
    accountant.add_match("g.a@d", "slot1@h", 8.0, 0)
    idle = {"Name": "g.a@d", "MyAddress": "<1>", "IdleJobs": 3, "WeightedIdleJobs": 12}
    submitter = read_submitter(ClassAd(idle))
    assert submitter is not None
    for word, wanted in (("true", 20.0), ("false", 4.0)):
        text = f"GROUP_NAMES = g\nGROUP_QUOTA_g = 2\nNEGOTIATOR_USE_WEIGHTED_DEMAND = {word}\n"
        settings = read_settings(Config.from_text(text, subsystem="NEGOTIATOR"))
        found = make_groups([submitter], accountant, settings, 100.0)
        assert found is not None
        group = found[0]["g"]
        assert (group.usage, group.usage + group.demand) == (8.0, wanted)
