"""What jobs count for while they wait."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.schedd.ads import SubmitterCounts, submitter_ad
from kettle.schedd.weights import MOST_WEIGHT, Weights


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
    assert Weights(Config.from_text(config), print).weigh(job) == weight


def test_a_job_that_asks_for_nothing_weighs_one() -> None:
    assert Weights(Config.from_text(""), print).weigh(ClassAd()) == 1


@pytest.mark.parametrize(
    ("asked", "weight"),
    [
        ('real("INF")', MOST_WEIGHT),
        ("9223372036854775807", MOST_WEIGHT),
        ('real("NaN")', 1),
        ('-real("INF")', 0),
        ("-1", 0),
        ('"much"', 1),
        ("error", 1),
    ],
)
@pytest.mark.parametrize("config", ["SCHEDD_SLOT_WEIGHT = RequestCpus\n", "SLOT_WEIGHT = Cpus\n"])
def test_a_weight_is_an_amount_whatever_a_job_asks_for(
    asked: str, weight: float, config: str
) -> None:
    job = ClassAd()
    job.insert_text("RequestCpus", asked)
    found = Weights(Config.from_text(config), print).weigh(job)
    if "NaN" in asked and config.startswith("SLOT"):
        # Cut off to a whole number it is the smallest one.
        weight = 0
    if "INF" in asked and config.startswith("SLOT"):
        weight = 0
    assert found == weight
    counts = SubmitterCounts(weighted_idle=2 * found)
    assert submitter_ad("a", counts, "s", "<>").integer("WeightedIdleJobs") == int(2 * found)


def test_an_expression_that_is_none_is_told_of_and_not_used() -> None:
    said: list[str] = []
    text = "SCHEDD_SLOT_WEIGHT = ((\nSLOT_WEIGHT = Cpus * 2\n"
    weights = Weights(Config.from_text(text), said.append)
    assert weights.weigh(ClassAd({"RequestCpus": 3})) == 6
    (line,) = said
    assert "SCHEDD_SLOT_WEIGHT is ignored" in line
