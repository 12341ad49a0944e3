"""What jobs count for while they wait."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.schedd.weights import Weights


@pytest.mark.parametrize(
    ("config", "weight"),
    [
        ("", 3),
        ("SLOT_WEIGHT = Cpus + Memory / 1000\n", 7),
        ("SLOT_WEIGHT = Nothing\n", 3),
        ("SCHEDD_SLOT_WEIGHT = RequestMemory / 400\n", 10),
        ("SCHEDD_SLOT_WEIGHT = Nothing\n", 1),
        ("SCHEDD_USE_SLOT_WEIGHT = false\n", 1),
    ],
)
def test_a_job_weighs_as_much_as_the_slot_that_it_asks_for(config: str, weight: int) -> None:
    job = ClassAd({"RequestCpus": 3, "RequestMemory": 4000})
    assert Weights(Config.from_text(config)).weigh(job) == weight


def test_a_job_that_asks_for_nothing_weighs_one() -> None:
    assert Weights(Config.from_text("")).weigh(ClassAd()) == 1
