"""What another pool is told of jobs that run there: counted and weighed as they are at home."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from kettle.classad import ClassAd
from kettle.schedd import ads
from kettle.schedd.claims import Claim, Phase
from kettle.schedd.job_runs import claim_attributes
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.capabilities import Capabilities
from kettle.schedd.services.flocking import Flock, Used, weigh_running
from kettle.testing.world import World
from kettle.wire.commands import Command

USER = "u@here"
THERE = "there:9618"


def claim(number: int, pool: str, weight: object, phase: Phase = Phase.RUNNING) -> Claim:
    slot = ClassAd({"Name": f"slot{number}@h", "Cpus": 3, "SlotWeight": weight})
    if pool:
        slot["RemotePool"] = pool
    made = Claim(f"<127.0.0.1:1>#1#{number}#key", "<127.0.0.1:1>", slot, USER, 1, JobId(1, 0), 0.0)
    made.attributes = claim_attributes(made.id, made.startd_address, slot)
    made.phase = phase
    return made


def test_slots_weigh_the_same_at_home_and_elsewhere() -> None:
    claims = [
        claim(1, "", 4),
        claim(2, THERE, 8),
        claim(3, THERE, 2),
        claim(4, THERE, 2, Phase.IDLE),
    ]
    assert weigh_running(claims) == {(USER, ""): Used(1, 4.0), (USER, THERE): Used(2, 10.0)}


def test_the_other_pool_is_told_the_weight_of_its_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[ClassAd] = []

    class Other:
        def update(self, command: Command, ad: ClassAd) -> None:
            assert command is Command.UPDATE_SUBMITTOR_AD
            told.append(ad)

        def put_into(self, ad: ClassAd, pool: str, seconds: float) -> None: ...

    runtime, _, _ = World(tmp_path).runtime("SCHEDD", f"FLOCK_COLLECTOR_HOSTS = {THERE}\n")
    flock = Flock(runtime, "schedd@here", cast("Capabilities", Other()))
    monkeypatch.setattr(flock, "_advertiser", lambda pool: Other())
    flock.tell({USER: ads.SubmitterCounts(running=3, all=3)}, {(USER, THERE): Used(2, 10.0)})
    (ad,) = told
    assert (ad.integer("RunningJobs"), ad.real("WeightedRunningJobs")) == (2, 10.0)
    assert ad.integer("FlockedJobs") == 1
