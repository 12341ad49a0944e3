"""What the master says about itself."""

from __future__ import annotations

from kettle.config import Config
from kettle.master.ads import master_ad


def test_the_masters_ad_has_the_size_of_its_machine() -> None:
    facts = {"DETECTED_CPUS": "6", "DETECTED_MEMORY": "2048"}
    ad = master_ad(Config.from_text("", subsystem="MASTER", facts=facts), [], uid=7)
    assert ad.integer("RealUid") == 7
    assert ad.integer("DetectedCpus") == 6
    assert ad.integer("DetectedMemory") == 2048
