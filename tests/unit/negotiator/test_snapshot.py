"""What one cycle works on, made of ads and books."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.negotiator.settings import read_settings
from kettle.negotiator.snapshot import weigh_pool


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
